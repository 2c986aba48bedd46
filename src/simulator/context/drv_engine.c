/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams are queues, each with its own thread, started with the first work that has to wait. Work
 * has a number; a stream completes its numbers in order and publishes the newest, so every wait is
 * a wait for a number of a stream. The rules of the legacy default stream are turned into such
 * waits at submission, under the context's submit_mu: they always point to work submitted earlier,
 * so engines cannot wait for each other in a circle. */
#include "simulator/driver/vs_sim_driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/vs_clock.h"

#define PENDING_MAX 1024 /* as on a real device, a full queue blocks the caller */
#define PENDING_RESUME 768
#define SPIN_TURNS 150

static struct vs_sim_kept streams = {.mu = PTHREAD_MUTEX_INITIALIZER};
static atomic_uint next_stream_id = 1;

static bool is_blocking(const struct vs_sim_stream *s)
{
    return !(s->flags & CU_STREAM_NON_BLOCKING);
}

/* ---- completion ---- */

void vs_sim_wait(struct vs_sim_stream *s, uint64_t seq)
{
    for (int i = 0; i < SPIN_TURNS; i++) {
        if (atomic_load(&s->completed) >= seq)
            return;
        vs_sim_relax();
    }
    pthread_mutex_lock(&s->mu);
    for (;;) {
        if (seq < atomic_load(&s->wake_at))
            atomic_store(&s->wake_at, seq); /* pairs with complete(): store, then check again */
        if (atomic_load(&s->completed) >= seq)
            break;
        pthread_cond_wait(&s->done, &s->mu);
    }
    pthread_mutex_unlock(&s->mu);
}

static void complete(struct vs_sim_stream *s, uint64_t seq)
{
    atomic_store(&s->completed, seq);
    if (seq < atomic_load(&s->wake_at))
        return;
    pthread_mutex_lock(&s->mu);
    atomic_store(&s->wake_at, UINT64_MAX); /* remaining waiters set it again */
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->mu);
}

/* ---- ops ---- */

struct vs_sim_op *vs_sim_op_new(struct vs_sim_stream *s, enum vs_sim_op_kind kind)
{
    uint64_t completed = atomic_load(&s->completed); /* first: other threads continue meanwhile */
    uint64_t submitted = atomic_load(&s->submitted);
    if (submitted - completed >= PENDING_MAX)
        vs_sim_wait(s, submitted - PENDING_RESUME);
    return vs_sim_op_new_at_once(s, kind);
}

struct vs_sim_op *vs_sim_op_new_at_once(struct vs_sim_stream *s, enum vs_sim_op_kind kind)
{
    pthread_mutex_lock(&s->mu);
    struct vs_sim_op *op = s->unused;
    if (op)
        s->unused = op->next;
    pthread_mutex_unlock(&s->mu);
    if (!op)
        op = vs_sim_need(aligned_alloc(64, (sizeof *op + 63) / 64 * 64));
    op->next = NULL;
    op->kind = kind;
    op->correlation = op->graph = 0;
    op->graph_node = 0;
    op->dep_count = 0;
    op->dep_max = VS_SIM_DEPS_INLINE;
    op->deps = op->deps_inline;
    op->check = vs_sim_checking ? vs_sim_check_op() : NULL;
    op->check_made = 0;
    op->moved = false;
    op->submit_ns = vs_clock_ns();
    if (kind == VS_SIM_OP_KERNEL)
        op->u.launch.args = NULL;
    if (kind == VS_SIM_OP_COPY)
        op->u.copy.staged = NULL;
    if (kind == VS_SIM_OP_VALUES)
        op->u.values.list = NULL;
    if (kind == VS_SIM_OP_RECORD)
        op->u.record.shared = NULL;
    return op;
}

void vs_sim_op_clean(struct vs_sim_op *op)
{
    if (op->deps != op->deps_inline)
        free(op->deps);
    op->deps = op->deps_inline;
    if (op->kind == VS_SIM_OP_KERNEL && op->u.launch.args != op->u.launch.args_inline)
        free(op->u.launch.args);
    if (op->kind == VS_SIM_OP_COPY)
        free(op->u.copy.staged);
    if (op->kind == VS_SIM_OP_VALUES)
        free(op->u.values.list);
    if (op->check)
        vs_sim_check_op_free(op->check);
    op->check = NULL;
    op->kind = VS_SIM_OP_NOTHING;
}

void vs_sim_op_copy(struct vs_sim_op *to, const struct vs_sim_op *from)
{
    const struct vs_sim_launch_op *launch = &from->u.launch;
    to->kind = from->kind;
    to->u = from->u;
    to->check_made = from->check_made;
    if (from->check) /* part of a capture */
        to->check_made = vs_sim_check_made(from->check);
    if (from->kind == VS_SIM_OP_COPY)
        to->u.copy.staged = NULL;
    if (from->kind == VS_SIM_OP_VALUES)
        to->u.values.list = vs_sim_dup(from->u.values.list,
                                       from->u.values.count * sizeof *from->u.values.list);
    if (from->kind == VS_SIM_OP_KERNEL && launch->args)
        to->u.launch.args = launch->args == launch->args_inline
                                ? to->u.launch.args_inline
                                : vs_sim_dup(launch->args, launch->host->arg_total);
}

void vs_sim_op_drop(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    vs_sim_op_clean(op);
    pthread_mutex_lock(&s->mu);
    op->next = s->unused;
    s->unused = op;
    pthread_mutex_unlock(&s->mu);
}

void vs_sim_op_depend(struct vs_sim_op *op, struct vs_sim_stream *on, uint64_t seq)
{
    if (atomic_load(&on->completed) >= seq && !vs_sim_checking)
        return; /* the checker also needs the waits that are not necessary */
    if (op->dep_count == op->dep_max) {
        size_t bytes = sizeof *op->deps * op->dep_max;
        struct vs_sim_dep *more = vs_sim_need(malloc(2 * bytes));
        memcpy(more, op->deps, bytes);
        if (op->deps != op->deps_inline)
            free(op->deps);
        op->deps = more;
        op->dep_max *= 2;
    }
    op->deps[op->dep_count++] = (struct vs_sim_dep){on, seq};
}

/* ---- order ---- */

static void follow_one(struct vs_sim_follows *f, struct vs_sim_stream *on, uint64_t seq)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->at[i].stream == on) {
            if (f->at[i].seq < seq)
                f->at[i].seq = seq;
            return;
        }
    f->at[f->next] = (struct vs_sim_dep){on, seq};
    f->next = (f->next + 1) % VS_SIM_FOLLOWS_MAX;
    if (f->count < VS_SIM_FOLLOWS_MAX)
        f->count++;
}

void vs_sim_follow(struct vs_sim_stream *s, struct vs_sim_stream *on, uint64_t seq,
                   const struct vs_sim_follows *more)
{
    pthread_mutex_lock(&s->mu);
    for (unsigned i = 0; more && i < more->count; i++)
        if (more->at[i].stream != s)
            follow_one(&s->follows, more->at[i].stream, more->at[i].seq);
    follow_one(&s->follows, on, seq);
    pthread_mutex_unlock(&s->mu);
}

void vs_sim_followed(struct vs_sim_stream *s, struct vs_sim_follows *follows)
{
    pthread_mutex_lock(&s->mu);
    *follows = s->follows;
    pthread_mutex_unlock(&s->mu);
}

/* The rules of the legacy default stream: its work waits for everything earlier
 * in blocking streams, and theirs for everything earlier in it. */
static void order_locked(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    struct vs_sim_context *ctx = s->ctx;
    struct vs_sim_follows follows;
    if (s->side_seen != ctx->side_wait && s != ctx->side) { /* cuCtxWaitEvent */
        s->side_seen = ctx->side_wait;
        vs_sim_op_depend(op, ctx->side, ctx->side_wait);
    }
    if (!is_blocking(s))
        return;
    if (!s->legacy) {
        uint64_t seq = atomic_load(&ctx->legacy->submitted);
        if (seq == s->legacy_seen)
            return;
        s->legacy_seen = seq;
        vs_sim_followed(ctx->legacy, &follows);
        vs_sim_follow(s, ctx->legacy, seq, &follows);
        vs_sim_op_depend(op, ctx->legacy, seq);
        return;
    }
    for (struct vs_sim_stream *t = ctx->streams; t; t = t->next) {
        uint64_t seq = atomic_load(&t->submitted);
        if (t == s || !is_blocking(t) || seq == t->seen_by_legacy)
            continue;
        t->seen_by_legacy = seq;
        vs_sim_followed(t, &follows);
        vs_sim_follow(s, t, seq, &follows);
        vs_sim_op_depend(op, t, seq);
    }
}

static void run(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    bool waited = false;
    for (uint32_t i = 0; i < op->dep_count; i++) {
        if (atomic_load(&op->deps[i].stream->completed) >= op->deps[i].seq)
            continue;
        waited = true;
        vs_sim_wait(op->deps[i].stream, op->deps[i].seq);
    }
    if (op->check)
        vs_sim_check_begin(s, op);
    vs_sim_exec(s, op, waited);
    if (op->check)
        vs_sim_check_end(s, op);
    vs_sim_op_clean(op);
    complete(s, op->seq);
}

/* ---- the engine thread ---- */

static void retire(struct vs_sim_stream *s)
{
    struct vs_sim_context *ctx = s->ctx;
    if (vs_sim_checking)
        vs_sim_check_retired(s);
    pthread_mutex_lock(&ctx->submit_mu);
    for (struct vs_sim_stream **p = &ctx->streams; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            break;
        }
    pthread_mutex_unlock(&ctx->submit_mu);
    vs_sim_kept_give(&streams, s);
}

/* Returns true once, to the thread that finds a destroyed stream with no work left. */
static bool died_locked(struct vs_sim_stream *s)
{
    if (!s->dying || s->head || atomic_load(&s->completed) != atomic_load(&s->submitted))
        return false;
    s->dying = false;
    return true;
}

static struct vs_sim_op *take(struct vs_sim_stream *s, struct vs_sim_op *first,
                              struct vs_sim_op *last)
{
    for (int i = 0; i < SPIN_TURNS; i++) {
        if (atomic_load(&s->submitted) != atomic_load(&s->completed))
            break;
        vs_sim_relax();
    }
    pthread_mutex_lock(&s->mu);
    if (first) {
        last->next = s->unused;
        s->unused = first;
    }
    while (!s->head) {
        if (died_locked(s)) {
            pthread_mutex_unlock(&s->mu);
            retire(s);
            pthread_mutex_lock(&s->mu);
            continue;
        }
        s->sleeping = true;
        pthread_cond_wait(&s->work, &s->mu);
        s->sleeping = false;
    }
    struct vs_sim_op *batch = s->head;
    s->head = s->tail = NULL;
    pthread_mutex_unlock(&s->mu);
    return batch;
}

static void *engine_main(void *arg)
{
    struct vs_sim_stream *s = arg;
    struct vs_sim_op *batch = NULL, *last = NULL;
    prctl(PR_SET_NAME, "vs-sim-stream");
    prctl(PR_SET_TIMERSLACK, 1000ul);
    for (;;) {
        batch = take(s, batch, last);
        for (struct vs_sim_op *op = batch; op; op = op->next) {
            if (atomic_load(&s->completed) != op->seq - 1)
                vs_sim_wait(s, op->seq - 1); /* a run_now on another thread comes first */
            last = op;
            run(s, op);
        }
    }
    return NULL;
}

/* ---- submission ---- */

static bool append_locked(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    s->thread_started = s->thread_started || vs_sim_thread_start(engine_main, s);
    if (!s->thread_started)
        return false;
    op->seq = atomic_load(&s->submitted) + 1;
    if (atomic_load(&vs_sim_ahead) && vs_sim_has_effect(op))
        atomic_store(&s->effect, op->seq);
    if (s->tail)
        s->tail->next = op;
    else
        s->head = op;
    s->tail = op;
    atomic_store(&s->submitted, op->seq);
    if (s->sleeping)
        pthread_cond_signal(&s->work);
    return true;
}

/* Gives *op* its number, in *seq*, and queues it; *here* (NULL: no): unless it may run on this thread,
 * since the stream has no other work. Returns false where no thread may start, as in a sandbox. */
static bool enqueue(struct vs_sim_stream *s, struct vs_sim_op *op, uint64_t *seq, bool *here)
{
    struct vs_sim_context *ctx = s->ctx;
    vs_sim_uncomputed_submitted(op);
    if (atomic_load(&vs_sim_ahead))
        vs_sim_move_ahead(s, op);
    if (op->check && op->kind == VS_SIM_OP_KERNEL)
        vs_sim_check_launch(op);
    pthread_mutex_lock(&ctx->submit_mu);
    order_locked(s, op);
    if (vs_sim_checking)
        vs_sim_check_submitted(op);
    pthread_mutex_lock(&s->mu);
    if (here)
        *here = !s->head && atomic_load(&s->completed) == atomic_load(&s->submitted);
    bool ok = true;
    if (here && *here) {
        op->seq = atomic_load(&s->submitted) + 1;
        atomic_store(&s->submitted, op->seq);
    } else {
        ok = append_locked(s, op);
    }
    if (seq && ok)
        *seq = op->seq; /* a queued op may be gone once the lock is released */
    pthread_mutex_unlock(&s->mu);
    pthread_mutex_unlock(&ctx->submit_mu);
    return ok;
}

CUresult vs_sim_submit(struct vs_sim_stream *s, struct vs_sim_op *op, uint64_t *seq)
{
    bool taken = false;
    CUresult e = vs_sim_capturing() ? vs_sim_capture_take(s, op, &taken) : CUDA_SUCCESS;
    if (taken || enqueue(s, op, seq, NULL))
        return e;
    vs_sim_op_drop(s, op);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult vs_sim_run_now(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    bool taken = false, here;
    uint64_t seq;
    CUresult e = vs_sim_capturing() ? vs_sim_capture_take(s, op, &taken) : CUDA_SUCCESS;
    if (taken)
        return e;
    if (!enqueue(s, op, &seq, &here)) { /* another thread runs the stream's work, and none may start */
        vs_sim_op_drop(s, op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (here) {
        run(s, op);
        vs_sim_op_drop(s, op);
        pthread_mutex_lock(&s->mu);
        bool died = died_locked(s);
        pthread_mutex_unlock(&s->mu);
        if (died)
            retire(s);
    } else {
        vs_sim_wait(s, seq);
    }
    if (vs_sim_checking)
        vs_sim_check_synced(s, seq);
    return CUDA_SUCCESS;
}

/* ---- whole streams ---- */

bool vs_sim_stream_idle(struct vs_sim_stream *s)
{
    bool idle = atomic_load(&s->completed) >= atomic_load(&s->submitted);
    if (!idle || !s->legacy)
        return idle;
    pthread_mutex_lock(&s->ctx->submit_mu);
    for (struct vs_sim_stream *t = s->ctx->streams; t && idle; t = t->next)
        idle = !is_blocking(t) || atomic_load(&t->completed) >= atomic_load(&t->submitted);
    pthread_mutex_unlock(&s->ctx->submit_mu);
    return idle;
}

void vs_sim_stream_sync(struct vs_sim_stream *s)
{
    if (vs_sim_stream_idle(s) && !vs_sim_checking)
        return;
    if (s->legacy) { /* a sync of it waits for the streams it orders */
        struct vs_sim_op *op = vs_sim_op_new(s, VS_SIM_OP_NOTHING);
        if (vs_sim_run_now(s, op) == CUDA_SUCCESS)
            return;
    }
    uint64_t seq = atomic_load(&s->submitted);
    vs_sim_wait(s, seq);
    if (vs_sim_checking)
        vs_sim_check_synced(s, seq);
}

struct vs_sim_stream *vs_sim_stream_new(struct vs_sim_context *ctx, unsigned flags, int priority)
{
    bool fresh;
    struct vs_sim_stream *s = vs_sim_kept_take(&streams, sizeof *s, &fresh);
    if (fresh) {
        pthread_mutex_init(&s->mu, NULL);
        pthread_cond_init(&s->work, NULL);
        pthread_cond_init(&s->done, NULL);
        atomic_store(&s->wake_at, UINT64_MAX);
    }
    s->id = atomic_fetch_add(&next_stream_id, 1);
    s->ctx = ctx;
    s->epoch = atomic_load(&ctx->epoch);
    s->flags = flags;
    s->priority = priority;
    s->attributes = vs_sim_attributes_default(priority);
    s->legacy = s->per_thread = false;
    s->legacy_seen = s->side_seen = 0;
    s->follows = (struct vs_sim_follows){0};
    s->seen_by_legacy = atomic_load(&s->submitted);
    if (vs_sim_checking)
        vs_sim_check_stream_new(s);
    if (vs_sim_spec.seed)
        s->random = vs_sim_spec.seed * 0x9E3779B97F4A7C15u + s->id;
    atomic_store(&s->mark, VS_SIM_STREAM_MARK);
    pthread_mutex_lock(&ctx->submit_mu);
    s->next = ctx->streams;
    ctx->streams = s;
    pthread_mutex_unlock(&ctx->submit_mu);
    return s;
}

void vs_sim_stream_close(struct vs_sim_stream *s)
{
    if (atomic_load(&s->capture))
        vs_sim_capture_leave(s);
    atomic_store(&s->mark, VS_SIM_STREAM_GONE);
    pthread_mutex_lock(&s->mu);
    s->dying = true;
    bool died = died_locked(s);
    pthread_mutex_unlock(&s->mu);
    if (died)
        retire(s);
}
