/* SPDX-License-Identifier: Apache-2.0
 *
 * Compared on both sides of the differential test: after every step all statistics and the devices'
 * memory; periodically each segment and block, and the allocator's own invariants. */
#include "differential.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool diff_differ(struct diff_run *r, const char *what, uint64_t have, uint64_t want)
{
    snprintf(r->difference, sizeof r->difference,
             "%s: allocator %" PRIu64 " (0x%" PRIx64 "), model %" PRIu64 " (0x%" PRIx64 ")", what,
             have, have, want, want);
    return false;
}

bool diff_same(struct diff_run *r, const char *what, uint64_t have, uint64_t want)
{
    return have == want || diff_differ(r, what, have, want);
}

static bool same_stat(struct diff_run *r, const char *name, const struct vs_stat *have,
                      const struct vs_stat *want)
{
    const char *field = NULL;
    uint64_t a = 0, b = 0;
    struct vs_stat unordered = *have;
    /* blocks freed by one query of the events: PyTorch frees them in any order */
    if (!diff_subject_is_ours && strncmp(name, "inactive_split", 14) == 0) {
        unordered.peak = want->peak;
        unordered.allocated = want->allocated;
        unordered.freed = want->freed;
        have = &unordered;
    }
#define FIELD(f)                                                                         \
    if (!field && have->f != want->f)                                                    \
        field = #f, a = have->f, b = want->f;
    FIELD(current)
    FIELD(peak)
    FIELD(allocated)
    FIELD(freed)
#undef FIELD
    if (!field)
        return true;
    char what[96];
    snprintf(what, sizeof what, "%s.%s", name, field);
    return diff_differ(r, what, a, b);
}

/* Finds the statistic that differs. */
static bool name_statistic(struct diff_run *r, const struct vs_allocator_stats *have,
                           const struct vs_allocator_stats *want)
{
    static const char *const pools[] = {"all", "small", "large"};
    for (int pool = 0; pool < VS_STAT_POOLS; pool++) {
        char name[64];
#define POOL_STAT(stat)                                                                  \
    snprintf(name, sizeof name, #stat ".%s", pools[pool]);                               \
    if (!same_stat(r, name, &have->stat[pool], &want->stat[pool]))                       \
        return false;
        VS_ALLOCATOR_POOL_STATS(POOL_STAT)
#undef POOL_STAT
    }
#define SCALAR(stat)                                                                     \
    if (have->stat != want->stat)                                                        \
        return diff_differ(r, #stat, (uint64_t)have->stat, (uint64_t)want->stat);
    SCALAR(num_alloc_retries)
    SCALAR(num_ooms)
    SCALAR(num_sync_all_streams)
    SCALAR(num_device_alloc)
    SCALAR(num_device_free)
    if (diff_subject_is_ours)
        SCALAR(max_split_size)
    SCALAR(num_reuse_syncs)
#undef SCALAR
    return same_stat(r, "oversize_allocations", &have->oversize_allocations,
                     &want->oversize_allocations) &&
           same_stat(r, "oversize_segments", &have->oversize_segments, &want->oversize_segments);
}

bool diff_compare(struct diff_run *r)
{
    struct vs_allocator_stats have;
    vs_allocator_stats(r->real, &have);
    if (memcmp(&have, model_stats(r->model), sizeof have) != 0 &&
        !name_statistic(r, &have, model_stats(r->model)))
        return false;
    const struct fake_device *a = &r->device, *b = &r->model_device;
    const struct fake_memory *x = &a->memory, *y = &b->memory;
    bool same = diff_same(r, "bytes used on the device", a->used, b->used) &&
                diff_same(r, "segments", a->segment_count, b->segment_count) &&
                diff_same(r, "device synchronisations", a->syncs, b->syncs) &&
                diff_same(r, "mappings", x->mapping_count, y->mapping_count) &&
                diff_same(r, "address ranges", x->range_count, y->range_count) &&
                (!diff_subject_is_ours ||
                 diff_same(r, "events held", a->events_held, b->events_held));
    for (size_t i = 0; same && i < a->segment_count; i++)
        same = diff_same(r, "a segment's address", a->segments[i].addr, b->segments[i].addr) &&
               diff_same(r, "a segment's size", a->segments[i].size, b->segments[i].size);
    for (int s = 0; same && s < FAKE_STREAMS; s++)
        same = diff_same(r, "events recorded", a->recorded[s], b->recorded[s]) &&
               diff_same(r, "events completed", a->completed[s], b->completed[s]);
    for (size_t i = 0; same && i < x->mapping_count; i++)
        same = diff_same(r, "a mapping's address", x->mappings[i].addr, y->mappings[i].addr) &&
               diff_same(r, "a mapping's bytes", x->mappings[i].bytes, y->mappings[i].bytes);
    for (size_t i = 0; same && i < x->range_count; i++)
        same = diff_same(r, "an address range", x->ranges[i].addr, y->ranges[i].addr) &&
               diff_same(r, "a range's bytes", x->ranges[i].bytes, y->ranges[i].bytes);
    return same;
}

/* --- segments and blocks --- */

#define LINES_MAX 8192

struct line {
    struct vs_segment_info segment;
    struct vs_block_info block; /* size 0: the segment itself */
};

struct lines {
    struct line line[LINES_MAX];
    int count;
};

static void gather(void *ctx, const struct vs_segment_info *segment,
                   const struct vs_block_info *block)
{
    struct lines *lines = ctx;
    if (lines->count < LINES_MAX) {
        struct line *line = &lines->line[lines->count++];
        line->segment = *segment;
        line->block = block ? *block : (struct vs_block_info){0};
    }
}

static int by_address(const void *a, const void *b)
{
    const struct vs_allocator_event *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

bool diff_compare_events(struct diff_run *r)
{
    struct diff_events *sides[] = {&r->events, &r->model_events};
    /* frees delayed by a capture complete in any order there */
    for (int i = 0; i < 2 && !diff_subject_is_ours && r->config->pools; i++)
        if (sides[i]->count <= DIFF_EVENTS_MAX)
            qsort(sides[i]->event, (size_t)sides[i]->count, sizeof *sides[i]->event, by_address);
    for (int i = 0; i < r->events.count && i < r->model_events.count && i < DIFF_EVENTS_MAX; i++) {
        const struct vs_allocator_event *have = &r->events.event[i];
        const struct vs_allocator_event *want = &r->model_events.event[i];
#define EQUAL(field)                                                                     \
    if (have->field != want->field)                                                      \
        return diff_differ(r, "event's " #field, have->field, want->field);
        EQUAL(kind)
        EQUAL(addr)
        EQUAL(stream)
        if (diff_subject_is_ours || want->kind < VS_ALLOCATOR_SEGMENT_ALLOC)
            EQUAL(requested)
        if (diff_subject_is_ours || want->kind >= VS_ALLOCATOR_SEGMENT_ALLOC)
            EQUAL(size)
        if (diff_subject_is_ours)
            EQUAL(pool)
#undef EQUAL
    }
    return diff_same(r, "events told", (uint64_t)r->events.count, (uint64_t)r->model_events.count);
}

bool diff_compare_deep(struct diff_run *r)
{
    static struct lines have, want;
    have.count = want.count = 0;
    vs_allocator_snapshot(r->real, gather, &have);
    model_snapshot(r->model, gather, &want);
    for (int i = 0; i < have.count && i < want.count; i++) {
        const struct line *a = &have.line[i], *b = &want.line[i];
#define EQUAL(field)                                                                     \
    if (a->field != b->field)                                                            \
        return diff_differ(r, "snapshot's " #field, a->field, b->field);
        EQUAL(segment.addr)
        EQUAL(segment.size)
        EQUAL(segment.stream)
        EQUAL(segment.pool)
        EQUAL(segment.expandable)
        EQUAL(segment.pool_id.first)
        EQUAL(segment.pool_id.second)
        EQUAL(block.addr)
        EQUAL(block.size)
        EQUAL(block.state)
        EQUAL(block.requested)
#undef EQUAL
    }
    return diff_same(r, "lines of the snapshot", (uint64_t)have.count, (uint64_t)want.count) &&
           diff_same(r, "vs_allocator_check", vs_allocator_check(r->real), VS_OK);
}
