/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory from mmap, never from malloc, so that nothing here can recurse into an intercepted path or
 * disturb the host program's heap. An arena allocates memory of fixed lifetime by advancing a
 * pointer; all of it is freed at once. */
#ifndef VS_ARENA_H
#define VS_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

/* vs_pages_map: zeroed anonymous pages, *bytes* rounded up to the page size. NULL on a system
 * error. vs_pages_unmap takes the same size; NULL does nothing. */
void *vs_pages_map(size_t bytes);
void vs_pages_unmap(void *pages, size_t bytes);

struct vs_arena_chunk;

/* Zero-initialise. Not thread-safe: the owner's lock guards it. */
struct vs_arena {
    struct vs_arena_chunk *chunks;
    char *next, *end;
    size_t bytes_mapped;
};

/* vs_arena_alloc: *bytes* zeroed bytes aligned to 16. NULL on a system error. Lives until
 * vs_arena_free_all. */
void *vs_arena_alloc(struct vs_arena *arena, size_t bytes);
void vs_arena_free_all(struct vs_arena *arena);

/* Items of one size that come and go: one that was given back is the next to be taken, and none is
 * freed. Zero-initialise. Not thread-safe: the owner's lock guards it. */
struct vs_items {
    struct vs_arena arena;
    void *spare; /* linked by their first word */
};

/* vs_items_take: an item of *bytes*, always the same, at least a pointer's; its contents are
 * unspecified. NULL on a system error. */
static inline void *vs_items_take(struct vs_items *items, size_t bytes)
{
    void *item = items->spare;
    if (!item)
        return vs_arena_alloc(&items->arena, bytes);
    items->spare = *(void **)item;
    return item;
}

static inline void vs_items_give(struct vs_items *items, void *item)
{
    *(void **)item = items->spare;
    items->spare = item;
}

#endif
