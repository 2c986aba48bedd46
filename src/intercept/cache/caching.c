/* SPDX-License-Identifier: Apache-2.0
 *
 * Connects the allocator to the driver. It implements the semantics of cudaMalloc, which is not
 * stream-ordered: a freed block waits for a synchronisation that began after the free
 * (VS_REUSE_AFTER_SYNC), the program's own or, failing that, one made at reuse; the driver's
 * cudaFree would have waited as well.
 *
 * During a stream capture the cache serves nothing: the driver's own result (an error, outside
 * relaxed mode) is the right one. */
#include "intercept/cache/caching.h"

#include <stdatomic.h>

#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/policy.h"
#include "intercept/cache/room.h"
#include "intercept/cache/sharing.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/capture.h"
#include "intercept/track/ipc_import.h"
#include "intercept/track/limit.h"

struct vs_allocator *vs_caching_create(struct vs_context *context, enum vs_reuse reuse)
{
    struct vs_allocator *allocator = NULL;
    struct vs_allocator_config config;
    struct vs_device_ops ops;
    vs_device_ops_fill(context, reuse, &ops);
    vs_policy_config(context, &ops, reuse, &config);
    if (vs_policies[config.policy]->mapped && reuse == VS_REUSE_AFTER_SYNC)
        vs_sharing_expect();
    if (vs_allocator_create(&config, &ops, context, &vs_caching_sink, context, &allocator)) {
        vs_log_once(VS_LOG_WARN, "the caching allocator cannot start; allocations go to the "
                                 "driver");
        return NULL;
    }
    return allocator;
}

bool vs_caching_alloc(struct vs_context *context, uint64_t bytes, const char *api, CUdeviceptr *ptr,
                      CUresult *result)
{
    if (!vs_process_caching() || !bytes || !ptr || vs_capture_any() ||
        vs_process_state() != VS_PROCESS_ACTIVE)
        return false;
    struct vs_allocator *allocator = vs_context_allocator_at(context, 0);
    if (!allocator && !(allocator = vs_caching_allocator(context, VS_REUSE_AFTER_SYNC)))
        return false;
    struct vs_caching_call call = vs_caching_request(api, bytes);
    struct vs_allocation allocation;
    enum vs_err err;
    bool again = false;
    do {
        err = vs_allocator_malloc_for(allocator, bytes, 0, vs_sharing_on(), &call, &allocation);
        again = !again && err == VS_ERR_DEVICE_OOM && vs_room_make(context->device);
    } while (again);
    if (err) /* let the driver return its error; it may have room where a segment had none */
        return false;
    *ptr = allocation.addr;
    *result = CUDA_SUCCESS;
    vs_device_sample(context, call.time_ns);
    return true;
}

/* False: the context's cache does not have it. */
static inline bool free_in(struct vs_context *context, CUdeviceptr ptr,
                           struct vs_caching_call *call, CUresult *result)
{
    struct vs_allocator *allocator = vs_context_allocator_at(context, 0);
    if (!allocator)
        return false;
    struct vs_allocation found;
    bool live;
    /* a block freed while another context is current: that context's work may have used it (copies
     * between devices), and the driver's cudaFree waits for that work as well */
    if (atomic_load_explicit(&vs_several_contexts, memory_order_relaxed) &&
        vs_process_state() == VS_PROCESS_ACTIVE && !vs_capture_any() &&
        vs_context_handle() != context->handle &&
        vs_allocator_find(allocator, ptr, &found, &live) == VS_OK && live && found.addr == ptr)
        VS_REAL(cuCtxSynchronize); /* the program will get its error later */
    enum vs_err err = vs_allocator_free_for(allocator, ptr, VS_NO_STREAM, call);
    if (err == VS_ERR_FOREIGN)
        return false;
    *result = err ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    return true;
}

bool vs_caching_free(CUdeviceptr ptr, const char *api, CUresult *result)
{
    struct vs_context *likely = vs_caching_likely_owner(ptr);
    if (!ptr)
        return false; /* the driver's two free functions return different errors for it */
    struct vs_caching_call call = {.api = api};
    if (likely && free_in(likely, ptr, &call, result))
        return true;
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        if (c != likely && free_in(c, ptr, &call, result))
            return true;
    }
    return false;
}

struct dropping {
    struct vs_context *context;
    struct vs_caching_call call;
};

/* The memory was destroyed with its context: its blocks and segments end in the trace as they did
 * on the device. */
static void drop(void *arg, const struct vs_segment_info *segment,
                 const struct vs_block_info *block)
{
    struct dropping *dropping = arg;
    struct vs_context *context = dropping->context;
    struct vs_allocator_event e;
    if (!block)
        return;
    if (block->state == VS_BLOCK_LIVE) {
        e = (struct vs_allocator_event){.kind = VS_ALLOCATOR_FREE,
                                        .addr = block->addr,
                                        .size = block->size,
                                        .requested = block->requested,
                                        .call = &dropping->call};
        vs_caching_sink.event(context, &e);
    }
    if (block->addr + block->size == segment->addr + segment->size) {
        bool mapped = segment->expandable || segment->view;
        e = (struct vs_allocator_event){.addr = segment->addr,
                                        .size = segment->size,
                                        .requested = segment->view ? 0 : segment->size};
        vs_caching_segment(context, &e,
                           mapped ? VS_ALLOCATOR_SEGMENT_UNMAP : VS_ALLOCATOR_SEGMENT_FREE);
        if (!mapped) /* mapped memory is released separately: vs_vmm_context_gone */
            vs_limit_give(context->device, segment->size);
    }
}

/* An allocator without memory is kept for a while: a thread that was in a call when its context
 * ended may still be using it. */
#define RETIRED_MAX 64

void vs_caching_context_gone(struct vs_context *context, const char *api)
{
    struct vs_allocator *gone[VS_CONTEXT_ALLOCATORS] = {atomic_exchange(&context->allocator, NULL),
                                                        atomic_exchange(&context->ordered, NULL)};
    static _Atomic(struct vs_allocator *) retired[RETIRED_MAX]; /* atomic */
    static _Atomic unsigned next;                               /* atomic */
    struct dropping dropping = {.context = context, .call = {.api = api}};
    for (int i = 0; i < VS_CONTEXT_ALLOCATORS; i++) {
        if (!gone[i])
            continue;
        vs_allocator_snapshot(gone[i], drop, &dropping);
        vs_allocator_abandon(gone[i]);
        unsigned place = atomic_fetch_add(&next, 1) % RETIRED_MAX;
        vs_allocator_destroy(atomic_exchange(&retired[place], gone[i]));
    }
}

uint64_t vs_caching_cached_bytes(uint32_t device)
{
    uint64_t total = 0;
    struct vs_context *c = NULL;
    int i = 0;
    for (struct vs_allocator *a; (a = vs_allocator_next(device, &c, &i));)
        total += vs_allocator_cached_bytes(a);
    return total;
}

static bool find_in(struct vs_context *c, int i, CUdeviceptr ptr, struct vs_cached_block *block)
{
    struct vs_allocator *allocator = vs_context_allocator_at(c, i);
    struct vs_allocation found;
    bool live;
    if (!allocator || vs_allocator_find(allocator, ptr, &found, &live) != VS_OK)
        return false;
    *block =
        (struct vs_cached_block){.addr = found.addr,
                                 .requested = found.requested,
                                 .size = found.size,
                                 .segment = found.segment,
                                 /* the driver's own numbers are small */
                                 .serial = UINT64_C(1) << 63 |
                                           (uint64_t)(2 * c->id + (unsigned)i) << 44 | found.serial,
                                 .live = live,
                                 .ordered = i == 1,
                                 .mapped = found.mapped,
                                 .marks = found.marks,
                                 .context = c};
    return true;
}

bool vs_caching_find(CUdeviceptr ptr, struct vs_cached_block *block)
{
    struct vs_context *likely = vs_caching_likely_owner(ptr);
    for (int i = 0; likely && i < VS_CONTEXT_ALLOCATORS; i++) {
        if (find_in(likely, i, ptr, block))
            return true;
    }
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        for (int i = 0; i < VS_CONTEXT_ALLOCATORS; i++) {
            if (find_in(c, i, ptr, block))
                return true;
        }
    }
    return false;
}

/* Code that a signal interrupted for good may hold our locks: then they must not be taken. */
bool vs_caching_owns_ordered(CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!ptr || vs_thread.inside || !vs_process_entered() || vs_process_forked() || vs_lock_held())
        return false;
    bool found = false;
    VS_OWN_WORK();
    for (struct vs_context *c = vs_context_next(NULL); c && !found; c = vs_context_next(c))
        found = find_in(c, 1, ptr, &block);
    return found;
}

struct vs_allocator *vs_caching_allocator(struct vs_context *context, enum vs_reuse reuse)
{
    _Atomic(struct vs_allocator *) *slot =
        reuse == VS_REUSE_AFTER_SYNC ? &context->allocator : &context->ordered;
    struct vs_allocator *allocator = atomic_load_explicit(slot, memory_order_acquire);
    if (allocator)
        return allocator;
    allocator = vs_caching_create(context, reuse);
    struct vs_allocator *expected = NULL;
    if (!allocator)
        return NULL;
    if (!atomic_compare_exchange_strong(slot, &expected, allocator)) {
        vs_allocator_destroy(allocator);
        return expected;
    }
    return allocator;
}

/* An allocation is forbidden where a free is, and has no other lasting effect. */
bool vs_caching_forbids_free(CUdeviceptr ptr, CUresult *result)
{
    struct vs_cached_block block;
    CUdeviceptr probe;
    if (!vs_capture_any() || !vs_caching_find(ptr, &block) || !block.live || block.ordered)
        return false;
    CUresult r = VS_REAL(cuMemAlloc_v2, &probe, 1);
    if (r == CUDA_SUCCESS)
        VS_REAL(cuMemFree_v2, probe);
    *result = r;
    return r == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
           r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
           r == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* Allocation numbers come from three disjoint ranges: the driver counts from 1, our allocators'
 * numbers have the top bit set (find_in), and those of opened blocks the two top bits. */
#define OPENED_SERIALS (UINT64_C(3) << 62)

bool vs_known_cached(CUdeviceptr ptr, struct vs_cached_block *block)
{
    enum vs_process_state state = vs_process_state();
    /* programs query pointers during exit too, but also in a handler that interrupted us */
    if (vs_thread.inside || !vs_process_serving() || state == VS_PROCESS_SILENT ||
        (state == VS_PROCESS_EXITING && vs_lock_held()))
        return false;
    vs_thread.inside++;
    bool found = vs_caching_find(ptr, block);
    vs_thread.inside--;
    if (found && ptr - block->addr >= block->requested)
        block->live = false;
    return found;
}

bool vs_known_block(CUdeviceptr ptr, struct vs_cached_block *block)
{
    struct vs_ipc_opened opened;
    if (vs_known_cached(ptr, block))
        return true;
    if (vs_thread.inside || !vs_ipc_find(ptr, &opened))
        return false;
    *block = (struct vs_cached_block){.addr = opened.addr,
                                      .requested = opened.bytes,
                                      .size = opened.bytes,
                                      .segment = opened.addr,
                                      .serial = OPENED_SERIALS | opened.serial,
                                      .live = true};
    return true;
}
