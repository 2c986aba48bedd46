/* SPDX-License-Identifier: Apache-2.0
 *
 * The state behind selection.h, a part of the recorder: which events to leave out (selection.c),
 * the totals of allocations left out (unrecorded.c) and how full the trace is (trace_limit.c). The
 * recorder's lock guards everything but the counters of samples. */
#ifndef VS_SELECTION_INTERNAL_H
#define VS_SELECTION_INTERNAL_H

#include <stdatomic.h>

#include "base/vs_map.h"
#include "trace/record/selection.h"

#define VS_UNRECORDED_CELLS 48u /* combinations between two groups of `unrecorded` */

/* An `unrecorded` event that is not written yet: allocs to reserved of *sums* count. */
struct vs_unrecorded_cell {
    struct vs_event_unrecorded sums;
    uint32_t tid;
    uint8_t account;                       /* its index in a struct vs_book */
    uint8_t account_bearer, family_bearer; /* indexes of the cells that report those peaks */
};

/* An account as written to the trace, and its highest values since. */
struct vs_unrecorded_account {
    struct vs_ledger written; /* as a reader of the trace so far has it */
    struct vs_levels high;    /* since the last write */
    struct vs_levels range_high; /* since the last range began or ended */
    uint64_t framework_reserved; /* the highest value reported since the last write */
    uint64_t peak_ns;            /* of *high*; 0: the sums did not rise since the last write */
    uint32_t peak_tid;
    bool pending, used;
};

struct vs_live_counts;
struct vs_live_cell;

struct vs_selection {
    /* bit per kind: events that need work before they are recorded; of those, the ones that are no
     * longer recorded. Guarded by the recorder's lock */
    uint64_t watched_kinds, dropped_kinds;
    bool on;            /* immutable after open, like the next four */
    uint64_t min_size, sample, seed, limit_bytes;
    _Atomic uint64_t seen[VS_LEVEL_COUNT]; /* allocations that could have been a sample */
    _Atomic uint32_t stage;                /* enum vs_recording; written under the lock */
    /* addresses of live allocations that have an event: of memory, of a framework's */
    struct vs_map recorded[2];
    /* the program stopped the recording; written under the lock */
    _Atomic bool paused;
    /* it did so in a recording without selection: *recorded* has the addresses of live allocations
     * without an event instead; guarded by the lock */
    bool late;
    bool pending;       /* cells hold unwritten counts */
    bool must;          /* and they have to be written before anything else is recorded */
    bool looking;       /* checking how full the trace is */
    uint64_t counted_ns;     /* time of the latest counted change */
    uint64_t counts_version; /* live_counts.h; the next two are in FILE.live */
    struct vs_live_counts *live_counts;
    struct vs_live_cell *live_cells;
    unsigned cell_count;
    struct vs_unrecorded_cell cells[VS_UNRECORDED_CELLS];
    struct vs_unrecorded_account accounts[VS_BOOK_ACCOUNTS];
    uint64_t dropped[VS_EVENT_CODE_MAX + 1]; /* events left out since the last report */
    uint64_t totals_since_ns, totals_due_ns; /* stage TOTALS: when it began, the next write */
    uint64_t spent_bytes;                    /* stage TOTALS: written since */
};

/* --- selection.c --- */

/* vs_selection_open: read the options from *config*; before anything is recorded. */
void vs_selection_open(struct vs_recorder *r, const struct vs_recorder_config *config);
/* vs_selection_begin_locked: record the options in force in the trace. */
void vs_selection_begin_locked(struct vs_recorder *r);
void vs_selection_close(struct vs_recorder *r);
/* vs_selection_before_locked: *event* is about to be recorded and its kind is watched:
 * false when it is left out. */
bool vs_selection_before_locked(struct vs_recorder *r, const struct vs_event *event);

/* --- unrecorded.c --- */

/* vs_unrecorded_add_locked: count *change* in *book*, and in its cell. *event*: the
 * event that is left out, with its time. */
void vs_unrecorded_add_locked(struct vs_recorder *r, struct vs_book *book,
                              const struct vs_change *change, enum vs_why why,
                              const struct vs_event *event);
/* vs_unrecorded_follow_locked: count *change* in *book*; its own event is about to be recorded.
 * Writes the earlier counts where the reader would otherwise see a peak that never was, or miss
 * one, and leaves room for the event. */
void vs_unrecorded_follow_locked(struct vs_recorder *r, struct vs_book *book,
                                 const struct vs_change *change);
/* vs_unrecorded_publish_locked: put the pending counts into a new FILE.live. */
void vs_unrecorded_publish_locked(struct vs_recorder *r);
/* vs_unrecorded_range_locked: a range begins or ends: peaks start again from the current sums. */
void vs_unrecorded_range_locked(struct vs_recorder *r);
/* vs_unrecorded_write_locked: write the counts into the trace. Leaves room for one more event. */
void vs_unrecorded_write_locked(struct vs_recorder *r);

/* --- trace_limit.c --- */

#define VS_TRACE_LIMIT_MIN ((uint64_t)1 << 20)
/* vs_trace_limit_window: *wanted*, or the largest size that fits a small limit; before windows are
 * made. */
size_t vs_trace_limit_window(uint64_t limit_bytes, size_t wanted);
/* vs_trace_limit_drain_first_locked: no window is active and the next would stop something, which
 * may be unnecessary once the waiting windows are written. */
bool vs_trace_limit_drain_first_locked(const struct vs_recorder *r);
/* vs_trace_limit_check_locked: a window was begun: stop the kinds that no longer fit. */
void vs_trace_limit_check_locked(struct vs_recorder *r);
/* vs_trace_limit_drop_locked: whether *event* is left out; if so, it is counted. */
bool vs_trace_limit_drop_locked(struct vs_recorder *r, const struct vs_event *event);
/* vs_trace_limit_finish_locked: before the end: record the numbers of events left out, by kind. */
void vs_trace_limit_finish_locked(struct vs_recorder *r);
/* vs_trace_limit_totals_due_locked: whether totals are due; the last stage writes them ever more
 * rarely. */
bool vs_trace_limit_totals_due_locked(struct vs_recorder *r, uint64_t now_ns);

static inline bool vs_selection_stacks_stopped(const struct vs_selection *s)
{
    return atomic_load_explicit(&s->stage, memory_order_relaxed) >= VS_RECORDING_NO_STACKS;
}

#endif
