/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the allocations that get an event of their own; see selection.h. The decision is made
 * before the stack is captured and without a lock; it is stored with the address, as a free gets an
 * event exactly when its allocation did. Where there is no host memory for the address the
 * allocation is counted instead. In the last stage of a trace that has a limit everything is
 * counted, including the frees of recorded allocations: from there on only sums are available. */
#include "trace/record/recorder_internal.h"

bool vs_selection_on;

void vs_selection_open(struct vs_recorder *r, const struct vs_recorder_config *config)
{
    struct vs_selection *s = &r->selection;
    s->min_size = config->min_size;
    s->sample = config->sample > 1 ? config->sample : 1;
    s->seed = config->sample_seed;
    s->limit_bytes = config->limit_bytes;
    if (s->limit_bytes && s->limit_bytes < VS_TRACE_LIMIT_MIN)
        s->limit_bytes = VS_TRACE_LIMIT_MIN;
    s->on = s->min_size || s->sample > 1 || s->limit_bytes;
    if (!s->on)
        return;
    s->watched_kinds = vs_event_kinds(VS_PROPERTY_SUMS_FIRST | VS_PROPERTY_RANGE);
    vs_selection_on = true;
}

void vs_selection_begin_locked(struct vs_recorder *r)
{
    const struct vs_selection *s = &r->selection;
    if (!s->on)
        return;
    struct vs_event event = {.kind = VS_EVENT_recording_changed,
                             .recording_changed = {.what = VS_RECORDING_SELECTS,
                                                   .min_size = s->min_size,
                                                   .sample = s->sample,
                                                   .seed = s->seed,
                                                   .limit_bytes = s->limit_bytes}};
    vs_recorder_event_locked(r, &event);
}

void vs_selection_close(struct vs_recorder *r)
{
    vs_map_free(&r->selection.recorded[0]);
    vs_map_free(&r->selection.recorded[1]);
}

/* A well-mixed number for each group of a level. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool is_sample(struct vs_selection *s, enum vs_level level)
{
    /* relaxed: each caller needs a distinct number, without ordering */
    uint64_t n = atomic_fetch_add_explicit(&s->seen[level], 1, memory_order_relaxed);
    uint64_t group = n / s->sample;
    uint64_t chosen = mix(mix(s->seed ^ (uint64_t)level << 56) + group) % s->sample;
    return n - group * s->sample == chosen;
}

bool vs_selection_chooses(struct vs_recorder *r, enum vs_level level, uint64_t bytes)
{
    struct vs_selection *s = r ? &r->selection : NULL;
    if (!s)
        return true;
    if (atomic_load_explicit(&s->paused, memory_order_relaxed))
        return false;
    if (!s->on)
        return true;
    if (bytes < s->min_size ||
        atomic_load_explicit(&s->stage, memory_order_relaxed) == VS_RECORDING_TOTALS)
        return false;
    /* blocks and direct driver allocations past the cache are one sequence */
    return s->sample == 1 ||
           is_sample(s, level == VS_LEVEL_BLOCK ? VS_LEVEL_DEVICE : level);
}

static enum vs_why reason(const struct vs_selection *s, const struct vs_change *change)
{
    if (s->late || atomic_load_explicit(&s->stage, memory_order_relaxed) == VS_RECORDING_TOTALS)
        return VS_WHY_LIMIT;
    return change->requested + change->freed_requested < s->min_size ? VS_WHY_SMALL
                                                                     : VS_WHY_SAMPLE;
}

/* As below, in a recording without sampling: only events while it is stopped are left out. */
static bool has_event_late_locked(struct vs_selection *s, const struct vs_change *change,
                                  uint64_t addr)
{
    struct vs_map *left_out = &s->recorded[change->level == VS_LEVEL_FRAMEWORK];
    if (change->allocs && addr && atomic_load_explicit(&s->paused, memory_order_relaxed) &&
        !vs_map_put(left_out, addr, 1))
        return false;
    bool was = addr && vs_map_remove(left_out, addr, NULL);
    return change->allocs || !was;
}

/* Whether *change* gets an event: an allocation that was chosen, and its free. Both begin
 * with the address. */
static bool has_event_locked(struct vs_selection *s, const struct vs_change *change,
                             bool selected, const struct vs_event *event)
{
    struct vs_map *recorded = &s->recorded[change->level == VS_LEVEL_FRAMEWORK];
    uint64_t addr = event->fields[0];
    if (atomic_load_explicit(&s->stage, memory_order_relaxed) == VS_RECORDING_TOTALS)
        return false;
    if (change->level == VS_LEVEL_SEGMENT || !vs_book_has(change))
        return true;
    if (s->min_size == 0 && s->sample == 1)
        return !s->late || has_event_late_locked(s, change, addr);
    if (!addr)
        return false;
    return change->allocs ? selected && !vs_map_put(recorded, addr, 1)
                          : vs_map_remove(recorded, addr, NULL);
}

bool vs_selection_count_locked(struct vs_recorder *r, struct vs_book *book,
                               const struct vs_change *change, bool selected,
                               struct vs_event *event)
{
    struct vs_selection *s = &r->selection;
    bool on = (s->on || s->late) && !atomic_load_explicit(&r->stopped, memory_order_relaxed);
    if (on && !has_event_locked(s, change, selected, event)) {
        event->time_ns = vs_ticks_now(&r->ticks);
        if (vs_book_has(change))
            vs_unrecorded_add_locked(r, book, change, reason(s, change), event);
        if (r->ending.on) /* no later event writes the counts */
            vs_unrecorded_write_locked(r);
        return false;
    }
    if (on && vs_book_has(change))
        vs_unrecorded_follow_locked(r, book, change);
    else
        vs_book_apply(book, change);
    return true;
}

bool vs_selection_before_locked(struct vs_recorder *r, const struct vs_event *event)
{
    struct vs_selection *s = &r->selection;
    if ((s->dropped_kinds >> event->kind & 1) && vs_trace_limit_drop_locked(r, event))
        return false;
    if (s->pending && vs_event_has(event, VS_PROPERTY_SUMS_FIRST))
        vs_unrecorded_write_locked(r);
    if (vs_event_has(event, VS_PROPERTY_RANGE))
        vs_unrecorded_range_locked(r);
    if (event->kind == VS_EVENT_end)
        vs_trace_limit_finish_locked(r);
    return true;
}
