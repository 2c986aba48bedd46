/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's side of vs_sim_activity.h: one observer, and the reports that it requested. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "simulator/memory/vs_sim_array.h"
#include "simulator/memory/vs_sim_pool.h"
#include "simulator/driver/vs_sim_thunk.h"
#include "simulator/memory/vs_sim_memory.h"

atomic_uint vs_sim_wanted;

static _Atomic(const struct vs_sim_observer *) observer;
static atomic_uint next_correlation = 1;

VS_SIM_EXPORT vramscope_sim_observe_fn vramscopeSimObserve;
VS_SIM_EXPORT vramscope_sim_identify_fn vramscopeSimIdentify;

/* ---- VRAMSCOPE_SIMULATE_WORK: a file that gets a line for each finished work and each wait ---- */

static int work_log = -1; /* immutable after cuInit, like the next */
static uint32_t logged;

void vs_sim_log_begin(void)
{
    const char *path = getenv("VRAMSCOPE_SIMULATE_WORK");
    if (!path || (work_log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
        return;
    logged = VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL) | VS_SIM_WANT(VS_SIM_ACTIVITY_COPY) |
             VS_SIM_WANT(VS_SIM_ACTIVITY_SET) | VS_SIM_WANT(VS_SIM_ACTIVITY_SYNC);
    atomic_store(&vs_sim_wanted, logged);
}

/* kind device stream start_ns end_ns detail: a kernel's name, the bytes of a copy or memset, the kind of a wait */
static void log_work(const struct vs_sim_activity *a)
{
    static const char *const kinds[] = {NULL, "kernel", "memcpy", "memset", "sync"};
    char line[512], detail[24];
    snprintf(detail, sizeof detail, "%" PRIu64, a->kind == VS_SIM_ACTIVITY_COPY  ? a->u.copy.bytes
                                                : a->kind == VS_SIM_ACTIVITY_SET ? a->u.set.bytes
                                                                                 : a->u.sync.kind);
    int n = snprintf(line, sizeof line, "%s %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %.300s\n", kinds[a->kind],
                     a->device, a->stream, a->start_ns, a->end_ns,
                     a->kind == VS_SIM_ACTIVITY_KERNEL ? a->u.kernel.name : detail);
    if (write(work_log, line, (size_t)n) < 0)
        work_log = -1;
}

int vramscopeSimObserve(const struct vs_sim_observer *who, uint32_t want)
{
    if (!who || who->bytes != sizeof *who)
        return 0;
    atomic_store(&observer, who); /* before its request, which enables the calls */
    atomic_store(&vs_sim_wanted, want | logged);
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
    e = vs_sim_stream_of(ctx, per_thread && !handle ? CU_STREAM_PER_THREAD : handle, &stream);
    if (e)
        return e;
    *identity = (struct vs_sim_identity){(uint32_t)ctx->device->ordinal, ctx->id, stream->id};
    return CUDA_SUCCESS;
}

void vs_sim_report(const struct vs_sim_activity *activity)
{
    const struct vs_sim_observer *who = atomic_load(&observer);
    if (work_log >= 0 && activity->kind <= VS_SIM_ACTIVITY_SYNC)
        log_work(activity);
    if (who && vs_sim_wants(VS_SIM_WANT(activity->kind)))
        who->done(activity);
}

void vs_sim_waited(const struct vs_sim_context *ctx, enum vs_sim_sync_kind kind, uint32_t stream, uint32_t event,
                   uint64_t begin)
{
    vs_sim_uncomputed_waited();
    vs_sim_pools_release_idle();
    if (!vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_SYNC)))
        return;
    struct vs_sim_activity a = {.kind = VS_SIM_ACTIVITY_SYNC,
                                .submit_ns = begin,
                                .start_ns = begin,
                                .end_ns = vs_clock_ns(),
                                .device = (uint32_t)ctx->device->ordinal,
                                .context = ctx->id,
                                .stream = stream,
                                .correlation = vs_sim_correlate(VS_SIM_ACTIVITY_SYNC)};
    a.u.sync.kind = kind;
    a.u.sync.event = event;
    vs_sim_report(&a);
}

void vs_sim_report_resource(enum vs_sim_resource what, struct vs_sim_context *ctx,
                            struct vs_sim_stream *stream)
{
    const struct vs_sim_observer *who = atomic_load(&observer);
    if (who && vs_sim_wants(VS_SIM_WANT_RESOURCES))
        who->resource(what, (CUcontext)ctx, (CUstream)stream);
}

/* ---- memory ---- */

static _Thread_local const struct vs_sim_stream *memory_stream;

void vs_sim_memory_in(const struct vs_sim_stream *stream) { memory_stream = stream; }

/* CUPTI's kind of this memory; 0 for memory without an allocating call. */
static enum vs_sim_memory_kind memory_of(const struct vs_sim_range *range)
{
    switch (range->kind) {
    case VS_SIM_RANGE_DEVICE:
    case VS_SIM_RANGE_POOL:
    case VS_SIM_RANGE_GLOBAL: return VS_SIM_MEMORY_DEVICE;
    case VS_SIM_RANGE_MANAGED: return VS_SIM_MEMORY_MANAGED;
    case VS_SIM_RANGE_HOST: return VS_SIM_MEMORY_PINNED;
    case VS_SIM_RANGE_ARRAY: return range->array->is_level ? 0 : VS_SIM_MEMORY_ARRAY;
    default: return 0;
    }
}

/* The range of a mipmapped array is a stub; its levels are ranges of their own behind it. */
static uint64_t bytes_of(const struct vs_sim_range *range)
{
    uint64_t bytes = range->bytes;
    unsigned levels = range->kind == VS_SIM_RANGE_ARRAY ? range->array->levels : 0;
    struct vs_sim_range level;
    for (unsigned i = 0; i < levels; i++)
        if (vs_sim_range_find(range->array->level_base[i], &level))
            bytes = level.base + level.bytes - range->base;
    return bytes;
}

void vs_sim_report_memory(const struct vs_sim_range *range, bool release)
{
    enum vs_sim_memory_kind memory = memory_of(range);
    if (!memory || !vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_MEMORY)))
        return;
    const struct vs_sim_call *call = vs_sim_call_current();
    struct vs_sim_activity a = {.kind = VS_SIM_ACTIVITY_MEMORY,
                                .start_ns = vs_clock_ns(),
                                .device = (uint32_t)(range->device >= 0 || !range->ctx
                                                         ? range->device
                                                         : range->ctx->device->ordinal),
                                .context = range->ctx ? range->ctx->id : 0,
                                .stream = memory_stream ? memory_stream->id : 0,
                                .correlation = vs_sim_correlate(VS_SIM_ACTIVITY_MEMORY),
                                .u.memory = {.address = range->base,
                                             .bytes = bytes_of(range),
                                             .caller = call ? call->args->caller : 0,
                                             .memory = (uint8_t)memory,
                                             .release = release,
                                             .global = range->kind == VS_SIM_RANGE_GLOBAL}};
    if (range->kind == VS_SIM_RANGE_POOL) {
        a.u.memory.pool = vs_sim_pool_state(range->pool);
        if (release) /* the amount after the block has been returned */
            a.u.memory.pool.used -=
                (range->bytes + VS_SIM_UNIT_BYTES - 1) / VS_SIM_UNIT_BYTES * VS_SIM_UNIT_BYTES;
    }
    vs_sim_report(&a);
}

void vs_sim_report_pool(enum vs_sim_pool_event event, struct vs_sim_pool *pool, uint64_t keep)
{
    if (!vs_sim_wants(VS_SIM_WANT(VS_SIM_ACTIVITY_POOL)))
        return;
    struct vs_sim_activity a = {
        .kind = VS_SIM_ACTIVITY_POOL,
        .start_ns = vs_clock_ns(),
        .device = (uint32_t)pool->device,
        .correlation = vs_sim_correlate(VS_SIM_ACTIVITY_POOL),
        .u.pool = {.event = event, .state = vs_sim_pool_state(pool), .keep = keep}};
    vs_sim_report(&a);
}

/* ---- calls ---- */

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
    const struct vs_sim_call *call = vs_sim_call_current();
    return call ? call->correlation : vs_sim_correlation_new();
}
