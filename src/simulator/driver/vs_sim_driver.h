/* SPDX-License-Identifier: Apache-2.0
 *
 * Internal header of the stand-in driver: devices, contexts, streams and events, and the functions
 * its rooms (driver, memory, context, graph, checker) call in each other, whichever is the lower one;
 * vs_sim_memory.h has those of memory. Every exported CUDA function of the drv_*.c files begins with
 * vs_sim_enter or vs_sim_enter_context, or is entered by a generated function.
 *
 * Streams, events and contexts are never returned to malloc: a destroyed one is kept for reuse, and
 * its sequence numbers continue. So a (stream, number) pair can be waited for at any later time,
 * and a stale handle is recognised by its mark instead of crashing.
 *
 * Lock order: event.mu → context.submit_mu → stream.mu; memory (drv_range.c) and pool locks are
 * taken with none of these held, pool before memory; stream.mu may be taken with a pool locked.
 * Engine threads take event.mu and submit_mu only with nothing else held. */
#ifndef VS_SIM_DRIVER_H
#define VS_SIM_DRIVER_H

#include "simulator/driver/vs_sim_rename.h" /* before cuda.h */

#define __CUDA_API_VERSION_INTERNAL /* declares every version of every function */
#include <cuda.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/driver/vs_sim_activity.h"
#include "simulator/driver/vs_sim_check.h"
#include "simulator/driver/vs_sim_host.h"
#include "simulator/driver/vs_sim_spec.h"
#include "vramscope_simulator.h"

#define VS_SIM_EXPORT __attribute__((visibility("default")))

/* A function that answers as an expression says, and one that only stores results. */
#define VS_SIM_AS(name, parameters, answer) \
    CUresult name parameters { return answer; }
#define VS_SIM_STORES(name, parameters, ...) \
    CUresult name parameters { return __VA_ARGS__, CUDA_SUCCESS; }

#define VS_SIM_PAGE_BYTES (UINT64_C(2) << 20)  /* physical granularity of device memory */
#define VS_SIM_SMALL_BYTES (UINT64_C(1) << 20) /* smaller requests share pages */
#define VS_SIM_UNIT_BYTES 512                  /* their granularity */
#define VS_SIM_KERNEL_BASE_NS 2000             /* duration of an empty kernel */

/* ---- process (drv_init.c) ---- */

extern struct vs_sim_spec vs_sim_spec; /* immutable once vs_sim_spec_read has returned */

/* vs_sim_spec_read: reads VRAMSCOPE_SIMULATE, once. Returns CUDA_ERROR_NO_DEVICE if it is invalid,
 * with a message on standard error; the spec is then that of the default device. For functions that
 * may be called before cuInit; afterwards it has been done. */
CUresult vs_sim_spec_read(void);

/* vs_sim_enter: returns CUDA_SUCCESS if the caller may use CUDA: initialised, not in the child of a
 * fork, not inside a host function. */
CUresult vs_sim_enter(void);

struct vs_sim_context;
struct vs_sim_range;
struct vs_sim_pool;
/* vs_sim_enter_context: vs_sim_enter, then stores the calling thread's context in *ctx*. Returns
 * CUDA_ERROR_INVALID_CONTEXT without one, CUDA_ERROR_CONTEXT_IS_DESTROYED for a destroyed one, or
 * its sticky error. */
CUresult vs_sim_enter_context(struct vs_sim_context **ctx);

/* Most exported functions are entered by a generated one (drv_api.c, drv_graph.c): they are defined as
 * <symbol>_entered after vs_sim_enter, as <symbol>_in after vs_sim_enter_context, perhaps with the
 * context before their parameters, as <symbol>_safe if no capture forbids them in addition
 * (vs_sim_safe), and as <symbol>_locked with the lock of graphs. Where such a
 * definition takes a structure of ours for a handle, the entry point has found it, or returned the
 * error of that handle. A pointer [static 1] is not NULL: else CUDA_ERROR_INVALID_VALUE. */
struct vs_sim_stream;
struct vs_sim_event;
struct vs_sim_device;
struct vs_sim_function;
struct vs_sim_image;
struct vs_sim_graph;
struct vs_sim_node;
struct vs_sim_graph_exec;
#define VS_ENTRY(symbol, parameters, variables, before, after, definition, call) CUresult definition;
#define VS_LOCKED VS_ENTRY
#include "generated/vs_sim_enter_table.h"
#undef VS_ENTRY
#undef VS_LOCKED

/* vs_sim_host_function_begin/end: called before and after a host function on this thread. */
void vs_sim_host_function_begin(void);
void vs_sim_host_function_end(void);


/* vs_sim_delay_us: waits *us* microseconds. */
void vs_sim_delay_us(unsigned us);
/* vs_sim_delay_until: returns at CLOCK_MONOTONIC *time_ns* or as soon after it as the machine
 * allows; sleeps if the wait is long enough. */
void vs_sim_delay_until(uint64_t time_ns);

/* ---- requested faults (drv_fault.c) ---- */

/* vs_sim_fault_alloc: called once by every allocating entry point, after its arguments were
 * checked. Returns CUDA_ERROR_OUT_OF_MEMORY if this allocation of *family* is to fail; sleeps if it
 * is to be slow. */
CUresult vs_sim_fault_alloc(enum vs_sim_family family);

/* ---- devices (drv_device.c) ---- */

struct vs_sim_device {
    int ordinal;
    int physical; /* number among the simulated devices: UUID and bus number, immutable */
    struct vs_sim_context *primary; /* immutable after cuInit */
    pthread_mutex_t mu;             /* guards the next three */
    unsigned primary_refs;
    unsigned primary_flags;
    struct vs_sim_pool *default_pool, *current_pool;
    atomic_uint_least64_t kernel_ns, transfer_ns; /* simulated time of its work so far */
};

extern struct vs_sim_device vs_sim_devices[VS_SIM_DEVICES_MAX];

/* vs_sim_device_find: NULL if *dev* is not a device ordinal. */
struct vs_sim_device *vs_sim_device_find(CUdevice dev);
/* vs_sim_enter_device: vs_sim_enter, then *dev*'s device, or CUDA_ERROR_INVALID_DEVICE. */
CUresult vs_sim_enter_device(CUdevice dev, struct vs_sim_device **device);
/* vs_sim_device_shared_attribute: an attribute with the same value on all simulated devices. */
int vs_sim_device_shared_attribute(CUdevice_attribute attribute);

#define VS_SIM_UNSEEN (-2) /* not an ordinal, nor host memory */
/* vs_sim_device_seen: the ordinal of the device with the physical number *physical*, or
 * VS_SIM_UNSEEN if CUDA_VISIBLE_DEVICES hides it. */
int vs_sim_device_seen(int physical);
/* vs_sim_device_uuid: of the device with the physical number *physical* (drv_visible.c). */
void vs_sim_device_uuid(int physical, CUuuid *uuid);
/* vs_sim_visible: the devices, of *count*, that CUDA_VISIBLE_DEVICES selects, in its order; *list*
 * is its value (NULL: not set). Returns their number. */
unsigned vs_sim_visible(const char *list, unsigned count, int physical[VS_SIM_DEVICES_MAX]);

/* ---- contexts (drv_context.c) ---- */

#define VS_SIM_CONTEXT_MARK 0x76734358u
#define VS_SIM_LIMITS 8

struct vs_sim_stream;

struct vs_sim_context {
    uint32_t mark;                /* VS_SIM_CONTEXT_MARK, immutable */
    uint32_t id;                  /* unique in the process, immutable */
    struct vs_sim_device *device; /* immutable */
    bool primary;                 /* immutable */
    atomic_bool alive;
    atomic_uint epoch; /* counts destructions: handles of an earlier use are stale */
    atomic_int fault;  /* sticky CUresult */
    unsigned flags;
    size_t limits[VS_SIM_LIMITS];  /* guarded by submit_mu */
    CUfunc_cache cache_config;     /* guarded by submit_mu */
    pthread_mutex_t submit_mu;     /* orders submissions; guards the stream list */
    struct vs_sim_stream *streams; /* every stream with work or a handle */
    struct vs_sim_stream *legacy;  /* immutable while alive */
    struct vs_sim_stream *side;    /* of cuCtxRecordEvent; NULL before it; submit_mu */
    uint64_t side_wait;            /* number in it that all work waits for; submit_mu */
    atomic_uint attached;          /* by cuCtxAttach, and not detached */
    atomic_uint images;            /* libraries loaded in it, such as those of the runtime */
    atomic_uint_least64_t code;    /* bytes of modules, beside the context's own */
    struct vs_sim_context *next;   /* all contexts ever created, newest first */
    struct vs_sim_check_context *check; /* the checker's */
};

/* vs_sim_context_current: the calling thread's context, or NULL. */
struct vs_sim_context *vs_sim_context_current(void);
/* vs_sim_context_load: a module takes *bytes* in *ctx*, whole pages, until vs_sim_context_unload or its
 * end. false: the device has not so many free bytes. Any lock but the memory's may be held. */
bool vs_sim_context_load(struct vs_sim_context *ctx, uint64_t bytes);
void vs_sim_context_unload(struct vs_sim_context *ctx, uint64_t bytes);
/* vs_sim_context_image: the bytes that one more library with code takes in *ctx*. */
uint64_t vs_sim_context_image(struct vs_sim_context *ctx);
/* vs_sim_contexts_on: number of live contexts on a device. */
unsigned vs_sim_contexts_on(int device);
/* vs_sim_context_of: checks a handle. NULL if it is not a context of ours. */
struct vs_sim_context *vs_sim_context_of(CUcontext handle);
/* vs_sim_context_given: the live context of *handle*, or for NULL the current one. */
CUresult vs_sim_context_given(CUcontext handle, struct vs_sim_context **ctx);
/* vs_sim_context_fail: makes *error* sticky; the first error stays. */
void vs_sim_context_fail(struct vs_sim_context *ctx, CUresult error);
/* vs_sim_context_sync: waits for everything submitted to *ctx* so far. Returns its sticky error. */
CUresult vs_sim_context_sync(struct vs_sim_context *ctx);
/* vs_sim_device_fail: vs_sim_context_fail for every context of *device*. */
void vs_sim_device_fail(struct vs_sim_device *device, CUresult error);
/* vs_sim_fault_kernel: counts a kernel that is about to run on *device*. Returns true if the device
 * is lost instead; its contexts have failed then (drv_fault.c). */
bool vs_sim_fault_kernel(struct vs_sim_device *device);
/* vs_sim_fault_context: the error of creating a context on *device*, or CUDA_SUCCESS. */
CUresult vs_sim_fault_context(const struct vs_sim_device *device);
/* vs_sim_peers_sync: vs_sim_context_sync of the contexts that may access the memory
 * of *owner* as peers (drv_peer.c). */
CUresult vs_sim_peers_sync(struct vs_sim_context *owner);
/* vs_sim_context_new: a context that is not alive yet. */
struct vs_sim_context *vs_sim_context_new(struct vs_sim_device *device, bool primary);

/* ---- kernels (drv_module.c) ---- */

#define VS_SIM_ARGS_MAX 64
#define VS_SIM_ARG_BYTES_MAX 32764 /* total argument bytes of a kernel */

struct vs_sim_host_kernel { /* one vramscope_sim_register call; never freed */
    vramscope_sim_kernel fn;
    unsigned arg_count;
    size_t arg_total;                 /* bytes of the packed copy */
    uint32_t offset[VS_SIM_ARGS_MAX]; /* in the packed copy, 16-aligned */
    uint32_t bytes[VS_SIM_ARGS_MAX];
    atomic_uint_least64_t ns_per_block; /* smoothed, 0 before the first launch */
    atomic_bool declares;               /* it has declared an access */
};

struct vs_sim_image_arch { /* compute capability times 10 */
    unsigned binary; /* of the machine code that runs */
    unsigned ptx;    /* of the PTX that it was compiled from */
};

/* vs_sim_image_examine: the architecture of the code in *image* that the device runs; the device's
 * own if *image* is no device code of a known kind. CUDA_ERROR_NO_BINARY_FOR_GPU or
 * CUDA_ERROR_INVALID_PTX if the device cannot run the code (drv_image.c). */
CUresult vs_sim_image_examine(const void *image, struct vs_sim_image_arch *arch);
/* vs_sim_image_taken: the device memory that a stand-in library's image asks for; 0 for other images. */
uint64_t vs_sim_image_taken(const void *image);
/* vs_sim_image_read: the content of a file, followed by zero bytes; malloc'ed. NULL: it cannot be
 * read. */
char *vs_sim_image_read(const char *path);

/* The target of CUfunction and CUkernel; never freed. */
struct vs_sim_function {
    uint32_t mark;  /* VS_SIM_FUNCTION_MARK */
    bool is_kernel; /* CUkernel: belongs to no context */
    const char *name;
    void *owner;                               /* struct vs_sim_module or vs_sim_library */
    _Atomic(struct vs_sim_host_kernel *) host; /* as of host_generation */
    atomic_uint host_generation;
    atomic_int dynamic_shared_max, carveout;
    atomic_int cluster[3]; /* required; all 0: none */
    atomic_int nonportable_cluster, cluster_scheduling;
    struct vs_sim_image_arch arch; /* of its image */
    struct vs_sim_function *next;
};
#define VS_SIM_FUNCTION_MARK 0x7673464eu

/* vs_sim_ptx_entries: the names of the kernels of an *image* that is PTX text, each ended by a zero
 * byte, an empty one last; malloc'ed. NULL if it is something else (drv_ptx.c). */
char *vs_sim_ptx_entries(const void *image);
/* vs_sim_ptx_text: the .version of a PTX text; NULL if *image* is device code of another kind, which may
 * contain no zero byte. */
const char *vs_sim_ptx_text(const void *image);
/* vs_sim_ptx_variable: the name of the first variable of the module at or after **p*, which is advanced
 * past it; NULL: none. One without a known size counts as none. */
const char *vs_sim_ptx_variable(const char **p, size_t *length, size_t *bytes);
/* vs_sim_image_text: the PTX in an image: all of it, or that behind the header of a stand-in's; NULL: none. */
const char *vs_sim_image_text(const void *image);
/* vs_sim_ptx_target: stores the compute capability times 10 that a PTX text was made for, if *image*
 * is one and names it. Returns false if the device, likewise times 10, is too old for it. */
bool vs_sim_ptx_target(const void *image, unsigned device, unsigned *arch);
/* vs_sim_ptx_has: is *name* among *entries*? */
bool vs_sim_ptx_has(const char *entries, const char *name);

/* vs_sim_module_of, vs_sim_library_of: check a handle. */
CUresult vs_sim_module_of(CUmodule handle, struct vs_sim_image **image);
CUresult vs_sim_library_of(CUlibrary handle, struct vs_sim_image **image);
/* vs_sim_function_of: checks a handle. NULL if it is not one of ours. */
struct vs_sim_function *vs_sim_function_of(const void *handle);
/* vs_sim_library_function: the kernel called *name* of the stand-in libraries, which is in no module
 * of the program and lives as long as the process; NULL without a name (drv_module.c). */
struct vs_sim_function *vs_sim_library_function(const char *name);
/* vs_sim_blocks_per_sm: number of blocks of *threads* and *shared* bytes of dynamic shared memory
 * that run on a multiprocessor at the same time (drv_function.c). */
int vs_sim_blocks_per_sm(int threads, size_t shared);
/* vs_sim_function_host: its host function, or NULL. Any thread. */
struct vs_sim_host_kernel *vs_sim_function_host(struct vs_sim_function *function);

struct vs_sim_launch_op;
/* vs_sim_device_clusters: does the device have thread block clusters (drv_cluster.c)? */
bool vs_sim_device_clusters(void);
/* vs_sim_cluster_fits: CUDA_ERROR_INVALID_CLUSTER_SIZE if the launch's clusters do not divide its
 * grid, are too large, or differ from those that the function requires. */
CUresult vs_sim_cluster_fits(const struct vs_sim_launch_op *op);
/* vs_sim_launch_describe: fills *op* from the arguments of cuLaunchKernel, copying the kernel's
 * arguments (drv_launch.c). */
CUresult vs_sim_launch_describe(struct vs_sim_launch_op *op, struct vs_sim_function *function,
                                const unsigned grid[3], const unsigned block[3], unsigned shared,
                                void **params, void **extra);
/* vs_sim_launch_timed: launches *function* with *grid* blocks of *threads* in the calling thread's
 * context; without a host function, whose arguments are *params*, it takes *ns*. *only_time*: its
 * results are those of other work. Returns as cuLaunchKernel does (drv_launch.c). */
CUresult vs_sim_launch_timed(struct vs_sim_function *function, unsigned grid, unsigned threads,
                             CUstream stream, void **params, uint64_t ns, bool only_time);
/* vs_sim_launch_fits: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE for a cooperative launch whose blocks
 * cannot all run at the same time, or the error of vs_sim_cluster_fits. */
CUresult vs_sim_launch_fits(const struct vs_sim_launch_op *op);

/* ---- device variables of host functions (drv_variable.c) ---- */

struct vs_sim_host_variable { /* one vramscope_sim_register_variable call; never freed */
    struct vs_sim_host_variable *next;   /* in all, immutable */
    struct vs_sim_host_variable *active; /* the following members: guarded by running_mu */
    char *name;
    char *host;    /* used by kernels; NULL: they may not change it */
    char *initial; /* its content at registration, immutable */
    char *before;  /* as brought in */
    char *device;
    size_t bytes;
};

/* vs_sim_host_variable_next: the variable registered before *v*; the newest for NULL. */
struct vs_sim_host_variable *vs_sim_host_variable_next(struct vs_sim_host_variable *v);
/* vs_sim_host_variable_find: the newest variable called *name*, or NULL. */
struct vs_sim_host_variable *vs_sim_host_variable_find(const char *name);
/* vs_sim_function_variables: ensures that the registered variables of *function*'s image exist for
 * *ctx*, and calls *each* (may be NULL) with them. CUDA_ERROR_OUT_OF_MEMORY (drv_module.c). */
CUresult vs_sim_function_variables(struct vs_sim_function *function, struct vs_sim_context *ctx,
                                   void (*each)(struct vs_sim_host_variable *v, uintptr_t device,
                                                void *data),
                                   void *data);
/* vs_sim_variables_enter: *function*'s host variables have the content of the device's until
 * vs_sim_variables_leave. Returns false if it has none; leave must not be called then. */
bool vs_sim_variables_enter(struct vs_sim_function *function, struct vs_sim_context *ctx);
void vs_sim_variables_leave(void);

/* vs_sim_kernel_run: runs the host function of the kernel *work* on this thread and, if there is
 * enough work, on the shared workers. Returns when all is done (drv_workers.c). */
void vs_sim_kernel_run(struct vs_sim_context *ctx, struct vs_sim_op *work);

/* ---- the work of streams (drv_engine.c, drv_exec.c) ---- */

enum vs_sim_op_kind {
    VS_SIM_OP_NOTHING, /* a position in the order: waits, frees */
    VS_SIM_OP_WAIT_SHARED, /* for a record of another process */
    VS_SIM_OP_KERNEL,
    VS_SIM_OP_COPY,
    VS_SIM_OP_SET,
    VS_SIM_OP_RECORD,
    VS_SIM_OP_HOST,
    VS_SIM_OP_CALLBACK,
    VS_SIM_OP_MAP, /* a graph's allocation begins or ends */
    VS_SIM_OP_UNMAP,
    VS_SIM_OP_MOVE,  /* of managed memory */
    VS_SIM_OP_VALUES, /* written, or waited for */
};

struct vs_sim_end { /* one end of a copy */
    uintptr_t base;
    size_t pitch, slice; /* bytes from row to row, from plane to plane */
    uint64_t id;         /* of the range that must still contain it; 0: not checked */
    size_t mapped_bytes; /* of cuMemMap memory, perhaps in several mappings; else 0 */
    struct vs_sim_pool *pool; /* of stream-ordered memory, which has no id; else NULL */
    CUarray array;            /* ARRAY: its handle, and the position in it: bytes, rows, planes */
    size_t at[3];
    enum vs_sim_memory_kind memory;
    int device;
};

static inline bool vs_sim_on_host(const struct vs_sim_end *end)
{
    return end->memory == VS_SIM_MEMORY_PAGEABLE || end->memory == VS_SIM_MEMORY_PINNED;
}

struct vs_sim_copy {
    struct vs_sim_end from, to;
    size_t width, height, depth; /* bytes, rows, planes */
    void *staged;                /* malloc'ed copy of a pageable source, freed after use */
    bool async;                  /* as called, for the activity record */
};

struct vs_sim_set {
    struct vs_sim_end to;
    size_t width, height; /* elements, rows */
    uint32_t value;
    uint8_t element; /* 1, 2 or 4 bytes */
    bool async;
};

struct vs_sim_value { /* a stream memory operation */
    struct vs_sim_end at;
    uint64_t value;
    unsigned bytes;     /* 4 or 8; 0: a barrier, which does nothing */
    unsigned condition; /* CUstreamWaitValue_flags */
    bool write;
    CUstreamBatchMemOpParams params; /* as given */
};

struct vs_sim_values { /* a batch of them */
    struct vs_sim_value *list; /* malloc'ed, NULL when there are none */
    unsigned count;
};

struct vs_sim_managed_span { /* part of an allocation, as a queued move refers to it */
    uintptr_t base;          /* of the allocation */
    uint64_t id;
    size_t offset, bytes;
    int place; /* vs_sim_managed.h */
};

#define VS_SIM_OP_ARGS 320 /* bytes of arguments stored in the op itself */

struct vs_sim_attributes { /* of launches, kernel nodes and streams (drv_attribute.c) */
    CUaccessPolicyWindow window;
    CUsynchronizationPolicy sync_policy; /* streams only */
    CUclusterSchedulingPolicy scheduling;
    CUlaunchMemSyncDomainMap domains;
    CUlaunchMemSyncDomain domain;
    int priority;
    unsigned carveout, nvlink;
    unsigned cluster[3], preferred_cluster[3]; /* blocks; all 0: none */
    bool cooperative; /* the host function gets all blocks in one call */
};

/* vs_sim_attributes_default: the attributes of a stream of this priority. */
struct vs_sim_attributes vs_sim_attributes_default(int priority);
/* vs_sim_attribute_of_launch: sets one attribute, with the errors of cuLaunchKernelEx. */
CUresult vs_sim_attribute_of_launch(struct vs_sim_attributes *attributes,
                                    const CUlaunchAttribute *given);

struct vs_sim_launch_op {
    struct vs_sim_function *function;
    struct vs_sim_host_kernel *host; /* NULL: simulated time only */
    bool only_time;                  /* likewise, and its results are those of other work */
    uint64_t model_ns;               /* duration without a host function; 0: by grid size */
    unsigned grid[3], block[3], shared_bytes;
    struct vs_sim_attributes attributes;
    char *args; /* packed; args_inline or malloc'ed */
    _Alignas(16) char args_inline[VS_SIM_OP_ARGS];
};

struct vs_sim_event;
struct vs_sim_block;
struct vs_sim_ipc_slot;

struct vs_sim_dep {
    struct vs_sim_stream *stream;
    uint64_t seq;
};

#define VS_SIM_DEPS_INLINE 4

struct vs_sim_op {
    struct vs_sim_op *next;
    enum vs_sim_op_kind kind;
    uint64_t seq, submit_ns;
    uint32_t correlation;
    uint32_t graph;      /* id of the launched graph, 0: none */
    uint64_t graph_node; /* id of its node */
    uint32_t dep_count, dep_max;
    struct vs_sim_dep deps_inline[VS_SIM_DEPS_INLINE];
    struct vs_sim_dep *deps; /* deps_inline or malloc'ed */
    struct vs_sim_check_op *check; /* NULL when nothing is checked */
    uint32_t check_made;           /* of a graph's node: the stack that created it */
    bool moved;                    /* COPY, SET: the bytes are there (drv_ahead.c) */
    union {
        struct vs_sim_launch_op launch;
        struct vs_sim_copy copy;
        struct vs_sim_set set;
        struct {
            struct vs_sim_event *event;
            uint64_t generation;
            struct vs_sim_ipc_slot *shared; /* of an interprocess event, else NULL */
            uint64_t shared_record;
        } record;
        struct {
            struct vs_sim_ipc_slot *slot;
            uint64_t record;
        } wait_shared;
        struct {
            CUhostFn fn;
            void *data;
        } host;
        struct {
            CUstreamCallback fn;
            void *data;
        } callback;
        struct vs_sim_block *block; /* MAP, UNMAP */
        struct vs_sim_managed_span move;
        struct vs_sim_values values;
    } u;
};

#define VS_SIM_FOLLOWS_MAX 16

/* The waits of a stream: its later work comes after number *seq* of each *stream*. One entry per
 * stream; the oldest are dropped, which is safe. */
struct vs_sim_follows {
    unsigned count, next;
    struct vs_sim_dep at[VS_SIM_FOLLOWS_MAX];
};

#define VS_SIM_STREAM_MARK 0x76735354u
#define VS_SIM_STREAM_GONE 0x7673474eu

struct vs_sim_stream {
    atomic_uint mark; /* STREAM_MARK; GONE after cuStreamDestroy */
    uint32_t id;      /* unique in the process; new at each reuse */
    struct vs_sim_context *ctx;
    unsigned epoch; /* of ctx when created */
    unsigned flags;
    int priority;
    bool legacy, per_thread;
    struct vs_sim_attributes attributes; /* guarded by ctx->submit_mu */
    struct vs_sim_stream *next; /* in ctx->streams */
    _Atomic(struct vs_sim_part *) capture; /* its part in a capture, or NULL (drv_capture.c) */
    uint64_t legacy_seen;       /* newest legacy work this stream waits for; submit_mu */
    uint64_t seen_by_legacy;    /* newest own work the legacy stream waits for; submit_mu */
    uint64_t side_seen;         /* newest of ctx->side_wait this stream waits for; submit_mu */

    pthread_mutex_t mu;
    pthread_cond_t work, done;
    struct vs_sim_op *head, *tail, *unused;     /* guarded by mu */
    bool thread_started, sleeping, dying;       /* guarded by mu */
    struct vs_sim_follows follows;              /* guarded by mu */
    atomic_uint_least64_t submitted, completed; /* submitted is written under mu */
    atomic_uint_least64_t wake_at;              /* smallest number waited for; UINT64_MAX: none */
    atomic_uint_least64_t effect; /* newest that still changes memory (drv_ahead.c); under mu */

    struct vs_sim_lane *check; /* the checker's */
    /* simulated end of the newest completed work; used by the executing thread */
    uint64_t last_end_ns;
    uint64_t random;      /* jitter; used by the executing thread */
};

/* vs_sim_stream_new: creates a stream of *ctx*, in its list. */
struct vs_sim_stream *vs_sim_stream_new(struct vs_sim_context *ctx, unsigned flags, int priority);
/* vs_sim_stream_close: no more work will be submitted; the stream becomes unused when its work is
 * done. */
void vs_sim_stream_close(struct vs_sim_stream *stream);
/* vs_sim_stream_of: the stream of *handle* in *ctx*; 0 is the legacy default stream, or what
 * vs_sim_default_stream set. CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED. */
CUresult vs_sim_stream_of(struct vs_sim_context *ctx, CUstream handle,
                          struct vs_sim_stream **stream);
/* vs_sim_default_stream: stream 0 of the calling thread is *stream* until the next call; returns
 * what it was. */
CUstream vs_sim_default_stream(CUstream stream);
/* vs_sim_enter_stream: vs_sim_enter_context, then vs_sim_stream_of. */
CUresult vs_sim_enter_stream(CUstream handle, struct vs_sim_stream **stream);

/* vs_sim_follow: work submitted to *stream* from now on comes after number *seq* of *on*, and after
 * *more* (may be NULL), the waits of *on* itself. */
void vs_sim_follow(struct vs_sim_stream *stream, struct vs_sim_stream *on, uint64_t seq,
                   const struct vs_sim_follows *more);
/* vs_sim_followed: the current waits of *stream*. */
void vs_sim_followed(struct vs_sim_stream *stream, struct vs_sim_follows *follows);

/* vs_sim_op_new: an empty op for *stream*; may wait until the stream's queue has room. Must be passed
 * to submit, run_now or drop. */
struct vs_sim_op *vs_sim_op_new(struct vs_sim_stream *stream, enum vs_sim_op_kind kind);
void vs_sim_op_drop(struct vs_sim_stream *stream, struct vs_sim_op *op);
/* vs_sim_op_new_at_once: the same, without waiting for room. */
struct vs_sim_op *vs_sim_op_new_at_once(struct vs_sim_stream *stream, enum vs_sim_op_kind kind);
/* vs_sim_op_copy: makes *to* do the same work as *from*, with memory of its own, which
 * vs_sim_op_clean frees. */
void vs_sim_op_copy(struct vs_sim_op *to, const struct vs_sim_op *from);
void vs_sim_op_clean(struct vs_sim_op *op);
/* vs_sim_op_depend: *op* waits until *on* has completed number *seq*. */
void vs_sim_op_depend(struct vs_sim_op *op, struct vs_sim_stream *on, uint64_t seq);
/* vs_sim_submit: queues *op*; stores its number in *seq* (may be NULL). Returns the errors of a
 * capture, which has taken the op then; CUDA_ERROR_OUT_OF_MEMORY where no thread may start: the op is
 * dropped. */
CUresult vs_sim_submit(struct vs_sim_stream *stream, struct vs_sim_op *op, uint64_t *seq);
/* vs_sim_run_now: queues *op* and returns after it has run; runs it on this thread if the stream
 * has no other work. */
CUresult vs_sim_run_now(struct vs_sim_stream *stream, struct vs_sim_op *op);
/* vs_sim_wait: returns when *stream* has completed number *seq*. */
void vs_sim_wait(struct vs_sim_stream *stream, uint64_t seq);
/* vs_sim_stream_sync: waits for everything submitted to *stream* so far; for the legacy stream also
 * for everything in the streams that wait for it. */
void vs_sim_stream_sync(struct vs_sim_stream *stream);
/* vs_sim_stream_idle: would vs_sim_stream_sync return immediately? */
bool vs_sim_stream_idle(struct vs_sim_stream *stream);

/* vs_sim_exec: runs *op*, waits for the end of its simulated duration, and reports it; *waited*: it
 * waited for a dependency. Called by the thread whose turn it is. */
void vs_sim_exec(struct vs_sim_stream *stream, struct vs_sim_op *op, bool waited);

/* vs_sim_transfer_copy, vs_sim_transfer_set: move or write the bytes, as far as the spec's data=
 * allows, else leave zeroes (drv_transfer.c). The ends must be held. */
void vs_sim_transfer_copy(const struct vs_sim_copy *copy);
void vs_sim_transfer_set(const struct vs_sim_set *set);
/* vs_sim_exec_data: moves the bytes of a copy or a memset. Returns false if the memory is gone. */
bool vs_sim_exec_data(const struct vs_sim_op *op);

/* ---- data at submission (drv_ahead.c) ---- */

extern atomic_bool vs_sim_ahead; /* copies and memsets move their bytes when they are submitted */
/* vs_sim_move_ahead: moves the bytes of *op*, which is about to be submitted to *stream*, unless
 * something before it in stream order still has to change memory. Called without locks. */
void vs_sim_move_ahead(struct vs_sim_stream *stream, struct vs_sim_op *op);
/* vs_sim_has_effect: will *op*, with all its dependencies, change memory or wait for something that
 * does? */
bool vs_sim_has_effect(const struct vs_sim_op *op);

/* vs_sim_answer_take: the answer for a copy of *bytes* bytes to the host by this thread goes to
 * *content*, malloc'ed; unchanged if there is none (drv_answer.c). */
void vs_sim_answer_take(size_t bytes, void **content);

/* ---- values that were not computed (drv_uncomputed.c) ---- */

/* What was read; the values are those of a trace (trace/format/event.h). */
enum vs_sim_uncomputed { VS_SIM_COPIED, VS_SIM_DECIDED, VS_SIM_MANAGED };
/* Called for each read: the device (-1: not known), its bytes, and the latest kernel that was not
 * computed, or what a value decided. On the thread that reads, without locks. Returns false for a read
 * of the recording library's own. */
typedef bool vramscope_sim_read_fn(int what, int device, uint64_t bytes, const char *text);
/* Stores the allocation that *address* lies in, if it is part of a cached segment. */
typedef bool vramscope_sim_block_fn(uint64_t address, uint64_t *base, uint64_t *bytes);
/* vs_sim_uncomputed_submitted: *op* is about to be submitted. Called without locks. */
void vs_sim_uncomputed_submitted(const struct vs_sim_op *op);
/* vs_sim_uncomputed_range: memory was allocated, or freed. */
struct vs_sim_range;
void vs_sim_uncomputed_range(const struct vs_sim_range *range, bool freed);
/* vs_sim_uncomputed_waited: the host has waited for work, and may now read managed memory. */
void vs_sim_uncomputed_waited(void);

struct vs_sim_hold { /* on one end */
    atomic_uint *pins;
    bool mapped;
};

/* vs_sim_end_hold: until vs_sim_end_release, *end* may be read, or written (*write*); a removal of
 * its memory waits. The rules of vs_sim_range_pin. Returns false if the memory is gone; let_go must
 * not be called then. */
bool vs_sim_end_hold(const struct vs_sim_end *end, bool write, struct vs_sim_hold *hold);
void vs_sim_end_release(const struct vs_sim_hold *hold);
/* vs_sim_values_describe: fills *values* from the arguments of cuStreamBatchMemOp, with its errors. */
CUresult vs_sim_values_describe(const CUstreamBatchMemOpParams *params, unsigned count,
                                unsigned flags, struct vs_sim_values *values);
/* vs_sim_values_run: runs stream memory operations; a wait returns when the value is present or
 * *ctx* has failed. Returns false if the memory is gone. */
bool vs_sim_values_run(struct vs_sim_context *ctx, const struct vs_sim_values *values);

/* ---- events (drv_event.c) ---- */

/* vs_sim_event_reached: an engine reached the record with the number *generation* at *time_ns*. */
void vs_sim_event_reached(struct vs_sim_event *event, uint64_t generation, uint64_t time_ns);
/* vs_sim_event_of: checks a handle. CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED. */
CUresult vs_sim_event_of(CUevent handle, struct vs_sim_event **event);
struct vs_sim_context *vs_sim_event_context(const struct vs_sim_event *event);
/* vs_sim_event_captured: the event was last recorded in a capture, which is invalidated. */
bool vs_sim_event_captured(const struct vs_sim_event *event);
/* vs_sim_event_submit: records *event* by *op* (new, for *stream*, dependencies set), which it
 * consumes; stores the number of the record in *seq*. */
CUresult vs_sim_event_submit(struct vs_sim_event *event, struct vs_sim_stream *stream,
                             struct vs_sim_op *op, uint64_t *seq);
/* vs_sim_event_depend: *op*, which has no other work, waits for the newest record of *event*, if
 * any. */
void vs_sim_event_depend(struct vs_sim_event *event, struct vs_sim_op *op);

/* ---- stream capture (drv_capture.c) ---- */

extern atomic_uint vs_sim_captures; /* in progress, invalidated ones included */

static inline bool vs_sim_capturing(void)
{
    return atomic_load_explicit(&vs_sim_captures, memory_order_relaxed) != 0;
}

/* vs_sim_capture_forbids: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED when a capture
 * prohibits potentially unsafe calls to this thread (cuda.h,
 * cuThreadExchangeStreamCaptureMode); that capture is then invalidated. */
CUresult vs_sim_capture_forbids(void);
/* vs_sim_capture_refuse: for a use of *stream* that cannot be captured. Returns CUDA_SUCCESS if the
 * stream is not capturing; else the error, after invalidating the capture. */
CUresult vs_sim_capture_refuse(struct vs_sim_stream *stream);
/* vs_sim_capture_refuse_context: the same for all streams of *ctx*. */
CUresult vs_sim_capture_refuse_context(struct vs_sim_context *ctx);
/* vs_sim_capture_take: if *stream* is capturing, *op* becomes a node and is dropped, and *taken* is
 * set; likewise if its use is an error. */
CUresult vs_sim_capture_take(struct vs_sim_stream *stream, struct vs_sim_op *op, bool *taken);
/* vs_sim_capture_leave: *stream* is being destroyed. */
void vs_sim_capture_leave(struct vs_sim_stream *stream);

static inline CUresult vs_sim_safe(void)
{
    return vs_sim_capturing() ? vs_sim_capture_forbids() : CUDA_SUCCESS;
}
static inline CUresult vs_sim_not_capturing(struct vs_sim_stream *stream)
{
    return vs_sim_capturing() ? vs_sim_capture_refuse(stream) : CUDA_SUCCESS;
}

struct vs_sim_nodes { /* a list of graph nodes */
    struct vs_sim_node **at;
    CUgraphEdgeData *edges; /* to or from each; NULL in a list of the program's: all 0 */
    size_t count, max;
};

struct vs_sim_capture_mark { /* the position in a capture where an event was recorded */
    atomic_uint_least64_t capture; /* its id; 0: not in one */
    struct vs_sim_nodes nodes;
};

/* vs_sim_capture_record: if *stream* is capturing (*taken*), *mark* receives the dependencies of a
 * wait for the event. */
CUresult vs_sim_capture_record(struct vs_sim_stream *stream, struct vs_sim_capture_mark *mark,
                               bool *taken);
/* vs_sim_capture_wait: *stream* waits for *mark*, if either is in a capture (*taken*); a stream
 * outside joins the capture. */
CUresult vs_sim_capture_wait(struct vs_sim_stream *stream, const struct vs_sim_capture_mark *mark,
                             bool *taken);
/* vs_sim_capture_event: adds a node that records *event* or waits for it
 * (CU_EVENT_RECORD_EXTERNAL); CUDA_ERROR_INVALID_VALUE outside of captures. */
CUresult vs_sim_capture_event(struct vs_sim_stream *stream, CUevent event, bool record);
/* vs_sim_capture_query: CUDA_ERROR_CAPTURED_EVENT if *mark* is in a capture, which it
 * invalidates. */
CUresult vs_sim_capture_query(const struct vs_sim_capture_mark *mark);
/* vs_sim_capture_alloc, vs_sim_capture_free: cuMemAllocAsync and cuMemFreeAsync in *stream*, if it
 * is capturing (*taken*). */
CUresult vs_sim_capture_alloc(struct vs_sim_stream *stream, int device, size_t bytes,
                              CUdeviceptr *address, bool *taken);
CUresult vs_sim_capture_free(struct vs_sim_stream *stream, CUdeviceptr address, bool *taken);

/* ---- graphs (drv_graph_memory.c) ---- */

/* vs_sim_block_free: frees the block of a launched graph's allocation node at *address*: in the
 * order of *stream*, or, if NULL, immediately. INVALID_VALUE if there is none. */
CUresult vs_sim_block_free(uintptr_t address, struct vs_sim_stream *stream);
/* vs_sim_block_where: its range, which never changes. */
void vs_sim_block_where(const struct vs_sim_block *block, uintptr_t *base, uint64_t *range_id);
/* vs_sim_block_map, vs_sim_block_unmap: run a MAP or UNMAP op. */
void vs_sim_block_map(struct vs_sim_block *block);
void vs_sim_block_unmap(struct vs_sim_block *block);
/* vs_sim_block_drop: the context that owned the range at *address* was destroyed. */
void vs_sim_block_drop(uintptr_t address);

/* ---- copies (drv_copy.c) ---- */

/* vs_sim_end_device: fills *end* for device memory at *address*, *bytes* long.
 * CUDA_ERROR_INVALID_VALUE if it is not CUDA memory. */
CUresult vs_sim_end_device(uintptr_t address, size_t bytes, struct vs_sim_end *end);
/* vs_sim_end_any: the same, but unknown addresses are pageable host memory. */
CUresult vs_sim_end_any(uintptr_t address, size_t bytes, struct vs_sim_end *end);
/* vs_sim_copy_describe: fills *copy* from *params*, with the errors of cuMemcpy3D. */
CUresult vs_sim_copy_describe(const CUDA_MEMCPY3D *params, struct vs_sim_copy *copy);
/* vs_sim_set_describe: fills *set*; the errors of cuMemsetD2D32. */
CUresult vs_sim_set_describe(const CUDA_MEMSET_NODE_PARAMS *params, struct vs_sim_set *set);
/* vs_sim_copy_submit: runs *copy* in *stream* with the synchronous behaviour that cuda.h documents
 * for its kinds of memory (async: the Async functions). */
CUresult vs_sim_copy_submit(struct vs_sim_context *ctx, struct vs_sim_stream *stream,
                            struct vs_sim_copy *copy, bool async);

/* ---- observation (drv_activity.c, drv_api.c) ---- */

extern atomic_uint vs_sim_wanted; /* VS_SIM_WANT bits */

static inline bool vs_sim_wants(unsigned bit)
{
    return atomic_load_explicit(&vs_sim_wanted, memory_order_relaxed) & bit;
}

/* vs_sim_log_begin: opens the file of VRAMSCOPE_SIMULATE_WORK, at initialisation. */
void vs_sim_log_begin(void);
/* vs_sim_report: passes *activity* to the observer if it requested this kind. */
void vs_sim_report(const struct vs_sim_activity *activity);
/* vs_sim_waited: what follows every wait of the host: *stream* or *event*: the number of what it waited for,
 * else 0, since *begin*. */
void vs_sim_waited(const struct vs_sim_context *ctx, enum vs_sim_sync_kind kind, uint32_t stream, uint32_t event,
                   uint64_t begin);
void vs_sim_report_resource(enum vs_sim_resource what, struct vs_sim_context *ctx,
                            struct vs_sim_stream *stream);
/* vs_sim_report_memory: *range* was allocated, or is released. Called by the registry of ranges for
 * every kind; ranges without an allocating call are left out. */
void vs_sim_report_memory(const struct vs_sim_range *range, bool release);
/* vs_sim_memory_in: the next memory report on this thread is in *stream*'s order. */
void vs_sim_memory_in(const struct vs_sim_stream *stream);
/* vs_sim_report_pool: reports a pool event. *keep*: of a trim. No pool lock may be held. */
void vs_sim_report_pool(enum vs_sim_pool_event event, struct vs_sim_pool *pool, uint64_t keep);
/* vs_sim_pool_of: checks a handle (drv_pool.c). */
CUresult vs_sim_pool_of(CUmemoryPool handle, struct vs_sim_pool **pool);
/* vs_sim_pool_state: the current state (drv_pool_memory.c). */
struct vs_sim_pool_state vs_sim_pool_state(struct vs_sim_pool *pool);

/* vs_sim_correlate: the correlation number of work that this thread submits: that of the observed
 * call, or outside one a fresh number, announced to the observer. 0 if the observer did not request
 * activity of *kind*. */
uint32_t vs_sim_correlate(enum vs_sim_activity_kind kind);

/* vs_sim_call_current: the observed call that this thread is in, or NULL (drv_api.c). */
struct vs_sim_call *vs_sim_call_current(void);
/* vs_sim_report_call: reports entry or exit of *call* to the observer. */
void vs_sim_report_call(struct vs_sim_call *call, bool left);
/* vs_sim_correlation_new: a number not used before in this process, never 0. */
uint32_t vs_sim_correlation_new(void);

/* vs_sim_relax: one iteration of a loop that waits for another thread. */
static inline void vs_sim_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
