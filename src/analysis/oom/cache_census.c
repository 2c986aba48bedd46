/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments of a framework are the device memory that holds its blocks, also
 * where it is mapped (expandable segments); their stream is that of their blocks. It does not report
 * its private pools (torch.cuda.MemPool, CUDA graphs), but it never asks the device while a usable
 * piece is large enough, and it frees unused segments before it reports a failure. Blocks of up to 1 MiB
 * have segments of their own, of 2 MiB. */
#include "analysis/oom/cache_census.h"

#include <stdlib.h>

#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define SMALL_BLOCK (UINT64_C(1) << 20)
#define SMALL_SEGMENT (UINT64_C(2) << 20)
#define LARGE_SEGMENT (UINT64_C(10) << 20) /* of other blocks, at least */

struct census_extent {
    uint64_t addr, size, stream;
    uint32_t site;
};

struct census_list {
    struct census_extent *items;
    size_t count, capacity;
};

/* A count in progress. */
struct census {
    const struct vs_history *history;
    unsigned account;
    struct vs_census_request request;
    struct census_list segments, blocks;
    uint64_t *beside, *withheld; /* by site: free bytes beside its live blocks */
    struct vs_cache_census *out;
};

static int by_start(const void *a, const void *b)
{
    const struct census_extent *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void put(struct census_list *list, const struct census_extent *one)
{
    vs_vec_room(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = *one;
}

/* The live blocks of the allocator's level. */
static void gather_blocks(struct census *c)
{
    for (size_t i = 0; i < c->history->block_count; i++) {
        const struct vs_history_block *block = &c->history->blocks[i];
        const struct vs_history_site *site = block->used ? &c->history->sites[block->site] : NULL;
        struct census_extent one = {block->addr, block->bytes, block->stream, block->site};
        if (!site || site->account != c->account || block->family != VS_FAMILY_DEVICE)
            continue;
        if (site->framework == c->out->framework)
            put(&c->blocks, &one);
    }
}

static void gather_segments(struct census *c, const struct vs_replay *replay)
{
    struct vs_user_segment *list = NULL;
    size_t count = 0;
    if (c->out->framework)
        vs_user_segments(replay, c->account, &list, &count);
    for (size_t i = 0; i < count; i++)
        put(&c->segments, &(struct census_extent){list[i].addr, list[i].size, 0, list[i].site});
    free(list);
    for (size_t i = 0; !c->out->framework && i < replay->segments.count; i++) {
        const struct vs_replay_segment *s = &replay->segments.items[i];
        if (s->device == c->account && !s->view)
            put(&c->segments, &(struct census_extent){s->addr, s->size, s->stream, 0});
    }
}

/* Whether *segment*, which holds a block of *largest* bytes, is certainly of the other class: PyTorch
 * serves requests of up to 1 MiB from segments of their own. */
static bool other_class(const struct census *c, const struct census_extent *segment,
                        uint64_t largest)
{
    if (c->request.bytes > SMALL_BLOCK)
        return segment->size == SMALL_SEGMENT;
    return largest > SMALL_BLOCK || segment->size >= LARGE_SEGMENT;
}

/* Whether the framework's allocator serves the request from segments such as *segment*. */
static bool same_class(const struct census *c, const struct census_extent *segment)
{
    return (segment->size == SMALL_SEGMENT) == (c->request.bytes <= SMALL_BLOCK);
}

static void count_piece(struct census *c, const struct census_extent *segment, uint64_t bytes,
                        uint64_t largest, const struct census_extent *before,
                        const struct census_extent *after)
{
    struct vs_cache_census *out = c->out;
    bool comparable = out->framework == c->request.framework;
    bool other = comparable && segment->stream != c->request.stream;
    bool enough = bytes >= c->request.bytes, fits = out->framework && comparable && same_class(c, segment);
    bool withheld = other || enough;
    uint64_t *sums = withheld ? c->withheld : c->beside;
    if (!bytes)
        return;
    if (enough && !other && out->framework && comparable && other_class(c, segment, largest)) {
        out->other_class += bytes;
        return;
    }
    if (before)
        sums[before->site] += bytes;
    if (after)
        sums[after->site] += bytes;
    if (withheld) {
        out->withheld += bytes;
        out->other_streams += other ? bytes : 0;
        out->private_pools += !other && fits ? bytes : 0;
        out->withheld_largest = bytes > out->withheld_largest ? bytes : out->withheld_largest;
    } else {
        out->scattered += bytes;
        out->pieces++;
        out->largest = bytes > out->largest ? bytes : out->largest;
    }
}

/* The largest live block of *segment*; *at* is the first of its blocks. */
static uint64_t largest_block(const struct census *c, const struct census_extent *segment, size_t at)
{
    uint64_t largest = 0, end = segment->addr + segment->size;
    for (; at < c->blocks.count && c->blocks.items[at].addr < end; at++)
        if (c->blocks.items[at].size > largest)
            largest = c->blocks.items[at].size;
    return largest;
}

static void count_segment(struct census *c, struct census_extent *segment, size_t *at)
{
    uint64_t cursor = segment->addr, end = segment->addr + segment->size;
    uint64_t largest = largest_block(c, segment, *at);
    if (c->out->framework && *at < c->blocks.count && c->blocks.items[*at].addr < end)
        segment->stream = c->blocks.items[*at].stream; /* all blocks of a segment have the same */
    const struct census_extent *before = NULL;
    c->out->segments++;
    c->out->segment_bytes += segment->size;
    for (; *at < c->blocks.count && c->blocks.items[*at].addr < end; ++*at) {
        const struct census_extent *block = &c->blocks.items[*at];
        if (block->addr > cursor)
            count_piece(c, segment, block->addr - cursor, largest, before, block);
        c->out->used_bytes += block->size;
        if (block->addr + block->size > cursor)
            cursor = block->addr + block->size;
        before = block;
    }
    if (!before && c->out->framework) {
        c->out->withheld += segment->size;
        c->out->private_pools += segment->size;
        if (segment->size > c->out->withheld_largest)
            c->out->withheld_largest = segment->size;
        c->withheld[segment->site] += segment->size;
    } else if (!before) {
        c->out->empty += segment->size;
    } else if (cursor < end) {
        count_piece(c, segment, end - cursor, largest, before, NULL);
    }
}

/* The site with the highest of *sums*, + 1; 0: all are 0. */
static uint32_t highest(const uint64_t *sums, size_t count)
{
    uint64_t most = 0;
    uint32_t site = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i] > most) {
            most = sums[i];
            site = (uint32_t)i + 1;
        }
    return site;
}

void vs_cache_census(const struct vs_replay *replay, const struct vs_history *history,
                     unsigned account, const struct vs_census_request *request,
                     struct vs_cache_census *out)
{
    *out = (struct vs_cache_census){.framework = vs_user_level(replay, account) ==
                                                        VS_LEVEL_FRAMEWORK};
    struct census c = {.history = history, .account = account, .request = *request, .out = out};
    c.beside = vs_xcalloc(history->site_count + 1, sizeof *c.beside);
    c.withheld = vs_xcalloc(history->site_count + 1, sizeof *c.withheld);
    gather_blocks(&c);
    gather_segments(&c, replay);
    size_t at = 0;
    if (c.segments.count)
        qsort(c.segments.items, c.segments.count, sizeof *c.segments.items, by_start);
    if (c.blocks.count)
        qsort(c.blocks.items, c.blocks.count, sizeof *c.blocks.items, by_start);
    for (size_t i = 0; i < c.segments.count; i++) {
        while (at < c.blocks.count && c.blocks.items[at].addr < c.segments.items[i].addr)
            at++; /* not in a segment */
        count_segment(&c, &c.segments.items[i], &at);
    }
    c.out->pin_site = highest(c.beside, c.history->site_count);
    c.out->withheld_site = highest(c.withheld, c.history->site_count);
    free(c.beside);
    free(c.withheld);
    free(c.segments.items);
    free(c.blocks.items);
}
