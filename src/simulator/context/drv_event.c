/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: an event refers to the position of its newest record, as (stream, number). The engine
 * that reaches this position stores the time, unless the event has been recorded again or destroyed
 * meanwhile, which its generation shows. An interprocess event has a second position, shared by all
 * processes: the latest record decides, so queries and waits look there. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_memory.h"


#include "base/vs_clock.h"

#define EVENT_MARK 0x76734556u
#define EVENT_GONE 0x76734547u

struct vs_sim_event {
    atomic_uint mark;
    uint32_t id;
    unsigned flags;
    struct vs_sim_context *ctx;
    unsigned epoch;               /* of ctx when created */
    pthread_mutex_t mu;           /* guards the following members */
    uint64_t generation;          /* of the newest record; 0: never recorded */
    struct vs_sim_stream *stream; /* NULL: never recorded */
    uint64_t seq;
    struct vs_sim_follows follows; /* of the stream, before the newest record */
    uint64_t time_ns;          /* of the newest record, once reached */
    /* the newest record, if in a capture; used by drv_capture.c */
    struct vs_sim_capture_mark captured;
    struct vs_sim_event_share share; /* immutable while the event lives */
    uint64_t shared_record;          /* the number of our newest record in the share */
};

static struct vs_sim_kept events = {.mu = PTHREAD_MUTEX_INITIALIZER};
static atomic_uint next_event_id = 1;

CUresult vs_sim_event_of(CUevent handle, struct vs_sim_event **event)
{
    struct vs_sim_event *ev = (struct vs_sim_event *)handle;
    if (!ev || atomic_load(&ev->mark) != EVENT_MARK)
        return CUDA_ERROR_INVALID_HANDLE;
    if (ev->epoch != atomic_load(&ev->ctx->epoch))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *event = ev;
    return CUDA_SUCCESS;
}

void vs_sim_event_reached(struct vs_sim_event *ev, uint64_t generation, uint64_t time_ns)
{
    pthread_mutex_lock(&ev->mu);
    if (ev->generation == generation)
        ev->time_ns = time_ns;
    pthread_mutex_unlock(&ev->mu);
}

static CUevent event_new(struct vs_sim_context *ctx, unsigned flags,
                         const struct vs_sim_event_share *share)
{
    bool fresh;
    struct vs_sim_event *ev = vs_sim_kept_take(&events, sizeof *ev, &fresh);
    if (fresh)
        pthread_mutex_init(&ev->mu, NULL);
    pthread_mutex_lock(&ev->mu);
    ev->flags = flags;
    ev->ctx = ctx;
    ev->epoch = atomic_load(&ctx->epoch);
    ev->id = atomic_fetch_add(&next_event_id, 1);
    ev->stream = NULL;
    ev->generation++; /* an engine may still hold the number of an earlier use */
    ev->seq = ev->time_ns = ev->shared_record = 0;
    ev->share = *share;
    ev->captured.capture = 0;
    pthread_mutex_unlock(&ev->mu);
    atomic_store(&ev->mark, EVENT_MARK);
    return (CUevent)ev;
}

CUresult cuEventCreate_in(struct vs_sim_context *ctx, CUevent *phEvent, unsigned int Flags)
{
    if (!phEvent || (Flags & ~(unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
                                         CU_EVENT_INTERPROCESS)))
        return CUDA_ERROR_INVALID_VALUE;
    if ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_event_share share = {0};
    if ((Flags & CU_EVENT_INTERPROCESS) && !vs_sim_ipc_slot_new(&share))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phEvent = event_new(ctx, Flags, &share);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2_entered(CUevent hEvent)
{
    struct vs_sim_event *ev = (struct vs_sim_event *)hEvent;
    unsigned live = EVENT_MARK;
    if (!ev || !atomic_compare_exchange_strong(&ev->mark, &live, EVENT_GONE))
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&ev->mu);
    ev->generation++;
    vs_sim_ipc_slot_free(&ev->share);
    pthread_mutex_unlock(&ev->mu);
    vs_sim_kept_give(&events, ev);
    return CUDA_SUCCESS;
}

CUresult vs_sim_event_submit(struct vs_sim_event *ev, struct vs_sim_stream *s, struct vs_sim_op *op,
                             uint64_t *seq)
{
    pthread_mutex_lock(&ev->mu);
    op->u.record.event = ev;
    op->u.record.generation = ++ev->generation;
    if (ev->share.slot) {
        op->u.record.shared = ev->share.slot;
        op->u.record.shared_record = ev->shared_record = vs_sim_ipc_slot_record(ev->share.slot);
    }
    struct vs_sim_follows follows;
    vs_sim_followed(s, &follows);
    CUresult e = vs_sim_submit(s, op, &ev->seq);
    if (e == CUDA_SUCCESS) {
        ev->follows = follows;
        ev->stream = s;
        ev->time_ns = 0;
        ev->captured.capture = 0;
        *seq = ev->seq;
    } else if (ev->share.slot) {
        vs_sim_ipc_slot_done(ev->share.slot, ev->shared_record);
    }
    pthread_mutex_unlock(&ev->mu);
    return e;
}

bool vs_sim_event_captured(const struct vs_sim_event *ev)
{
    return ev->captured.capture && vs_sim_capture_query(&ev->captured);
}

struct vs_sim_context *vs_sim_event_context(const struct vs_sim_event *ev) { return ev->ctx; }

CUresult cuEventRecordWithFlags_in(struct vs_sim_event *ev, struct vs_sim_stream *s,
                                   unsigned int flags)
{
    uint64_t seq;
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags)
        return vs_sim_capture_event(s, (CUevent)ev, true);
    if (s->ctx != ev->ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    if (vs_sim_capturing()) {
        bool taken;
        CUresult e = vs_sim_capture_record(s, &ev->captured, &taken);
        if (taken)
            return e;
    }
    return vs_sim_event_submit(ev, s, vs_sim_op_new(s, VS_SIM_OP_RECORD), &seq);
}

VS_SIM_AS(cuEventRecord_in, (struct vs_sim_event *ev, struct vs_sim_stream *s),
          cuEventRecordWithFlags_in(ev, s, 0))

/* The position of the event, its time and the dependencies of the record (both may be NULL); false
 * if it was never recorded. */
static bool place(struct vs_sim_event *ev, struct vs_sim_stream **s, uint64_t *seq,
                  uint64_t *time_ns, struct vs_sim_follows *follows)
{
    pthread_mutex_lock(&ev->mu);
    *s = ev->stream;
    *seq = ev->seq;
    if (time_ns)
        *time_ns = ev->time_ns;
    if (follows)
        *follows = ev->follows;
    pthread_mutex_unlock(&ev->mu);
    return *s != NULL;
}

/* Was the newest record of an interprocess event made by another process? If so, stores its number
 * in *record*, or 0 if there is nothing to wait for. */
static bool elsewhere(struct vs_sim_event *ev, uint64_t *record)
{
    if (!ev->share.slot)
        return false;
    *record = vs_sim_ipc_slot_newest(&ev->share);
    pthread_mutex_lock(&ev->mu);
    bool ours = *record && *record == ev->shared_record;
    pthread_mutex_unlock(&ev->mu);
    if (*record && !ours && vs_sim_ipc_slot_passed(ev->share.slot, *record))
        *record = 0;
    return !ours;
}

void vs_sim_event_depend(struct vs_sim_event *ev, struct vs_sim_op *op)
{
    struct vs_sim_stream *on;
    uint64_t seq, record;
    if (elsewhere(ev, &record)) {
        if (record) { /* of another process: the op waits itself */
            op->kind = VS_SIM_OP_WAIT_SHARED;
            op->u.wait_shared.slot = ev->share.slot;
            op->u.wait_shared.record = record;
        }
    } else if (place(ev, &on, &seq, NULL, NULL)) {
        vs_sim_op_depend(op, on, seq);
    }
}

/* What a query or a wait is for: number *seq* of *s* (NULL: nothing here), or *record* of another
 * process (0: nothing there). */
static CUresult asked(struct vs_sim_event *ev, struct vs_sim_stream **s, uint64_t *seq,
                      uint64_t *record)
{
    /* an event of a capture cannot be queried; during a capture that forbids it, no event can */
    CUresult e = ev->captured.capture ? vs_sim_capture_query(&ev->captured) : vs_sim_safe();
    place(ev, s, seq, NULL, NULL);
    if (elsewhere(ev, record))
        *s = NULL;
    else
        *record = 0;
    return e;
}

/* The work that *ev* stands for is complete. */
static void tell_checker(struct vs_sim_event *ev, struct vs_sim_stream *s, uint64_t seq)
{
    uint64_t record;
    if (vs_sim_checking && s)
        vs_sim_check_synced(s, seq);
    else if (vs_sim_checking && elsewhere(ev, &record))
        vs_sim_check_synced_elsewhere();
}

CUresult cuEventQuery_entered(struct vs_sim_event *ev)
{
    struct vs_sim_stream *s;
    uint64_t seq, record;
    CUresult e = asked(ev, &s, &seq, &record);
    if (e)
        return e;
    if (record || (s && atomic_load(&s->completed) < seq))
        return CUDA_ERROR_NOT_READY;
    tell_checker(ev, s, seq);
    return (CUresult)atomic_load(&ev->ctx->fault);
}

CUresult cuEventSynchronize_entered(struct vs_sim_event *ev)
{
    struct vs_sim_stream *s;
    uint64_t seq, record, begin = vs_clock_ns();
    CUresult e = asked(ev, &s, &seq, &record);
    if (e)
        return e;
    if (record)
        vs_sim_ipc_slot_wait(ev->share.slot, record, ev->ctx);
    if (s)
        vs_sim_wait(s, seq);
    tell_checker(ev, s, seq);
    vs_sim_waited(ev->ctx, VS_SIM_SYNC_EVENT, 0, ev->id, begin);
    return (CUresult)atomic_load(&ev->ctx->fault);
}

CUresult cuEventElapsedTime_v2_entered(float pMilliseconds[static 1], struct vs_sim_event *start,
                                       struct vs_sim_event *end)
{
    struct vs_sim_event *ev[2] = {start, end};
    struct vs_sim_stream *s;
    uint64_t seq, time_ns[2];
    CUresult e = CUDA_SUCCESS;
    if (ev[0]->ctx != ev[1]->ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    for (int i = 0; i < 2 && !e; i++)
        e = ev[i]->captured.capture ? vs_sim_capture_query(&ev[i]->captured) : CUDA_SUCCESS;
    if (e)
        return e;
    for (int i = 0; i < 2; i++) {
        if ((ev[i]->flags & CU_EVENT_DISABLE_TIMING) || !place(ev[i], &s, &seq, NULL, NULL))
            return CUDA_ERROR_INVALID_HANDLE;
        if (atomic_load(&s->completed) < seq)
            e = CUDA_ERROR_NOT_READY;
        else if (vs_sim_checking)
            vs_sim_check_synced(s, seq);
        place(ev[i], &s, &seq, &time_ns[i], NULL);
    }
    if (e)
        return e;
    *pMilliseconds = (float)((double)((int64_t)time_ns[1] - (int64_t)time_ns[0]) / 1e6);
    return CUDA_SUCCESS;
}

static CUresult wait_shared(struct vs_sim_stream *s, struct vs_sim_event *ev, uint64_t record)
{
    if (!record)
        return CUDA_SUCCESS;
    struct vs_sim_op *op = vs_sim_op_new(s, VS_SIM_OP_WAIT_SHARED);
    op->u.wait_shared.slot = ev->share.slot;
    op->u.wait_shared.record = record;
    return vs_sim_submit(s, op, NULL);
}

CUresult cuStreamWaitEvent_in(struct vs_sim_stream *s, struct vs_sim_event *ev, unsigned int Flags)
{
    CUresult e;
    struct vs_sim_stream *on;
    uint64_t seq;
    if (Flags)
        return Flags == CU_EVENT_WAIT_EXTERNAL ? vs_sim_capture_event(s, (CUevent)ev, false)
                                               : CUDA_ERROR_INVALID_VALUE;
    if (vs_sim_capturing() || ev->captured.capture) {
        bool taken;
        e = vs_sim_capture_wait(s, &ev->captured, &taken);
        if (taken)
            return e;
    }
    uint64_t record_there;
    struct vs_sim_follows follows;
    if (elsewhere(ev, &record_there))
        return wait_shared(s, ev, record_there);
    if (!place(ev, &on, &seq, NULL, &follows) || on == s)
        return CUDA_SUCCESS; /* never recorded, or already ordered */
    struct vs_sim_op *op = vs_sim_op_new(s, VS_SIM_OP_NOTHING);
    vs_sim_op_depend(op, on, seq);
    e = vs_sim_submit(s, op, NULL);
    if (!e)
        vs_sim_follow(s, on, seq, &follows);
    return e;
}

/* ---- sharing (drv_ipc_event.c) ---- */

bool vs_sim_event_shared(CUevent handle, struct vs_sim_event_share *share)
{
    struct vs_sim_event *ev;
    if (vs_sim_event_of(handle, &ev) || !ev->share.slot)
        return false;
    *share = ev->share;
    return true;
}

CUevent vs_sim_event_open(struct vs_sim_context *ctx, const struct vs_sim_event_share *share)
{
    return event_new(ctx, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, share);
}
