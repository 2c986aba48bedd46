/* SPDX-License-Identifier: Apache-2.0
 *
 * Order of operations in the checker. The happens-before relation follows from stream order,
 * dependencies (event waits, the legacy default stream, pools) and the completions reported to the
 * host before a submission; never from the time at which operations happened to run. So a missing
 * wait is found in every run, even if this run was not affected.
 *
 * Each stream is a lane of vector clocks (vs_sim_clock.h), the host is another lane. The clock of
 * an op is made when the op begins: the clock of its predecessor, joined with those of its
 * dependencies and with the host's clock at submission. A lane keeps its latest changes so that the
 * clock of an earlier op can be looked up; older changes are treated as newer ones, which can miss
 * a conflict but never invent one. All threads of the host share one clock: the order between them
 * is not visible here. */
#include "simulator/checker/vs_sim_check_internal.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY_FIRST 16
#define HISTORY_MAX 1024

struct change {
    uint64_t seq; /* first op of the lane for which the clock holds */
    struct vs_sim_clock *clock;
};

struct vs_sim_lane { /* one use of a stream object */
    struct vs_sim_lane *earlier; /* the earlier use, with lower numbers */
    struct vs_sim_lane *all;     /* lanes ever created */
    uint64_t first_seq, begun;   /* number of the newest op that has begun */
    uint32_t number;
    struct vs_sim_clock *clock;
    struct vs_sim_clock *host_seen; /* last joined */
    struct change *history;         /* ring */
    unsigned first, count, max;
};

struct vs_sim_check_context { /* work of destroyed streams */
    struct vs_sim_clock *all, *blocking;
};

bool vs_sim_checking;

static pthread_mutex_t check_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_clock *host_clock; /* guarded by check_mu, like all that follows */
static uint64_t host_seq, last_order;
static uint32_t next_lane = 1; /* 0 is the host */
static struct vs_sim_lane *lanes;
static struct vs_sim_clock *shared_clock; /* clocks of events shared with other processes */
static uint64_t unseen; /* kernels whose accesses are unknown */

void vs_sim_check_lock(void) { pthread_mutex_lock(&check_mu); }

void vs_sim_check_release(void) { pthread_mutex_unlock(&check_mu); }

void vs_sim_check_unlock(void)
{
    pthread_mutex_unlock(&check_mu);
    vs_sim_check_print();
}

/* ---- lanes ---- */

static struct vs_sim_lane *lane_new(struct vs_sim_stream *s, uint64_t first_seq)
{
    struct vs_sim_lane *lane = vs_sim_need(calloc(1, sizeof *lane));
    lane->number = next_lane++;
    lane->first_seq = first_seq;
    lane->earlier = s->check;
    lane->all = lanes;
    lanes = lane;
    return s->check = lane;
}

/* The lane of *s* that contains *seq*. */
static struct vs_sim_lane *lane_of(struct vs_sim_stream *s, uint64_t seq)
{
    struct vs_sim_lane *lane = s->check ? s->check : lane_new(s, 1);
    while (lane->first_seq > seq && lane->earlier)
        lane = lane->earlier;
    return lane;
}

/* Work of an earlier stream object comes before work of this one only if the host has waited for
 * it. In that case the lane is reused, so that clocks do not grow with each stream. */
void vs_sim_check_stream_new(struct vs_sim_stream *s)
{
    uint64_t seq = atomic_load(&s->completed);
    vs_sim_check_lock();
    if (s->check && vs_sim_clock_at(host_clock, s->check->number) < seq)
        lane_new(s, seq + 1);
    vs_sim_check_unlock();
}

static struct change *change_at(const struct vs_sim_lane *lane, unsigned i)
{
    return &lane->history[(lane->first + i) % lane->max];
}

static void remember(struct vs_sim_lane *lane, uint64_t seq)
{
    if (lane->count && change_at(lane, lane->count - 1)->clock == lane->clock)
        return;
    if (lane->count == lane->max && lane->max < HISTORY_MAX) {
        unsigned max = lane->max ? lane->max * 2 : HISTORY_FIRST;
        struct change *more = vs_sim_need(malloc(max * sizeof *more));
        for (unsigned i = 0; i < lane->count; i++)
            more[i] = *change_at(lane, i);
        free(lane->history);
        lane->history = more;
        lane->first = 0;
        lane->max = max;
    }
    if (lane->count == lane->max) {
        vs_sim_clock_unref(lane->history[lane->first].clock);
        lane->first = (lane->first + 1) % lane->max;
        lane->count--;
    }
    *change_at(lane, lane->count++) = (struct change){seq, vs_sim_clock_ref(lane->clock)};
}

/* The clock of op *seq* of the lane, without its own number. */
static struct vs_sim_clock *clock_of(const struct vs_sim_lane *lane, uint64_t seq)
{
    unsigned low = 0, high = lane->count; /* the last change at or before seq */
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (change_at(lane, middle)->seq <= seq)
            low = middle;
        else
            high = middle;
    }
    return lane->count ? change_at(lane, low)->clock : NULL;
}

static void join_op(struct vs_sim_clock **clock, struct vs_sim_stream *s, uint64_t seq)
{
    struct vs_sim_lane *lane = lane_of(s, seq);
    if (!seq || vs_sim_clock_at(*clock, lane->number) >= seq)
        return; /* the clock of an op includes the clocks of all its predecessors */
    vs_sim_clock_join(clock, clock_of(lane, seq));
    vs_sim_clock_raise(clock, lane->number, seq);
}

/* ---- completions reported to the host ---- */

struct vs_sim_clock *vs_sim_check_host_clock(void)
{
    vs_sim_clock_raise(&host_clock, 0, host_seq);
    return host_clock;
}

struct vs_sim_actor *vs_sim_check_host_actor(enum vs_sim_check_what what, uint32_t stack)
{
    struct vs_sim_actor actor = {.refs = 1,
                                 .seq = ++host_seq,
                                 .order = ++last_order,
                                 .stack = stack,
                                 .what = (uint8_t)what};
    return vs_sim_dup(&actor, sizeof actor);
}

void vs_sim_check_synced(struct vs_sim_stream *s, uint64_t seq)
{
    vs_sim_check_lock();
    join_op(&host_clock, s, seq);
    vs_sim_check_unlock();
}

void vs_sim_check_synced_elsewhere(void)
{
    vs_sim_check_lock();
    vs_sim_clock_join(&host_clock, shared_clock);
    vs_sim_check_unlock();
}

void vs_sim_check_context_synced(struct vs_sim_context *ctx)
{
    vs_sim_check_lock();
    if (ctx->check)
        vs_sim_clock_join(&host_clock, ctx->check->all);
    vs_sim_check_unlock();
}

void vs_sim_check_retired(struct vs_sim_stream *s)
{
    vs_sim_check_lock();
    if (!s->ctx->check)
        s->ctx->check = vs_sim_need(calloc(1, sizeof *s->ctx->check));
    struct vs_sim_check_context *c = s->ctx->check;
    uint64_t seq = atomic_load(&s->completed);
    join_op(&c->all, s, seq);
    if (!(s->flags & CU_STREAM_NON_BLOCKING))
        join_op(&c->blocking, s, seq);
    vs_sim_check_unlock();
}

/* ---- ops ---- */

struct vs_sim_check_op *vs_sim_check_op(void)
{
    struct vs_sim_check_op *check = vs_sim_need(calloc(1, sizeof *check));
    check->stack = vs_sim_stack_here();
    return check;
}

uint32_t vs_sim_check_made(const struct vs_sim_check_op *check) { return check->stack; }
uint32_t vs_sim_check_stack(void) { return vs_sim_stack_here(); }

void vs_sim_check_op_free(struct vs_sim_check_op *check)
{
    vs_sim_check_lock();
    vs_sim_clock_unref(check->host);
    vs_sim_clock_unref(check->clock);
    vs_sim_actor_unref(check->actor);
    if (check->begins)
        vs_sim_owned_drop(check->begins);
    vs_sim_check_unlock();
    free(check);
}

void vs_sim_check_submitted(struct vs_sim_op *op)
{
    if (!op->check)
        return;
    pthread_mutex_lock(&check_mu);
    op->check->host = vs_sim_clock_ref(host_clock);
    op->check->host_seq = host_seq;
    op->check->order = ++last_order;
    pthread_mutex_unlock(&check_mu);
}

static enum vs_sim_check_what what_of(const struct vs_sim_op *op)
{
    switch (op->kind) {
    case VS_SIM_OP_KERNEL: return VS_SIM_WHAT_KERNEL;
    case VS_SIM_OP_COPY: return VS_SIM_WHAT_COPY;
    case VS_SIM_OP_SET: return VS_SIM_WHAT_SET;
    default:
        return op->check->begins || op->kind == VS_SIM_OP_MAP ? VS_SIM_WHAT_ALLOC
               : op->check->ends_id                           ? VS_SIM_WHAT_FREE
                                                              : VS_SIM_WHAT_OTHER;
    }
}

/* Creates the clock of an op that begins now, and appends it to its lane. */
static void clock_op(struct vs_sim_stream *s, struct vs_sim_lane *lane, struct vs_sim_op *op)
{
    struct vs_sim_check_op *check = op->check;
    if (check->host != lane->host_seen) {
        vs_sim_clock_join(&lane->clock, check->host);
        vs_sim_clock_unref(lane->host_seen);
        lane->host_seen = vs_sim_clock_ref(check->host);
    }
    vs_sim_clock_raise(&lane->clock, 0, check->host_seq);
    for (uint32_t i = 0; i < op->dep_count; i++)
        join_op(&lane->clock, op->deps[i].stream, op->deps[i].seq);
    if (s->legacy && s->ctx->check)
        vs_sim_clock_join(&lane->clock, s->ctx->check->blocking);
    lane->begun = op->seq;
    remember(lane, op->seq);
    check->clock = vs_sim_clock_ref(lane->clock);
}

/* ---- accesses of an op ---- */

static void access_rows(const struct vs_sim_check_op *check, const struct vs_sim_end *end,
                        size_t row, size_t rows, size_t planes, enum vs_sim_how how, unsigned flags)
{
    struct vs_sim_access a = {.how = how, .actor = check->actor, .clock = check->clock};
    if (end->memory == VS_SIM_MEMORY_PAGEABLE)
        flags |= VS_SIM_ACCESS_PAGEABLE;
    if (rows > 1 && end->pitch == row) {
        row *= rows;
        rows = 1;
    }
    for (size_t z = 0; z < planes; z++)
        for (size_t y = 0; y < rows; y++) {
            a.begin = end->base + z * end->slice + y * end->pitch;
            a.end = a.begin + row;
            vs_sim_check_access(&a, flags);
        }
}

/* A copy within devices may copy unwritten bytes: only a reader of them is at fault. */
static void access_copy(const struct vs_sim_check_op *check, const struct vs_sim_copy *c)
{
    bool carries = vs_sim_spec.check_unwritten && c->from.memory == VS_SIM_MEMORY_DEVICE &&
                   c->to.memory == VS_SIM_MEMORY_DEVICE;
    if (!c->staged)
        access_rows(check, &c->from, c->width, c->height, c->depth, VS_SIM_READS,
                    carries ? VS_SIM_ACCESS_CARRIES : 0);
    access_rows(check, &c->to, c->width, c->height, c->depth, VS_SIM_WRITES, 0);
    for (size_t z = 0; carries && z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            vs_sim_check_copy_unwritten(c->from.base + z * c->from.slice + y * c->from.pitch,
                                        c->to.base + z * c->to.slice + y * c->to.pitch, c->width);
}

static void touch(struct vs_sim_op *op)
{
    struct vs_sim_check_op *check = op->check;
    switch (op->kind) {
    case VS_SIM_OP_COPY: access_copy(check, &op->u.copy); break;
    case VS_SIM_OP_SET: {
        const struct vs_sim_set *set = &op->u.set;
        access_rows(check, &set->to, set->width * set->element, set->height, 1, VS_SIM_WRITES, 0);
        break;
    }
    case VS_SIM_OP_KERNEL:
        if (!op->u.launch.host) {
            vs_sim_check_unknown_kernel();
            unseen++;
        } else if (!atomic_load(&op->u.launch.host->declares))
            for (unsigned i = 0; i < check->use_count; i++)
                vs_sim_owned_use(check->uses[i].address, check->uses[i].id, check->actor,
                                 check->clock);
        break;
    case VS_SIM_OP_VALUES: /* writing and waiting for one location is synchronisation, not a race */
        for (unsigned i = 0; i < op->u.values.count; i++)
            if (op->u.values.list[i].write)
                vs_sim_owned_written(op->u.values.list[i].at.base, 0);
        break;
    default: break;
    }
}

/* The memory of a graph's allocation node belongs to it from launch to free. */
static struct vs_sim_owned *graph_memory(struct vs_sim_op *op)
{
    struct vs_sim_range range;
    uintptr_t base;
    uint64_t id;
    if (op->kind != VS_SIM_OP_MAP && op->kind != VS_SIM_OP_UNMAP)
        return NULL;
    vs_sim_block_where(op->u.block, &base, &id);
    if (op->kind == VS_SIM_OP_MAP)
        return vs_sim_range_find(base, &range) && range.id == id ? vs_sim_owned_new(&range) : NULL;
    op->check->ends_base = base;
    op->check->ends_id = id;
    return NULL;
}

/* Does it write a value to host memory, which the host may read, or wait for a value? */
static bool has_value(const struct vs_sim_op *op, bool writes)
{
    for (unsigned i = 0; op->kind == VS_SIM_OP_VALUES && i < op->u.values.count; i++) {
        const struct vs_sim_value *v = &op->u.values.list[i];
        if (writes ? v->write && v->at.memory == VS_SIM_MEMORY_PINNED : v->bytes && !v->write)
            return true;
    }
    return false;
}

void vs_sim_check_begin(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    struct vs_sim_check_op *check = op->check;
    struct vs_sim_owned *began = graph_memory(op);
    vs_sim_check_lock();
    struct vs_sim_lane *lane = lane_of(s, op->seq);
    clock_op(s, lane, op);
    struct vs_sim_actor actor = {
        .refs = 1,
        .lane = lane->number,
        .seq = op->seq,
        .order = check->order,
        .stack = check->stack,
        .made = op->check_made,
        .stream = s->id,
        .what = (uint8_t)what_of(op),
        .name = op->kind == VS_SIM_OP_KERNEL ? op->u.launch.function->name : NULL};
    check->actor = vs_sim_dup(&actor, sizeof actor);
    if (check->begins) {
        vs_sim_actor_unref(check->begins->alloc); /* the call's */
        check->begins->alloc = vs_sim_actor_ref(check->actor);
        vs_sim_owned_begin(check->begins);
        check->begins = NULL;
    }
    if (began) {
        began->alloc = vs_sim_actor_ref(check->actor);
        vs_sim_owned_begin(began);
    }
    if (check->ends_id)
        vs_sim_owned_end(check->ends_base, check->ends_id, check->actor, check->clock);
    if (!atomic_load(&s->ctx->fault))
        touch(op);
    if (op->kind == VS_SIM_OP_HOST || op->kind == VS_SIM_OP_CALLBACK)
        /* the host function knows this clock, and may pass it on */
        join_op(&host_clock, s, op->seq);
    if (op->kind == VS_SIM_OP_RECORD && op->u.record.shared)
        join_op(&shared_clock, s, op->seq);
    if (has_value(op, true))
        join_op(&host_clock, s, op->seq);
    vs_sim_check_unlock();
    if (vs_sim_check_failed())
        vs_sim_context_fail(s->ctx, CUDA_ERROR_ILLEGAL_ADDRESS);
}

uint64_t vs_sim_check_unseen_kernels(void) { return unseen; }

void vs_sim_check_end(struct vs_sim_stream *s, struct vs_sim_op *op)
{
    if (op->kind == VS_SIM_OP_KERNEL && op->u.launch.host) {
        struct vs_sim_check_op *check = op->check;
        vs_sim_check_lock();
        vs_sim_check_unwritten_end(check);
        bool declares = atomic_load(&op->u.launch.host->declares);
        unseen += !declares && check->use_count;
        if (!declares)
            for (unsigned i = 0; i < check->use_count; i++)
                vs_sim_owned_written(check->uses[i].address, check->uses[i].id);
        vs_sim_check_unlock();
    }
    bool value = has_value(op, false);
    if (op->kind != VS_SIM_OP_HOST && op->kind != VS_SIM_OP_CALLBACK &&
        op->kind != VS_SIM_OP_WAIT_SHARED && !value)
        return;
    vs_sim_check_lock(); /* later work comes after everything it may have waited for */
    struct vs_sim_lane *lane = lane_of(s, op->seq);
    vs_sim_clock_join(&lane->clock, vs_sim_check_host_clock());
    if (op->kind == VS_SIM_OP_WAIT_SHARED)
        vs_sim_clock_join(&lane->clock, shared_clock);
    /* a value may come from any stream or kernel */
    for (const struct vs_sim_lane *other = lanes; value && other; other = other->all) {
        vs_sim_clock_join(&lane->clock, other->clock);
        vs_sim_clock_raise(&lane->clock, other->number, other->begun);
    }
    remember(lane, op->seq);
    vs_sim_check_unlock();
}
