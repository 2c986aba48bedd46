/* SPDX-License-Identifier: Apache-2.0
 *
 * Ordered array of segments; see the header. Programs hold thousands of them at
 * most, and they arrive mostly in rising order, so a flat array wins. */
#include "analysis/state/segment_index.h"

#include "base/reading/vs_vec.h"

/* Index of the first segment whose start is above *addr*. Without branches: addresses in a trace follow no
 * order, so that a processor would guess half of them wrong. */
static size_t upper_bound(const struct vs_segments *set, uint64_t addr)
{
    size_t low = 0;
    for (size_t left = set->count, half; left > 1; left -= half) {
        half = left / 2;
        low += half * (set->items[low + half].addr <= addr);
    }
    return low + (set->count && set->items[low].addr <= addr);
}

static void insert_at(struct vs_segments *set, size_t at, const struct vs_replay_segment *segment)
{
    vs_vec_room(&set->items, &set->capacity, set->count + 1, sizeof *set->items);
    memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof *set->items);
    set->items[at] = *segment;
    set->count++;
}

static void erase_at(struct vs_segments *set, size_t at)
{
    set->count--;
    memmove(set->items + at, set->items + at + 1, (set->count - at) * sizeof *set->items);
}

void vs_segments_add(struct vs_segments *set, const struct vs_replay_segment *segment,
                     struct vs_replay_segment *replaced)
{
    size_t at = upper_bound(set, segment->addr);
    if (at > 0 && set->items[at - 1].addr == segment->addr) {
        *replaced = set->items[at - 1];
        set->items[at - 1] = *segment;
        return;
    }
    insert_at(set, at, segment);
    *replaced = (struct vs_replay_segment){0};
}

bool vs_segments_remove(struct vs_segments *set, uint64_t addr, struct vs_replay_segment *removed)
{
    size_t at = upper_bound(set, addr);
    if (at == 0 || set->items[at - 1].addr != addr)
        return false;
    *removed = set->items[at - 1];
    erase_at(set, at - 1);
    return true;
}

static bool continues(const struct vs_replay_segment *low, const struct vs_replay_segment *high)
{
    return low->mapped && high->mapped && !low->view && !high->view &&
           low->addr + low->size == high->addr && low->device == high->device &&
           low->context == high->context && low->stream == high->stream && low->pool == high->pool;
}

bool vs_segments_map(struct vs_segments *set, const struct vs_replay_segment *segment,
                     unsigned *joined)
{
    size_t at = upper_bound(set, segment->addr);
    *joined = 0;
    if ((at > 0 && segment->addr - set->items[at - 1].addr < set->items[at - 1].size) ||
        (at < set->count && set->items[at].addr - segment->addr < segment->size))
        return false;
    bool before = at > 0 && continues(&set->items[at - 1], segment);
    bool after = at < set->count && continues(segment, &set->items[at]);
    *joined = (unsigned)before + (unsigned)after;
    if (before) {
        set->items[at - 1].size += segment->size + (after ? set->items[at].size : 0);
        if (after)
            erase_at(set, at);
    } else if (after) {
        set->items[at].addr = segment->addr;
        set->items[at].size += segment->size;
    } else {
        insert_at(set, at, segment);
    }
    return true;
}

/* The first mapped segment with a byte in [addr, end); count when there is none. */
static size_t first_mapped(const struct vs_segments *set, uint64_t addr, uint64_t end)
{
    size_t at = upper_bound(set, addr);
    if (at > 0 && addr - set->items[at - 1].addr < set->items[at - 1].size)
        at--;
    while (at < set->count && set->items[at].addr < end && !set->items[at].mapped)
        at++;
    return at < set->count && set->items[at].addr < end ? at : set->count;
}

void vs_segments_unmap(struct vs_segments *set, uint64_t addr, uint64_t size,
                       struct vs_replay_segment *taken, int *change)
{
    uint64_t end = addr + size < addr ? UINT64_MAX : addr + size;
    size_t at = first_mapped(set, addr, end);
    *change = 0;
    *taken = (struct vs_replay_segment){0};
    if (at == set->count || !size)
        return;
    struct vs_replay_segment old = set->items[at];
    uint64_t old_end = old.addr + old.size, from = old.addr > addr ? old.addr : addr;
    uint64_t to = old_end < end ? old_end : end;
    struct vs_replay_segment rest = old;
    rest.addr = to;
    rest.size = old_end - to;
    if (from > old.addr && rest.size) {
        insert_at(set, at + 1, &rest);
        *change = 1;
    }
    if (from > old.addr) {
        set->items[at].size = from - old.addr;
    } else if (rest.size) {
        set->items[at] = rest;
    } else {
        erase_at(set, at);
        *change = -1;
    }
    *taken = old;
    taken->addr = from;
    taken->size = to - from;
}

const struct vs_replay_segment *vs_segments_find(const struct vs_segments *set, uint64_t addr)
{
    size_t at = upper_bound(set, addr);
    if (at == 0)
        return NULL;
    const struct vs_replay_segment *segment = &set->items[at - 1];
    return addr - segment->addr < segment->size ? segment : NULL;
}

void vs_segments_free(struct vs_segments *set)
{
    free(set->items);
    *set = (struct vs_segments){0};
}
