/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream interface over drv_engine.c: handles, per-thread default streams,
 * queries, host functions. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/vs_clock.h"

/* ---- handles ---- */

struct own { /* a thread's default stream in one use of a context */
    struct own *next;
    struct vs_sim_context *ctx;
    unsigned epoch;
    struct vs_sim_stream *stream;
};

static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static pthread_key_t own_key;
static bool own_key_ok; /* immutable after own_once */

static void own_free(void *list)
{
    for (struct own *o = list; o;) {
        struct own *next = o->next;
        if (o->epoch == atomic_load(&o->ctx->epoch) &&
            atomic_load(&o->stream->mark) == VS_SIM_STREAM_MARK)
            vs_sim_stream_close(o->stream);
        free(o);
        o = next;
    }
}

static void own_start(void) { own_key_ok = !pthread_key_create(&own_key, own_free); }

static struct vs_sim_stream *own_stream(struct vs_sim_context *ctx)
{
    pthread_once(&own_once, own_start);
    if (!own_key_ok)
        return NULL;
    unsigned epoch = atomic_load(&ctx->epoch);
    struct own *list = pthread_getspecific(own_key);
    for (struct own *o = list; o; o = o->next)
        if (o->ctx == ctx && o->epoch == epoch)
            return o->stream;
    struct own *o = vs_sim_need(malloc(sizeof *o));
    *o = (struct own){list, ctx, epoch, vs_sim_stream_new(ctx, CU_STREAM_DEFAULT, 0)};
    vs_sim_need(pthread_setspecific(own_key, o) ? NULL : o);
    o->stream->per_thread = true;
    return o->stream;
}

static _Thread_local CUstream default_stream; /* what stream 0 is */

CUstream vs_sim_default_stream(CUstream stream)
{
    CUstream before = default_stream;
    default_stream = stream;
    return before;
}

CUresult vs_sim_stream_of(struct vs_sim_context *ctx, CUstream handle,
                          struct vs_sim_stream **stream)
{
    handle = handle ? handle : default_stream;
    if (!handle || handle == CU_STREAM_LEGACY) {
        *stream = ctx->legacy;
        return CUDA_SUCCESS;
    }
    if (handle == CU_STREAM_PER_THREAD) {
        *stream = own_stream(ctx);
        return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct vs_sim_stream *s = (struct vs_sim_stream *)handle;
    if (atomic_load(&s->mark) != VS_SIM_STREAM_MARK)
        return CUDA_ERROR_INVALID_HANDLE;
    if (s->epoch != atomic_load(&s->ctx->epoch))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *stream = s;
    return CUDA_SUCCESS;
}

CUresult vs_sim_enter_stream(CUstream handle, struct vs_sim_stream **s)
{
    struct vs_sim_context *ctx;
    CUresult e = vs_sim_enter_context(&ctx);
    return e ? e : vs_sim_stream_of(ctx, handle, s);
}

/* ---- creation and destruction ---- */

CUresult cuStreamCreateWithPriority_in(struct vs_sim_context *ctx, CUstream *phStream,
                                       unsigned int flags, int priority)
{
    if (!phStream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return CUDA_ERROR_INVALID_VALUE;
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    struct vs_sim_stream *s = vs_sim_stream_new(ctx, flags, priority);
    vs_sim_report_resource(VS_SIM_STREAM_CREATED, ctx, s);
    *phStream = (CUstream)s;
    return CUDA_SUCCESS;
}

VS_SIM_AS(cuStreamCreate, (CUstream *phStream, unsigned int Flags),
          cuStreamCreateWithPriority(phStream, Flags, 0))

CUresult cuStreamDestroy_v2_entered(CUstream hStream)
{
    struct vs_sim_stream *s;
    if (!hStream || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    s = (struct vs_sim_stream *)hStream;
    unsigned live = VS_SIM_STREAM_MARK;
    if (s->legacy || s->per_thread ||
        !atomic_compare_exchange_strong(&s->mark, &live, VS_SIM_STREAM_GONE))
        return CUDA_ERROR_INVALID_HANDLE;
    vs_sim_report_resource(VS_SIM_STREAM_DESTROYING, s->ctx, s);
    vs_sim_stream_close(s);
    return CUDA_SUCCESS;
}

/* ---- waiting ---- */

CUresult cuStreamQuery_in(struct vs_sim_stream *s)
{
    CUresult e = vs_sim_not_capturing(s);
    if (e)
        return e;
    if (!vs_sim_stream_idle(s))
        return CUDA_ERROR_NOT_READY;
    if (vs_sim_checking)
        vs_sim_stream_sync(s); /* waits for nothing now, but informs the checker */
    return (CUresult)atomic_load(&s->ctx->fault);
}

CUresult cuStreamSynchronize_in(struct vs_sim_stream *s)
{
    uint64_t begin = vs_clock_ns();
    CUresult e = vs_sim_not_capturing(s);
    if (e)
        return e;
    vs_sim_stream_sync(s);
    vs_sim_waited(s->ctx, VS_SIM_SYNC_STREAM, s->id, 0, begin);
    return (CUresult)atomic_load(&s->ctx->fault);
}

/* ---- host functions ---- */

CUresult cuLaunchHostFunc_in(struct vs_sim_stream *s, CUhostFn fn, void *userData)
{
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_op *op = vs_sim_op_new(s, VS_SIM_OP_HOST);
    op->u.host.fn = fn;
    op->u.host.data = userData;
    return vs_sim_submit(s, op, NULL);
}

CUresult cuStreamAddCallback_in(struct vs_sim_stream *s, CUstreamCallback callback, void *userData,
                                unsigned int flags)
{
    if (!callback || flags)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_op *op = vs_sim_op_new(s, VS_SIM_OP_CALLBACK);
    op->u.callback.fn = callback;
    op->u.callback.data = userData;
    return vs_sim_submit(s, op, NULL);
}

/* ---- properties ---- */

VS_SIM_STORES(cuStreamGetPriority_in, (struct vs_sim_stream *s, int priority[static 1]),
              *priority = s->priority)
VS_SIM_STORES(cuStreamGetFlags_in, (struct vs_sim_stream *s, unsigned int flags[static 1]),
              *flags = s->flags)
VS_SIM_STORES(cuStreamGetId_in, (struct vs_sim_stream *s, unsigned long long streamId[static 1]),
              *streamId = s->id)
VS_SIM_STORES(cuStreamGetCtx_in, (struct vs_sim_stream *s, CUcontext pctx[static 1]),
              *pctx = (CUcontext)s->ctx)
VS_SIM_STORES(cuStreamGetDevice_in, (struct vs_sim_stream *s, CUdevice device[static 1]),
              *device = s->ctx->device->ordinal)
VS_SIM_STORES(cuStreamGetCtx_v2_in,
              (struct vs_sim_stream *s, CUcontext pCtx[static 1], CUgreenCtx pGreenCtx[static 1]),
              *pCtx = (CUcontext)s->ctx, *pGreenCtx = NULL)
