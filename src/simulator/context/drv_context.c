/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: one primary per device, alive while retained, and explicit ones. Each thread has a
 * stack of them. Creating a context takes the context overhead from its device, and adds a line to the
 * notes of the run if that size is assumed; destroying it waits for its work and frees everything
 * it owned. Context structures are never freed; `alive` and `epoch` distinguish their uses. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_MAX 64

static pthread_mutex_t contexts_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_context *contexts; /* all contexts ever created; guarded by contexts_mu */
static atomic_uint next_context_id = 1;

static _Thread_local struct {
    struct vs_sim_context *at[STACK_MAX];
    int depth;
} stack;

/* ---- creation and reuse ---- */

struct vs_sim_context *vs_sim_context_new(struct vs_sim_device *device, bool primary)
{
    struct vs_sim_context *ctx = vs_sim_need(calloc(1, sizeof *ctx));
    ctx->mark = VS_SIM_CONTEXT_MARK;
    ctx->id = atomic_fetch_add(&next_context_id, 1);
    ctx->device = device;
    ctx->primary = primary;
    pthread_mutex_init(&ctx->submit_mu, NULL);
    pthread_mutex_lock(&contexts_mu);
    ctx->next = contexts;
    contexts = ctx;
    pthread_mutex_unlock(&contexts_mu);
    return ctx;
}

/* A line as of library_notes.c. */
static void note_size(const char *kind, const char *name, uint64_t bytes, const char *source)
{
    char line[512];
    snprintf(line, sizeof line, "%s\t%ld\tdriver\t%s\t%" PRIu64 "\t%.300s\n", kind, (long)getpid(),
             name, bytes, source);
    vs_sim_note(line);
}

static CUresult context_start(struct vs_sim_context *ctx, unsigned flags)
{
    static const size_t limits[VS_SIM_LIMITS] = {
        [CU_LIMIT_STACK_SIZE] = 1024,
        [CU_LIMIT_PRINTF_FIFO_SIZE] = 7340032,
        [CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608,
        [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
        [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
        [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
    };
    CUresult e = vs_sim_fault_context(ctx->device);
    if (e)
        return e;
    if (!vs_sim_space_charge(ctx->device->ordinal, vs_sim_spec.context_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(ctx->limits, limits, sizeof limits);
    ctx->cache_config = CU_FUNC_CACHE_PREFER_NONE;
    ctx->flags = flags;
    atomic_store(&ctx->fault, 0);
    ctx->legacy = vs_sim_stream_new(ctx, CU_STREAM_DEFAULT, 0);
    ctx->legacy->legacy = true;
    ctx->side = NULL;
    ctx->side_wait = 0;
    atomic_store(&ctx->attached, 0);
    atomic_store(&ctx->images, 0);
    atomic_store(&ctx->code, 0);
    atomic_store(&ctx->alive, true);
    static atomic_bool noted; /* once per process */
    const char *kind = vs_sim_spec.context_kind;
    if (strcmp(kind, "given") && !atomic_exchange(&noted, true))
        note_size(strcmp(kind, "rule") ? kind : "assumed", "context", vs_sim_spec.context_bytes,
                  vs_sim_spec.context_source);
    return CUDA_SUCCESS;
}

static void context_stop(struct vs_sim_context *ctx)
{
    if (!atomic_exchange(&ctx->alive, false))
        return;
    vs_sim_report_resource(VS_SIM_CONTEXT_DESTROYING, ctx, NULL);
    vs_sim_context_sync(ctx);
    if (vs_sim_checking)
        vs_sim_check_leaks(ctx);
    struct vs_sim_range range;
    while (vs_sim_range_of_context(ctx, &range)) {
        if (!vs_sim_range_remove(range.base, range.id, &range))
            continue;
        vs_sim_memory_release(&range);
    }
    vs_sim_pools_release_idle();
    atomic_fetch_add(&ctx->epoch, 1);
    for (;;) { /* closed streams leave the list by themselves */
        pthread_mutex_lock(&ctx->submit_mu);
        struct vs_sim_stream *s = ctx->streams;
        while (s && atomic_load(&s->mark) == VS_SIM_STREAM_GONE)
            s = s->next;
        pthread_mutex_unlock(&ctx->submit_mu);
        if (!s)
            break;
        vs_sim_stream_close(s);
    }
    vs_sim_space_uncharge(ctx->device->ordinal, vs_sim_spec.context_bytes + atomic_load(&ctx->code));
}

bool vs_sim_context_load(struct vs_sim_context *ctx, uint64_t bytes)
{
    if (!vs_sim_space_try_charge(ctx->device->ordinal, bytes))
        return false;
    atomic_fetch_add(&ctx->code, bytes);
    return true;
}

void vs_sim_context_unload(struct vs_sim_context *ctx, uint64_t bytes)
{
    atomic_fetch_sub(&ctx->code, bytes);
    vs_sim_space_uncharge(ctx->device->ordinal, bytes);
}

/* Programs with a few files of kernels add nothing to a context that was seen in public figures; the
 * note has the sum. */
uint64_t vs_sim_context_image(struct vs_sim_context *ctx)
{
    enum { IN_CONTEXT = 8 };
    unsigned number = atomic_fetch_add(&ctx->images, 1);
    uint64_t bytes = vs_sim_spec.module_bytes;
    if (number < IN_CONTEXT || !bytes)
        return 0;
    note_size(vs_sim_spec.module_kind, "modules", (number - IN_CONTEXT + 1) * bytes, vs_sim_spec.module_source);
    return bytes;
}

unsigned vs_sim_contexts_on(int device)
{
    unsigned count = 0;
    pthread_mutex_lock(&contexts_mu);
    for (const struct vs_sim_context *c = contexts; c; c = c->next)
        count += c->device->ordinal == device && atomic_load(&c->alive);
    pthread_mutex_unlock(&contexts_mu);
    return count;
}

struct vs_sim_context *vs_sim_context_of(CUcontext handle)
{
    struct vs_sim_context *found = NULL;
    pthread_mutex_lock(&contexts_mu);
    for (struct vs_sim_context *c = contexts; c && !found; c = c->next)
        found = (CUcontext)c == handle ? c : NULL;
    pthread_mutex_unlock(&contexts_mu);
    return found;
}

void vs_sim_context_fail(struct vs_sim_context *ctx, CUresult error)
{
    int none = 0;
    atomic_compare_exchange_strong(&ctx->fault, &none, (int)error);
}

void vs_sim_device_fail(struct vs_sim_device *device, CUresult error)
{
    pthread_mutex_lock(&contexts_mu);
    for (struct vs_sim_context *c = contexts; c; c = c->next)
        if (c->device == device)
            vs_sim_context_fail(c, error);
    pthread_mutex_unlock(&contexts_mu);
}

struct snapshot {
    struct vs_sim_stream *stream;
    uint64_t seq;
};

CUresult vs_sim_context_sync(struct vs_sim_context *ctx)
{
    struct snapshot few[32], *all = few;
    size_t count = 0, max = sizeof few / sizeof few[0];
    pthread_mutex_lock(&ctx->submit_mu);
    for (struct vs_sim_stream *s = ctx->streams; s; s = s->next)
        count++;
    if (count > max)
        all = vs_sim_need(malloc(count * sizeof *all));
    count = 0;
    for (struct vs_sim_stream *s = ctx->streams; s; s = s->next)
        all[count++] = (struct snapshot){s, atomic_load(&s->submitted)};
    pthread_mutex_unlock(&ctx->submit_mu);
    for (size_t i = 0; i < count; i++)
        vs_sim_wait(all[i].stream, all[i].seq);
    for (size_t i = 0; vs_sim_checking && i < count; i++)
        vs_sim_check_synced(all[i].stream, all[i].seq);
    if (vs_sim_checking)
        vs_sim_check_context_synced(ctx);
    if (all != few)
        free(all);
    return (CUresult)atomic_load(&ctx->fault);
}

/* ---- the thread's stack ---- */

struct vs_sim_context *vs_sim_context_current(void)
{
    return stack.depth ? stack.at[stack.depth - 1] : NULL;
}

CUresult vs_sim_enter_context(struct vs_sim_context **ctx)
{
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    struct vs_sim_context *c = vs_sim_context_current();
    if (!c)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!atomic_load_explicit(&c->alive, memory_order_acquire))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    int fault = atomic_load_explicit(&c->fault, memory_order_relaxed);
    *ctx = c;
    return (CUresult)fault;
}

static CUresult push(struct vs_sim_context *ctx)
{
    if (stack.depth == STACK_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack.at[stack.depth++] = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent_entered(CUcontext ctx)
{
    if (ctx && ctx == (CUcontext)vs_sim_context_current())
        return CUDA_SUCCESS;
    struct vs_sim_context *c = ctx ? vs_sim_context_of(ctx) : NULL;
    if (ctx && !c)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth)
        stack.depth--;
    return c ? push(c) : CUDA_SUCCESS;
}

VS_SIM_STORES(cuCtxGetCurrent_entered, (CUcontext pctx[static 1]),
              *pctx = (CUcontext)vs_sim_context_current())

CUresult cuCtxPushCurrent_v2_entered(CUcontext ctx)
{
    struct vs_sim_context *c = vs_sim_context_of(ctx);
    return c ? push(c) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPopCurrent_v2_entered(CUcontext *pctx)
{
    if (!stack.depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    struct vs_sim_context *c = stack.at[--stack.depth];
    if (pctx)
        *pctx = (CUcontext)c;
    return CUDA_SUCCESS;
}

/* ---- explicit contexts ---- */

CUresult cuCtxCreate_v2_entered(CUcontext pctx[static 1], unsigned int flags,
                                struct vs_sim_device *d)
{
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_context *ctx = vs_sim_context_new(d, false);
    CUresult e = context_start(ctx, flags);
    if (!e && (e = push(ctx)))
        context_stop(ctx);
    if (e)
        return e;
    vs_sim_report_resource(VS_SIM_CONTEXT_CREATED, ctx, NULL);
    *pctx = (CUcontext)ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                        unsigned int flags, CUdevice dev)
{
    if (paramsArray || numParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(pctx, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                        CUdevice dev)
{
    if (ctxCreateParams && (ctxCreateParams->execAffinityParams || ctxCreateParams->cigParams))
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(pctx, flags, dev);
}

CUresult cuCtxDestroy_v2_entered(CUcontext handle)
{
    struct vs_sim_context *ctx = vs_sim_context_of(handle);
    if (!ctx || ctx->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!atomic_load(&ctx->alive))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    context_stop(ctx);
    if (vs_sim_context_current() == ctx)
        stack.depth--;
    return CUDA_SUCCESS;
}

CUresult cuCtxAttach_in(struct vs_sim_context *ctx, CUcontext *pctx, unsigned int flags)
{
    if (!pctx || flags)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_fetch_add(&ctx->attached, 1);
    *pctx = (CUcontext)ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach_in(struct vs_sim_context *ctx, CUcontext handle)
{
    if (handle != (CUcontext)ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    unsigned attached = atomic_load(&ctx->attached);
    while (attached)
        if (atomic_compare_exchange_weak(&ctx->attached, &attached, attached - 1))
            return CUDA_SUCCESS;
    return cuCtxDestroy_v2(handle);
}

/* ---- primary contexts ---- */

CUresult cuDevicePrimaryCtxRetain_entered(CUcontext pctx[static 1], struct vs_sim_device *d)
{
    CUresult e = CUDA_SUCCESS;
    pthread_mutex_lock(&d->mu);
    bool starts = !atomic_load(&d->primary->alive);
    if (starts)
        e = context_start(d->primary, d->primary_flags);
    if (e == CUDA_SUCCESS) {
        d->primary_refs++;
        *pctx = (CUcontext)d->primary;
    }
    pthread_mutex_unlock(&d->mu);
    if (starts && e == CUDA_SUCCESS) /* outside the lock: the observer may query the device */
        vs_sim_report_resource(VS_SIM_CONTEXT_CREATED, d->primary, NULL);
    return e;
}

CUresult cuDevicePrimaryCtxRelease_v2_entered(struct vs_sim_device *d)
{
    CUresult e = CUDA_SUCCESS;
    pthread_mutex_lock(&d->mu);
    if (!d->primary_refs)
        e = CUDA_ERROR_INVALID_CONTEXT;
    else if (!--d->primary_refs)
        context_stop(d->primary);
    pthread_mutex_unlock(&d->mu);
    return e;
}

CUresult cuDevicePrimaryCtxReset_v2_entered(struct vs_sim_device *d)
{
    pthread_mutex_lock(&d->mu);
    context_stop(d->primary);
    pthread_mutex_unlock(&d->mu);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2_entered(struct vs_sim_device *d, unsigned int flags)
{
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&d->mu);
    d->primary_flags = flags;
    d->primary->flags = flags;
    pthread_mutex_unlock(&d->mu);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState_entered(struct vs_sim_device *d, unsigned int *flags,
                                            int *active)
{
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&d->mu);
    *flags = d->primary_flags;
    pthread_mutex_unlock(&d->mu);
    *active = atomic_load(&d->primary->alive);
    return CUDA_SUCCESS;
}
