/* SPDX-License-Identifier: Apache-2.0
 *
 * How the blocks in use tile the segments of a device, as far as it decides the size of a block: a
 * snapshot's history has the bytes that were requested and the address, not the size of the block.
 * PyTorch serves a request from the start of a free block and splits off the rest if it is large
 * enough, so the free bytes behind the address give the size (CUDACachingAllocator, should_split).
 * Private to src/analysis/import. Not thread-safe. */
#ifndef VS_BLOCK_TILES_H
#define VS_BLOCK_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"

/* A segment, or a block in use. */
struct vs_tile {
    struct vs_tile *left, *right;
    uint64_t addr, size;
    bool allocated; /* a block that is not waiting for its free to complete */
};

/* Zero-initialise, and set *config*. */
struct vs_tiles {
    const struct vs_allocator_config *config; /* rounding and max_split_size */
    struct vs_tile *segments, *blocks, *spare;
    struct vs_arena arena;
};

/* vs_tiles_segment: a segment begins to exist; memory of expandable segments is none: its blocks are
 * always split. */
void vs_tiles_segment(struct vs_tiles *tiles, uint64_t addr, uint64_t size);
/* vs_tiles_drop_segment: returns its size; 0 when there is none at *addr*. */
uint64_t vs_tiles_drop_segment(struct vs_tiles *tiles, uint64_t addr);

/* vs_tiles_size: the size of the block that serves a request of *requested* bytes at *addr*. */
uint64_t vs_tiles_size(const struct vs_tiles *tiles, uint64_t addr, uint64_t requested);

/* vs_tiles_add: adds a block in use, in place of one at the same address. */
void vs_tiles_add(struct vs_tiles *tiles, uint64_t addr, uint64_t size, bool allocated);
/* vs_tiles_find: the block in use at *addr*; NULL when there is none. */
struct vs_tile *vs_tiles_find(const struct vs_tiles *tiles, uint64_t addr);
void vs_tiles_drop(struct vs_tiles *tiles, struct vs_tile *block);

void vs_tiles_free(struct vs_tiles *tiles);

#endif
