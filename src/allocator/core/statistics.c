/* SPDX-License-Identifier: Apache-2.0
 *
 * Export and resets over all statistics; see the header. */
#include "allocator/core/statistics.h"

#include <string.h>

static struct vs_stat export_pool(const struct vs_counter *c, int pool)
{
    return (struct vs_stat){
        .current = c->up[pool] - c->down[pool],
        .peak = c->peak[VS_STAT_SMALL + pool],
        .allocated = c->up[pool] - c->up_base[pool],
        .freed = c->down[pool] - c->down_base[pool],
    };
}

static struct vs_stat export_all(const struct vs_counter *c)
{
    struct vs_stat small = export_pool(c, VS_POOL_SMALL), large = export_pool(c, VS_POOL_LARGE);
    return (struct vs_stat){
        .current = small.current + large.current,
        .peak = c->peak[VS_STAT_ALL],
        .allocated = small.allocated + large.allocated,
        .freed = small.freed + large.freed,
    };
}

void vs_counter_export(const struct vs_counter *counter, struct vs_stat out[VS_STAT_POOLS])
{
    out[VS_STAT_ALL] = export_all(counter);
    out[VS_STAT_SMALL] = export_pool(counter, VS_POOL_SMALL);
    out[VS_STAT_LARGE] = export_pool(counter, VS_POOL_LARGE);
}

void vs_statistics_export(const struct vs_counters *counters, uint64_t max_split,
                          struct vs_allocator_stats *out)
{
    memset(out, 0, sizeof *out);
#define VS_EXPORT(name) \
    vs_counter_export(&counters->name, out->name);
    VS_ALLOCATOR_POOL_STATS(VS_EXPORT)
#undef VS_EXPORT
    out->oversize_allocations = export_all(&counters->oversize_allocations);
    out->oversize_segments = export_all(&counters->oversize_segments);
    out->num_alloc_retries = counters->num_alloc_retries;
    out->num_ooms = counters->num_ooms;
    out->num_sync_all_streams = counters->num_sync_all_streams;
    out->num_device_alloc = counters->num_device_alloc;
    out->num_device_free = counters->num_device_free;
    out->num_reuse_syncs = counters->num_reuse_syncs;
    out->max_split_size = max_split == UINT64_MAX ? -1 : (int64_t)max_split;
}

static void for_each(struct vs_counters *counters, void (*apply)(struct vs_counter *counter))
{
#define VS_APPLY(name) apply(&counters->name);
    VS_ALLOCATOR_POOL_STATS(VS_APPLY)
#undef VS_APPLY
    apply(&counters->oversize_allocations);
    apply(&counters->oversize_segments);
}

void vs_counter_reset_peak(struct vs_counter *c)
{
    for (int pool = 0; pool < 2; pool++)
        c->peak[VS_STAT_SMALL + pool] = c->up[pool] - c->down[pool];
    c->peak[VS_STAT_ALL] = vs_counter_level(c);
}

void vs_counter_reset_accumulated(struct vs_counter *c)
{
    memcpy(c->up_base, c->up, sizeof c->up);
    memcpy(c->down_base, c->down, sizeof c->down);
}

static void forget(struct vs_counter *c)
{
    memcpy(c->down, c->up, sizeof c->down);
}

void vs_statistics_reset_peaks(struct vs_counters *counters)
{
    for_each(counters, vs_counter_reset_peak);
}

void vs_statistics_reset_accumulated(struct vs_counters *counters)
{
    for_each(counters, vs_counter_reset_accumulated);
    counters->num_alloc_retries = counters->num_ooms = counters->num_sync_all_streams = 0;
    counters->num_device_alloc = counters->num_device_free = counters->num_reuse_syncs = 0;
}

void vs_statistics_discard(struct vs_counters *counters)
{
    for_each(counters, forget);
}
