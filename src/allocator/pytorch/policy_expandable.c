/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch's expandable segments, made of ranges (core/ranges.c): its
 * try_allocate_expandable_block and find_expandable_block, with PyTorch's other rules from
 * segments.c. The caller holds the full lock. */
#include "allocator/core/allocator_internal.h"

static bool available(const struct vs_block *block)
{
    return block && (block->state == VS_BLOCK_FREE || block->state == VS_BLOCK_UNMAPPED);
}

/* Whether there is room from *block* on. *end*: the first block after the room. */
static bool has_room(const struct vs_block *block, uint64_t bytes, const struct vs_block **end)
{
    uint64_t room = 0;
    for (; room < bytes && available(block); block = block->next)
        room += block->size;
    *end = block;
    return room >= bytes;
}

/* The default size: enough address space for all memory of the device, plus an eighth to avoid
 * fragmentation. */
static uint64_t range_bytes(const struct vs_allocator_config *config, uint64_t total)
{
    uint64_t most = total + total / 8, bytes = most;
    double share = config->expandable_reserve_fraction;
    if (config->expandable_reserve_bytes)
        bytes = config->expandable_reserve_bytes;
    else if (share > 0 && share < 1)
        bytes = (uint64_t)(share * (double)total);
    return bytes < most ? bytes : most;
}

static enum vs_err new_range(struct vs_allocator *a, const struct vs_request *request,
                             struct vs_block **out)
{
    uint64_t total = a->config.total_memory, free_bytes;
    if (!total) {
        enum vs_err err = a->ops.memory_info(a->ops_ctx, &free_bytes, &total);
        if (err)
            return err;
    }
    uint64_t handle = VS_SMALL_SEGMENT;
    if (request->kind == VS_POOL_LARGE)
        handle = a->config.large_segment_size ? a->config.large_segment_size : VS_LARGE_SEGMENT;
    uint64_t bytes = vs_round_up(range_bytes(&a->config, total), handle);
    if (request->rounded > bytes)
        return VS_ERR_DEVICE_OOM;
    struct vs_segment *range;
    enum vs_err err = vs_range_new_locked(a, request->pool, handle, bytes, &range);
    if (!err)
        *out = range->first;
    return err;
}

/* find_expandable_block: the lowest address in any range of the pool where free and unmapped blocks
 * have room for the request. */
static enum vs_err find_room(struct vs_allocator *a, const struct vs_request *request,
                             struct vs_block **out)
{
    vs_block_ref unmapped = request->pool->unmapped;
    for (struct vs_block *block = vs_unmapped_first_from(unmapped, 0); block;) {
        struct vs_block *start = available(block->prev) ? block->prev : block;
        const struct vs_block *end;
        if (has_room(start, request->rounded, &end)) {
            *out = start;
            return VS_OK;
        }
        /* a later start in the same run has less room: continue after it */
        uint64_t range_end = block->segment->addr + block->segment->size;
        block = vs_unmapped_first_from(unmapped, end ? end->addr : range_end);
    }
    return new_range(a, request, out);
}

static enum vs_err expandable_grow(struct vs_allocator *a, const struct vs_request *request,
                                   struct vs_block **out)
{
    struct vs_block *block;
    uint64_t size = request->rounded;
    if (a->limited &&
        a->reserved_bytes + vs_segment_size_for(&a->config, size) > a->allowed_bytes)
        return VS_ERR_DEVICE_OOM;
    enum vs_err err = find_room(a, request, &block);
    if (err)
        return err;
    if (block->state == VS_BLOCK_UNMAPPED) {
        err = vs_range_map_locked(a, block, block->size < size ? block->size : size);
        if (err)
            return err;
    }
    /* memory mapped before a failure stays cached */
    while (block->size < size) {
        struct vs_block *next = block->next;
        uint64_t missing = size - block->size;
        err = vs_range_map_locked(a, next, next->size < missing ? next->size : missing);
        if (err)
            return err;
        block = next; /* merged with the free block before it */
    }
    vs_free_remove(&request->pool->index, block);
    vs_block_set_state(block, VS_BLOCK_TAKEN);
    *out = block;
    return VS_OK;
}

/* The size that a free block can reach by mapping the addresses after it. */
static uint64_t reach(const struct vs_block *block)
{
    const struct vs_block *next = block->next;
    return block->size + (next && next->state == VS_BLOCK_UNMAPPED ? next->size : 0);
}

/* get_free_block */
static struct vs_block *expandable_fit(const struct vs_request *request, struct vs_block *block)
{
    while (block->segment->handle_bytes) {
        struct vs_block *next = vs_free_index_after(&request->pool->index, block);
        if (!next || reach(next) >= reach(block))
            break;
        block = next;
    }
    return block;
}

static void expandable_configure(struct vs_allocator_config *config)
{
    config->expandable_segments = true;
}

const struct vs_policy vs_policy_expandable = {
    .name = "expandable",
    .mapped = true,
    .tunable = true,
    .small_max = VS_SMALL_MAX,
    .configure = expandable_configure,
    .fit = expandable_fit,
    .search = vs_pytorch_search_locked,
    .grow = expandable_grow,
};
