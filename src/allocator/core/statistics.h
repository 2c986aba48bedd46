/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's statistics. Their meaning and update times are PyTorch's; docs/internals/allocator.md lists
 * them. Kept small, because every request and free updates them: per figure and pool only the sums
 * of increases and decreases, which give the level; the figures of both pools together are added on
 * demand, and only their peaks are tracked. Guarded by the allocator's lock. */
#ifndef VS_STATISTICS_H
#define VS_STATISTICS_H

#include "allocator/core/allocator.h"

/* One figure of both pools, indexed by enum vs_pool_kind. */
struct vs_counter {
    uint64_t up[2], down[2];     /* since the beginning; the level is up - down */
    uint64_t peak[VS_STAT_POOLS];
    uint64_t up_base[2], down_base[2]; /* at the last reset_accumulated */
};

struct vs_counters {
#define VS_COUNTER_FIELD(name) struct vs_counter name;
    VS_ALLOCATOR_POOL_STATS(VS_COUNTER_FIELD)
#undef VS_COUNTER_FIELD
    struct vs_counter oversize_allocations, oversize_segments; /* all under VS_POOL_LARGE */
    uint64_t num_alloc_retries, num_ooms, num_sync_all_streams;
    uint64_t num_device_alloc, num_device_free, num_reuse_syncs;
};

static inline uint64_t vs_counter_level(const struct vs_counter *counter)
{
    return counter->up[0] - counter->down[0] + counter->up[1] - counter->down[1];
}

static inline void vs_counter_increase(struct vs_counter *counter, enum vs_pool_kind pool,
                                       uint64_t amount)
{
    counter->up[pool] += amount;
    uint64_t level = counter->up[pool] - counter->down[pool];
    uint64_t all = level + counter->up[1 - pool] - counter->down[1 - pool];
    if (level > counter->peak[VS_STAT_SMALL + pool])
        counter->peak[VS_STAT_SMALL + pool] = level;
    if (all > counter->peak[VS_STAT_ALL])
        counter->peak[VS_STAT_ALL] = all;
}

static inline void vs_counter_decrease(struct vs_counter *counter, enum vs_pool_kind pool,
                                       uint64_t amount)
{
    counter->down[pool] += amount;
}

/* A signed change as one step: an increase, a decrease, or nothing. */
static inline void vs_counter_change(struct vs_counter *counter, enum vs_pool_kind pool,
                                     int64_t amount)
{
    if (amount > 0)
        vs_counter_increase(counter, pool, (uint64_t)amount);
    else if (amount < 0)
        vs_counter_decrease(counter, pool, (uint64_t)-amount);
}

/* Converts to the public form; *max_split* as in struct vs_allocator. */
void vs_statistics_export(const struct vs_counters *counters, uint64_t max_split,
                          struct vs_allocator_stats *out);
void vs_counter_export(const struct vs_counter *counter, struct vs_stat out[VS_STAT_POOLS]);
void vs_counter_reset_peak(struct vs_counter *counter);
void vs_counter_reset_accumulated(struct vs_counter *counter);
void vs_statistics_reset_peaks(struct vs_counters *counters);
void vs_statistics_reset_accumulated(struct vs_counters *counters);
/* All blocks were discarded: levels become 0, counted as decreases. */
void vs_statistics_discard(struct vs_counters *counters);

#endif
