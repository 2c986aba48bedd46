/* SPDX-License-Identifier: Apache-2.0
 *
 * Resets over all statistics; see the header. */
#include "allocator/statistics.h"

static void for_each(struct vs_allocator_stats *stats, void (*apply)(struct vs_stat *stat))
{
#define VS_APPLY(name)                       \
    for (int i = 0; i < VS_STAT_POOLS; i++)  \
        apply(&stats->name[i]);
    VS_ALLOCATOR_POOL_STATS(VS_APPLY)
#undef VS_APPLY
    apply(&stats->oversize_allocations);
    apply(&stats->oversize_segments);
}

static void reset_peak(struct vs_stat *stat)
{
    stat->peak = stat->current;
}

static void reset_accumulated(struct vs_stat *stat)
{
    stat->allocated = stat->freed = 0;
}

static void forget(struct vs_stat *stat)
{
    vs_stat_decrease(stat, stat->current);
}

void vs_statistics_reset_peaks(struct vs_allocator_stats *stats)
{
    for_each(stats, reset_peak);
}

void vs_statistics_reset_accumulated(struct vs_allocator_stats *stats)
{
    for_each(stats, reset_accumulated);
    stats->num_alloc_retries = stats->num_ooms = stats->num_sync_all_streams = 0;
    stats->num_device_alloc = stats->num_device_free = stats->num_reuse_syncs = 0;
}

void vs_statistics_forget(struct vs_allocator_stats *stats)
{
    for_each(stats, forget);
}
