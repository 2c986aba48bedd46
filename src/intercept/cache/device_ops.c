/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory and synchronisation for the allocator, over the driver. Called with the allocator's
 * lock held, synchronize without it, from any thread of the program: each operation first makes its
 * own context current. Virtual memory is in vmm_ops.c, streams and events are in event_ops.c. */
#include "intercept/cache/device_ops.h"

#include <stdatomic.h>

#include "intercept/track/capture.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"

static enum vs_err segment_alloc(void *arg, size_t bytes, uint64_t *addr)
{
    struct vs_entered entered;
    CUdeviceptr ptr = 0;
    const struct vs_context *context = arg;
    enum vs_err err = vs_context_enter(context, &entered);
    if (err)
        return err;
    err = vs_err_of_driver(
        VS_LIMITED(context->device, bytes, VS_REAL(cuMemAlloc_v2, &ptr, bytes)));
    vs_context_leave(&entered);
    if (!err)
        *addr = ptr;
    else if (err == VS_ERR_DEVICE_OOM)
        vs_room_refused(context, bytes);
    return err;
}

static enum vs_err segment_free(void *arg, uint64_t addr, size_t bytes)
{
    const struct vs_context *context = arg;
    struct vs_entered entered;
    /* once the runtime is unloading, the end of the process releases the memory */
    if (vs_process_state() == VS_PROCESS_EXITING)
        return VS_ERR_STATE;
    enum vs_err err = vs_context_enter(context, &entered);
    if (err)
        return err;
    err = vs_err_of_driver(VS_REAL(cuMemFree_v2, addr));
    vs_context_leave(&entered);
    if (err)
        return err;
    vs_limit_give(context->device, bytes);
    vs_room_given(bytes);
    return VS_OK;
}

static enum vs_err synchronize_context(const struct vs_context *context)
{
    struct vs_entered entered;
    enum vs_err err = vs_context_enter(context, &entered);
    if (err)
        return err;
    err = vs_err_of_driver(VS_REAL(cuCtxSynchronize));
    vs_context_leave(&entered);
    return err;
}

static enum vs_err synchronize(void *arg)
{
    const struct vs_context *own = arg;
    enum vs_err err = synchronize_context(own);
    if (!atomic_load(&vs_peer_access))
        return err;
    for (const struct vs_context *c = vs_context_next(NULL); c && !err; c = vs_context_next(c)) {
        if (c != own && atomic_load(&c->alive))
            err = synchronize_context(c);
    }
    return err;
}

static enum vs_err memory_info(void *arg, uint64_t *free_bytes, uint64_t *total_bytes)
{
    return vs_device_memory_info(arg, free_bytes, total_bytes);
}

/* A graph's memory is allocated while a stream is captured; captures in other threads forbid plain
 * allocation meanwhile, though it does not affect them. */
static enum vs_err segment_alloc_relaxed(void *arg, size_t bytes, uint64_t *addr)
{
    CUstreamCaptureMode mode = vs_capture_relax();
    enum vs_err err = segment_alloc(arg, bytes, addr);
    vs_capture_restore(mode);
    return err;
}

/* A free does not affect them either, but would invalidate them. */
static enum vs_err segment_free_relaxed(void *arg, uint64_t addr, size_t bytes)
{
    CUstreamCaptureMode mode = vs_capture_relax();
    enum vs_err err = segment_free(arg, addr, bytes);
    vs_capture_restore(mode);
    return err;
}

/* Without a capture the thread's mode need not be changed. */
static enum vs_err segment_free_ours(void *arg, uint64_t addr, size_t bytes)
{
    return vs_capture_any() ? segment_free_relaxed(arg, addr, bytes)
                            : segment_free(arg, addr, bytes);
}

void vs_device_ops_fill(const struct vs_context *context, enum vs_reuse reuse,
                        struct vs_device_ops *out)
{
    *out = (struct vs_device_ops){.segment_alloc = segment_alloc,
                                  .segment_free = segment_free_ours,
                                  .synchronize = synchronize,
                                  .memory_info = memory_info};
    vs_vmm_ops_add(context, out);
    if (reuse == VS_REUSE_STREAM_ORDERED) {
        vs_event_ops_add(out);
        out->segment_alloc = segment_alloc_relaxed;
        out->segment_free = segment_free_relaxed;
    }
}
