/* SPDX-License-Identifier: Apache-2.0
 *
 * Enters existing segments: replay and what-if start from the state at the start of a trace. */
#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

static bool layout_valid(uint64_t size, const struct vs_block_layout *blocks, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vs_block_layout *b = &blocks[i];
        if (!b->size || b->size % VS_BLOCK_MIN || b->size > size - sum)
            return false;
        if (b->live ? !b->requested || b->requested > b->size : i && !blocks[i - 1].live)
            return false;
        sum += b->size;
    }
    return count && sum == size;
}

/* Puts *requested* bytes into the first *size* bytes of the TAKEN *block*, or leaves them free;
 * *out* receives the TAKEN rest, NULL at the end of the segment. */
static enum vs_err place(struct vs_allocator *a, struct vs_block *block,
                         const struct vs_block_layout *layout, struct vs_block **out)
{
    struct vs_segment *segment = block->segment;
    struct vs_pool *pool = segment->pool;
    struct vs_block *rest = NULL;
    if (layout->size < block->size) {
        rest = vs_block_new_in_locked(a, pool);
        if (!rest)
            return VS_ERR_NOMEM;
        *rest = (struct vs_block){.addr = block->addr + layout->size,
                                  .size = block->size - layout->size,
                                  .state = VS_BLOCK_TAKEN,
                                  .segment = segment,
                                  .prev = block};
        block->next = rest;
        vs_block_started(rest);
        vs_block_set(block, layout->size, VS_BLOCK_TAKEN);
    }
    *out = rest;
    if (!layout->live) {
        vs_block_set_state(block, VS_BLOCK_FREE);
        vs_free_insert(&pool->index, block);
        segment->idle_since = a->searches[pool->kind];
        if (vs_block_is_split(block)) {
            vs_counter_increase(&a->counters.inactive_split, pool->kind, 1);
            vs_counter_increase(&a->counters.inactive_split_bytes, pool->kind, block->size);
        }
        return VS_OK;
    }
    vs_block_set_state(block, VS_BLOCK_LIVE);
    vs_block_set_used(block, layout->requested, vs_serial_next(a, vs_block_shard(block)));
    vs_block_mark_start(block, true);
    vs_allocator_count_alloc_locked(a, pool->kind, block->size, layout->requested);
    return vs_live_put_locked(block);
}

enum vs_err vs_allocator_adopt_segment(struct vs_allocator *a, uint64_t addr, uint64_t size,
                                       enum vs_pool_kind kind, uint64_t stream,
                                       const struct vs_block_layout *blocks, size_t count)
{
    if (size >> 56 || !layout_valid(size, blocks, count) || stream == UINT64_MAX)
        return VS_ERR_ARG;
    if (a->config.reuse == VS_REUSE_AFTER_SYNC)
        stream = 0;
    VS_FULL_LOCK_SCOPE(a);
    enum vs_err err = VS_ERR_NOMEM;
    struct vs_stream_pools *pools = vs_stream_pin_locked(a, stream);
    if (pools) {
        struct vs_segment *segment;
        err = vs_segment_register_locked(a, &pools->pool[kind], addr, size, &segment);
        struct vs_block *block = err ? NULL : segment->first;
        for (size_t i = 0; i < count && !err; i++)
            err = place(a, block, &blocks[i], &block);
        vs_stream_unpin_locked(a, pools);
    }
    return err;
}
