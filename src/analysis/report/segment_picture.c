/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments of a device at one time as rows of equally many cells, each with the share of it
 * that live blocks use; see held.h. Both lists are in the order of addresses, so one walk finds the
 * blocks of each segment. A device allocation outside every segment is a row of its own. */
#include <stdlib.h>

#include "analysis/report/held.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static void add_hole(struct vs_picture_segment *out, uint64_t bytes)
{
    if (!bytes)
        return;
    out->holes++;
    if (bytes > out->largest_hole)
        out->largest_hole = bytes;
}

/* Fills *out* from the first of *count* blocks, which lie in it; returns their number. */
static size_t fill_segment(const struct vs_held_block *blocks, size_t count,
                           struct vs_picture_segment *out)
{
    uint64_t cells[VS_PICTURE_CELLS] = {0}, cursor = 0;
    size_t at = 0;
    for (; at < count && blocks[at].addr - out->addr < out->size; at++) {
        uint64_t from = blocks[at].addr - out->addr, to = from + blocks[at].size;
        if (to > out->size)
            to = out->size;
        if (from < cursor)
            from = cursor;
        if (to <= from)
            continue;
        add_hole(out, from - cursor);
        for (unsigned i = 0; i < VS_PICTURE_CELLS; i++) {
            uint64_t begin = (uint64_t)((double)out->size * i / VS_PICTURE_CELLS);
            uint64_t end = (uint64_t)((double)out->size * (i + 1) / VS_PICTURE_CELLS);
            uint64_t a = from > begin ? from : begin, b = to < end ? to : end;
            if (b > a)
                cells[i] += b - a;
        }
        out->used += to - from;
        out->blocks++;
        cursor = to;
    }
    add_hole(out, out->size - cursor);
    double width = (double)out->size / VS_PICTURE_CELLS;
    for (unsigned i = 0; i < VS_PICTURE_CELLS; i++) {
        double share = width > 0 ? 100 * (double)cells[i] / width : 0;
        /* of a width that is no whole number of bytes the last may be missing */
        out->cells[i] = share <= 0 ? 0 : share < 1 ? 1 : share > 99.5 ? 100 : (uint8_t)share;
    }
    return at;
}

static void add_segment(struct vs_held *out, struct vs_picture_segment *rows,
                        const struct vs_picture_segment *segment)
{
    out->segment_bytes += segment->size;
    out->segment_used += segment->used;
    if (out->segment_count == VS_PICTURE_SEGMENTS_MAX) {
        out->segments_omitted++;
        return;
    }
    rows[out->segment_count++] = *segment;
}

/* A block outside of every segment; arrays and memory without an address have no place on a map. */
static void add_alone(struct vs_held *out, struct vs_picture_segment *rows,
                      const struct vs_held_block *block)
{
    if (block->tensor)
        out->unmapped_bytes += block->size;
    if (block->addr >> 62 || !block->size || block->tensor)
        return;
    struct vs_picture_segment row = {.addr = block->addr, .size = block->size, .alone = true};
    fill_segment(block, 1, &row);
    add_segment(out, rows, &row);
}

void vs_held_picture(const struct vs_summary *summary, unsigned account,
                     struct vs_held_blocks *blocks, struct vs_held *out)
{
    /* The segments of our allocator, and the memory of the device that holds a framework's
     * blocks. */
    const struct vs_replay *replay = summary->replay;
    struct vs_picture_segment *list = NULL;
    struct vs_user_segment *users = NULL;
    size_t count = 0, capacity = 0, user_count = 0, at = 0;
    for (size_t i = 0; i < replay->segments.count; i++) {
        const struct vs_replay_segment *segment = &replay->segments.items[i];
        if (segment->device == account && !segment->view)
            VS_VEC_ADD(list, count, capacity,
                       (struct vs_picture_segment){.addr = segment->addr, .size = segment->size,
                                                   .stream = segment->stream,
                                                   .pool = segment->pool});
    }
    vs_user_segments(replay, account, &users, &user_count);
    for (size_t i = 0; i < user_count; i++)
        VS_VEC_ADD(list, count, capacity,
                   (struct vs_picture_segment){.addr = users[i].addr, .size = users[i].size});
    free(users);
    vs_vec_sort(list, count, sizeof *list, vs_order_u64);
    /* Physical memory of the program's own has no address: its mappings are on the map. */
    for (size_t i = 0; i < replay->mappings.count; i++) {
        const struct vs_replay_segment *mapping = &replay->mappings.items[i];
        const struct vs_live *memory =
            mapping->memory ? vs_live_table_find(&replay->device_live, mapping->memory) : NULL;
        if (mapping->device == account && !(memory && replay->sites.items[memory->site].backing))
            VS_VEC_ADD(blocks->items, blocks->count, blocks->capacity,
                       (struct vs_held_block){.addr = mapping->addr, .size = mapping->size});
    }
    size_t most = count + blocks->count < VS_PICTURE_SEGMENTS_MAX ? count + blocks->count
                                                                   : VS_PICTURE_SEGMENTS_MAX;
    struct vs_picture_segment *rows = vs_xarena(summary->memory, (most + 1) * sizeof *rows);
    vs_vec_room(&blocks->items, &blocks->capacity, 1, sizeof *blocks->items);
    vs_vec_sort(blocks->items, blocks->count, sizeof *blocks->items, vs_order_u64);
    for (size_t i = 0; i < count; i++) {
        struct vs_picture_segment row = list[i];
        for (; at < blocks->count && blocks->items[at].addr < row.addr; at++)
            add_alone(out, rows, &blocks->items[at]);
        at += fill_segment(blocks->items + at, blocks->count - at, &row);
        add_segment(out, rows, &row);
    }
    for (; at < blocks->count; at++)
        add_alone(out, rows, &blocks->items[at]);
    free(list);
    out->segments = rows;
    out->picture_known = true;
}
