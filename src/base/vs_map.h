/* SPDX-License-Identifier: Apache-2.0
 *
 * Hash map from uint64 to uint64, open addressing with backward-shift deletion,
 * its slots from mmap. Key 0 is reserved (device pointers are never 0). */
#ifndef VS_MAP_H
#define VS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_map_slot {
    uint64_t key, value;
};

/* Zero-initialise. Not thread-safe: the owner's lock guards it. */
struct vs_map {
    struct vs_map_slot *slots;
    size_t capacity; /* power of two, or 0 before the first put */
    size_t count;
    unsigned shift; /* 64 less the bits of an index */
};

/* vs_map_home: the first slot to look at. */
static inline size_t vs_map_home(const struct vs_map *map, uint64_t key)
{
    /* Fibonacci hashing: uses the top bits, because the low bits of the product stay zero for
     * device addresses, which are multiples of large powers of two */
    key ^= key >> 32;
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> map->shift);
}

/* vs_map_add: the value of *key* (not 0), which is *fresh* if the key is new. NULL without memory, with the
 * map unchanged. Valid until the next put, add or remove. Cost: as of a put. */
uint64_t *vs_map_add(struct vs_map *map, uint64_t key, uint64_t fresh);

/* vs_map_put: inserts or replaces. *key* != 0. VS_ERR_NOMEM leaves the map unchanged. Cost:
 * amortised O(1), grows at 3/4 full. */
enum vs_err vs_map_put(struct vs_map *map, uint64_t key, uint64_t value) VS_MUST_CHECK;

/* vs_map_slot: the slot of *key*, or the empty one where it would be. The map has slots. */
static inline struct vs_map_slot *vs_map_slot(const struct vs_map *map, uint64_t key)
{
    size_t i = vs_map_home(map, key);
    while (map->slots[i].key && map->slots[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

/* vs_map_get: NULL if absent. The pointer is valid until the next put, add or remove. */
static inline uint64_t *vs_map_get(const struct vs_map *map, uint64_t key)
{
    if (!map->count || !key)
        return NULL;
    struct vs_map_slot *slot = vs_map_slot(map, key);
    return slot->key ? &slot->value : NULL;
}

/* vs_map_pointer: the value as a pointer; NULL if absent. vs_map_put_pointer stores one. */
static inline void *vs_map_pointer(const struct vs_map *map, uint64_t key)
{
    const uint64_t *value = vs_map_get(map, key);
    return value ? (void *)(uintptr_t)*value : NULL;
}
static inline enum vs_err vs_map_put_pointer(struct vs_map *map, uint64_t key, const void *pointer)
{
    return vs_map_put(map, key, (uint64_t)(uintptr_t)pointer);
}

/* vs_map_remove: returns true if the key was present; *value* (may be NULL) receives its value. */
bool vs_map_remove(struct vs_map *map, uint64_t key, uint64_t *value);

/* vs_map_next: iterates: *cursor* starts at 0; NULL at the end. No put or remove meanwhile. Order
 * is unspecified. */
const struct vs_map_slot *vs_map_next(const struct vs_map *map, size_t *cursor);

void vs_map_free(struct vs_map *map);

#endif
