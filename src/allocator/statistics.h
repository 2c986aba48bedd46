/* SPDX-License-Identifier: Apache-2.0
 *
 * Upkeep of the allocator's statistics: every figure is kept for its pool and for
 * all. The meaning and the moments are PyTorch's; docs/allocator.md lists them.
 * The allocator's lock guards them. */
#ifndef VS_STATISTICS_H
#define VS_STATISTICS_H

#include "allocator/allocator.h"

static inline void vs_stat_increase(struct vs_stat *stat, uint64_t amount)
{
    stat->current += amount;
    stat->allocated += amount;
    if (stat->current > stat->peak)
        stat->peak = stat->current;
}

static inline void vs_stat_decrease(struct vs_stat *stat, uint64_t amount)
{
    stat->current -= amount;
    stat->freed += amount;
}

/* *pool*: VS_POOL_SMALL or VS_POOL_LARGE. */
static inline void vs_stats_increase(struct vs_stat stat[VS_STAT_POOLS], enum vs_pool_kind pool,
                                     uint64_t amount)
{
    vs_stat_increase(&stat[VS_STAT_ALL], amount);
    vs_stat_increase(&stat[VS_STAT_SMALL + pool], amount);
}

static inline void vs_stats_decrease(struct vs_stat stat[VS_STAT_POOLS], enum vs_pool_kind pool,
                                     uint64_t amount)
{
    vs_stat_decrease(&stat[VS_STAT_ALL], amount);
    vs_stat_decrease(&stat[VS_STAT_SMALL + pool], amount);
}

/* A signed change as one step: an increase, a decrease, or nothing. */
static inline void vs_stats_change(struct vs_stat stat[VS_STAT_POOLS], enum vs_pool_kind pool,
                                   int64_t amount)
{
    if (amount > 0)
        vs_stats_increase(stat, pool, (uint64_t)amount);
    else if (amount < 0)
        vs_stats_decrease(stat, pool, (uint64_t)-amount);
}

void vs_statistics_reset_peaks(struct vs_allocator_stats *stats);
void vs_statistics_reset_accumulated(struct vs_allocator_stats *stats);
/* Everything in use is gone: current becomes 0, counted as freed. */
void vs_statistics_forget(struct vs_allocator_stats *stats);

#endif
