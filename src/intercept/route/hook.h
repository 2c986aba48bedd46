/* SPDX-License-Identifier: Apache-2.0
 *
 * Common declarations of all handlers: the hook table (hook_table.txt) as an enum, the call of the real function,
 * and the per-thread guard that keeps our own work from being recorded. */
#ifndef VS_HOOK_H
#define VS_HOOK_H

#include <cuda.h>
#include <driver_types.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vs_cancel.h"
#include "generated/hook_names.h"

/* types of later headers that hooks pass on by pointer, whatever they contain */
#if CUDA_VERSION < 12030
typedef struct CUgraphEdgeData_st CUgraphEdgeData;
#endif
#if CUDA_VERSION < 12050
typedef struct CUctxCreateParams_st CUctxCreateParams;
#endif

/* programs may still call deprecated functions */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define VS_EXPORT __attribute__((visibility("default")))

enum vs_hook_id {
#define VS_DRIVER_HOOK(name, ...) VS_HOOK_##name,
#include "generated/hook_table.h"
    VS_HOOK_COUNT
};

enum vs_runtime_id {
#define VS_RUNTIME_HOOK(name, ...) VS_RUNTIME_##name,
#include "generated/hook_table.h"
    VS_RUNTIME_COUNT
};

/* A runtime function is exported once for each version that a program may have linked it by (the
 * runtime's soname), so that each call reaches its own runtime if a process has several. The first
 * is for references without a version. */
#define VS_RUNTIME_VERSIONS(ROW, ...)                  \
    ROW(any, "VRAMSCOPE", __VA_ARGS__)                  \
    ROW(11, "libcudart.so.11.0", __VA_ARGS__)           \
    ROW(12, "libcudart.so.12", __VA_ARGS__)             \
    ROW(13, "libcudart.so.13", __VA_ARGS__)             \
    ROW(14, "libcudart.so.14", __VA_ARGS__)

enum vs_runtime_version {
#define VS_ROW(suffix, version, ...) VS_RUNTIME_VERSION_##suffix,
    VS_RUNTIME_VERSIONS(VS_ROW, )
#undef VS_ROW
    VS_RUNTIME_VERSION_COUNT
};

/* The real functions' types and our handlers' prototypes. */
#define VS_DRIVER_HOOK(name, params, ...) \
    typedef CUresult(*vs_fn_##name) params; \
    VS_EXPORT CUresult name params;
#define VS_RECORDED_HOOK(name, params, ...) \
    VS_DRIVER_HOOK(name, params, ) \
    CUresult vs_on_##name params;
#define VS_RUNTIME_HOOK(name, params, ...) typedef cudaError_t(*vs_fn_##name) params;
#include "generated/hook_table.h"

/* vs_hook_real: the function that the program would have called without us, found on first use;
 * NULL if no loaded library has it. Any thread. */
void *vs_hook_real(enum vs_hook_id id);

/* vs_runtime_real: the same, of the runtime of *version*, else of the first. */
void *vs_runtime_real(enum vs_runtime_id id, enum vs_runtime_version version);

/* vs_runtime_handlers: our functions, by runtime function and version. */
extern void *const vs_runtime_handlers[VS_RUNTIME_COUNT][VS_RUNTIME_VERSION_COUNT];

/* The driver's functions that we call for ourselves. */
enum vs_driver_function {
#define VS_DRIVER_FUNCTION(name, params) VS_FN_##name,
#include "generated/driver_table.h"
    VS_FN_COUNT
};
#define VS_DRIVER_FUNCTION(name, params) typedef CUresult(*vs_fn_##name) params;
#include "generated/driver_table.h"

/* vs_driver_function: NULL if the driver lacks it or is not loaded. Any thread. The first search for
 * a function waits while another thread loads a library, whose constructor may wait for a lock: it
 * is made before a lock is taken. vs_driver_find is its slow path. */
void *vs_driver_find(enum vs_driver_function id);
extern _Atomic(void *) vs_driver_functions[VS_FN_COUNT];
static inline void *vs_driver_function(enum vs_driver_function id)
{
    void *fn = atomic_load_explicit(&vs_driver_functions[id], memory_order_acquire);
    return fn ? fn : vs_driver_find(id);
}

/* vs_driver_has: looks all of them up; false if the driver lacks one. */
bool vs_driver_has(const enum vs_driver_function *functions, size_t count);

/* Calls one of them; if the driver lacks it, returns the error for a missing one. */
#define VS_CALL(name, ...)                                                              \
    __extension__({                                                                     \
        vs_fn_##name vs_fn_ = (vs_fn_##name)vs_driver_function(VS_FN_##name);           \
        vs_fn_ ? vs_fn_(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;                            \
    })

/* Calls the real function; if the library lacks the entry point, returns the error for a missing
 * one. A thread that is being cancelled returns from it first. */
#define VS_REAL(name, ...) VS_REAL_OF(name, (__VA_ARGS__))
#define VS_REAL_OF(name, args)                                              \
    __extension__({                                                         \
        vs_fn_##name vs_fn_ = (vs_fn_##name)vs_hook_real(VS_HOOK_##name);   \
        int vs_cancel_ = vs_cancel_hold();                                  \
        CUresult vs_result_ = vs_fn_ ? vs_fn_ args : CUDA_ERROR_NOT_FOUND;  \
        vs_cancel_restore(vs_cancel_);                                      \
        vs_result_;                                                         \
    })
/* Which allocation ends an annotation: one of the device, or a tensor where a framework has an
 * allocator of its own. */
enum vs_annotated { VS_ANNOTATED_DEVICE = 1, VS_ANNOTATED_TENSOR = 2 };

struct vs_hook_thread {
    int inside;      /* > 0 while our own code runs on this thread: hooks forward silently */
    const char *api; /* outermost runtime entry point on this thread, static text; or NULL */
    int annotated;   /* the next allocation has a name: its enum vs_annotated; 0: none */
    const void *caller; /* where the program, or a library, called CUDA last: a return address */
    const void *judged; /* the caller of which *by_framework* is known (track/holding.h) */
    bool by_framework;  /* it is in a framework's allocator */
    bool refused;       /* the driver refused memory during this call (cache/room.h), with the rest: */
    uint64_t refused_bytes, refused_free, given_bytes;
};

extern _Thread_local struct vs_hook_thread vs_thread __attribute__((tls_model("initial-exec")));

/* VS_OWN_WORK: our own code runs from here to the end of the block, however the block is left. */
static inline int vs_own_work_begin(void)
{
    return vs_thread.inside++;
}
static inline void vs_own_work_end(const int *unused)
{
    (void)unused;
    vs_thread.inside--;
}
#define VS_OWN_WORK() \
    const int vs_own_work_ __attribute__((cleanup(vs_own_work_end), unused)) = vs_own_work_begin()

/* vs_api: the name under which a call is recorded: the runtime function that the program called,
 * else *driver_name*. */
static inline const char *vs_api(const char *driver_name)
{
    return vs_thread.api ? vs_thread.api : driver_name;
}

/* vs_hook_active: should this call be recorded? Starts the recording at the first call that makes
 * this a process that uses CUDA. False inside our own work, in a forked child, and if the process
 * is not recorded. */
#define vs_hook_active() vs_hook_active_for(__builtin_return_address(0))
bool vs_hook_active_for(const void *caller);

/* vs_hook_called: stores the caller, unless it is this library, or the runtime on behalf of a
 * caller already stored. */
extern const char vs_own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char vs_own_end[] __asm__("_end") __attribute__((visibility("hidden")));
static inline void vs_hook_called(const void *caller)
{
    if (!vs_thread.api && ((const char *)caller < vs_own_start || (const char *)caller >= vs_own_end))
        vs_thread.caller = caller;
}

#endif
