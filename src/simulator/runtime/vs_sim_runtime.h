/* SPDX-License-Identifier: Apache-2.0
 *
 * Internal header of the stand-in runtime (libcudart.so.13, the static library, and the libraries
 * for CUDA 11 and 12, see vs_sim_runtime_major.h). It reaches its driver as the real one does:
 * dlopen("libcuda.so.1"), one dlsym for cuGetProcAddress_v2, then every function by name, version
 * and flags, and always calls the pointer it received. It shares nothing else with drv_*.c.
 *
 * Error codes of both interfaces have the same numbers, so results pass through; every exported
 * function ends in vs_rt_result, which stores the last error. That of <symbol>_context enters the
 * context and returns the result of this one; _driver, _function: likewise; _result: enters nothing. */
#ifndef VS_SIM_RUNTIME_H
#define VS_SIM_RUNTIME_H

#include "simulator/driver/vs_sim_host.h" /* before a change of visibility */
#include "simulator/runtime/vs_sim_runtime_major.h"

/* Defined as vs_rt_impl_<symbol>; rt_api.c exports the symbol itself. Before the headers, whose
 * macros would be mistaken for the names. */
#define VS_RT_API(symbol, cbid) VS_RT_RENAME(redefine_extname symbol vs_rt_impl_##symbol)
#define VS_RT_RENAME(text) _Pragma(#text)
#include "generated/vs_sim_runtime_api_table.h"
#undef VS_RT_API

#ifdef VS_SIM_RT_STATIC
#pragma GCC visibility push(hidden) /* a static runtime exports nothing, like the real one */
#else
#pragma GCC visibility push(default)
#endif
#define __CUDA_API_VERSION_INTERNAL /* declares the per-thread forms beside the others */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef VS_SIM_RT_STATIC
#define VS_SIM_RT_API __attribute__((visibility("hidden")))
#else
#define VS_SIM_RT_API __attribute__((visibility("default")))
#endif
#define VS_RT_DEVICES_MAX 16

typedef CUresult (*vs_rt_declare_global_fn)(CUlibrary library, const char *name, size_t bytes,
                                            int managed);

/* Every driver function that the runtime calls, as found by its lookup. */
struct vs_rt_driver {
#define VS_RT_FN(field, name, version, flags, type) type field;
#include "generated/vs_sim_runtime_table.h"
#undef VS_RT_FN
    vs_rt_declare_global_fn DeclareGlobal;
};

/* vs_rt_watch_by: observe calls as the driver's vramscopeSimCalls *get* requests; NULL: the driver
 * lacks it and calls are not observed (rt_api.c). */
struct vs_sim_calls;
typedef const struct vs_sim_calls *(*vs_rt_calls_fn)(void);
void vs_rt_watch_by(vs_rt_calls_fn get);

extern struct vs_rt_driver vs_rt; /* immutable after the first vs_rt_enter */

/* vs_rt_enter: loads and initialises the driver once. Returns cudaErrorInsufficientDriver without a
 * driver (or with one too old), else the result of cuInit. Any thread. */
cudaError_t vs_rt_enter(void);

/* vs_rt_enter_context: vs_rt_enter, and makes sure that the calling thread has a context: the one
 * it set through the driver, or its device's primary context, retained at first use. */
cudaError_t vs_rt_enter_context(void);

/* vs_rt_format_of: stores format and number of channels in *out*; cudaErrorNotSupported or
 * cudaErrorInvalidChannelDescriptor (rt_array.c). vs_rt_channel_of: the reverse. */
cudaError_t vs_rt_format_of(const struct cudaChannelFormatDesc *d, CUDA_ARRAY3D_DESCRIPTOR *out);
struct cudaChannelFormatDesc vs_rt_channel_of(const CUDA_ARRAY3D_DESCRIPTOR *d);

/* vs_rt_context_of: the primary context of *device*, retained; cudaErrorInvalidDevice. */
cudaError_t vs_rt_context_of(int device, CUcontext *ctx);

/* vs_rt_result: returns *error* from the exported function; stores it as the thread's last error
 * unless it is cudaSuccess. */
cudaError_t vs_rt_result(cudaError_t error);

static inline cudaError_t vs_rt_error(CUresult result) { return (cudaError_t)result; }
/* A function that answers as an expression says. */
#define VS_RT_AS(name, parameters, answer) \
    cudaError_t name parameters { return answer; }

/* ---- registrations (rt_register.c) ---- */

/* vs_rt_kernel_of: the kernel of the host stub *function*. cudaErrorInvalidDeviceFunction if it was
 * never registered. */
cudaError_t vs_rt_kernel_of(const void *function, CUkernel *kernel);

/* vs_rt_enter_function: vs_rt_enter_context, then the driver's handle of the host stub *func*
 * (rt_launch.c). */
cudaError_t vs_rt_enter_function(const void *func, CUfunction *function);

/* vs_rt_kernel_remember: makes vs_rt_kernel_of accept *handle* itself, as programs may pass a
 * cudaKernel_t instead of a stub's address. */
void vs_rt_kernel_remember(CUkernel handle);

/* vs_rt_stub_of: the host stub of a kernel, or *handle* itself if it has none. */
void *vs_rt_stub_of(CUfunction handle);

/* vs_rt_symbol: address and size of a device variable on the current device
 * (either out-pointer may be NULL). cudaErrorInvalidSymbol. */
cudaError_t vs_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* ---- copies (rt_copy.c) ---- */

/* How an operation is run: with the legacy default stream, with that of the thread, or in *stream*
 * without waiting for it. */
struct vs_rt_way {
    cudaStream_t stream;
    bool per_thread, async;
};

/* The functions of the section "ways" of forwards.txt, as the entry points of their names. */
cudaError_t vs_rt_memcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                         struct vs_rt_way way);
cudaError_t vs_rt_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                            enum cudaMemcpyKind kind, struct vs_rt_way way);
cudaError_t vs_rt_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                              enum cudaMemcpyKind kind, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind,
                            struct vs_rt_way way);
cudaError_t vs_rt_memcpy_3d(const struct cudaMemcpy3DParms *p, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_3d_peer(const struct cudaMemcpy3DPeerParms *p, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_2d_to_array(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_2d_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_2d_array_to_array(cudaArray_t to, size_t to_x, size_t to_y,
                                           cudaArray_const_t from, size_t from_x, size_t from_y,
                                           size_t width, size_t height, enum cudaMemcpyKind kind,
                                           struct vs_rt_way way);
cudaError_t vs_rt_memcpy_to_array(cudaArray_t to, size_t x, size_t y, const void *from,
                                  size_t count, enum cudaMemcpyKind kind, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_from_array(void *to, cudaArray_const_t from, size_t x, size_t y,
                                    size_t count, enum cudaMemcpyKind kind, struct vs_rt_way way);
cudaError_t vs_rt_memcpy_array_to_array(cudaArray_t to, size_t to_x, size_t to_y,
                                        cudaArray_const_t from, size_t from_x, size_t from_y,
                                        size_t count, enum cudaMemcpyKind kind,
                                        struct vs_rt_way way);
cudaError_t vs_rt_memset_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                            struct vs_rt_way way);

/* vs_rt_describe_3d: converts *params* to the driver's description; vs_rt_params_3d: back.
 * cudaErrorInvalidValue, cudaErrorInvalidMemcpyDirection. */
cudaError_t vs_rt_describe_3d(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *copy);
cudaError_t vs_rt_params_3d(const CUDA_MEMCPY3D *copy, struct cudaMemcpy3DParms *params);
/* vs_rt_symbol_part: the address of *bytes* from *offset* on in a device variable. The copy's *kind*
 * must be *host*, by address or between devices: cudaErrorInvalidMemcpyDirection,
 * cudaErrorInvalidValue, cudaErrorInvalidSymbol. */
cudaError_t vs_rt_symbol_part(const void *symbol, size_t offset, size_t bytes,
                              enum cudaMemcpyKind kind, enum cudaMemcpyKind host, char **at);
#pragma GCC visibility push(hidden)
#include "generated/vs_sim_runtime_entered.h"
#pragma GCC visibility pop

/* ---- arrays (rt_array.c) ---- */

struct vs_rt_array_shape {
    size_t element, row; /* bytes */
    size_t rows;         /* of one plane */
};
/* vs_rt_array_shape: of *array*; cudaErrorInvalidResourceHandle. */
cudaError_t vs_rt_array_shape(cudaArray_const_t array, struct vs_rt_array_shape *shape);

#endif
