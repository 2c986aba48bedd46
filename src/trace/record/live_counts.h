/* SPDX-License-Identifier: Apache-2.0
 *
 * The counts that are in no `unrecorded` event yet, in FILE.live: what the next one would say if
 * it were recorded now, so that a process that is killed leaves its sums and peaks as they were.
 *
 * Invariant: at every instant the newest copies up to `version` are the counts of one moment.
 * A change goes to the copies of its cells that are not in force; one store of `version` puts
 * all that it touched in force. Where a change counts with an event that follows it, `events`
 * says which, and until that is there the other copy holds. Telling begins with the number of
 * events before it, so that a reader knows how many of the cells are told.
 *
 * All of it under the recorder's lock; no system call. Release stores and signal fences: who reads
 * after a kill has all stores up to one, in this process's order; a reader beside it sees a copy
 * whole before its version, that before the commit, and looks whether anything changed meanwhile. */
#ifndef VS_LIVE_COUNTS_H
#define VS_LIVE_COUNTS_H

#include "trace/record/recorder_internal.h"

/* vs_live_counts_begin_locked: the copy of cell *i* to write the next change's state to. All of
 * its members but the version are the caller's. */
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

/* vs_live_counts_put_locked: *copy* is written; in force with the next commit. Once for each
 * cell of a change. */
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

/* vs_live_counts_bytes: room in FILE.live between its header page and its windows. */
size_t vs_live_counts_bytes(const struct vs_recorder *r);
/* vs_live_counts_open: FILE.live was made, and nothing is in it yet. */
void vs_live_counts_open(struct vs_recorder *r);

#endif
