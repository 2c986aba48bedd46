/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The calls that began the work come before the records of the work or behind them, with the
 * same correlation: both are put together when a record is no longer held back. Waits and ranges are kept by their
 * time, for the gaps that are found then. */
#include "analysis/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/activity.h"
#include "analysis/state/reading.h"
#include "analysis/state/user_level.h"
#include "analysis/state/work_calls.h"
#include "base/reading/vs_sorted_rows.h"
#include "base/reading/vs_xalloc.h"

#define PAST_MAX 262144
#define LATE_MAX 256 /* times of the host that end after one which is recorded later: of other threads */
#define RECENT 256
#define LOOKED_AT_MAX 64 /* waits that end about when a gap begins */
#define SLACK_NS 20000   /* a wait ends later than the work it waits for; clocks differ */

/* A time of the host: a wait, a time in which work is not recorded, or of no length the change of its place. */
struct host_time {
    uint64_t start_ns, end_ns;
    uint64_t stack, api;        /* of a wait, as the following */
    uint32_t tid, kind, device;
    uint32_t phase;             /* of a change */
};

/* The latest PAST_MAX, by their end. */
struct past {
    struct host_time *items;
    size_t count, capacity;
    uint64_t from_ns; /* earlier ones were dropped */
};

struct device_work {
    uint64_t start_ns, end_ns, correlation;
    uint64_t name;  /* of a kernel */
    uint64_t bytes; /* of a copy, as the following */
    uint16_t device, kind;
    uint8_t copy_kind, memory, size;
};

struct vs_timeline {
    uint64_t from_ns, to_ns;
    uint64_t after_last_ns; /* the steps end here; 0: not known yet, or none was only prepared */
    uint64_t second_step_ns, second_step; /* begin of the second marked step; 0: there is none so far */
    struct vs_work_calls calls;
    struct past waits, places, pauses;
    struct vs_timeline_steps steps;
    unsigned off; /* bit 0: the recording of work is switched off, bit 1: all of the recording is paused */
    struct vs_sorted_rows held; /* of struct device_work */
    struct vs_timeline_rows rows;
    uint32_t recent[RECENT]; /* rows, by parts of their keys */
    struct vs_timeline_device devices[VS_DEVICES_MAX];
};

uint32_t vs_timeline_rows_at(struct vs_timeline_rows *rows, const struct vs_timeline_key *key)
{
    uint32_t number = vs_intern(&rows->keys, key, sizeof *key);
    if (number == rows->count)
        VS_VEC_ADD(rows->items, rows->count, rows->capacity, (struct vs_timeline_row){.key = *key});
    return number;
}

void vs_timeline_rows_free(struct vs_timeline_rows *rows)
{
    vs_intern_free(&rows->keys);
    free(rows->items);
}

static struct vs_timeline_sums *row_of(struct vs_timeline *t, struct vs_timeline_key *key)
{
    uint32_t *recent = &t->recent[(key->name * 31 + key->stack * 7 + key->until_stack * 3 + key->what) % RECENT];
    if (*recent < t->rows.count && memcmp(&t->rows.items[*recent].key, key, sizeof *key) == 0)
        return &t->rows.items[*recent].sums;
    if (t->rows.count >= VS_TIMELINE_ROWS_MAX && !vs_intern_find(&t->rows.keys, key, sizeof *key, recent))
        key->stack = key->api = key->until_stack = key->until_api = key->name = key->phase = 0;
    *recent = vs_timeline_rows_at(&t->rows, key);
    return &t->rows.items[*recent].sums;
}

/* --- gaps --- */

/* The first that ends at *time_ns* or later. */
static size_t past_at(const struct past *past, uint64_t time_ns)
{
    return VS_VEC_BELOW(past->items, past->count, end_ns, time_ns);
}

static void past_add(struct past *past, struct host_time time)
{
    if (past->count == PAST_MAX) {
        past->from_ns = past->items[PAST_MAX / 2 - 1].end_ns;
        past->count -= PAST_MAX / 2;
        memmove(past->items, past->items + PAST_MAX / 2, past->count * sizeof *past->items);
    }
    VS_VEC_ADD(past->items, past->count, past->capacity, time);
    size_t at = past->count - 1, least = at > LATE_MAX ? at - LATE_MAX : 0;
    for (; at > least && past->items[at - 1].end_ns > time.end_ns; at--)
        past->items[at] = past->items[at - 1];
    past->items[at] = time;
}

/* The copy that the host made at the time of work from *start_ns* to *end_ns*; NULL: none. */
static const struct host_time *copy_around(const struct vs_timeline *t, uint64_t device, uint64_t start_ns,
                                      uint64_t end_ns)
{
    size_t at = past_at(&t->waits, end_ns);
    for (size_t n = 0; at < t->waits.count && n < LOOKED_AT_MAX; at++, n++) {
        const struct host_time *wait = &t->waits.items[at];
        bool copies = wait->kind == VS_WAIT_COPY || wait->kind == VS_WAIT_ASYNC_COPY;
        if (copies && wait->device == device && wait->start_ns <= start_ns)
            return wait;
    }
    return NULL;
}

/* The wait in which the host was when the gap from *a* to *b* began. Of *thread*; 0: of all, for *device*. */
static const struct host_time *wait_before(const struct vs_timeline *t, uint32_t thread, uint32_t device, uint64_t a,
                                      uint64_t b)
{
    const struct host_time *waited = NULL;
    size_t at = past_at(&t->waits, a > SLACK_NS ? a - SLACK_NS : 0);
    for (size_t n = 0; at < t->waits.count && n < LOOKED_AT_MAX && t->waits.items[at].end_ns <= b + SLACK_NS; at++, n++) {
        const struct host_time *wait = &t->waits.items[at];
        if ((thread ? wait->tid == thread : wait->device == device) && wait->start_ns <= a)
            waited = wait;
    }
    return waited;
}

/* The innermost range of the thread that opened or closed one last before *time_ns*. */
static uint32_t phase_at(const struct vs_timeline *t, uint64_t time_ns)
{
    size_t after = past_at(&t->places, time_ns + 1);
    if (t->after_last_ns && time_ns >= t->after_last_ns)
        return VS_PHASE_AFTER_LAST;
    return after ? t->places.items[after - 1].phase : 0;
}

static bool is_recorded(const struct vs_timeline *t, uint64_t a, uint64_t b)
{
    size_t at = past_at(&t->pauses, a + 1);
    return at == t->pauses.count || t->pauses.items[at].start_ns >= b;
}

/* At least in a part of the time; pauses have been added until then. */
static bool some_recorded(const struct vs_timeline *t, uint64_t a, uint64_t b)
{
    size_t at = past_at(&t->pauses, b);
    return at == t->pauses.count || t->pauses.items[at].start_ns > a;
}

static bool in_later_step(const struct vs_timeline *t, uint64_t time_ns)
{
    return t->second_step_ns && time_ns >= t->second_step_ns;
}

static void add_gap(struct vs_timeline *t, struct vs_timeline_device *device, const struct device_work *work,
                    const struct vs_work_call *call)
{
    uint64_t a = device->end_ns, b = work->start_ns, length = b - a;
    if (!is_recorded(t, a, b)) {
        device->unknown_ns += length;
        return;
    }
    device->gap_count++;
    device->gap_ns += length;
    if (length < VS_GAP_LEAST_NS) {
        device->short_count++;
        device->short_ns += length;
        return;
    }
    const struct host_time *waited = wait_before(t, call ? call->thread : 0, work->device, a, b);
    const struct host_time *copying = work->kind == VS_EVENT_memcpy ? copy_around(t, work->device, b, b) : NULL;
    struct vs_timeline_key key = {.what = VS_ROWS_GAPS, .device = work->device, .cause = VS_GAP_HOST,
                                  .ended_by = work->kind, .later = in_later_step(t, a),
                                  .phase = phase_at(t, b)};
    /* A copy of pageable memory begins on the host. */
    bool staged = copying && b - (copying->start_ns > a ? copying->start_ns : a) >= length / 2;
    waited = staged ? copying : waited;
    if (waited) {
        key.stack = waited->stack;
        key.api = waited->api;
        key.kind = waited->kind;
        if (staged || waited->end_ns - waited->start_ns >= length / 2)
            key.cause = VS_GAP_WAIT;
    } else if (a < t->waits.from_ns) {
        key.cause = VS_GAP_UNKNOWN;
    }
    if (call && call->stack) {
        key.until_stack = call->stack;
        key.until_api = call->api;
    } else if (copying) {
        key.until_stack = copying->stack;
        key.until_api = copying->api;
    } else {
        key.name = work->name;
    }
    struct vs_timeline_sums *sums = row_of(t, &key);
    sums->count++;
    sums->time_ns += length;
}

static void add_row(struct vs_timeline *t, const struct device_work *work, const struct vs_work_call *call)
{
    struct vs_timeline_key key = {.what = VS_ROWS_KERNELS, .device = work->device, .name = work->name,
                                  .stack = call ? call->stack : 0, .api = call ? call->api : 0};
    if (work->kind == VS_EVENT_memcpy) {
        const struct host_time *copying = call ? NULL : copy_around(t, work->device, work->start_ns, work->end_ns);
        key = (struct vs_timeline_key){
            .what = VS_ROWS_COPIES, .device = work->device, .kind = work->copy_kind, .memory = work->memory,
            .size = work->size, .later = in_later_step(t, work->start_ns),
            .stack = copying ? copying->stack : key.stack, .api = copying ? copying->api : key.api};
    }
    struct vs_timeline_sums *sums = row_of(t, &key);
    sums->count++;
    sums->bytes += work->bytes;
    sums->time_ns += work->end_ns - work->start_ns;
}

static void place(void *context, void *row)
{
    struct vs_timeline *t = context;
    const struct device_work *work = row;
    struct vs_timeline_device *device = &t->devices[work->device];
    const struct vs_work_call *call = vs_work_calls_find(&t->calls, work->correlation);
    if (work->kind != VS_EVENT_memset)
        add_row(t, work, call);
    if (!device->works++)
        device->first_ns = device->end_ns = work->start_ns;
    if (work->start_ns < device->latest_ns)
        device->out_of_order++;
    else
        device->latest_ns = work->start_ns;
    if (work->start_ns > device->end_ns) {
        add_gap(t, device, work, call);
        device->end_ns = work->start_ns;
    }
    if (!device->first_step.first_ns && in_later_step(t, work->end_ns)) {
        uint64_t begin_ns = work->start_ns > t->second_step_ns ? work->start_ns : t->second_step_ns;
        device->first_step = (struct vs_first_step){device->works - 1, device->gap_ns, device->unknown_ns, begin_ns,
                                                    t->second_step};
    }
    if (work->end_ns > device->end_ns) {
        device->busy_ns += work->end_ns - device->end_ns;
        device->end_ns = work->end_ns;
    }
}

/* --- the peak --- */

/* Whether a new peak was reached since the last call. */
static void follow_peak(struct vs_timeline_device *device, const struct vs_replay *replay, uint64_t number)
{
    unsigned account = vs_replay_account(replay, number);
    if (account == VS_ACCOUNT_NONE)
        return;
    const struct vs_peak *peak = vs_user_sums(replay, account).peak;
    if (peak->event == device->peak_event)
        return;
    device->peak_event = peak->event;
    device->peak_ns = peak->time_ns;
    device->running_count = 0;
    device->before = device->latest.start_ns <= peak->time_ns ? device->latest : (struct vs_near_work){0};
}

static void near_peak(struct vs_timeline_device *device, const struct vs_near_work *work)
{
    if (work->start_ns > device->latest.start_ns)
        device->latest = *work;
    if (!device->peak_event || work->start_ns > device->peak_ns)
        return;
    if (work->start_ns > device->before.start_ns)
        device->before = *work;
    if (work->end_ns > device->peak_ns && device->running_count < VS_NEAR_MAX)
        device->running[device->running_count++] = *work;
}

/* --- events --- */

/* The recording of work begins or ends. */
static void add_pause(struct vs_timeline *t, const struct vs_event *event)
{
    bool switched = event->kind == VS_EVENT_activity_switched;
    uint64_t what = event->recording_changed.what;
    bool ends = switched ? event->activity_switched.on : what == VS_RECORDING_RESUMED;
    unsigned bit = switched ? 1 : 2, off = ends ? t->off & ~bit : t->off | bit;
    if (!switched && !ends && what != VS_RECORDING_PAUSED)
        return;
    if (t->off && !off)
        t->pauses.items[t->pauses.count - 1].end_ns = event->time_ns;
    else if (!t->off && off)
        past_add(&t->pauses, (struct host_time){.start_ns = event->time_ns, .end_ns = UINT64_MAX});
    t->off = off;
}

static void add_wait(struct vs_timeline *t, const struct vs_replay *replay, const struct vs_event *event)
{
    const struct vs_event_sync *sync = &event->sync;
    struct vs_place at = vs_phases_place(&replay->phases, event->tid);
    uint64_t end_ns = sync->end_ns > sync->start_ns ? sync->end_ns : sync->start_ns;
    struct host_time wait = {sync->start_ns, end_ns, sync->stack, sync->api, event->tid,
                             (uint32_t)sync->sync_kind, (uint32_t)sync->device, 0};
    struct vs_activity_part inside;
    struct vs_timeline_key key = {.what = VS_ROWS_WAITS, .device = wait.device, .kind = wait.kind,
                                  .stack = wait.stack, .api = wait.api};
    if (sync->api && vs_activity_within(event, t->from_ns, t->to_ns, &inside)) {
        struct vs_timeline_sums *sums = row_of(t, &key);
        sums->count++;
        sums->time_ns += inside.end_ns - inside.start_ns;
        sums->step_count += at.step_known;
        sums->step_ns += at.step_known ? inside.end_ns - inside.start_ns : 0;
    }
    past_add(&t->waits, wait);
}

static void add_read(struct vs_timeline *t, const struct vs_event *event)
{
    const struct vs_event_uncomputed_read *read = &event->uncomputed_read;
    struct vs_timeline_key key = {.what = VS_ROWS_READS, .kind = (uint32_t)read->what, .stack = read->stack,
                                  .api = read->text};
    if (read->what >= VS_UNCOMPUTED_COUNT || event->time_ns > t->to_ns)
        return;
    struct vs_timeline_sums *sums = row_of(t, &key);
    sums->count++;
    sums->bytes += read->bytes;
}

static void faster(struct vs_link *link, uint64_t bytes, uint64_t time_ns)
{
    if (!link->time_ns || (double)bytes * (double)link->time_ns > (double)link->bytes * (double)time_ns)
        *link = (struct vs_link){bytes, time_ns};
}

static void add_work(struct vs_timeline *t, const struct vs_replay *replay, const struct vs_event *event)
{
    const struct vs_event_activity *ran = &event->activity;
    const struct vs_event_memcpy *copy = &event->memcpy;
    if (ran->device >= VS_DEVICES_MAX || !ran->start_ns)
        return;
    struct vs_timeline_device *device = &t->devices[ran->device];
    struct vs_work of = vs_work_of(event);
    struct device_work work = {.device = (uint16_t)ran->device, .kind = (uint16_t)event->kind, .name = of.name,
                               .correlation = of.correlation};
    struct vs_activity_part inside;
    if (event->kind == VS_EVENT_memcpy) {
        uint64_t kind = copy->copy_kind < VS_COPY_KIND_COUNT ? copy->copy_kind : VS_COPY_UNKNOWN;
        uint64_t memory = kind == VS_COPY_HTOD || kind == VS_COPY_HTOA ? copy->src_kind : copy->dst_kind;
        bool known = memory == VS_MEMORY_PAGEABLE || memory == VS_MEMORY_PINNED;
        work.copy_kind = (uint8_t)kind;
        work.memory = known ? (uint8_t)memory : VS_MEMORY_UNKNOWN;
        work.bytes = copy->bytes;
        work.size = copy->bytes <= VS_SMALL_COPY_BYTES     ? VS_COPY_SMALL
                    : copy->bytes <= UINT64_C(1) << 20 ? VS_COPY_TO_1MIB
                    : copy->bytes <= UINT64_C(1) << 24 ? VS_COPY_TO_16MIB
                                                       : VS_COPY_LARGE;
    }
    follow_peak(device, replay, ran->device);
    near_peak(device, &(struct vs_near_work){.start_ns = ran->start_ns, .end_ns = ran->end_ns, .name = work.name,
                                             .stream = ran->stream, .kind = event->kind});
    if (!vs_activity_within(event, t->from_ns, t->to_ns, &inside))
        return;
    work.start_ns = inside.start_ns;
    work.end_ns = inside.end_ns;
    bool over_link = work.copy_kind == VS_COPY_HTOD || work.copy_kind == VS_COPY_DTOH;
    if (over_link && work.bytes >= VS_LINK_LEAST_BYTES && ran->end_ns > ran->start_ns) {
        faster(&device->links[work.copy_kind == VS_COPY_DTOH], work.bytes, ran->end_ns - ran->start_ns);
        if (work.memory == VS_MEMORY_PINNED)
            faster(&device->pinned_links[work.copy_kind == VS_COPY_DTOH], work.bytes, ran->end_ns - ran->start_ns);
    }
    work.bytes = vs_activity_share(work.bytes, &inside);
    vs_sorted_rows_add(&t->held, t, &work);
}

uint64_t vs_timeline_kinds(void)
{
    return vs_event_kinds(VS_PROPERTY_ACTIVITY | VS_PROPERTY_RANGE) | VS_KIND_BIT(VS_EVENT_work_call) |
           VS_KIND_BIT(VS_EVENT_activity_switched) | VS_KIND_BIT(VS_EVENT_recording_changed) |
           VS_KIND_BIT(VS_EVENT_uncomputed_read);
}

enum vs_err vs_timeline_event(void *timeline, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_timeline *t = timeline;
    const struct vs_steps *steps = &replay->phases.steps;
    if (steps->begun < 2) /* also one that turned out to be none */
        t->second_step_ns = 0;
    else if (!t->second_step_ns && !t->from_ns) {
        t->second_step_ns = steps->time_ns;
        t->second_step = steps->number;
    }
    if (replay->step_ended && some_recorded(t, steps->time_ns, replay->now_ns)) {
        t->steps.count++;
        t->steps.time_ns += replay->now_ns - steps->time_ns;
    }
    if (event->kind == VS_EVENT_work_call)
        vs_work_calls_add(&t->calls, event);
    else if (event->kind == VS_EVENT_sync)
        add_wait(t, replay, event);
    else if (event->kind == VS_EVENT_range_push || event->kind == VS_EVENT_range_pop)
        past_add(&t->places, (struct host_time){.start_ns = event->time_ns, .end_ns = event->time_ns,
                                                .phase = vs_phases_place(&replay->phases, event->tid).phase});
    else if (event->kind == VS_EVENT_activity_switched || event->kind == VS_EVENT_recording_changed)
        add_pause(t, event);
    else if (event->kind == VS_EVENT_uncomputed_read)
        add_read(t, event);
    else if (vs_event_has(event, VS_PROPERTY_ACTIVITY))
        add_work(t, replay, event);
    return VS_OK;
}

struct vs_timeline *vs_timeline_open(uint64_t from_ns, uint64_t to_ns)
{
    struct vs_timeline *t = vs_xcalloc(1, sizeof *t);
    t->held = (struct vs_sorted_rows){.size = sizeof(struct device_work), .most = VS_TIMELINE_HELD_MAX, .leaves = place};
    t->from_ns = from_ns;
    t->to_ns = to_ns;
    return t;
}

void vs_timeline_until(struct vs_timeline *t, uint64_t to_ns)
{
    t->to_ns = to_ns;
}

void vs_timeline_finish(struct vs_timeline *t, const struct vs_replay *replay)
{
    if (vs_replay_step_prepared(replay))
        t->after_last_ns = replay->phases.steps.time_ns;
    vs_sorted_rows_leave(&t->held, t, 0);
    for (unsigned i = 0; i < VS_DEVICES_MAX; i++)
        if (t->devices[i].works)
            follow_peak(&t->devices[i], replay, i);
}

const struct vs_timeline_device *vs_timeline_device(const struct vs_timeline *t, uint64_t device)
{
    return device < VS_DEVICES_MAX && t->devices[device].works ? &t->devices[device] : NULL;
}

struct vs_timeline_steps vs_timeline_steps(const struct vs_timeline *t)
{
    return t->pauses.count ? t->steps : (struct vs_timeline_steps){0};
}

bool vs_timeline_has_calls(const struct vs_timeline *t)
{
    return t->calls.ring;
}

const struct vs_timeline_rows *vs_timeline_rows(const struct vs_timeline *t)
{
    return &t->rows;
}

void vs_timeline_close(struct vs_timeline *t)
{
    if (!t)
        return;
    vs_timeline_rows_free(&t->rows);
    free(t->calls.ring);
    free(t->places.items);
    free(t->pauses.items);
    free(t->waits.items);
    free(t->held.rows);
    free(t);
}
