/* SPDX-License-Identifier: Apache-2.0
 *
 * Which allocations get events of their own. Three things leave them out: a smallest
 * size, sampling (one of every so many, at a place in each group that a seed decides)
 * and the limit of the trace's size. What is left out is counted, by device, family
 * and level, together with the highest that its account stood meanwhile, and brought
 * into the trace as `unrecorded` before the next event that looks at memory. So the
 * replayed balances and peaks are those of a trace with everything in it; only who
 * allocated is not known of what was left out, and its stacks are never captured.
 *
 * Sampling is by whole groups: of every N allocations of a level one is recorded, at a
 * pseudo-random place. Each has the chance 1/N whatever rhythm the program has, so N
 * times what was recorded is an unbiased estimate for any part of it.
 *
 * The limit (docs/sampling.md): at half of it kernels and copies stop, at three quarters
 * stacks that were not seen yet, near it everything but totals, failures and the end.
 *
 * Any thread. Functions named _locked are called between vs_recorder_acquire and
 * vs_recorder_release. No malloc; a mapping now and then for the table of addresses. */
#ifndef VS_SELECTION_H
#define VS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format/event.h"
#include "trace/record/recorder.h"

/* One allocation (or segment) made or freed. */
struct vs_recorded {
    enum vs_level level;
    enum vs_family family;
    uint32_t device;
    bool alloc, selected; /* selected: what vs_selection_takes said; of allocations */
    uint64_t addr, requested, size;
    int64_t reserved;      /* what it changes of the bytes held from the device */
    uint64_t reserved_now; /* framework: what it says it holds */
};

/* Whether any recorder of this process ever left something out; set before it records. */
extern bool vs_selection_on;

bool vs_selection_asks(struct vs_recorder *recorder, enum vs_level level, uint64_t bytes);
bool vs_selection_counts_locked(struct vs_recorder *recorder, const struct vs_recorded *change,
                                struct vs_event *event);

/* vs_selection_takes: whether an allocation of *bytes* is to be recorded with its stack:
 * asked once for each, before the stack is captured. Cost: without options a load. */
static inline bool vs_selection_takes(struct vs_recorder *recorder, enum vs_level level,
                                      uint64_t bytes)
{
    return !__builtin_expect(vs_selection_on, 0) || vs_selection_asks(recorder, level, bytes);
}

/* vs_selection_keeps_locked: whether *change* gets an event; else it has been counted, and
 * the time of *event* is filled in all the same. The event follows in the same step. */
static inline bool vs_selection_keeps_locked(struct vs_recorder *recorder,
                                             const struct vs_recorded *change,
                                             struct vs_event *event)
{
    return !__builtin_expect(vs_selection_on, 0) ||
           !vs_selection_counts_locked(recorder, change, event);
}

#endif
