/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of whole contexts. Order for a context as a whole is kept in a stream of its own, beside
 * those of the program: a record there waits for everything submitted to the others, and a wait of
 * the context is a number of that stream, which the next work of every other stream waits for
 * (drv_engine.c). */
#include "simulator/driver/vs_sim_driver.h"

#include <stdlib.h>

static pthread_mutex_t side_mu = PTHREAD_MUTEX_INITIALIZER;

static CUresult enter(CUcontext handle, CUevent event_handle, struct vs_sim_context **ctx,
                      struct vs_sim_event **event)
{
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    if (!handle)
        return CUDA_ERROR_INVALID_CONTEXT;
    if ((e = vs_sim_context_given(handle, ctx)) || (e = vs_sim_event_of(event_handle, event)))
        return e;
    if (vs_sim_capturing() && (e = vs_sim_capture_refuse_context(*ctx)))
        return e;
    return (CUresult)atomic_load(&(*ctx)->fault);
}

static struct vs_sim_stream *side_of(struct vs_sim_context *ctx)
{
    pthread_mutex_lock(&side_mu);
    struct vs_sim_stream *s = ctx->side;
    if (!s) {
        s = vs_sim_stream_new(ctx, CU_STREAM_NON_BLOCKING, 0);
        pthread_mutex_lock(&ctx->submit_mu);
        ctx->side = s;
        pthread_mutex_unlock(&ctx->submit_mu);
    }
    pthread_mutex_unlock(&side_mu);
    return s;
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    struct vs_sim_context *ctx;
    struct vs_sim_event *event;
    uint64_t seq;
    CUresult e = enter(hCtx, hEvent, &ctx, &event);
    if (e)
        return e;
    if (vs_sim_event_context(event) != ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    struct vs_sim_stream *side = side_of(ctx);
    struct vs_sim_op *op = vs_sim_op_new(side, VS_SIM_OP_RECORD);
    pthread_mutex_lock(&ctx->submit_mu);
    for (struct vs_sim_stream *s = ctx->streams; s; s = s->next)
        if (s != side)
            vs_sim_op_depend(op, s, atomic_load(&s->submitted));
    pthread_mutex_unlock(&ctx->submit_mu);
    return vs_sim_event_submit(event, side, op, &seq);
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct vs_sim_context *ctx;
    struct vs_sim_event *event;
    uint64_t seq;
    CUresult e = enter(hCtx, hEvent, &ctx, &event);
    if (!e && vs_sim_event_captured(event))
        e = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (e)
        return e;
    struct vs_sim_stream *side = side_of(ctx);
    struct vs_sim_op *op = vs_sim_op_new(side, VS_SIM_OP_NOTHING);
    vs_sim_event_depend(event, op);
    if ((e = vs_sim_submit(side, op, &seq)))
        return e;
    pthread_mutex_lock(&ctx->submit_mu);
    if (seq > ctx->side_wait)
        ctx->side_wait = seq;
    pthread_mutex_unlock(&ctx->submit_mu);
    return CUDA_SUCCESS;
}
