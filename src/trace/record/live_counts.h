/* SPDX-License-Identifier: Apache-2.0
 *
 * The counts that no `unrecorded` event covers yet, in FILE.live: the contents of the next one if
 * it were recorded now, so that a killed process still leaves its sums and peaks.
 *
 * Invariant: the newest copies up to `version` are always one consistent state. A change writes the
 * inactive copies of its cells; one store of `version` activates all of them. Where a change takes
 * effect together with a following event, `events` names that event, and until it is recorded the
 * other copy is valid. Writing the cells as events starts by storing the number of events before
 * it, so that a reader knows how many cells are already recorded.
 *
 * All of it under the recorder's lock; no system call. Release stores and signal fences: a reader
 * after a kill sees all stores up to one of them, in program order; a concurrent reader sees a copy
 * complete before its version, the version before the commit, and checks whether anything changed
 * meanwhile. */
#ifndef VS_LIVE_COUNTS_H
#define VS_LIVE_COUNTS_H

#include "trace/record/recorder_internal.h"

/* vs_live_counts_begin_locked: the copy of cell *i* to which the next change's state is written.
 * The caller fills all members but the version. */
static inline struct vs_live_count *vs_live_counts_begin_locked(struct vs_recorder *r, unsigned i)
{
    struct vs_live_count *copy = r->selection.live_cells[i].copy;
    uint64_t a = atomic_load_explicit(&copy[0].version, memory_order_relaxed);
    uint64_t b = atomic_load_explicit(&copy[1].version, memory_order_relaxed);
    struct vs_live_count *to = &copy[a > b];
    atomic_store_explicit(&to->version, UINT64_MAX, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return to;
}

/* vs_live_counts_put_locked: *copy* is written; active with the next commit. Once for each cell of
 * a change. */
static inline void vs_live_counts_put_locked(struct vs_recorder *r, struct vs_live_count *copy)
{
    atomic_store_explicit(&copy->version, r->selection.counts_version + 1, memory_order_release);
}

static inline void vs_live_counts_commit_locked(struct vs_recorder *r)
{
    atomic_store_explicit(&r->selection.live_counts->version, ++r->selection.counts_version,
                          memory_order_release);
}

/* vs_live_counts_record_begin_locked, _end_locked: called before and after all cells are recorded
 * as events, in their order and with no other event in between. */
void vs_live_counts_record_begin_locked(struct vs_recorder *r);
void vs_live_counts_record_end_locked(struct vs_recorder *r);

/* vs_live_counts_bytes: size of this area in FILE.live, between the header page and the windows. */
size_t vs_live_counts_bytes(const struct vs_recorder *r);
/* vs_live_counts_open: initialise the area of a new FILE.live. */
void vs_live_counts_open(struct vs_recorder *r);

#endif
