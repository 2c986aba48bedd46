/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges: segments of reserved address space whose memory is mapped on demand, in handles of
 * one size. A range is tiled by blocks like any segment; the parts without memory are blocks
 * too, in state UNMAPPED, whole handles, in their pool's tree by address. Blocks merge only
 * with neighbours of equal state, so a range needs no further bookkeeping than its handles.
 * Memory leaves a range only where a free block covers whole handles, and only after the work
 * that used it has completed.
 *
 * vs_range_new_locked makes a range, wholly unmapped; vs_range_map_locked puts memory at the
 * start of an unmapped block, which becomes a free block merged with its neighbours;
 * vs_range_unmap_locked takes the whole handles out of a free block. They keep statistics,
 * events and indexes; which block to map is the policy's decision. The caller holds the full
 * lock. */
#include "allocator/core/allocator_internal.h"

/* --- ranges --- */

static uint64_t *handle_at(const struct vs_segment *range, uint64_t addr)
{
    return &range->handles[(addr - range->addr) / range->handle_bytes];
}

size_t vs_range_handles_bytes(const struct vs_segment *range)
{
    return (size_t)(range->size / range->handle_bytes) * sizeof *range->handles;
}

void vs_range_tables_unmap(struct vs_segment *range)
{
    vs_pages_unmap(range->handles, vs_range_handles_bytes(range));
    range->handles = NULL;
}

enum vs_err vs_range_new_locked(struct vs_allocator *a, struct vs_pool *pool, uint64_t handle_bytes,
                                uint64_t bytes, struct vs_segment **out)
{
    uint64_t addr;
    enum vs_err err = a->ops.range_reserve(a->ops_ctx, bytes, &addr);
    if (err)
        return err;
    struct vs_segment *range;
    err = vs_segment_enter_locked(a, pool, addr, bytes, &range);
    if (!err) {
        range->handle_bytes = handle_bytes;
        range->handles = vs_pages_map(vs_range_handles_bytes(range));
        err = vs_page_tables_take_locked(a, range, vs_pool_is_dense(a, pool));
        if (!range->handles)
            err = VS_ERR_NOMEM;
        if (err) {
            vs_range_tables_unmap(range);
            vs_segment_leave_locked(a, range);
        }
    }
    if (err) {
        /* if this fails only address space is lost */
        enum vs_err ignored = a->ops.range_release(a->ops_ctx, addr, bytes);
        (void)ignored;
        return err == VS_ERR_ARG ? VS_ERR_DEVICE : err;
    }
    vs_block_set_state(range->first, VS_BLOCK_UNMAPPED);
    range->first->idle.safe_after = 0;
    vs_unmapped_insert(&pool->unmapped, range->first, range->first->addr);
    *out = range;
    return VS_OK;
}

/* Releases a range that is one UNMAPPED block. */
static enum vs_err range_drop(struct vs_allocator *a, struct vs_segment *range)
{
    enum vs_err err = a->ops.range_release(a->ops_ctx, range->addr, range->size);
    if (err)
        return err; /* stays, and is used again */
    vs_unmapped_remove(&range->pool->unmapped, range->first, range->first->addr);
    vs_range_tables_unmap(range);
    vs_segment_leave_locked(a, range);
    return VS_OK;
}

void vs_range_drop_unmapped_locked(struct vs_allocator *a, const struct vs_private_pool *pool)
{
    for (size_t i = a->segment_count; i-- > 0;) {
        struct vs_segment *s = a->segments[i];
        if (!s->handle_bytes || s->pool->owner->home != pool ||
            s->first->state != VS_BLOCK_UNMAPPED || s->first->size != s->size)
            continue;
        enum vs_err ignored = range_drop(a, s);
        (void)ignored;
    }
}

/* Releases *count* handles; the first error. Handles that the device does not take back are
 * lost. */
static enum vs_err release_handles(struct vs_allocator *a, const struct vs_segment *range,
                                   const uint64_t *handles, uint64_t count)
{
    enum vs_err first_error = VS_OK;
    for (uint64_t i = 0; i < count; i++) {
        enum vs_err err = a->ops.memory_release(a->ops_ctx, handles[i], range->handle_bytes);
        if (err && !first_error)
            first_error = err;
    }
    return first_error;
}

/* Splits *block* after *size* bytes; the tail is *rest*, in the same state, in no index. */
static void cut(struct vs_block *block, struct vs_block *rest, uint64_t size)
{
    *rest = (struct vs_block){
        .addr = block->addr + size,
        .size_and_state = (block->size - size) | (uint64_t)block->state << 56,
        .segment = block->segment,
        .prev = block,
        .next = block->next,
        .idle.safe_after = block->idle.safe_after,
    };
    if (rest->next)
        rest->next->prev = rest;
    block->next = rest;
    vs_block_started(rest);
    vs_block_set_size(block, size);
}

static void count_mapped(struct vs_allocator *a, const struct vs_segment *range, uint64_t addr,
                         uint64_t bytes)
{
    const struct vs_pool *pool = range->pool;
    vs_shards_hint_locked(&a->shards, addr, bytes, pool->owner->shard);
    vs_reserved_raise_locked(a, pool, bytes);
    a->counters.num_device_alloc++;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_MAP, pool->kind, addr, bytes, bytes,
                             pool->owner->stream);
}

static void count_unmapped(struct vs_allocator *a, const struct vs_segment *range, uint64_t addr,
                           uint64_t bytes)
{
    const struct vs_pool *pool = range->pool;
    vs_reserved_lower_locked(a, pool, bytes);
    a->counters.num_device_free++;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_UNMAP, pool->kind, addr, bytes, bytes,
                             pool->owner->stream);
}

enum vs_err vs_range_map_locked(struct vs_allocator *a, struct vs_block *block, uint64_t bytes)
{
    struct vs_segment *range = block->segment;
    struct vs_pool *pool = range->pool;
    struct vs_block *rest = NULL;
    uint64_t addr = block->addr;
    bytes = vs_round_up(bytes, range->handle_bytes);
    if (bytes < block->size) {
        rest = vs_block_new_in_locked(a, pool);
        if (!rest)
            return VS_ERR_NOMEM;
    }
    /* all or nothing */
    uint64_t *handles = handle_at(range, addr), count = bytes / range->handle_bytes, made = 0;
    enum vs_err err = VS_OK;
    while (made < count && !err) {
        err = a->ops.memory_create(a->ops_ctx, range->handle_bytes, &handles[made]);
        made += !err;
    }
    if (!err)
        err = a->ops.memory_map(a->ops_ctx, addr, range->handle_bytes, handles, (size_t)count);
    if (err) {
        enum vs_err ignored = release_handles(a, range, handles, made);
        (void)ignored;
    }
    if (err) {
        if (rest)
            vs_block_recycle_locked(pool, rest);
        return err;
    }
    vs_unmapped_remove(&pool->unmapped, block, block->addr);
    if (rest) {
        cut(block, rest, bytes);
        vs_unmapped_insert(&pool->unmapped, rest, rest->addr);
    }
    vs_block_set_state(block, VS_BLOCK_TAKEN);
    block->idle.safe_after = 0; /* new from the device */
    vs_block_cache_locked(a, block);
    count_mapped(a, range, addr, bytes);
    return VS_OK;
}

/* Merges *other* into the block when it is unmapped too. */
static void merge_unmapped(struct vs_block *block, struct vs_block *other)
{
    if (!other || other->state != VS_BLOCK_UNMAPPED)
        return;
    vs_unmapped_remove(&block->segment->pool->unmapped, other, other->addr);
    vs_block_absorb(block, other);
    vs_block_recycle_locked(block->segment->pool, other);
}

/* Waits until no work uses the memory of a free block any more. Not needed after a device
 * synchronisation that its free waited for. */
static enum vs_err settle(struct vs_allocator *a, const struct vs_block *block)
{
    if (a->config.reuse == VS_REUSE_AFTER_SYNC)
        return block->idle.safe_after > a->sync_completed ? VS_ERR_STATE : VS_OK;
    return a->ops.stream_synchronize(a->ops_ctx, block->segment->pool->owner->stream);
}

/* The whole handles inside a block: their first address and their size. */
static uint64_t whole_handles(const struct vs_block *block, uint64_t *addr)
{
    const struct vs_segment *range = block->segment;
    uint64_t begin = vs_round_up(block->addr - range->addr, range->handle_bytes);
    uint64_t end = block->addr - range->addr + block->size;
    end -= end % range->handle_bytes;
    *addr = range->addr + begin;
    return begin < end ? end - begin : 0;
}

/* Releases the memory of *bytes* from *addr* on to the device. */
static enum vs_err depopulate(struct vs_allocator *a, const struct vs_segment *range, uint64_t addr,
                              uint64_t bytes)
{
    enum vs_err err = a->ops.memory_unmap(a->ops_ctx, addr, bytes);
    if (err)
        return err;
    /* the block has no memory any more, even if releasing the handles fails */
    enum vs_err ignored =
        release_handles(a, range, handle_at(range, addr), bytes / range->handle_bytes);
    (void)ignored;
    return VS_OK;
}

void vs_block_carve(struct vs_block *block, struct vs_block *before, struct vs_block *after,
                    uint64_t addr, uint64_t bytes)
{
    struct vs_free_index *index = &block->segment->pool->index;
    if (before) {
        *before = (struct vs_block){
            .addr = block->addr,
            .size_and_state = (addr - block->addr) | (uint64_t)VS_BLOCK_FREE << 56,
            .segment = block->segment,
            .prev = block->prev,
            .next = block,
            .idle.safe_after = block->idle.safe_after,
        };
        if (before->prev)
            before->prev->next = before;
        else
            block->segment->first = before;
        block->prev = before;
        vs_block_set_size(block, block->size - before->size);
        block->addr = addr;
        vs_block_started(before);
        vs_block_started(block);
        vs_free_insert(index, before);
    }
    if (after) {
        cut(block, after, bytes);
        vs_free_insert(index, after);
    }
}

/* A FREE block in no index becomes UNMAPPED from *addr* on for *bytes*; *before* and *after* are
 * nodes for the mapped parts on either side, or NULL. */
static void make_unmapped(struct vs_block *block, struct vs_block *before, struct vs_block *after,
                          uint64_t addr, uint64_t bytes)
{
    struct vs_pool *pool = block->segment->pool;
    vs_block_carve(block, before, after, addr, bytes);
    vs_block_set_state(block, VS_BLOCK_UNMAPPED);
    block->idle.safe_after = 0;
    merge_unmapped(block, block->prev);
    merge_unmapped(block, block->next);
    vs_unmapped_insert(&pool->unmapped, block, block->addr);
}

enum vs_err vs_range_unmap_locked(struct vs_allocator *a, struct vs_block *block,
                                  uint64_t *released)
{
    struct vs_segment *range = block->segment;
    uint64_t addr, bytes = whole_handles(block, &addr);
    if (!bytes)
        return VS_OK;
    struct vs_block *before = NULL, *after = NULL;
    bool head = addr > block->addr, tail = addr + bytes < block->addr + block->size;
    enum vs_err err = VS_ERR_NOMEM;
    if ((head && !(before = vs_block_new_in_locked(a, range->pool))) ||
        (tail && !(after = vs_block_new_in_locked(a, range->pool))))
        goto out;
    err = settle(a, block);
    if (!err)
        err = depopulate(a, range, addr, bytes);
    if (err)
        goto out;
    vs_free_remove(&range->pool->index, block);
    make_unmapped(block, before, after, addr, bytes);
    count_unmapped(a, range, addr, bytes);
    *released += bytes;
    if (range->first->size == range->size)
        return range_drop(a, range);
    return VS_OK;
out:
    if (before)
        vs_block_recycle_locked(range->pool, before);
    if (after)
        vs_block_recycle_locked(range->pool, after);
    return err;
}

/* --- releasing free memory --- */

enum vs_err vs_range_release_locked(struct vs_allocator *a, struct vs_pool *pool,
                                         uint64_t *released)
{
    enum vs_err first_error = VS_OK;
    struct vs_block *next;
    for (struct vs_block *block = vs_free_index_fit(&pool->index, 0); block; block = next) {
        /* the rest of a block is smaller than before, so it is not visited again */
        next = vs_free_index_after(&pool->index, block);
        /* memory freed during the synchronisation above has to wait */
        if (!block->segment->handle_bytes || block->idle.safe_after > a->sync_completed)
            continue;
        enum vs_err err = vs_range_unmap_locked(a, block, released);
        if (err && !first_error)
            first_error = err;
    }
    return first_error;
}

bool vs_range_unsettled_locked(const struct vs_allocator *a, const struct vs_pool *pool)
{
    uint64_t addr;
    for (struct vs_block *block = vs_free_index_fit(&pool->index, 0); block;
         block = vs_free_index_after(&pool->index, block)) {
        if (block->segment->handle_bytes && block->idle.safe_after > a->sync_completed &&
            whole_handles(block, &addr))
            return true;
    }
    return vs_views_unsettled_locked(a, &pool->owner->views);
}

void vs_range_destroy(struct vs_allocator *a, const struct vs_segment *range)
{
    /* work of other streams may still use pending blocks */
    enum vs_err ignored = a->ops.synchronize
        ? a->ops.synchronize(a->ops_ctx)
        : a->ops.stream_synchronize(a->ops_ctx, range->pool->owner->stream);
    for (const struct vs_block *block = range->first, *end; block; block = end) {
        end = block->next;
        if (block->state == VS_BLOCK_UNMAPPED)
            continue;
        uint64_t bytes = block->size;
        for (; end && end->state != VS_BLOCK_UNMAPPED; end = end->next)
            bytes += end->size;
        /* on failure the device has already lost it */
        if (depopulate(a, range, block->addr, bytes) == VS_OK)
            count_unmapped(a, range, block->addr, bytes);
    }
    ignored = a->ops.range_release(a->ops_ctx, range->addr, range->size);
    (void)ignored;
}
