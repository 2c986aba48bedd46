/* SPDX-License-Identifier: Apache-2.0
 *
 * Bump allocation over mmap; chunks of 256 KiB, larger requests in their own. */
#include "base/vs_arena.h"

#include <sys/mman.h>

#define CHUNK_BYTES ((size_t)256 << 10)
#define ALIGNMENT ((size_t)16)

struct vs_arena_chunk {
    struct vs_arena_chunk *next;
    size_t bytes;
};
_Static_assert(sizeof(struct vs_arena_chunk) % ALIGNMENT == 0, "chunk header keeps alignment");

void *vs_pages_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void vs_pages_unmap(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}

void *vs_arena_alloc(struct vs_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - CHUNK_BYTES)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (bytes <= (size_t)(arena->end - arena->next)) {
        void *p = arena->next;
        arena->next += bytes;
        return p;
    }
    size_t need = bytes + sizeof(struct vs_arena_chunk);
    size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
    struct vs_arena_chunk *chunk = vs_pages_map(size);
    if (!chunk)
        return NULL;
    chunk->next = arena->chunks;
    chunk->bytes = size;
    arena->chunks = chunk;
    arena->bytes_mapped += size;
    char *p = (char *)(chunk + 1);
    char *rest = p + bytes, *end = (char *)chunk + size;
    if (end - rest > arena->end - arena->next) {
        arena->next = rest;
        arena->end = end;
    }
    return p;
}

void vs_arena_free_all(struct vs_arena *arena)
{
    for (struct vs_arena_chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        vs_pages_unmap(c, c->bytes);
    }
    *arena = (struct vs_arena){0};
}
