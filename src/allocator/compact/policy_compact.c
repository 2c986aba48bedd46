/* SPDX-License-Identifier: Apache-2.0
 *
 * VS_POLICY_COMPACT: one pool a stream, its large one, for requests of every size; ranges of
 * single pages (ranges.c); best fit to the byte. When no free block is large enough, free
 * pages from several places are mapped side by side (views.h), and the device is asked only
 * for those that are missing: at most VS_EXTENTS_MAX calls to map, plus one and a page each for
 * new memory. The caller holds the full lock.
 *
 * A request that no free block can hold is laid out first and served afterwards, so that a failed
 * layout changes nothing: whole free pages, the largest holes first so that there are few pieces,
 * and new pages for the rest. If extending the free memory at the edge of the mapped range needs
 * fewer new pages, that is done instead. */
#include <string.h>

#include "allocator/core/allocator_internal.h"

#define RANGE_BYTES_UNKNOWN (UINT64_C(1) << 40) /* address space for a device of unknown size */

struct layout {
    struct vs_piece pieces[VS_EXTENTS_MAX]; /* whole pages */
    size_t count;
    uint64_t missing; /* bytes of new pages */
};

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + VS_PAGE_BYTES - 1) & ~(VS_PAGE_BYTES - 1);
}

static struct vs_block *compact_search(struct vs_allocator *a, const struct vs_request *request)
{
    struct vs_pool *pool = request->pool;
    struct vs_block *block = vs_free_index_fit(&pool->index, request->rounded);
    if (block) {
        vs_free_remove(&pool->index, block);
        vs_block_set_state(block, VS_BLOCK_TAKEN);
        return block;
    }
    return vs_view_wake_locked(a, pool, request->rounded);
}

/* --- free pages --- */

/* The whole pages inside a free block. */
static struct vs_piece whole_pages(const struct vs_block *block)
{
    struct vs_piece piece = {block->segment, 0, 0};
    if (!block->segment->handle_bytes)
        return piece; /* not a range: its memory cannot be mapped elsewhere */
    uint64_t end = (block->addr + block->size) & ~(VS_PAGE_BYTES - 1);
    piece.addr = round_up(block->addr);
    piece.bytes = piece.addr < end ? end - piece.addr : 0;
    return piece;
}

/* Collects whole free pages for *bytes*, the largest holes first. None in a private pool: a
 * captured graph would go on using the addresses of a view as long as the pool lives. */
static void gather(const struct vs_pool *pool, uint64_t bytes, struct layout *layout)
{
    const struct vs_block *block =
        vs_free_index_below(&pool->index, VS_ALLOCATOR_REQUEST_MAX + 1);
    layout->count = 0;
    layout->missing = round_up(bytes);
    if (pool->owner->home)
        return;
    /* one extent is reserved for new memory */
    while (layout->missing && block && block->size >= VS_PAGE_BYTES &&
           layout->count < VS_EXTENTS_MAX - 1) {
        struct vs_piece hole = whole_pages(block);
        if (hole.bytes > layout->missing)
            hole.bytes = layout->missing;
        if (hole.bytes)
            layout->pieces[layout->count++] = hole;
        layout->missing -= hole.bytes;
        block = vs_free_index_before(&pool->index, block);
    }
}

/* --- new memory --- */

static enum vs_err new_range(struct vs_allocator *a, struct vs_pool *pool, uint64_t bytes,
                             struct vs_block **out)
{
    uint64_t total = a->config.total_memory, free_bytes;
    if (!total && a->ops.memory_info) {
        enum vs_err err = a->ops.memory_info(a->ops_ctx, &free_bytes, &total);
        if (err)
            return err;
    }
    uint64_t size = total ? round_up(total + total / 8) : RANGE_BYTES_UNKNOWN;
    struct vs_segment *range;
    enum vs_err err = vs_range_new_locked(a, pool, VS_PAGE_BYTES, size > bytes ? size : bytes,
                                          &range);
    if (err)
        return err;
    *out = range->first;
    return VS_OK;
}

/* Finds the place for *missing* bytes of new pages: the lowest unmapped block of at least that
 * size, or one whose free neighbour needs fewer new pages to hold the whole request: then *edge* is
 * how many bytes, otherwise 0. */
static enum vs_err find_room(struct vs_allocator *a, const struct vs_request *request,
                             uint64_t missing, struct vs_block **out, uint64_t *edge)
{
    vs_block_ref unmapped = request->pool->unmapped;
    struct vs_block *block = vs_unmapped_first_from(unmapped, 0);
    for (; block; block = vs_unmapped_first_from(unmapped, block->addr + 1)) {
        const struct vs_block *before = block->prev;
        uint64_t have = before && before->state == VS_BLOCK_FREE ? before->size : 0;
        uint64_t more = round_up(request->rounded - have);
        *edge = more < missing && more <= block->size ? more : 0;
        *out = block;
        if (*edge || block->size >= missing)
            return VS_OK;
    }
    *edge = 0;
    return new_range(a, request->pool, missing, out);
}

static enum vs_err map_new(struct vs_allocator *a, struct vs_block *block, uint64_t bytes)
{
    if (a->limited && a->reserved_bytes + bytes > a->allowed_bytes)
        return VS_ERR_DEVICE_OOM;
    return vs_range_map_locked(a, block, bytes);
}

/* --- serving --- */

/* Sorts by address and joins neighbours. Returns how many. */
static size_t arrange(struct vs_piece *pieces, size_t count)
{
    size_t joined = 0;
    for (size_t i = 1; i < count; i++) {
        struct vs_piece piece = pieces[i];
        size_t k = i;
        for (; k && pieces[k - 1].addr > piece.addr; k--)
            pieces[k] = pieces[k - 1];
        pieces[k] = piece;
    }
    for (size_t i = 1; i < count; i++) {
        struct vs_piece *last = &pieces[joined];
        if (last->range == pieces[i].range && last->addr + last->bytes == pieces[i].addr)
            last->bytes += pieces[i].bytes;
        else
            pieces[++joined] = pieces[i];
    }
    return joined + 1;
}

static enum vs_err serve_layout(struct vs_allocator *a, const struct vs_request *request,
                                struct layout *layout, struct vs_block **out)
{
    size_t count = arrange(layout->pieces, layout->count);
    layout->pieces[count - 1].bytes -= round_up(request->rounded) - request->rounded;
    if (count > 1)
        return vs_view_make_locked(a, request->pool, layout->pieces, count, out);
    *out = vs_piece_carve_locked(a, &layout->pieces[0]);
    return *out ? VS_OK : VS_ERR_NOMEM;
}

/* One attempt. New pages stay cached when a later step fails. */
static enum vs_err assemble(struct vs_allocator *a, const struct vs_request *request,
                            struct vs_block **out)
{
    struct layout layout;
    gather(request->pool, request->rounded, &layout);
    if (!layout.missing)
        return serve_layout(a, request, &layout, out);
    struct vs_block *room;
    uint64_t edge;
    enum vs_err err = find_room(a, request, layout.missing, &room, &edge);
    if (err)
        return err;
    uint64_t addr = room->addr;
    struct vs_segment *range = room->segment;
    err = map_new(a, room, edge ? edge : layout.missing);
    if (err)
        return err;
    if (edge) {
        *out = compact_search(a, request);
        return VS_OK;
    }
    layout.pieces[layout.count++] = (struct vs_piece){range, addr, layout.missing};
    return serve_layout(a, request, &layout, out);
}

static enum vs_err compact_grow(struct vs_allocator *a, const struct vs_request *request,
                                struct vs_block **out)
{
    *out = compact_search(a, request); /* memory released since may have joined */
    if (*out)
        return VS_OK;
    enum vs_err err = assemble(a, request, out);
    if (err) /* a range made for this request */
        vs_range_drop_unmapped_locked(a, request->pool->owner->home);
    return err;
}

/* Ranges for everything, and none of the options by which PyTorch's rules are tuned. */
static void compact_configure(struct vs_allocator_config *config)
{
    config->expandable_segments = false;
    config->tie = VS_TIE_LOWEST_ADDRESS;
    config->max_split_size = 0;
    config->garbage_collection_threshold = 0;
    memset(config->roundup_power2_divisions, 0, sizeof config->roundup_power2_divisions);
}

const struct vs_policy vs_policy_compact = {
    .name = "compact",
    .mapped = true,
    .configure = compact_configure,
    .search = compact_search,
    .grow = compact_grow,
};
