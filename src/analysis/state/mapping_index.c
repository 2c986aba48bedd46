/* SPDX-License-Identifier: Apache-2.0
 *
 * Ordered array of mappings; see the header. They are never joined: each is unmapped as a whole, and
 * belongs to memory of its own. */
#include "analysis/state/mapping_index.h"

#include "base/reading/vs_vec.h"

/* Index of the first mapping whose start is above *addr*. */
static size_t upper_bound(const struct vs_mappings *set, uint64_t addr)
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

void vs_mappings_add(struct vs_mappings *set, const struct vs_mapping *mapping)
{
    size_t at = upper_bound(set, mapping->addr);
    if (at > 0 && set->items[at - 1].addr == mapping->addr) {
        set->items[at - 1] = *mapping;
        return;
    }
    vs_vec_room(&set->items, &set->capacity, set->count + 1, sizeof *set->items);
    memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof *set->items);
    set->items[at] = *mapping;
    set->count++;
}

bool vs_mappings_remove(struct vs_mappings *set, uint64_t addr)
{
    size_t at = upper_bound(set, addr);
    if (at == 0 || set->items[at - 1].addr != addr)
        return false;
    set->count--;
    memmove(set->items + at - 1, set->items + at, (set->count - (at - 1)) * sizeof *set->items);
    return true;
}

const struct vs_mapping *vs_mappings_at(const struct vs_mappings *set, uint64_t addr)
{
    size_t at = upper_bound(set, addr);
    return at > 0 && set->items[at - 1].addr == addr ? &set->items[at - 1] : NULL;
}

const struct vs_mapping *vs_mappings_find(const struct vs_mappings *set, uint64_t addr)
{
    size_t at = upper_bound(set, addr);
    if (at == 0)
        return NULL;
    const struct vs_mapping *mapping = &set->items[at - 1];
    return addr - mapping->addr < mapping->size ? mapping : NULL;
}

void vs_mappings_free(struct vs_mappings *set)
{
    free(set->items);
    *set = (struct vs_mappings){0};
}
