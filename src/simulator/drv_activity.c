/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's side of vs_sim_activity.h: one observer, and what it wants. */
#include "simulator/vs_sim_driver.h"

atomic_uint vs_sim_wanted;

static _Atomic(const struct vs_sim_observer *) observer;
static atomic_uint next_correlation = 1;

VS_SIM_EXPORT vramscope_sim_observe_fn vramscopeSimObserve;
VS_SIM_EXPORT vramscope_sim_identify_fn vramscopeSimIdentify;

int vramscopeSimObserve(const struct vs_sim_observer *who, uint32_t want)
{
    if (!who || who->bytes != sizeof *who)
        return 0;
    atomic_store(&observer, who); /* before what it wants, which makes it called */
    atomic_store(&vs_sim_wanted, want);
    return 1;
}

CUresult vramscopeSimIdentify(CUcontext context, CUstream handle, int per_thread,
                              struct vs_sim_identity *identity)
{
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    struct vs_sim_context *ctx = context ? vs_sim_context_of(context) : vs_sim_context_current();
    struct vs_sim_stream *stream;
    if (!ctx || !atomic_load(&ctx->alive))
        return CUDA_ERROR_INVALID_CONTEXT;
    e = vs_sim_stream_of(ctx, handle, per_thread, &stream);
    if (e)
        return e;
    *identity = (struct vs_sim_identity){(uint32_t)ctx->device->ordinal, ctx->id, stream->id};
    return CUDA_SUCCESS;
}

void vs_sim_report(const struct vs_sim_activity *activity)
{
    const struct vs_sim_observer *who = atomic_load(&observer);
    if (who && vs_sim_wants(VS_SIM_WANT(activity->kind)))
        who->done(activity);
}

void vs_sim_report_resource(enum vs_sim_resource what, struct vs_sim_context *ctx,
                            struct vs_sim_stream *stream)
{
    const struct vs_sim_observer *who = atomic_load(&observer);
    if (who && vs_sim_wants(VS_SIM_WANT_RESOURCES))
        who->resource(what, (CUcontext)ctx, (CUstream)stream);
}

void vs_sim_report_call(struct vs_sim_call *call, bool left)
{
    const struct vs_sim_observer *who = atomic_load(&observer);
    if (who)
        (left ? who->left : who->entered)(call);
}

uint32_t vs_sim_correlation_new(void)
{
    uint32_t n;
    do
        n = atomic_fetch_add(&next_correlation, 1);
    while (!n);
    return n;
}

uint32_t vs_sim_correlate(enum vs_sim_activity_kind kind)
{
    if (!vs_sim_wants(VS_SIM_WANT(kind)))
        return 0;
    struct vs_sim_call *call = vs_sim_call_current();
    if (call) {
        call->submitted = true;
        return call->correlation;
    }
    uint32_t n = vs_sim_correlation_new();
    const struct vs_sim_observer *who = atomic_load(&observer);
    if (who && vs_sim_wants(VS_SIM_WANT_SUBMISSIONS))
        who->submitted(n);
    return n;
}
