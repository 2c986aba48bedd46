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

/* vs_tiles_put: adds a segment or a block in use to its tree, in place of one at the same address. Memory of expandable
 * segments is no segment: its blocks are always split. vs_tiles_find: the one at *addr*; NULL when there is none. */
void vs_tiles_put(struct vs_tiles *tiles, struct vs_tile **tree, uint64_t addr, uint64_t size, bool allocated);
struct vs_tile *vs_tiles_find(struct vs_tile *tree, uint64_t addr);
void vs_tiles_drop(struct vs_tiles *tiles, struct vs_tile **tree, struct vs_tile *tile);

/* vs_tiles_size: the size of the block that serves a request of *requested* bytes at *addr*. */
uint64_t vs_tiles_size(const struct vs_tiles *tiles, uint64_t addr, uint64_t requested);

void vs_tiles_free(struct vs_tiles *tiles);

#endif
