/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's figures by PyTorch's keys, for the public C API. The keys are
 * built from the allocator's own table of statistics, so that a new one needs no line
 * here. Figures of several allocators on a device are added up. */
#include "vramscope.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "intercept/api/api.h"
#include "intercept/route/hook.h"
#include "intercept/track/context.h"

static const char *const pools[VS_STAT_POOLS] = {"all", "small_pool", "large_pool"};
static const char *const fields[] = {"current", "peak", "allocated", "freed"};

/* Of all allocators of a device: every field is a sum of 64 bits, except the option among them. */
static void collect(uint32_t device, struct vs_allocator_stats *sum)
{
    enum { FIGURES = sizeof *sum / sizeof(uint64_t) };
    struct vs_allocator_stats one;
    struct vs_context *c = NULL;
    int i = 0;
    *sum = (struct vs_allocator_stats){.max_split_size = -1};
    for (struct vs_allocator *a; !vs_process_forked() && (a = vs_allocator_next(device, &c, &i));) {
        vs_allocator_stats(a, &one);
        for (size_t f = 0; f < FIGURES; f++)
            ((uint64_t *)sum)[f] += ((const uint64_t *)&one)[f];
        sum->max_split_size = one.max_split_size; /* the same for all */
    }
}

/* One figure, or all of them. */
struct statistics_query {
    const char *key; /* NULL: all, for *visit* */
    int64_t *value;
    bool found;
    void (*visit)(const char *key, int64_t value, void *arg);
    void *arg;
};

static void figure(struct statistics_query *q, const char *key, int64_t value)
{
    if (!q->key) {
        q->visit(key, value, q->arg);
    } else if (strcmp(key, q->key) == 0) {
        *q->value = value;
        q->found = true;
    }
}

static void stat_figures(struct statistics_query *q, const char *name, const char *pool,
                         const struct vs_stat *stat)
{
    const uint64_t values[] = {stat->current, stat->peak, stat->allocated, stat->freed};
    char key[128];
    for (size_t f = 0; f < sizeof values / sizeof *values; f++) {
        snprintf(key, sizeof key, "%s%s%s.%s", name, *pool ? "." : "", pool, fields[f]);
        figure(q, key, (int64_t)values[f]);
    }
}

static int answer(int device, struct statistics_query *q)
{
    struct vs_allocator_stats stats;
    if (!vs_api_device(device))
        return -1;
    collect((uint32_t)device, &stats);
#define ROW(name)                            \
    for (int p = 0; p < VS_STAT_POOLS; p++) \
        stat_figures(q, #name, pools[p], &stats.name[p]);
    VS_ALLOCATOR_POOL_STATS(ROW)
#undef ROW
    stat_figures(q, "oversize_allocations", "", &stats.oversize_allocations);
    stat_figures(q, "oversize_segments", "", &stats.oversize_segments);
#define ROW(name) figure(q, #name, (int64_t)stats.name);
    ROW(num_alloc_retries) ROW(num_ooms) ROW(num_sync_all_streams) ROW(num_device_alloc)
    ROW(num_device_free) ROW(num_reuse_syncs) ROW(max_split_size)
#undef ROW
    return q->key && !q->found ? -1 : 0;
}

VS_EXPORT int vramscope_get_statistic(int device, const char *key, int64_t *value)
{
    struct statistics_query query = {.key = key, .value = value};
    return key && value ? answer(device, &query) : -1;
}

VS_EXPORT int vramscope_visit_statistics(int device,
                                         void (*visit)(const char *key, int64_t value, void *arg),
                                         void *arg)
{
    return visit ? answer(device, &(struct statistics_query){.visit = visit, .arg = arg}) : -1;
}

VS_EXPORT int vramscope_reset_accumulated(int device)
{
    if (!vs_api_device(device))
        return -1;
    vs_api_each_allocator((uint32_t)device, vs_allocator_reset_accumulated);
    return 0;
}
