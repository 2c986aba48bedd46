/* SPDX-License-Identifier: Apache-2.0
 *
 * The private interface between the stand-in driver and the stand-in CUPTI: CUPTI finds
 * vramscopeSimObserve and vramscopeSimIdentify with dlsym on libcuda.so.1 and receives reports of
 * calls and executed work. Times are CLOCK_MONOTONIC nanoseconds; per stream, start never precedes
 * the previous end. */
#ifndef VS_SIM_ACTIVITY_H
#define VS_SIM_ACTIVITY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vs_sim_activity_kind {
    VS_SIM_ACTIVITY_KERNEL = 1,
    VS_SIM_ACTIVITY_COPY = 2,
    VS_SIM_ACTIVITY_SET = 3,
    VS_SIM_ACTIVITY_SYNC = 4,
    VS_SIM_ACTIVITY_MEMORY = 5, /* allocated or released; start_ns is the time */
    VS_SIM_ACTIVITY_POOL = 6,   /* created, destroyed or trimmed; likewise */
};

enum vs_sim_memory_kind { /* of either end of a copy, and of the target of a memset */
                          VS_SIM_MEMORY_PAGEABLE = 1,
                          VS_SIM_MEMORY_PINNED = 2,
                          VS_SIM_MEMORY_DEVICE = 3,
                          VS_SIM_MEMORY_MANAGED = 4,
                          VS_SIM_MEMORY_ARRAY = 5,
};

enum vs_sim_pool_event {
    VS_SIM_POOL_CREATED = 1,
    VS_SIM_POOL_DESTROYED = 2,
    VS_SIM_POOL_TRIMMED = 3,
};

struct vs_sim_pool_state {
    uint64_t handle; /* 0: no pool */
    uint64_t release_threshold, reserved, used;
};

enum vs_sim_sync_kind {
    VS_SIM_SYNC_EVENT = 1,
    VS_SIM_SYNC_STREAM_WAIT = 2,
    VS_SIM_SYNC_STREAM = 3,
    VS_SIM_SYNC_CONTEXT = 4,
};

struct vs_sim_activity {
    enum vs_sim_activity_kind kind;
    uint64_t submit_ns, start_ns, end_ns;
    uint32_t device, context, stream, correlation; /* stream 0: none */
    uint32_t graph;                                /* launched from this graph; 0: none */
    uint64_t graph_node;
    union {
        struct {
            const char *name; /* lives as long as the process */
            unsigned grid[3], block[3], shared_bytes;
            uint64_t serial; /* of launches in this process */
        } kernel;
        struct {
            uint64_t bytes;
            uint8_t from, to; /* enum vs_sim_memory_kind */
            uint8_t async;
            uint32_t from_device, to_device;
        } copy;
        struct {
            uint64_t bytes;
            uint32_t value;
            uint8_t memory;
            uint8_t async;
        } set;
        struct {
            enum vs_sim_sync_kind kind;
            uint32_t event; /* 0: no event */
        } sync;
        struct {
            uint64_t address, bytes;
            uint64_t caller; /* return address of the observed call; 0: none is observed */
            struct vs_sim_pool_state pool;
            uint8_t memory;       /* enum vs_sim_memory_kind */
            bool release, global; /* global: a module's variable */
        } memory;
        struct {
            enum vs_sim_pool_event event;
            struct vs_sim_pool_state state;
            uint64_t keep; /* TRIMMED: bytes to remain */
        } pool;
    } u;
};

enum vs_sim_resource {
    VS_SIM_CONTEXT_CREATED = 1,
    VS_SIM_CONTEXT_DESTROYING = 2,
    VS_SIM_STREAM_CREATED = 3,
    VS_SIM_STREAM_DESTROYING = 4,
};

/* ---- calls of API functions ---- */

enum vs_sim_domain {
    VS_SIM_DOMAIN_DRIVER = 1,
    VS_SIM_DOMAIN_RUNTIME = 2,
};

/* One observed call, on its thread's stack from entry to exit. Calls inside it are not observed
 * separately. */
struct vs_sim_call {
    enum vs_sim_domain domain;
    uint32_t cbid;    /* CUPTI's number of the function in this domain */
    const char *name; /* the exported name; lives as long as the process */
    const struct vs_thunk_args *args;
    uint64_t start_ns, end_ns;
    uint32_t correlation;   /* also of all work it submits */
    CUcontext context;      /* current at entry, and again at exit; or NULL */
    uint32_t context_id;    /* 0: none */
    int result;             /* valid at exit */
    bool inner;             /* inside an observed call: not reported */
    uint64_t observer_data; /* for the observer, from *entered* to *left* */
};

#define VS_SIM_WANT(kind) (1u << (kind)) /* kind: enum vs_sim_activity_kind */
#define VS_SIM_WANT_RESOURCES (1u << 16)
#define VS_SIM_WANT_DRIVER_CALLS (1u << 18)
#define VS_SIM_WANT_RUNTIME_CALLS (1u << 19)

struct vs_sim_observer {
    uint32_t bytes; /* sizeof this struct: both sides must be from the same build */
    /* *done* is called by the thread that ran the work, before its completion is visible; it must
     * not call CUDA. */
    void (*done)(const struct vs_sim_activity *activity);
    /* Called by the thread that creates or destroys the resource. Must not retain, release or reset
     * a primary context, which is locked during VS_SIM_CONTEXT_DESTROYING. */
    void (*resource)(enum vs_sim_resource what, CUcontext context, CUstream stream);
    /* Called by the calling thread at entry and exit of an observed call. Calls made by these
     * functions count as inside it. */
    void (*entered)(struct vs_sim_call *call);
    void (*left)(struct vs_sim_call *call);
};

/* vramscopeSimObserve: sends the reports in *want* (VS_SIM_WANT bits, 0: none) to *observer*, which
 * must live as long as the process. Returns 1, or 0 if the driver does not run or is from another
 * build. Any thread. */
typedef int vramscope_sim_observe_fn(const struct vs_sim_observer *observer, uint32_t want);

/* vramscopeSimCuptiState: the enum vs_sim_cupti_state that the spec asks for. */
typedef int vramscope_sim_cupti_state_fn(void);

/* vramscopeSimCalls: observation of calls for the stand-in runtime, which finds this function by
 * cuGetProcAddress. *wanted* holds VS_SIM_WANT bits and may change at any time; *enter* and *leave*
 * are called at entry and exit of a call, on its thread. Never NULL. */
struct vs_sim_calls {
    const volatile uint32_t *wanted;
    void (*enter)(struct vs_sim_call *call);
    void (*leave)(struct vs_sim_call *call);
};
typedef const struct vs_sim_calls *vramscope_sim_calls_fn(void);

enum vs_sim_graph_handle { VS_SIM_HANDLE_NODE, VS_SIM_HANDLE_GRAPH, VS_SIM_HANDLE_EXEC };
/* vramscopeSimGraphId: the id of this node or graph in activity reports. CUDA_ERROR_INVALID_VALUE
 * if there is none. */
typedef CUresult vramscope_sim_graph_id_fn(enum vs_sim_graph_handle what, const void *handle,
                                           uint64_t *id);

struct vs_sim_identity {
    uint32_t device, context, stream;
};

/* vramscopeSimIdentify: the ids in activity reports. NULL *context*: the current one. *per_thread*:
 * the meaning of stream 0. Returns a CUresult. */
typedef CUresult vramscope_sim_identify_fn(CUcontext context, CUstream stream, int per_thread,
                                           struct vs_sim_identity *identity);

#endif
