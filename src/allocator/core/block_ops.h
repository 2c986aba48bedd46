/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on blocks for every path, under the full lock or one shard's lock: marking, splitting
 * and merging. They neither count nor report. The caller holds the lock of the block's shard, or
 * more. */
#ifndef VS_BLOCK_OPS_H
#define VS_BLOCK_OPS_H

#include "allocator/core/allocator_internal.h"

/* A node of *shard*, which must have one. */
static inline struct vs_block *vs_block_take(struct vs_shard *shard)
{
    struct vs_block *block = shard->free_blocks.head;
    shard->free_blocks.head = *(void **)block;
    shard->blocks++;
    return block;
}

static inline void vs_block_give(struct vs_shard *shard, struct vs_block *block)
{
    shard->blocks--;
    vs_node_give_locked(&shard->free_blocks, block);
}

/* --- the pointer table of a shard: LIVE blocks and PENDING ones --- */

/* The link to the block that starts at *addr*; it holds 0 when there is none. */
static inline vs_block_ref *vs_live_link(const struct vs_live_index *table, uint64_t addr)
{
    static vs_block_ref none;
    if (!table->count)
        return &none;
    vs_block_ref *link = vs_live_head(table, addr);
    for (struct vs_block *block; (block = vs_block_of(*link)); link = &block->used.chain) {
        if (block->addr == addr)
            break;
    }
    return link;
}

static inline struct vs_block *vs_live_find(const struct vs_live_index *table, uint64_t addr)
{
    return vs_block_of(*vs_live_link(table, addr));
}

/* Call after vs_live_reserve; the block is LIVE. It stays until its memory is cached. */
static inline void vs_live_insert(struct vs_live_index *table, struct vs_block *block)
{
    vs_block_ref *head = vs_live_head(table, block->addr);
    block->used.chain = *head;
    *head = vs_ref_of(block);
    table->count++;
}

/* *link*: from vs_live_link, not holding 0. */
static inline void vs_live_unlink(struct vs_live_index *table, vs_block_ref *link)
{
    *link = vs_block_of(*link)->used.chain;
    table->count--;
}

/* --- nodes --- */

/* The block is now in use, or its memory is about to be cached. */
static inline void vs_block_mark_start(struct vs_block *block, bool used)
{
    struct vs_segment *segment = block->segment;
    if (!segment->starts)
        return;
    uint64_t granule = (block->addr - segment->addr) / VS_BLOCK_MIN;
    uint64_t bit = UINT64_C(1) << (granule % 64);
    if (used)
        segment->starts[granule / 64] |= bit;
    else
        segment->starts[granule / 64] &= ~bit;
}

/* Whether the freed block next to *other* may be merged with it. */
static inline bool vs_block_joins(const struct vs_block *other)
{
    return other && other->state == VS_BLOCK_FREE;
}

/* try_merge_blocks: merges *other* into the block when it is free. Returns its bytes or 0. *shard*
 * is that of both. */
static inline uint64_t vs_block_merge(struct vs_shard *shard, struct vs_block *block,
                                      struct vs_block *other)
{
    if (!vs_block_joins(other))
        return 0;
    vs_free_remove(&block->segment->pool->index, other);
    if (other->idle.safe_after > block->idle.safe_after)
        block->idle.safe_after = other->idle.safe_after;
    uint64_t size = other->size;
    vs_block_absorb(block, other);
    vs_block_give(shard, other);
    return size;
}

/* Leaves the first *size* bytes to *block*, which is then TAKEN; the others become *rest*, a FREE
 * block in no index. */
static inline void vs_block_cut(struct vs_block *block, struct vs_block *rest, uint64_t size)
{
    /* field by field: clearing the rest of a node costs more than everything else here */
    rest->addr = block->addr + size;
    vs_block_set(rest, block->size - size, VS_BLOCK_FREE);
    rest->segment = block->segment;
    rest->prev = block;
    rest->next = block->next;
    rest->idle.safe_after = block->idle.safe_after;
    if (rest->next)
        rest->next->prev = rest;
    block->next = rest;
    vs_block_started(rest);
    vs_block_set(block, size, VS_BLOCK_TAKEN);
}

/* From TAKEN to LIVE; fills in the client's result. */
static inline void vs_block_occupy(struct vs_block *block, uint64_t requested, uint64_t serial,
                                   struct vs_allocation *out)
{
    vs_block_set_state(block, VS_BLOCK_LIVE);
    vs_block_set_used(block, requested, serial);
    vs_block_mark_start(block, true);
    /* one by one: gcc compiles an initialiser to `rep stos`, which takes as long as a lock */
    out->addr = block->addr;
    out->requested = requested;
    out->size = block->size;
    out->segment = block->segment->addr;
    out->serial = serial;
    out->mapped = false;
    out->marks = 0;
}

/* The result of vs_allocator_find for a block. */
static inline void vs_block_describe(const struct vs_allocator *a, const struct vs_block *block,
                                     struct vs_allocation *out, bool *live)
{
    *live = block->state == VS_BLOCK_LIVE;
    *out = (struct vs_allocation){.addr = block->addr,
                                  .requested = *live ? block->used.requested : 0,
                                  .size = block->size,
                                  .segment = block->segment->addr,
                                  .serial = *live ? vs_block_serial(block) : 0,
                                  .mapped = block->segment->handle_bytes || block->segment->view,
                                  .marks = vs_kept_marks(a, block)};
}

#endif
