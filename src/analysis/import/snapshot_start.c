/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks are followed forward, by the first entry of each address; segments and mappings
 * backward, from the end of the history. */
#include "analysis/import/snapshot.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"
#include "base/vs_map.h"

/* Steps over pieces: so many for each entry of the history and each segment, and so many for all. Each
 * may become two events, so the trace and the time stay in proportion to the file. */
#define ENTRY_WORK 64
#define LEAST_WORK (UINT64_C(1) << 18)

/* --- blocks --- */

static struct vs_snapshot_block *add_block(struct vs_snapshot_start *s)
{
    return vs_vec_push(&s->blocks, &s->block_count, &s->block_capacity, sizeof *s->blocks);
}

static void follow_block(struct vs_snapshot_start *s, struct vs_map *seen, const struct vs_snapshot_entry *entry)
{
    bool begins = entry->action == VS_SNAPSHOT_ALLOC, asked = entry->action == VS_SNAPSHOT_FREE_REQUESTED;
    if (!begins && !asked && entry->action != VS_SNAPSHOT_FREE_COMPLETED)
        return;
    if ((*vs_xmap_value(seen, entry->addr, 0))++ || begins)
        return;
    /* the first thing that happens to the address is its free, whose stack is not the allocation's */
    *add_block(s) =
        (struct vs_snapshot_block){.addr = entry->addr, .requested = entry->size, .allocated = asked};
}

/* --- segments --- */

static void add_segment(struct vs_snapshot_start *s, struct vs_map *places,
                        const struct vs_snapshot_segment *segment)
{
    vs_xmap_put(places, segment->addr, s->segment_count);
    *(struct vs_snapshot_segment *)vs_vec_push(&s->segments, &s->segment_count,
                                               &s->segment_capacity, sizeof *segment) = *segment;
}

static void undo_segment(struct vs_snapshot_start *s, struct vs_map *places,
                         const struct vs_snapshot_entry *entry)
{
    uint64_t place;
    if (entry->action == VS_SNAPSHOT_SEGMENT_ALLOC &&
        vs_map_remove(places, entry->addr, &place))
        s->segments[place].size = 0;
    if (entry->action != VS_SNAPSHOT_SEGMENT_FREE || vs_map_get(places, entry->addr))
        return;
    struct vs_snapshot_segment segment = {.addr = entry->addr, .size = entry->size,
                                          .stream = entry->stream};
    add_segment(s, places, &segment);
}

/* --- mappings --- */

static bool is_mapping(const struct vs_snapshot_entry *entry)
{
    return entry->action == VS_SNAPSHOT_SEGMENT_MAP || entry->action == VS_SNAPSHOT_SEGMENT_UNMAP;
}

enum vs_err vs_snapshot_pieces(struct vs_snapshot_start *s, uint64_t addr, uint64_t size,
                               size_t *first, size_t *count)
{
    size_t end = *first = VS_VEC_BELOW(s->pieces, s->piece_count, addr, addr);
    while (end < s->piece_count && s->pieces[end].addr < addr + size)
        end++;
    *count = end - *first;
    if (*count > s->work)
        return VS_ERR_CORRUPT;
    s->work -= *count;
    return VS_OK;
}

static enum vs_err set_mapped(struct vs_snapshot_start *s, uint64_t addr, uint64_t size,
                              uint64_t stream, bool mapped)
{
    size_t first, count;
    enum vs_err err = vs_snapshot_pieces(s, addr, size, &first, &count);
    for (size_t i = first; !err && i < first + count; i++) {
        s->pieces[i].mapped = mapped;
        s->pieces[i].stream = stream;
    }
    return err;
}

static enum vs_err find_mappings(struct vs_snapshot_start *s, const struct vs_snapshot_device *d)
{
    size_t ranges = 0, n = 0;
    for (size_t i = 0; i < d->segment_count; i++)
        ranges += d->segments[i].expandable;
    for (size_t i = 0; i < d->count; i++)
        ranges += is_mapping(&d->entries[i]);
    uint64_t *ends = vs_xcalloc(2 * ranges + 1, sizeof *ends);
    for (size_t i = 0; i < d->segment_count; i++)
        if (d->segments[i].expandable) {
            ends[n++] = d->segments[i].addr;
            ends[n++] = d->segments[i].addr + d->segments[i].size;
        }
    for (size_t i = 0; i < d->count; i++)
        if (is_mapping(&d->entries[i])) {
            ends[n++] = d->entries[i].addr;
            ends[n++] = d->entries[i].addr + d->entries[i].size;
        }
    /* the pieces, from all ends of ranges */
    vs_vec_sort(ends, n, sizeof *ends, vs_order_u64);
    s->pieces = vs_xcalloc(n + 1, sizeof *s->pieces);
    for (size_t i = 0; i + 1 < n; i++)
        if (ends[i] < ends[i + 1])
            s->pieces[s->piece_count++] =
                (struct vs_snapshot_piece){.addr = ends[i], .end = ends[i + 1]};
    free(ends);
    enum vs_err err = VS_OK;
    for (size_t i = 0; i < d->segment_count && !err; i++)
        if (d->segments[i].expandable)
            err = set_mapped(s, d->segments[i].addr, d->segments[i].size, d->segments[i].stream,
                             true);
    for (size_t i = d->count; i-- > 0 && !err;)
        if (is_mapping(&d->entries[i]))
            err = set_mapped(s, d->entries[i].addr, d->entries[i].size, d->entries[i].stream,
                             d->entries[i].action == VS_SNAPSHOT_SEGMENT_UNMAP);
    return err;
}

enum vs_err vs_snapshot_start_find(const struct vs_snapshot_device *device,
                                   struct vs_snapshot_start *start)
{
    start->work = LEAST_WORK + ENTRY_WORK * (uint64_t)(device->count + device->segment_count);
    struct vs_map seen = {0};
    for (size_t i = 0; i < device->count; i++)
        follow_block(start, &seen, &device->entries[i]);
    for (size_t i = 0; i < device->block_count; i++) {
        const struct vs_snapshot_block *block = &device->blocks[i];
        if (vs_map_get(&seen, block->addr))
            continue;
        /* blocks and segments have a stack only if the history was recorded then */
        start->overwritten |= device->count && block->allocated && block->frames;
        *add_block(start) = *block;
    }
    vs_map_free(&seen);
    struct vs_map places = {0};
    for (size_t i = 0; i < device->segment_count; i++)
        if (!device->segments[i].expandable)
            add_segment(start, &places, &device->segments[i]);
    for (size_t i = device->count; i-- > 0;)
        undo_segment(start, &places, &device->entries[i]);
    vs_map_free(&places);
    size_t kept = 0;
    for (size_t i = 0; i < start->segment_count; i++)
        if (start->segments[i].size) {
            start->overwritten |= device->count && start->segments[i].frames;
            start->segments[kept++] = start->segments[i];
        }
    start->segment_count = kept;
    return find_mappings(start, device);
}

void vs_snapshot_start_free(struct vs_snapshot_start *start)
{
    free(start->segments);
    free(start->blocks);
    free(start->pieces);
}
