/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments in a replay: device memory from which the program's or our allocator serves blocks,
 * allocated as a whole or mapped piece by piece. They count as reserved, except views, which map
 * memory of another segment again. Then the mappings of physical memory, where a framework's expandable
 * segments lie: they change no sum, because the memory was counted when it was created. */
#include <stdlib.h>

#include "analysis/state/replay_internal.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* *segment*, which is not a view, was created. *more*: change in the number of segments. */
static void hold_bytes(struct vs_replay *replay, const struct vs_replay_segment *segment, uint64_t more,
                       uint32_t tid)
{
    struct vs_change change = vs_change_segment(segment->device, true, segment->size);
    replay->accounts[segment->device]->segment_count += more;
    replay->accounts[segment->device]->segment_allocs++;
    if (replay->subscribed & VS_CHANGE_HELD)
        vs_replay_publish(replay, &(struct vs_published){.kind = VS_CHANGE_HELD, .piece = segment,
                                                         .event = replay->event});
    vs_replay_change(replay, segment->device, &change, tid);
}

/* *segment* was released. */
static void release_bytes(struct vs_replay *replay, const struct vs_replay_segment *segment,
                          int64_t more)
{
    struct vs_change change = vs_change_segment(segment->device, false, segment->size);
    replay->accounts[segment->device]->segment_count += (uint64_t)more;
    if (replay->subscribed & VS_CHANGE_RELEASED)
        vs_replay_publish(replay, &(struct vs_published){.kind = VS_CHANGE_RELEASED, .piece = segment,
                                                         .event = replay->event});
    vs_replay_change(replay, segment->device, &change, 0);
}

/* Removes the mapped parts of [addr, addr + size); returns the device of some of them, VS_ACCOUNT_NONE
 * when there were none. */
static unsigned unmap(struct vs_replay *replay, uint64_t addr, uint64_t size)
{
    struct vs_replay_segment taken;
    unsigned whose = VS_ACCOUNT_NONE;
    int change;
    while (vs_segments_unmap(&replay->segments, addr, size, &taken, &change), taken.size) {
        whose = taken.device;
        if (!taken.view)
            release_bytes(replay, &taken, change); /* may be one segment less */
    }
    return whose;
}

void vs_replay_unmap(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    unsigned whose = unmap(replay, event->segment_unmap.addr, event->segment_unmap.size);
    if (whose != VS_ACCOUNT_NONE)
        replay->accounts[whose]->segment_frees++;
    else
        replay->unmatched_frees++;
}

static void free_segment(struct vs_replay *replay, uint64_t addr)
{
    struct vs_replay_segment old;
    if (!vs_segments_remove(&replay->segments, addr, &old)) {
        replay->unmatched_frees++;
    } else if (!old.view) {
        replay->accounts[old.device]->segment_frees++;
        release_bytes(replay, &old, -1);
    }
}

void vs_replay_segment(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    if (event->kind == VS_EVENT_segment_free) {
        free_segment(replay, event->segment_free.addr);
        return;
    }
    const struct vs_event_segment_alloc *alloc = &event->segment_alloc;
    unsigned index = vs_replay_account_for(replay, alloc->device);
    if (index == VS_ACCOUNT_NONE || alloc->size == 0)
        return;
    struct vs_replay_segment old, segment = {.addr = alloc->addr, .size = alloc->size,
                                             .context = alloc->context, .stream = alloc->stream,
                                             .pool = alloc->pool, .device = index};
    replay->unmatched_frees += unmap(replay, segment.addr, segment.size) != VS_ACCOUNT_NONE;
    vs_segments_add(&replay->segments, &segment, &old);
    if (old.size && !old.view) {
        release_bytes(replay, &old, -1);
        replay->unmatched_frees++;
    }
    hold_bytes(replay, &segment, 1, event->tid);
}

void vs_replay_map(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    const struct vs_event_segment_map *map = &event->segment_map;
    unsigned joined, index = vs_replay_account_for(replay, map->device);
    if (index == VS_ACCOUNT_NONE || !map->size)
        return;
    struct vs_replay_segment segment = {.addr = map->addr, .size = map->size, .context = map->context,
                                        .stream = map->stream, .pool = map->pool, .device = index,
                                        .mapped = true, .view = !map->reserved};
    if (!vs_segments_map(&replay->segments, &segment, &joined))
        replay->unmatched_frees++; /* of the existing mapping */
    else if (!segment.view)
        hold_bytes(replay, &segment, UINT64_C(1) - joined, event->tid); /* may be one segment less */
}

void vs_replay_lose_segments(struct vs_replay *replay, uint64_t context, unsigned device)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    for (size_t i = replay->segments.count; i-- > 0;) {
        struct vs_replay_segment segment = replay->segments.items[i];
        if (segment.context != context || segment.device != device)
            continue;
        vs_segments_remove(&replay->segments, segment.addr, &segment);
        if (!segment.view)
            release_bytes(replay, &segment, -1);
    }
}

void vs_replay_mapped(struct vs_replay *replay, const struct vs_event *event)
{
    uint64_t addr = event->kind == VS_EVENT_vmm_unmap ? event->vmm_unmap.addr : event->vmm_map.addr;
    bool maps = event->kind == VS_EVENT_vmm_map;
    unsigned index = maps ? vs_replay_account(replay, event->vmm_map.device) : VS_ACCOUNT_NONE;
    if (maps && (index == VS_ACCOUNT_NONE || !addr || !event->vmm_map.size))
        return; /* of memory that is not in the trace */
    const struct vs_replay_segment *old =
        replay->peak_states ? vs_segments_find(&replay->mappings, addr) : NULL;
    struct vs_replay_segment replaced;
    if (old && old->addr == addr) /* ends, or is replaced */
        vs_peak_states_keep_mapping(replay, old);
    if (!maps) {
        vs_segments_remove(&replay->mappings, addr, &replaced);
        return;
    }
    struct vs_replay_segment mapping = {
        .addr = addr, .size = event->vmm_map.size, .device = index, .event = replay->events,
        .memory = event->vmm_map.imported ? 0 : VS_ADDR_MEMORY | event->vmm_map.memory};
    vs_segments_add(&replay->mappings, &mapping, &replaced);
}

const struct vs_live *vs_replay_memory_at(const struct vs_replay *replay, uint64_t addr)
{
    const struct vs_replay_segment *mapping =
        replay->mappings.count ? vs_segments_find(&replay->mappings, addr) : NULL;
    return mapping && mapping->memory ? vs_live_table_find(&replay->device_live, mapping->memory)
                                      : NULL;
}

void vs_user_segments(const struct vs_replay *replay, unsigned account,
                      struct vs_user_segment **out, size_t *out_count)
{
    struct vs_user_segment *list = vs_xcalloc(replay->device_live.count + replay->mappings.count + 1,
                                              sizeof *list);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (live->used && live->device == account && live->family == VS_FAMILY_DEVICE &&
            !live->in_segment && replay->sites.items[live->site].backing)
            list[count++] = (struct vs_user_segment){live->addr, live->size, live->site, false};
    }
    for (size_t i = 0; i < replay->mappings.count; i++) {
        const struct vs_replay_segment *mapping = &replay->mappings.items[i];
        const struct vs_live *memory =
            mapping->device == account && mapping->memory
                ? vs_live_table_find(&replay->device_live, mapping->memory) : NULL;
        if (memory && replay->sites.items[memory->site].backing)
            list[count++] = (struct vs_user_segment){mapping->addr, mapping->size, memory->site, true};
    }
    VS_SORT(list, count, VS_UP(addr));
    for (size_t i = 0; i < count; i++) { /* mappings that follow each other are joined */
        struct vs_user_segment *last = kept ? &list[kept - 1] : NULL;
        if (last && last->mapped && list[i].mapped && last->addr + last->size == list[i].addr)
            last->size += list[i].size;
        else
            list[kept++] = list[i];
    }
    *out = list;
    *out_count = kept;
}

/* --- the free space inside a device's segments: the gaps between live blocks, in address order. Computed
 * only for the few times that a report or post-mortem shows. --- */

static void add_hole(struct vs_holes *holes, uint64_t size)
{
    if (size == 0)
        return;
    holes->free_bytes += size;
    holes->count++;
    if (size > holes->largest)
        holes->largest = size;
}

void vs_holes_walk(uint64_t addr, uint64_t size, const struct vs_holes_block *blocks, size_t count, size_t *at,
                   struct vs_holes *holes)
{
    uint64_t cursor = 0; /* offset in the segment */
    while (*at < count && blocks[*at].addr < addr)
        ++*at;
    size_t first = *at;
    for (; *at < count && blocks[*at].addr - addr < size; ++*at) {
        uint64_t offset = blocks[*at].addr - addr;
        if (offset > cursor)
            add_hole(holes, offset - cursor);
        uint64_t end = offset + blocks[*at].size;
        if (end > cursor)
            cursor = end;
    }
    if (cursor < size)
        add_hole(holes, size - cursor);
    if (*at == first)
        holes->empty_bytes += size;
}

void vs_replay_holes(const struct vs_replay *replay, unsigned account,
                     struct vs_holes *out)
{
    struct vs_holes_block *blocks = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || !live->in_segment || live->device != account)
            continue;
        VS_VEC_ADD(blocks, count, capacity, (struct vs_holes_block){live->addr, live->size});
    }
    VS_SORT(blocks, count, VS_UP(addr));
    struct vs_holes holes = {0};
    size_t at = 0;
    uint64_t lent = 0;
    for (size_t i = 0; i < replay->segments.count; i++) {
        const struct vs_replay_segment *segment = &replay->segments.items[i];
        if (segment->device != account)
            continue;
        if (!segment->view)
            vs_holes_walk(segment->addr, segment->size, blocks, count, &at, &holes);
        for (; segment->view && at < count && (blocks[at].addr < segment->addr ||
                                               blocks[at].addr - segment->addr < segment->size); at++)
            lent += blocks[at].addr < segment->addr ? 0 : blocks[at].size;
    }
    free(blocks);
    /* Blocks in views use memory that looks free where it is reserved; which holes it lies in is
     * unknown, so the largest is an upper bound then. */
    holes.free_bytes -= lent < holes.free_bytes ? lent : holes.free_bytes;
    if (holes.largest > holes.free_bytes)
        holes.largest = holes.free_bytes;
    if (holes.empty_bytes > holes.free_bytes)
        holes.empty_bytes = holes.free_bytes;
    *out = holes;
}
