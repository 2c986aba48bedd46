/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests and frees: an allocation's path through the cache, the merging of free blocks, and the
 * life of the allocator itself. Called by the interception layer from the threads of the host
 * program, and by replays. The rules are those of PyTorch's DeviceCachingAllocator::malloc and
 * ::free; device memory is handled in segments.c, uses by other streams in stream_events.c. */
#include "allocator/core/allocator.h"

#include <string.h>

#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

#define CACHE_LINE ((size_t)64)
#define SLAB_BYTES ((size_t)8192)

void *vs_node_take_locked(struct vs_allocator *a, struct vs_node_list *list, size_t bytes)
{
    if (!list->head) {
        size_t stride = (bytes + CACHE_LINE - 1) & ~(CACHE_LINE - 1);
        size_t count = stride < SLAB_BYTES ? SLAB_BYTES / stride : 1;
        char *slab = vs_arena_alloc(&a->arena, count * stride + CACHE_LINE);
        if (!slab)
            return NULL;
        slab += -(uintptr_t)slab & (CACHE_LINE - 1);
        for (size_t i = count; i-- > 0;)
            vs_node_give_locked(list, slab + i * stride);
    }
    void *node = list->head;
    list->head = *(void **)node;
    return node;
}

bool vs_block_reserve_locked(struct vs_allocator *a, struct vs_node_list *list)
{
    if (list->head)
        return true;
    const size_t count = (VS_SLAB_BYTES - sizeof(char *)) / sizeof(struct vs_block);
    struct vs_block *nodes = vs_slab_take(&a->slabs);
    if (!nodes)
        return false;
    for (size_t i = count; i-- > 0;)
        vs_node_give_locked(list, &nodes[i]);
    a->blocks_made += count;
    return true;
}

struct vs_block *vs_block_new_in_locked(struct vs_allocator *a, const struct vs_pool *pool)
{
    struct vs_shard *own = pool->owner->shard;
    if (vs_block_reserve_locked(a, &own->free_blocks))
        return vs_block_take(own);
    /* host memory is out: use a node of any shard */
    for (uint32_t i = 0; i < a->shards.count; i++) {
        if (a->shards.shard[i].free_blocks.head)
            return vs_block_take(&a->shards.shard[i]);
    }
    return NULL;
}

void vs_block_recycle_locked(const struct vs_pool *pool, struct vs_block *block)
{
    vs_block_give(pool->owner->shard, block);
}

uint64_t vs_block_count_locked(const struct vs_allocator *a)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < a->shards.count; i++)
        count += a->shards.shard[i].blocks;
    return count;
}

/* --- the pointer tables --- */

struct vs_block *vs_live_get_locked(struct vs_allocator *a, uint64_t addr)
{
    struct vs_block *block = vs_live_find(&vs_shards_of_page(&a->shards, addr)->live, addr);
    for (uint32_t i = 0; !block && i < a->shards.count; i++)
        block = vs_live_find(&a->shards.shard[i].live, addr);
    return block && block->state == VS_BLOCK_LIVE ? block : NULL;
}

enum vs_err vs_live_put_locked(struct vs_block *block)
{
    struct vs_live_index *live = &vs_block_shard(block)->live;
    enum vs_err err = vs_live_reserve(live);
    if (!err)
        vs_live_insert(live, block);
    return err;
}

/* --- caching: free blocks and their neighbours --- */

/* Merges and indexes a block whose idle fields are set. *split_count* and *split_bytes* are its
 * contribution to inactive_split so far, negated. */
static void insert_free(struct vs_allocator *a, struct vs_block *block, int64_t split_count,
                        int64_t split_bytes)
{
    struct vs_pool *pool = block->segment->pool;
    if (block->segment->view) {
        vs_view_return_locked(a, block);
        return;
    }
    struct vs_shard *shard = pool->owner->shard;
    uint64_t before = vs_block_merge(shard, block, block->prev);
    uint64_t after = vs_block_merge(shard, block, block->next);
    vs_block_set_state(block, VS_BLOCK_FREE);
    vs_free_insert(&pool->index, block);
    if (block->segment->handle_bytes)
        return;
    split_count -= (before > 0) + (after > 0);
    split_bytes -= (int64_t)(before + after);
    if (vs_block_is_split(block)) {
        split_count++;
        split_bytes += (int64_t)block->size;
    } else {
        block->segment->idle_since = a->searches[pool->kind];
    }
    vs_counter_change(&a->counters.inactive_split, pool->kind, split_count);
    vs_counter_change(&a->counters.inactive_split_bytes, pool->kind, split_bytes);
}

void vs_block_cache_locked(struct vs_allocator *a, struct vs_block *block)
{
    bool split = vs_block_counts_split(block);
    insert_free(a, block, split ? -1 : 0, split ? -(int64_t)block->size : 0);
}

void vs_block_complete_free_locked(struct vs_allocator *a, struct vs_block *block)
{
    struct vs_pool *pool = block->segment->pool;
    uint64_t size = block->size, requested = block->used.requested;
    struct vs_live_index *live = &vs_block_shard(block)->live;
    vs_live_unlink(live, vs_live_link(live, block->addr));
    vs_block_mark_start(block, false);
    vs_allocator_emit_locked(a, VS_ALLOCATOR_FREE_COMPLETED, pool->kind, block->addr, requested,
                             size, pool->owner->stream);
    /* a synchronisation that has already begun may not cover this free */
    block->idle.safe_after =
        a->config.reuse == VS_REUSE_AFTER_SYNC ? a->sync_started + 1 : 0;
    insert_free(a, block, 0, 0);
    vs_counter_decrease(&a->counters.active, pool->kind, 1);
    vs_counter_decrease(&a->counters.active_bytes, pool->kind, size);
    vs_counter_decrease(&a->counters.requested_bytes, pool->kind, requested);
}

/* --- requests --- */

/* For a request that needs a device allocation of its own: finds a free one at most an eighth too
 * large, because nothing else can use the rest. */
static struct vs_block *search_whole(const struct vs_request *request)
{
    enum { LOOKS = 64 };
    struct vs_free_index *index = &request->pool->index;
    struct vs_block *block = vs_free_index_fit(index, request->rounded);
    for (int i = 0; block && !vs_block_is_whole(block) && i < LOOKS; i++)
        block = vs_free_index_after(index, block);
    if (!block || !vs_block_is_whole(block) ||
        block->size - request->rounded > request->rounded / 8)
        return NULL;
    vs_free_remove(index, block);
    vs_block_set_state(block, VS_BLOCK_TAKEN);
    return block;
}

struct vs_block *vs_block_search_locked(struct vs_allocator *a, const struct vs_request *request)
{
    /* ages are those of the default pool, the only one that is garbage collected */
    if (a->limited && a->config.garbage_collection_threshold > 0 && !request->pool->owner->home)
        a->searches[request->kind]++;
    if (request->whole)
        return search_whole(request);
    return request->policy->search(a, request);
}

enum vs_err vs_allocator_wait_locked(struct vs_allocator *a)
{
    uint64_t ticket = ++a->sync_started;
    void *call = a->call;
    a->call = NULL;
    vs_full_lock_release(a);
    enum vs_err err = a->ops.synchronize(a->ops_ctx);
    vs_full_lock_acquire(a);
    a->call = call;
    if (err)
        return err;
    vs_sync_completed_locked(a, ticket);
    return VS_OK;
}

void vs_allocator_count_alloc_locked(struct vs_allocator *a, enum vs_pool_kind kind, uint64_t size,
                                     uint64_t requested)
{
    vs_counter_increase(&a->counters.allocation, kind, 1);
    vs_counter_increase(&a->counters.allocated_bytes, kind, size);
    vs_counter_increase(&a->counters.active, kind, 1);
    vs_counter_increase(&a->counters.active_bytes, kind, size);
    vs_counter_increase(&a->counters.requested_bytes, kind, requested);
    if (size >= a->max_split)
        vs_counter_increase(&a->counters.oversize_allocations, VS_POOL_LARGE, 1);
}

/* Splits the tail of a TAKEN block off into *rest*, a free block. */
static void split(struct vs_allocator *a, struct vs_block *block, struct vs_block *rest,
                  uint64_t size, bool was_split)
{
    struct vs_pool *pool = block->segment->pool;
    vs_block_cut(block, rest, size);
    /* a neighbour freed while this request synchronised found this block TAKEN */
    if (vs_block_merge(pool->owner->shard, rest, rest->next) && !block->segment->handle_bytes)
        vs_counter_decrease(&a->counters.inactive_split, pool->kind, 1);
    vs_free_insert(&pool->index, rest);
    if (block->segment->handle_bytes)
        return;
    if (was_split) {
        vs_counter_decrease(&a->counters.inactive_split_bytes, pool->kind, size);
    } else {
        vs_counter_increase(&a->counters.inactive_split, pool->kind, 1);
        vs_counter_increase(&a->counters.inactive_split_bytes, pool->kind, rest->size);
    }
}

/* alloc_found_block */
enum vs_err vs_block_hand_out_locked(struct vs_allocator *a, const struct vs_request *request,
                                     struct vs_block *block, struct vs_allocation *out)
{
    struct vs_block *rest = NULL;
    if (vs_request_splits(a, request, block->size)) {
        rest = vs_block_new_in_locked(a, block->segment->pool);
        if (!rest) {
            vs_block_cache_locked(a, block);
            return VS_ERR_NOMEM;
        }
    }
    struct vs_live_index *live = &vs_block_shard(block)->live;
    enum vs_err err = vs_live_reserve(live);
    if (err) {
        if (rest)
            vs_block_give(vs_block_shard(block), rest);
        vs_block_cache_locked(a, block);
        return err;
    }
    bool was_split = vs_block_is_split(block);
    if (rest) {
        split(a, block, rest, request->rounded, was_split);
    } else if (vs_block_counts_split(block)) {
        vs_counter_decrease(&a->counters.inactive_split, request->kind, 1);
        vs_counter_decrease(&a->counters.inactive_split_bytes, request->kind, block->size);
    }
    vs_block_occupy(block, request->requested, vs_serial_next(a, vs_block_shard(block)), out);
    vs_live_insert(live, block);
    vs_allocator_emit_locked(a, VS_ALLOCATOR_ALLOC, request->kind, block->addr, request->requested,
                             block->size, request->stream);
    vs_allocator_count_alloc_locked(a, request->kind, block->size, request->requested);
    return VS_OK;
}

static void report_oom(struct vs_allocator *a, const struct vs_request *request)
{
    uint64_t device_free = 0, total;
    if (a->ops.memory_info && a->ops.memory_info(a->ops_ctx, &device_free, &total))
        device_free = 0;
    a->counters.num_ooms++;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_OOM, request->kind, device_free,
                             request->requested, request->rounded, request->stream);
}

/* After a change of generation all pointers of the request are invalid. */
static enum vs_err serve(struct vs_allocator *a, struct vs_request *request, uint64_t generation,
                         struct vs_allocation *out)
{
    struct vs_block *block = vs_block_search_locked(a, request);
    if (!block) {
        enum vs_err err = vs_segment_obtain_locked(a, request, &block);
        if (err == VS_ERR_DEVICE_OOM)
            report_oom(a, request);
        if (err)
            return err;
    }
    if (block->idle.safe_after > a->sync_completed) {
        /* TAKEN: no other thread can use it, merge with it or release its segment while this one
         * waits for work enqueued before its free */
        enum vs_err err = vs_allocator_wait_locked(a);
        if (a->generation != generation)
            return VS_ERR_STATE;
        if (err) {
            vs_block_cache_locked(a, block);
            return err;
        }
    }
    return vs_block_hand_out_locked(a, request, block, out);
}

static enum vs_err malloc_locked(struct vs_allocator *a, size_t bytes, uint64_t stream, bool whole,
                                 struct vs_allocation *out)
{
    if (a->pending_notes && !a->captures)
        vs_events_poll_locked(a);
    struct vs_request request = {.requested = bytes, .stream = stream, .whole = whole};
    if (bytes > VS_ALLOCATOR_REQUEST_MAX) {
        request.rounded = bytes;
        request.kind = VS_POOL_LARGE;
        report_oom(a, &request);
        return VS_ERR_DEVICE_OOM;
    }
    request.rounded = vs_round_request(&a->config, bytes);
    struct vs_private_pool *home = vs_private_pool_for_locked(a, stream);
    request.policy = whole ? &vs_policy_pytorch : a->policy;
    request.kind = vs_request_kind(request.policy, request.rounded);
    struct vs_stream_pools *pools =
        home ? vs_private_stream_pin_locked(a, home, stream) : vs_stream_pin_locked(a, stream);
    if (!pools)
        return VS_ERR_NOMEM;
    request.pool = &pools->pool[request.kind];
    uint64_t generation = a->generation;
    enum vs_err err = serve(a, &request, generation, out);
    if (a->generation == generation) {
        vs_fast_prepare_locked(a, pools->shard);
        vs_stream_unpin_locked(a, pools);
    }
    return err;
}

/* Separate, because the fast paths are short and this one needs many registers. */
__attribute__((noinline)) static enum vs_err malloc_exclusive(struct vs_allocator *a, size_t bytes,
                                                             uint64_t stream, bool whole,
                                                             void *call, struct vs_allocation *out)
{
    if (bytes == 0) {
        *out = (struct vs_allocation){0};
        return VS_OK;
    }
    if (stream == VS_NO_STREAM)
        return VS_ERR_ARG;
    VS_FULL_LOCK_SCOPE(a);
    a->call = call;
    enum vs_err err = malloc_locked(a, bytes, stream, whole, out);
    a->call = NULL;
    return err;
}

enum vs_err vs_allocator_malloc_for(struct vs_allocator *a, size_t bytes, uint64_t stream,
                                    bool exportable, void *call, struct vs_allocation *out)
{
    enum vs_err err;
    if (a->config.reuse == VS_REUSE_AFTER_SYNC)
        stream = 0;
    if (!exportable && bytes && stream != VS_NO_STREAM &&
        vs_fast_malloc(a, bytes, stream, call, out, &err))
        return err;
    return malloc_exclusive(a, bytes, stream, exportable, call, out);
}

/* --- frees --- */

/* The reason why *addr* is not the start of a live block. */
static enum vs_err not_live(struct vs_allocator *a, uint64_t addr)
{
    const struct vs_segment *segment = vs_segment_find_locked(a, addr);
    if (!segment)
        return VS_ERR_FOREIGN;
    const struct vs_block *block = vs_segment_block_at_locked(segment, addr);
    return block->state == VS_BLOCK_LIVE ? VS_ERR_ARG : VS_ERR_STATE;
}

static enum vs_err free_locked(struct vs_allocator *a, uint64_t addr)
{
    struct vs_block *block = vs_live_get_locked(a, addr);
    if (!block)
        return not_live(a, addr);
    struct vs_pool *pool = block->segment->pool;
    struct vs_shard *shard = pool->owner->shard;
    vs_counter_decrease(&a->counters.allocation, pool->kind, 1);
    vs_counter_decrease(&a->counters.allocated_bytes, pool->kind, block->size);
    if (block->size >= a->max_split)
        vs_counter_decrease(&a->counters.oversize_allocations, VS_POOL_LARGE, 1);
    vs_allocator_emit_locked(a, VS_ALLOCATOR_FREE, pool->kind, addr, block->used.requested,
                             block->size, pool->owner->stream);
    if (block->used.has_uses)
        vs_uses_to_events_locked(a, block);
    else
        vs_block_complete_free_locked(a, block);
    if (a->retired && !a->captures) {
        uint64_t released = 0;
        vs_kept_release_locked(a, &released);
    }
    vs_fast_prepare_locked(a, shard);
    return VS_OK;
}

static enum vs_err record_locked(struct vs_allocator *a, uint64_t addr, uint64_t stream)
{
    struct vs_block *block = vs_live_get_locked(a, addr);
    if (!block)
        return not_live(a, addr);
    if (a->config.reuse == VS_REUSE_AFTER_SYNC || stream == block->segment->pool->owner->stream)
        return VS_OK;
    return a->ops.event_record ? vs_uses_add_locked(a, block, stream, a->captures != 0)
                               : VS_ERR_UNSUPPORTED;
}

enum vs_err vs_allocator_record_stream(struct vs_allocator *a, uint64_t addr, uint64_t stream)
{
    if (!addr || vs_fast_owns(a, addr, stream))
        return VS_OK;
    VS_FULL_LOCK_SCOPE(a);
    return record_locked(a, addr, stream);
}

__attribute__((noinline)) static enum vs_err free_exclusive(struct vs_allocator *a, uint64_t addr,
                                                            uint64_t user, void *call)
{
    VS_FULL_LOCK_SCOPE(a);
    a->call = call;
    enum vs_err err = user == VS_NO_STREAM ? VS_OK : record_locked(a, addr, user);
    if (!err)
        err = free_locked(a, addr);
    a->call = NULL;
    return err;
}

enum vs_err vs_allocator_free_for(struct vs_allocator *a, uint64_t addr, uint64_t stream, void *call)
{
    if (!addr || vs_fast_free(a, addr, stream, call))
        return VS_OK;
    return free_exclusive(a, addr, stream, call);
}

enum vs_err vs_allocator_find(struct vs_allocator *a, uint64_t addr, struct vs_allocation *out,
                              bool *live)
{
    if (vs_fast_find(a, addr, out, live))
        return VS_OK;
    enum vs_err err = VS_ERR_FOREIGN;
    vs_full_lock_enter(a);
    const struct vs_segment *segment = vs_segment_find_locked(a, addr);
    const struct vs_block *block = segment ? vs_segment_block_at_locked(segment, addr) : NULL;
    if (block && block->state != VS_BLOCK_UNMAPPED) {
        vs_block_describe(a, block, out, live);
        err = VS_OK;
    }
    vs_full_lock_leave(a);
    return err;
}

enum vs_err vs_allocator_empty_cache(struct vs_allocator *a, uint64_t *released_bytes)
{
    uint64_t released = 0;
    vs_full_lock_acquire(a);
    enum vs_err err = vs_segment_release_cached_locked(a, &released);
    vs_full_lock_release(a);
    if (released_bytes)
        *released_bytes = released;
    return err;
}

/* --- synchronisation by the host program --- */

uint64_t vs_allocator_sync_begin(struct vs_allocator *a)
{
    vs_full_lock_enter(a);
    uint64_t ticket = ++a->sync_started;
    vs_full_lock_leave(a);
    return ticket;
}

void vs_allocator_sync_end(struct vs_allocator *a, uint64_t ticket)
{
    vs_full_lock_enter(a);
    if (ticket > a->sync_completed && ticket <= a->sync_started)
        a->sync_completed = ticket;
    vs_full_lock_leave(a);
}

/* A thread that has the first lock may call the driver; those of the other shards are held briefly. */
enum vs_settled vs_allocator_settled(struct vs_allocator *a)
{
    if (!vs_quick_try(&a->shards.shard[0].lock))
        return VS_SETTLED_UNKNOWN;
    for (uint32_t i = 1; i < a->shards.count; i++)
        vs_quick_acquire_sibling(&a->shards.shard[i].lock);
    bool unsettled = false;
    for (size_t i = 0; i < a->segment_count; i++)
        for (const struct vs_block *b = a->segments[i]->first; b && !unsettled; b = b->next)
            unsettled = b->state == VS_BLOCK_FREE && b->idle.safe_after > a->sync_completed;
    vs_full_lock_leave(a);
    return unsettled ? VS_UNSETTLED : VS_SETTLED;
}

/* --- statistics --- */

void vs_allocator_stats(struct vs_allocator *a, struct vs_allocator_stats *out)
{
    VS_FULL_LOCK_SCOPE(a);
    vs_statistics_export(&a->counters, a->max_split, out);
}

void vs_allocator_reset_peaks(struct vs_allocator *a)
{
    VS_FULL_LOCK_SCOPE(a);
    vs_statistics_reset_peaks(&a->counters);
}

void vs_allocator_reset_accumulated(struct vs_allocator *a)
{
    VS_FULL_LOCK_SCOPE(a);
    vs_statistics_reset_accumulated(&a->counters);
}

uint64_t vs_allocator_cached_bytes(struct vs_allocator *a)
{
    VS_FULL_LOCK_SCOPE(a);
    return a->reserved_bytes - vs_counter_level(&a->counters.active_bytes);
}
