/* SPDX-License-Identifier: Apache-2.0
 *
 * The statistics of the reference model: recounted from the blocks whenever PyTorch changes its
 * own; the difference to the previous count is recorded as an increase or a decrease. */
#include "reference_internal.h"

#include <string.h>

const struct vs_allocator_stats *model_stats(const struct model *m)
{
    return &m->stats;
}

static void book(struct vs_stat *stat, uint64_t now)
{
    if (now > stat->current)
        stat->allocated += now - stat->current;
    else
        stat->freed += stat->current - now;
    stat->current = now;
    if (now > stat->peak)
        stat->peak = now;
}

enum { ALLOCATION, SEGMENT, ACTIVE, INACTIVE, ALLOCATED_B, RESERVED_B, ACTIVE_B, INACTIVE_B,
       REQUESTED_B, FIGURES };

static void book_pool(struct vs_allocator_stats *s, int pool, const uint64_t n[FIGURES])
{
    book(&s->allocation[pool], n[ALLOCATION]);
    book(&s->segment[pool], n[SEGMENT]);
    book(&s->active[pool], n[ACTIVE]);
    book(&s->inactive_split[pool], n[INACTIVE]);
    book(&s->allocated_bytes[pool], n[ALLOCATED_B]);
    book(&s->reserved_bytes[pool], n[RESERVED_B]);
    book(&s->active_bytes[pool], n[ACTIVE_B]);
    book(&s->inactive_split_bytes[pool], n[INACTIVE_B]);
    book(&s->requested_bytes[pool], n[REQUESTED_B]);
}

void model_recount(struct model *m)
{
    uint64_t n[2][FIGURES] = {{0}}, sum[FIGURES], over[2] = {0};
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (b->unmapped)
            continue;
        /* expandable segments do not count as segments, nor their free parts as inactive splits */
        bool active = b->busy || b->waiting, first = b->addr == b->segment && !b->expandable;
        bool split = !active && !b->expandable && !model_alone(b);
        uint64_t *of = n[b->large];
        of[ALLOCATION] += b->busy;
        of[SEGMENT] += first;
        of[ACTIVE] += active;
        of[INACTIVE] += split;
        of[ALLOCATED_B] += b->busy ? b->size : 0;
        of[RESERVED_B] += b->size;
        of[ACTIVE_B] += active ? b->size : 0;
        of[INACTIVE_B] += split ? b->size : 0;
        of[REQUESTED_B] += active ? b->requested : 0;
        over[0] += b->busy && b->size >= model_max_split(m);
        over[1] += first && b->segment_size >= model_max_split(m);
    }
    for (int i = 0; i < FIGURES; i++)
        sum[i] = n[0][i] + n[1][i];
    book_pool(&m->stats, VS_STAT_ALL, sum);
    book_pool(&m->stats, VS_STAT_SMALL, n[0]);
    book_pool(&m->stats, VS_STAT_LARGE, n[1]);
    book(&m->stats.oversize_allocations, over[0]);
    book(&m->stats.oversize_segments, over[1]);
}

/* Calls *change* for every struct vs_stat; the named ones are arrays by pool. */
static void each_stat(struct vs_allocator_stats *s, void (*change)(struct vs_stat *stat))
{
    for (int pool = 0; pool < VS_STAT_POOLS; pool++) {
#define CHANGE(name) change(&s->name[pool]);
        VS_ALLOCATOR_POOL_STATS(CHANGE)
#undef CHANGE
    }
    change(&s->oversize_allocations);
    change(&s->oversize_segments);
}

static void peak_to_current(struct vs_stat *stat)
{
    stat->peak = stat->current;
}

static void sums_to_zero(struct vs_stat *stat)
{
    stat->allocated = stat->freed = 0;
}

void model_reset_peaks(struct model *m)
{
    each_stat(&m->stats, peak_to_current);
}

void model_reset_accumulated(struct model *m)
{
    each_stat(&m->stats, sums_to_zero);
    m->stats.num_alloc_retries = m->stats.num_ooms = m->stats.num_sync_all_streams = 0;
    m->stats.num_device_alloc = m->stats.num_device_free = m->stats.num_reuse_syncs = 0;
}
