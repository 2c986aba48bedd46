/* SPDX-License-Identifier: Apache-2.0
 *
 * Which allocations get events of their own. Four things leave them out: a smallest size, sampling
 * (one of every N, at a place in each group that a seed decides), the limit of the trace's size, and
 * the program itself, while it has stopped the recording.
 * Allocations left out are counted, by device, family and level, together with the highest value of
 * their account meanwhile, and brought into the trace as `unrecorded` before the next event that
 * depends on memory sums. So the replayed balances and peaks are those of a full trace; only the
 * call sites of allocations left out are missing, and their stacks are never captured.
 *
 * Sampling is by whole groups: of every N allocations of a level one is recorded, at a
 * pseudo-random place. Each has the chance 1/N whatever the program's rhythm, so N times the
 * recorded sum is an unbiased estimate for any part of it.
 *
 * The limit (docs/sampling.md): at half of it kernels and copies stop, at three quarters new
 * stacks, near it everything but totals, failures and the end.
 *
 * Any thread. Functions named _locked are called between vs_recorder_acquire and
 * vs_recorder_release. No malloc; an occasional mmap for the table of addresses. */
#ifndef VS_SELECTION_H
#define VS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/book.h"
#include "trace/format/event.h"
#include "trace/record/recorder.h"

/* Whether any recorder of this process ever left something out; set before it does. */
extern bool vs_selection_on;

/* vs_recorder_pause: *pause*: single allocations, kernels and copies get no events from here on;
 * otherwise they do again. *book*: as in vs_recorder_change. False if the recorder has stopped for
 * good, or has no memory for it. Any thread. */
bool vs_recorder_pause(struct vs_recorder *recorder, const struct vs_book *book, bool pause);
/* vs_recorder_records: whether single allocations are recorded now: the recording has neither ended
 * nor failed, and is not paused. False without a recorder. Any thread, no lock. */
bool vs_recorder_records(struct vs_recorder *recorder);

/* vs_recorder_wants_activity: whether kernels and copies are recorded now: neither stopped by the
 * program nor left out for the trace's size. False without a recorder. Any thread, no lock. */
bool vs_recorder_wants_activity(struct vs_recorder *recorder);

bool vs_selection_chooses(struct vs_recorder *recorder, enum vs_level level, uint64_t bytes);

/* vs_selection_count_locked: count *change* in *book*; returns whether it gets an event, which has
 * to follow under the same lock. Fills in the time of *event* when it does not. *selected*: the
 * result of vs_recorder_selects; for allocations. */
bool vs_selection_count_locked(struct vs_recorder *recorder, struct vs_book *book,
                               const struct vs_change *change, bool selected,
                               struct vs_event *event);

/* vs_recorder_selects: whether an allocation of *bytes* is to be recorded with its stack: called
 * once for each, before the stack is captured. Cost: without options a load. */
static inline bool vs_recorder_selects(struct vs_recorder *recorder, enum vs_level level,
                                       uint64_t bytes)
{
    return !__builtin_expect(__atomic_load_n(&vs_selection_on, __ATOMIC_RELAXED), 0) ||
           vs_selection_chooses(recorder, level, bytes);
}

/* vs_recorder_change: one allocation, free or segment, as one step in the order of the trace: count
 * *change* in *book*, leave its event out or record it. *book*: the same for all changes of a
 * recorder, empty when it was opened. *recorder* NULL: only count; *event* is not read. By value,
 * so that constants of *change* at the call site are not stored to memory and loaded again. */
VS_ALWAYS_INLINE static inline void vs_recorder_change(struct vs_recorder *recorder,
                                                       struct vs_book *book,
                                                       struct vs_change change, bool selected,
                                                       struct vs_event *event)
{
    vs_recorder_acquire(recorder);
    if (recorder && __builtin_expect(vs_selection_on, 0)) {
        /* member by member: otherwise *change* would be stored to memory on every path */
        struct vs_change copy = {.level = change.level,
                                 .family = change.family,
                                 .device = change.device,
                                 .allocs = change.allocs,
                                 .requested = change.requested,
                                 .size = change.size,
                                 .frees = change.frees,
                                 .freed_requested = change.freed_requested,
                                 .freed_size = change.freed_size,
                                 .reserved = change.reserved,
                                 .holds = change.holds,
                                 .held = change.held};
        if (vs_selection_count_locked(recorder, book, &copy, selected, event))
            vs_recorder_event_locked(recorder, event);
    } else {
        vs_book_apply(book, &change);
        if (recorder)
            vs_recorder_event_locked(recorder, event);
    }
    vs_recorder_release(recorder);
}

#endif
