/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reading/vs_intern.h"

#include "base/reading/vs_vec.h"
#include "base/vs_text.h"

/* The number of a record, or NULL; *key*: under which it is, or would be. */
static const uint64_t *find(const struct vs_intern *set, const void *bytes, size_t length,
                            uint64_t *key)
{
    const uint64_t *found;
    *key = vs_text_hash_bytes(VS_TEXT_HASH_START, bytes, length);
    for (*key += *key == 0; (found = vs_map_get(&set->by_hash,
                                                *key)); *key = *key + 1 ? *key + 1 : 1)
        if (set->lengths[*found] == length && memcmp(set->items[*found], bytes, length) == 0)
            return found;
    return NULL;
}

bool vs_intern_find(const struct vs_intern *set, const void *bytes, size_t length, uint32_t *number)
{
    uint64_t key;
    const uint64_t *found = find(set, bytes, length, &key);
    if (found)
        *number = (uint32_t)*found;
    return found;
}

uint32_t vs_intern(struct vs_intern *set, const void *bytes, size_t length)
{
    uint64_t key;
    const uint64_t *found = find(set, bytes, length, &key);
    if (found)
        return (uint32_t)*found;
    if (set->count >= UINT32_MAX)
        vs_out_of_memory();
    vs_vec_room(&set->items, &set->capacity, set->count + 1, sizeof *set->items);
    vs_vec_room(&set->lengths, &set->length_capacity, set->count + 1, sizeof *set->lengths);
    set->items[set->count] = memcpy(vs_xarena(&set->memory, length + 1), bytes, length);
    set->lengths[set->count] = length;
    vs_xmap_put(&set->by_hash, key, set->count);
    return (uint32_t)set->count++;
}

void vs_intern_free(struct vs_intern *set)
{
    free(set->items);
    free(set->lengths);
    vs_map_free(&set->by_hash);
    vs_arena_free_all(&set->memory);
}
