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

static const struct pool_statistic {
    const char *name;
    size_t offset; /* of struct vs_stat [VS_STAT_POOLS] */
} pool_statistics[] = {
#define ROW(name) {#name, offsetof(struct vs_allocator_stats, name)},
    VS_ALLOCATOR_POOL_STATS(ROW)
#undef ROW
};

static const struct {
    const char *name;
    size_t offset; /* of struct vs_stat */
} statistics[] = {
    {"oversize_allocations", offsetof(struct vs_allocator_stats, oversize_allocations)},
    {"oversize_segments", offsetof(struct vs_allocator_stats, oversize_segments)},
};

static const struct {
    const char *name;
    size_t offset; /* of uint64_t or int64_t */
} counters[] = {
#define ROW(name) {#name, offsetof(struct vs_allocator_stats, name)}
    ROW(num_alloc_retries), ROW(num_ooms),        ROW(num_sync_all_streams), ROW(num_device_alloc),
    ROW(num_device_free),   ROW(num_reuse_syncs), ROW(max_split_size),
#undef ROW
};

static const char *const pools[VS_STAT_POOLS] = {"all", "small_pool", "large_pool"};
static const char *const fields[] = {"current", "peak", "allocated", "freed"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void add_stat(struct vs_stat *sum, const struct vs_stat *more)
{
    sum->current += more->current;
    sum->peak += more->peak;
    sum->allocated += more->allocated;
    sum->freed += more->freed;
}

static void add(struct vs_allocator_stats *sum, const struct vs_allocator_stats *more)
{
#define ADD(name)                            \
    for (int i = 0; i < VS_STAT_POOLS; i++) \
        add_stat(&sum->name[i], &more->name[i]);
    VS_ALLOCATOR_POOL_STATS(ADD)
#undef ADD
    add_stat(&sum->oversize_allocations, &more->oversize_allocations);
    add_stat(&sum->oversize_segments, &more->oversize_segments);
    sum->num_alloc_retries += more->num_alloc_retries;
    sum->num_ooms += more->num_ooms;
    sum->num_sync_all_streams += more->num_sync_all_streams;
    sum->num_device_alloc += more->num_device_alloc;
    sum->num_device_free += more->num_device_free;
    sum->num_reuse_syncs += more->num_reuse_syncs;
    sum->max_split_size = more->max_split_size; /* an option: the same for all */
}

static void collect(uint32_t device, struct vs_allocator_stats *sum)
{
    *sum = (struct vs_allocator_stats){.max_split_size = -1};
    if (vs_process_forked())
        return;
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        for (int i = 0; c->device == device && i < VS_CONTEXT_ALLOCATORS; i++) {
            struct vs_allocator *allocator = vs_context_allocator_at(c, i);
            struct vs_allocator_stats one;
            if (!allocator)
                continue;
            vs_allocator_stats(allocator, &one);
            add(sum, &one);
        }
    }
}

static uint64_t field_of(const struct vs_stat *stat, size_t field)
{
    const uint64_t values[] = {stat->current, stat->peak, stat->allocated, stat->freed};
    return values[field];
}

static const struct vs_stat *stat_at(const struct vs_allocator_stats *stats, size_t offset)
{
    return (const struct vs_stat *)((const char *)stats + offset);
}

static int64_t counter_at(const struct vs_allocator_stats *stats, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)stats + offset, sizeof value);
    return value;
}

/* Does *key* continue with "WORD" or "WORD."? Moves it past them. */
static bool word(const char **key, const char *expected)
{
    size_t n = strlen(expected);
    if (strncmp(*key, expected, n) != 0 || ((*key)[n] && (*key)[n] != '.'))
        return false;
    *key += n + ((*key)[n] == '.');
    return true;
}

static bool look_up_field(const struct vs_stat *stat, const char *key, int64_t *value)
{
    for (size_t f = 0; f < COUNT(fields); f++) {
        if (strcmp(key, fields[f]) != 0)
            continue;
        *value = (int64_t)field_of(stat, f);
        return true;
    }
    return false;
}

static bool look_up(const struct vs_allocator_stats *stats, const char *key, int64_t *value)
{
    for (size_t i = 0; i < COUNT(counters); i++) {
        if (strcmp(key, counters[i].name) != 0)
            continue;
        *value = counter_at(stats, counters[i].offset);
        return true;
    }
    for (size_t i = 0; i < COUNT(statistics); i++) {
        const char *rest = key;
        if (word(&rest, statistics[i].name))
            return look_up_field(stat_at(stats, statistics[i].offset), rest, value);
    }
    for (size_t i = 0; i < COUNT(pool_statistics); i++) {
        const char *rest = key;
        if (!word(&rest, pool_statistics[i].name))
            continue;
        for (size_t p = 0; p < VS_STAT_POOLS; p++) {
            const char *field = rest;
            if (word(&field, pools[p]))
                return look_up_field(stat_at(stats, pool_statistics[i].offset) + p, field, value);
        }
    }
    return false;
}

VS_EXPORT int vramscope_get_statistic(int device, const char *key, int64_t *value)
{
    struct vs_allocator_stats stats;
    if (!vs_api_device(device) || !key || !value)
        return -1;
    collect((uint32_t)device, &stats);
    return look_up(&stats, key, value) ? 0 : -1;
}

VS_EXPORT int vramscope_visit_statistics(int device,
                                         void (*visit)(const char *key, int64_t value, void *arg),
                                         void *arg)
{
    struct vs_allocator_stats stats;
    char key[128];
    if (!vs_api_device(device) || !visit)
        return -1;
    collect((uint32_t)device, &stats);
    for (size_t i = 0; i < COUNT(pool_statistics); i++) {
        for (size_t j = 0; j < VS_STAT_POOLS * COUNT(fields); j++) {
            size_t p = j / COUNT(fields), f = j % COUNT(fields);
            snprintf(key, sizeof key, "%s.%s.%s", pool_statistics[i].name, pools[p], fields[f]);
            visit(key, (int64_t)field_of(stat_at(&stats, pool_statistics[i].offset) + p, f), arg);
        }
    }
    for (size_t j = 0; j < COUNT(statistics) * COUNT(fields); j++) {
        size_t i = j / COUNT(fields), f = j % COUNT(fields);
        snprintf(key, sizeof key, "%s.%s", statistics[i].name, fields[f]);
        visit(key, (int64_t)field_of(stat_at(&stats, statistics[i].offset), f), arg);
    }
    for (size_t i = 0; i < COUNT(counters); i++)
        visit(counters[i].name, counter_at(&stats, counters[i].offset), arg);
    return 0;
}

VS_EXPORT int vramscope_reset_accumulated(int device)
{
    if (!vs_api_device(device))
        return -1;
    vs_api_each_allocator((uint32_t)device, vs_allocator_reset_accumulated);
    return 0;
}
