/* SPDX-License-Identifier: Apache-2.0
 *
 * Free space inside a device's segments at one time of the replay: the gaps between live blocks, in
 * address order. Computed only for the few times that a report or post-mortem shows. */
#include "analysis/state/replay.h"
#include "base/reading/vs_vec.h"

struct holes_extent {
    uint64_t addr, size;
};

static int by_addr(const void *a, const void *b)
{
    const struct holes_extent *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void add_hole(struct vs_holes *holes, uint64_t size)
{
    if (size == 0)
        return;
    holes->free_bytes += size;
    holes->count++;
    if (size > holes->largest)
        holes->largest = size;
}

/* Walks the blocks of one segment, which start at blocks[*at]. */
static void walk_segment(const struct vs_replay_segment *segment, const struct holes_extent *blocks,
                         size_t count, size_t *at, struct vs_holes *holes)
{
    uint64_t cursor = 0; /* offset in the segment */
    size_t first = *at;
    for (; *at < count && blocks[*at].addr - segment->addr < segment->size; ++*at) {
        uint64_t offset = blocks[*at].addr - segment->addr;
        if (offset > cursor)
            add_hole(holes, offset - cursor);
        uint64_t end = offset + blocks[*at].size;
        if (end > cursor)
            cursor = end;
    }
    if (cursor < segment->size)
        add_hole(holes, segment->size - cursor);
    if (*at == first)
        holes->empty_bytes += segment->size;
}

/* Blocks in views use memory that looks free where it is reserved; which holes it lies in is
 * unknown, so the largest is an upper bound then. */
static void take_lent(struct vs_holes *holes, uint64_t lent)
{
    holes->free_bytes -= lent < holes->free_bytes ? lent : holes->free_bytes;
    if (holes->largest > holes->free_bytes)
        holes->largest = holes->free_bytes;
    if (holes->empty_bytes > holes->free_bytes)
        holes->empty_bytes = holes->free_bytes;
}

void vs_replay_holes(const struct vs_replay *replay, unsigned account,
                     struct vs_holes *out)
{
    struct holes_extent *blocks = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || !live->in_segment || live->device != account)
            continue;
        vs_vec_room(&blocks, &capacity, count + 1, sizeof *blocks);
        blocks[count++] = (struct holes_extent){live->addr, live->size};
    }
    if (count)
        qsort(blocks, count, sizeof *blocks, by_addr);
    struct vs_holes holes = {0};
    size_t at = 0;
    uint64_t lent = 0;
    for (size_t i = 0; i < replay->segments.count; i++) {
        const struct vs_replay_segment *segment = &replay->segments.items[i];
        if (segment->device != account)
            continue;
        while (at < count && blocks[at].addr < segment->addr)
            at++; /* its segment is gone */
        if (segment->view) {
            for (; at < count && blocks[at].addr - segment->addr < segment->size; at++)
                lent += blocks[at].size;
            continue;
        }
        walk_segment(segment, blocks, count, &at, &holes);
    }
    free(blocks);
    take_lent(&holes, lent);
    *out = holes;
}
