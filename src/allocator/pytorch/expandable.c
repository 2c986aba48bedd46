/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges: segments of reserved address space whose memory is mapped on demand, in
 * handles of one size, and PyTorch's expandable segments made of them (map_block,
 * try_allocate_expandable_block, find_expandable_block, unmap_block). A range is
 * tiled by blocks like any segment; the parts without memory are blocks too, in
 * state UNMAPPED, whole handles, in their pool's index by address. Blocks merge
 * only with neighbours of equal state, so a range needs no further bookkeeping
 * than its handles. Memory leaves a range only where a free block covers whole
 * handles, and only after the work that used it is known to be done.
 *
 * To build another policy on ranges: vs_range_new_locked makes one, wholly unmapped;
 * vs_range_map_locked puts memory at the start of an unmapped block, which becomes
 * a free block merged with its neighbours; vs_range_unmap_locked takes the whole
 * handles out of a free block. They keep statistics, events and indexes; which
 * block to map and when to unmap is the caller's decision. The caller holds the
 * full lock. */
#include "allocator/core/allocator_internal.h"

/* --- ranges --- */

static uint64_t round_up(uint64_t bytes, uint64_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

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
        range->compact = a->config.policy == VS_POLICY_COMPACT;
        err = vs_page_tables_take_locked(
            a, range, pool->kind == VS_POOL_SMALL || range->compact);
        if (!range->handles)
            err = VS_ERR_NOMEM;
        if (err) {
            vs_range_tables_unmap(range);
            vs_segment_leave_locked(a, range);
        }
    }
    if (err) {
        /* address space that cannot be given back costs nothing but itself */
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

/* Give a range back that is one UNMAPPED block. */
static enum vs_err range_drop(struct vs_allocator *a, struct vs_segment *range)
{
    enum vs_err err = a->ops.range_release(a->ops_ctx, range->addr, range->size);
    if (err)
        return err; /* kept, and used again */
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

/* Release *count* handles; the first error. What the device will not take back
 * is lost either way. */
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

/* Memory for *bytes* from *addr* on, all or nothing. */
static enum vs_err populate(struct vs_allocator *a, const struct vs_segment *range, uint64_t addr,
                            uint64_t bytes)
{
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
    return err;
}

/* Cut *block* after *size* bytes; the tail is *rest*, in the same state, in no index. */
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
    bytes = round_up(bytes, range->handle_bytes);
    if (bytes < block->size) {
        rest = vs_block_new_in_locked(a, pool);
        if (!rest)
            return VS_ERR_NOMEM;
    }
    enum vs_err err = populate(a, range, addr, bytes);
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
    block->idle.safe_after = 0; /* fresh from the device */
    vs_block_cache_locked(a, block);
    count_mapped(a, range, addr, bytes);
    return VS_OK;
}

/* Swallow *other* when it is unmapped too. */
static void merge_unmapped(struct vs_block *block, struct vs_block *other)
{
    if (!other || other->state != VS_BLOCK_UNMAPPED)
        return;
    vs_unmapped_remove(&block->segment->pool->unmapped, other, other->addr);
    vs_block_absorb(block, other);
    vs_block_recycle_locked(block->segment->pool, other);
}

/* Wait until no work uses the memory of a free block any more. After a
 * synchronisation of the device its free waited for, that has been done. */
static enum vs_err settle(struct vs_allocator *a, const struct vs_block *block)
{
    if (a->config.reuse == VS_REUSE_AFTER_SYNC)
        return block->idle.safe_after > a->sync_completed ? VS_ERR_STATE : VS_OK;
    return a->ops.stream_synchronize(a->ops_ctx, block->segment->pool->owner->stream);
}

/* The whole handles inside a block: their first address and their bytes. */
static uint64_t whole_handles(const struct vs_block *block, uint64_t *addr)
{
    const struct vs_segment *range = block->segment;
    uint64_t begin = round_up(block->addr - range->addr, range->handle_bytes);
    uint64_t end = block->addr - range->addr + block->size;
    end -= end % range->handle_bytes;
    *addr = range->addr + begin;
    return begin < end ? end - begin : 0;
}

/* Give the memory of *bytes* from *addr* on back to the device. */
static enum vs_err depopulate(struct vs_allocator *a, const struct vs_segment *range, uint64_t addr,
                              uint64_t bytes)
{
    enum vs_err err = a->ops.memory_unmap(a->ops_ctx, addr, bytes);
    if (err)
        return err;
    /* the block has no memory any more, whatever becomes of the handles */
    enum vs_err ignored =
        release_handles(a, range, handle_at(range, addr), bytes / range->handle_bytes);
    (void)ignored;
    return VS_OK;
}

/* A FREE block in no index becomes UNMAPPED from *addr* on for *bytes*; *before*
 * and *after* are nodes for what stays mapped on either side, or NULL. */
static void make_unmapped(struct vs_block *block, struct vs_block *before, struct vs_block *after,
                          uint64_t addr, uint64_t bytes)
{
    struct vs_pool *pool = block->segment->pool;
    if (before) {
        /* the node of the block is the middle one: neighbours point to it already */
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
        vs_free_insert(&pool->index, before);
    }
    if (after) {
        cut(block, after, bytes);
        vs_free_insert(&pool->index, after);
    }
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

/* --- PyTorch's expandable segments --- */

static bool available(const struct vs_block *block)
{
    return block && (block->state == VS_BLOCK_FREE || block->state == VS_BLOCK_UNMAPPED);
}

/* Is there room from *block* on? *end*: the first block that does not belong to it. */
static bool has_room(const struct vs_block *block, uint64_t bytes, const struct vs_block **end)
{
    uint64_t room = 0;
    for (; room < bytes && available(block); block = block->next)
        room += block->size;
    *end = block;
    return room >= bytes;
}

/* Unless configured otherwise, as much address space as makes room for all memory of
 * the device, and an eighth more to move within. */
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
    uint64_t bytes = round_up(range_bytes(&a->config, total), handle);
    if (request->rounded > bytes)
        return VS_ERR_DEVICE_OOM;
    struct vs_segment *range;
    enum vs_err err = vs_range_new_locked(a, request->pool, handle, bytes, &range);
    if (!err)
        *out = range->first;
    return err;
}

/* find_expandable_block: the lowest address in any range of the pool from which
 * free and unmapped blocks have room for the request. */
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
        /* starting later in the same stretch leaves less: go on behind it */
        uint64_t range_end = block->segment->addr + block->segment->size;
        block = vs_unmapped_first_from(unmapped, end ? end->addr : range_end);
    }
    return new_range(a, request, out);
}

enum vs_err vs_expandable_grow_locked(struct vs_allocator *a, const struct vs_request *request,
                                      struct vs_block **out)
{
    struct vs_block *block;
    uint64_t size = request->rounded;
    enum vs_err err = find_room(a, request, &block);
    if (err)
        return err;
    if (block->state == VS_BLOCK_UNMAPPED) {
        err = vs_range_map_locked(a, block, block->size < size ? block->size : size);
        if (err)
            return err;
    }
    /* what was mapped before a failure stays, cached */
    while (block->size < size) {
        struct vs_block *next = block->next;
        uint64_t missing = size - block->size;
        err = vs_range_map_locked(a, next, next->size < missing ? next->size : missing);
        if (err)
            return err;
        block = next; /* it has swallowed the free block before it */
    }
    vs_free_remove(&request->pool->index, block);
    vs_block_set_state(block, VS_BLOCK_TAKEN);
    *out = block;
    return VS_OK;
}

struct vs_block *vs_expandable_fit_locked(const struct vs_request *request, struct vs_block *block)
{
    const struct vs_free_index *index = &request->pool->index;
    if (request->expandable && block->segment->compact)
        return block; /* the compact policy's: nothing but the size counts */
    if (!request->expandable) {
        while (block && block->segment->handle_bytes)
            block = vs_free_index_after(index, block);
        return block;
    }
    while (block->segment->handle_bytes) {
        struct vs_block *next = vs_free_index_after(index, block);
        if (!next || vs_block_reach(next) >= vs_block_reach(block))
            break;
        block = next;
    }
    return block;
}

enum vs_err vs_expandable_release_locked(struct vs_allocator *a, struct vs_pool *pool,
                                         uint64_t *released)
{
    enum vs_err first_error = VS_OK;
    struct vs_block *next;
    for (struct vs_block *block = vs_free_index_fit(&pool->index, 0); block; block = next) {
        /* what is left of a block is smaller than it was, and so not met again */
        next = vs_free_index_after(&pool->index, block);
        /* what was freed during the synchronisation before this has to wait */
        if (!block->segment->handle_bytes || block->idle.safe_after > a->sync_completed)
            continue;
        enum vs_err err = vs_range_unmap_locked(a, block, released);
        if (err && !first_error)
            first_error = err;
    }
    return first_error;
}

bool vs_expandable_unsettled_locked(const struct vs_allocator *a, const struct vs_pool *pool)
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
        /* a device that cannot take it back has lost it already */
        if (depopulate(a, range, block->addr, bytes) == VS_OK)
            count_unmapped(a, range, block->addr, bytes);
    }
    ignored = a->ops.range_release(a->ops_ctx, range->addr, range->size);
    (void)ignored;
}
