/* SPDX-License-Identifier: Apache-2.0
 *
 * Two search trees by address: segments, and blocks in use. */
#include "analysis/import/block_tiles.h"

#include "allocator/core/placement.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_treap.h"

VS_TREAP_BY(tile, struct vs_tile, addr)

struct vs_tile *vs_tiles_find(struct vs_tile *tree, uint64_t addr)
{
    struct vs_tile *tile = tile_first_from(tree, addr);
    return tile && tile->addr == addr ? tile : NULL;
}

void vs_tiles_put(struct vs_tiles *tiles, struct vs_tile **tree, uint64_t addr, uint64_t size, bool allocated)
{
    struct vs_tile *tile = vs_tiles_find(*tree, addr);
    if (tile) { /* the entry that ended it is missing */
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

void vs_tiles_drop(struct vs_tiles *tiles, struct vs_tile **tree, struct vs_tile *tile)
{
    tile_remove(tree, tile, tile->addr);
    tile->left = tiles->spare;
    tiles->spare = tile;
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

void vs_tiles_free(struct vs_tiles *tiles)
{
    vs_arena_free_all(&tiles->arena);
    tiles->segments = tiles->blocks = tiles->spare = NULL;
}
