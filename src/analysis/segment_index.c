/* SPDX-License-Identifier: Apache-2.0
 *
 * Ordered array of segments; see the header. Programs hold thousands of them at
 * most, and they arrive mostly in rising order, so a flat array wins. */
#include "analysis/segment_index.h"

#include "analysis/vec.h"

/* Index of the first segment whose start is above *addr*. */
static size_t upper_bound(const struct vs_segments *set, uint64_t addr)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (set->items[mid].addr <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

enum vs_err vs_segments_add(struct vs_segments *set, const struct vs_segment *segment,
                            struct vs_segment *replaced)
{
    size_t at = upper_bound(set, segment->addr);
    if (at > 0 && set->items[at - 1].addr == segment->addr) {
        *replaced = set->items[at - 1];
        set->items[at - 1] = *segment;
        return VS_OK;
    }
    enum vs_err err = vs_vec_grow(&set->items, &set->capacity, set->count + 1, sizeof *set->items);
    if (err)
        return err;
    memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof *set->items);
    set->items[at] = *segment;
    set->count++;
    *replaced = (struct vs_segment){0};
    return VS_OK;
}

bool vs_segments_remove(struct vs_segments *set, uint64_t addr, struct vs_segment *removed)
{
    size_t at = upper_bound(set, addr);
    if (at == 0 || set->items[at - 1].addr != addr)
        return false;
    *removed = set->items[at - 1];
    set->count--;
    memmove(set->items + at - 1, set->items + at, (set->count - (at - 1)) * sizeof *set->items);
    return true;
}

const struct vs_segment *vs_segments_find(const struct vs_segments *set, uint64_t addr)
{
    size_t at = upper_bound(set, addr);
    if (at == 0)
        return NULL;
    const struct vs_segment *segment = &set->items[at - 1];
    return addr - segment->addr < segment->size ? segment : NULL;
}

void vs_segments_free(struct vs_segments *set)
{
    free(set->items);
    *set = (struct vs_segments){0};
}
