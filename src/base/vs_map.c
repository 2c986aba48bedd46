/* SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing, linear probing; see the header. */
#include "base/vs_map.h"

#include "base/vs_arena.h"

#define CAPACITY_MIN 256u

static enum vs_err grow(struct vs_map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : CAPACITY_MIN;
    struct vs_map larger = {vs_pages_map(capacity * sizeof *map->slots), capacity, map->count,
                            (unsigned)__builtin_clzll((unsigned long long)capacity) + 1};
    if (!larger.slots)
        return VS_ERR_NOMEM;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].key)
            *vs_map_slot(&larger, map->slots[i].key) = map->slots[i];
    }
    vs_pages_unmap(map->slots, map->capacity * sizeof *map->slots);
    *map = larger;
    return VS_OK;
}

static __attribute__((noinline)) uint64_t *add_to_larger(struct vs_map *map, uint64_t key, uint64_t fresh)
{
    return grow(map) ? NULL : vs_map_add(map, key, fresh);
}

uint64_t *vs_map_add(struct vs_map *map, uint64_t key, uint64_t fresh)
{
    if ((map->count + 1) * 4 > map->capacity * 3) /* the call is the last, so that no registers are saved */
        return add_to_larger(map, key, fresh);
    struct vs_map_slot *slot = vs_map_slot(map, key);
    if (!slot->key) {
        *slot = (struct vs_map_slot){key, fresh};
        map->count++;
    }
    return &slot->value;
}

enum vs_err vs_map_put(struct vs_map *map, uint64_t key, uint64_t value)
{
    if (!key)
        return VS_ERR_ARG;
    uint64_t *slot = vs_map_add(map, key, value);
    if (!slot)
        return VS_ERR_NOMEM;
    *slot = value;
    return VS_OK;
}

bool vs_map_remove(struct vs_map *map, uint64_t key, uint64_t *value)
{
    if (!map->count || !key)
        return false;
    struct vs_map_slot *slot = vs_map_slot(map, key);
    if (!slot->key)
        return false;
    if (value)
        *value = slot->value;
    map->count--;
    size_t mask = map->capacity - 1, hole = (size_t)(slot - map->slots);
    for (size_t i = (hole + 1) & mask; map->slots[i].key; i = (i + 1) & mask) {
        size_t h = vs_map_home(map, map->slots[i].key);
        /* the entry at i may move into the hole if its home is not in (hole, i] */
        if (((i - h) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole] = (struct vs_map_slot){0, 0};
    return true;
}

const struct vs_map_slot *vs_map_next(const struct vs_map *map, size_t *cursor)
{
    while (*cursor < map->capacity) {
        const struct vs_map_slot *slot = &map->slots[(*cursor)++];
        if (slot->key)
            return slot;
    }
    return NULL;
}

void vs_map_free(struct vs_map *map)
{
    vs_pages_unmap(map->slots, map->capacity * sizeof *map->slots);
    *map = (struct vs_map){0};
}
