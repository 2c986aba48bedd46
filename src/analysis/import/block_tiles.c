/* SPDX-License-Identifier: Apache-2.0
 *
 * Two search trees by address: segments, and blocks in use. */
#include "analysis/import/block_tiles.h"

#include "allocator/core/placement.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_treap.h"

VS_TREAP_BY(tile, struct vs_tile, addr)

static void put_tile(struct vs_tiles *tiles, struct vs_tile **tree, uint64_t addr, uint64_t size,
                bool allocated)
{
    struct vs_tile *tile = tile_first_from(*tree, addr);
    if (tile && tile->addr == addr) { /* the entry that ended it is missing */
        tile->size = size;
        tile->allocated = allocated;
        return;
    }
    tile = tiles->spare;
    if (tile)
        tiles->spare = tile->left;
    else
        tile = vs_xarena(&tiles->arena, sizeof *tile);
    *tile = (struct vs_tile){.addr = addr, .size = size, .allocated = allocated};
    tile_insert(tree, tile, addr);
}

static void drop(struct vs_tiles *tiles, struct vs_tile **tree, struct vs_tile *tile)
{
    tile_remove(tree, tile, tile->addr);
    tile->left = tiles->spare;
    tiles->spare = tile;
}

void vs_tiles_segment(struct vs_tiles *tiles, uint64_t addr, uint64_t size)
{
    put_tile(tiles, &tiles->segments, addr, size, true);
}

uint64_t vs_tiles_drop_segment(struct vs_tiles *tiles, uint64_t addr)
{
    struct vs_tile *segment = tile_first_from(tiles->segments, addr);
    if (!segment || segment->addr != addr)
        return 0;
    uint64_t size = segment->size;
    drop(tiles, &tiles->segments, segment);
    return size;
}

uint64_t vs_tiles_size(const struct vs_tiles *tiles, uint64_t addr, uint64_t requested)
{
    uint64_t rounded = vs_round_request(tiles->config, requested);
    uint64_t max_split = tiles->config->max_split_size ? tiles->config->max_split_size : UINT64_MAX;
    enum vs_pool_kind pool = rounded <= VS_SMALL_MAX ? VS_POOL_SMALL : VS_POOL_LARGE;
    const struct vs_tile *segment = tile_last_before(tiles->segments, addr + 1);
    if (!segment || addr - segment->addr >= segment->size)
        return rounded; /* an expandable segment, or one whose entry is missing */
    uint64_t end = segment->addr + segment->size;
    const struct vs_tile *next = tile_first_from(tiles->blocks, addr + 1);
    if (next && next->addr < end)
        end = next->addr;
    uint64_t room = end - addr;
    if (room <= rounded)
        return rounded;
    return vs_should_split(pool, room, rounded, max_split) ? rounded : room;
}

void vs_tiles_add(struct vs_tiles *tiles, uint64_t addr, uint64_t size, bool allocated)
{
    put_tile(tiles, &tiles->blocks, addr, size, allocated);
}

struct vs_tile *vs_tiles_find(const struct vs_tiles *tiles, uint64_t addr)
{
    struct vs_tile *block = tile_first_from(tiles->blocks, addr);
    return block && block->addr == addr ? block : NULL;
}

void vs_tiles_drop(struct vs_tiles *tiles, struct vs_tile *block)
{
    drop(tiles, &tiles->blocks, block);
}

void vs_tiles_free(struct vs_tiles *tiles)
{
    vs_arena_free_all(&tiles->arena);
    tiles->segments = tiles->blocks = tiles->spare = NULL;
}
