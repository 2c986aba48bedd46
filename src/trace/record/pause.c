/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording that the program stops and continues. Meanwhile allocations are counted like those
 * that sampling leaves out, so totals and peaks stay exact and only call sites are missing. Memory
 * that is live when the recording stops keeps its events, that of its free included.
 *
 * In a recording without selection (min_size, sample) everything has an event so far: from the
 * first stop on, the addresses *without* one are kept, until they are freed. Its counts are not in
 * FILE.live, which has no room for them: a killed process loses those of the last half second. */
#include <string.h>

#include "base/vs_arena.h"
#include "trace/record/live_counts.h"

/* The sums that a reader of the trace has so far: all of *book*. */
static bool begin_selection_locked(struct vs_recorder *r, const struct vs_book *book)
{
    struct vs_selection *s = &r->selection;
    if (s->on) { /* a smallest size, samples or a limit: the sums are kept already */
        s->late = s->min_size == 0 && s->sample == 1;
        return true;
    }
    char *area = vs_pages_map(sizeof(struct vs_live_counts) + VS_LIVE_COUNTS_BYTES);
    if (!area)
        return false;
    s->live_counts = (struct vs_live_counts *)area;
    s->live_cells = (struct vs_live_cell *)(area + sizeof(struct vs_live_counts));
    for (unsigned i = 0; i < VS_BOOK_ACCOUNTS; i++) {
        struct vs_unrecorded_account *a = &s->accounts[i];
        a->written = book->account[i];
        a->high = a->range_high = a->written.now;
        a->used = true;
    }
    s->watched_kinds |= vs_event_kinds(VS_PROPERTY_SUMS_FIRST | VS_PROPERTY_RANGE);
    s->late = true;
    return true;
}

static void change_locked(struct vs_recorder *r, bool pause)
{
    struct vs_selection *s = &r->selection;
    uint64_t activity = vs_event_kinds(VS_PROPERTY_ACTIVITY | VS_PROPERTY_CALL);
    uint32_t stage = atomic_load_explicit(&s->stage, memory_order_relaxed);
    struct vs_event event = {.kind = VS_EVENT_recording_changed,
                             .recording_changed = {.what = pause ? VS_RECORDING_PAUSED
                                                                 : VS_RECORDING_RESUMED,
                                                   .min_size = s->min_size,
                                                   .sample = s->sample,
                                                   .seed = s->seed,
                                                   .limit_bytes = s->limit_bytes}};
    if (s->pending)
        vs_unrecorded_write_locked(r);
    vs_recorder_event_locked(r, &event);
    atomic_store_explicit(&s->paused, pause, memory_order_relaxed);
    if (pause)
        s->dropped_kinds |= activity;
    else if (stage < VS_RECORDING_NO_ACTIVITY)
        s->dropped_kinds &= ~activity;
    s->watched_kinds |= s->dropped_kinds;
}

bool vs_recorder_pause(struct vs_recorder *r, const struct vs_book *book, bool pause)
{
    if (!r)
        return false;
    VS_RECORDER_SCOPE(r);
    struct vs_selection *s = &r->selection;
    bool able = !atomic_load_explicit(&r->stopped, memory_order_relaxed) &&
                (!pause || s->late || begin_selection_locked(r, book));
    if (able && atomic_load_explicit(&s->paused, memory_order_relaxed) != pause)
        change_locked(r, pause);
    if (able && pause) /* read without the lock: an allocation that misses it counts as made before */
        __atomic_store_n(&vs_selection_on, true, __ATOMIC_RELAXED);
    return able;
}

bool vs_recorder_records(struct vs_recorder *r)
{
    return r && !atomic_load_explicit(&r->stopped, memory_order_relaxed) &&
           !atomic_load_explicit(&r->selection.paused, memory_order_relaxed);
}

bool vs_recorder_wants_activity(struct vs_recorder *r)
{
    return r && !atomic_load_explicit(&r->selection.paused, memory_order_relaxed) &&
           atomic_load_explicit(&r->selection.stage, memory_order_relaxed) <
               VS_RECORDING_NO_ACTIVITY;
}
