/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Code that runs once per batch of changes. */
#include "trace/record/live_counts.h"

#define CELLS_OFFSET VS_LIVE_HEADER_BYTES
_Static_assert(VS_UNRECORDED_CELLS * sizeof(struct vs_live_cell) <= VS_LIVE_COUNTS_BYTES,
               "the cells have room");
_Static_assert(sizeof(struct vs_event_unrecorded) == VS_LIVE_COUNT_FIELDS * sizeof(uint64_t),
               "all of its fields");

size_t vs_live_counts_bytes(const struct vs_recorder *r)
{
    return r->selection.on ? VS_LIVE_COUNTS_BYTES : 0;
}

void vs_live_counts_open(struct vs_recorder *r)
{
    struct vs_selection *s = &r->selection;
    if (!s->on)
        return;
    char *map = r->live_map;
    s->live_counts = (struct vs_live_counts *)(map + sizeof(struct vs_live_header));
    s->live_cells = (struct vs_live_cell *)(map + CELLS_OFFSET);
    /* relaxed: the magic, which makes this area valid, is stored later */
    atomic_store_explicit(&s->live_counts->version, s->counts_version, memory_order_relaxed);
    atomic_store_explicit(&s->live_counts->written, s->counts_version, memory_order_relaxed);
    s->live_counts->offset = CELLS_OFFSET;
    s->live_counts->cells = VS_UNRECORDED_CELLS;
}

void vs_live_counts_record_begin_locked(struct vs_recorder *r)
{
    atomic_store_explicit(&r->selection.live_counts->writing, vs_window_events_locked(r) + 1,
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

void vs_live_counts_record_end_locked(struct vs_recorder *r)
{
    struct vs_live_counts *c = r->selection.live_counts;
    atomic_store_explicit(&c->written, r->selection.counts_version, memory_order_release);
    atomic_store_explicit(&c->writing, 0, memory_order_release);
}
