/* SPDX-License-Identifier: Apache-2.0
 *
 * The common requests and frees, under the lock of one shard: a request that a cached block of its
 * own stream serves at once, and the free of a block that no other stream used. Each function first
 * checks that everything it needs is available (a block, a node, room in the statistics) and
 * changes nothing otherwise; allocator.c, which has the complete rules, then does the same step
 * under the full lock. Placement, statistics and events are the same on both paths. */
#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

/* The pools of *stream*, or NULL. */
static struct vs_stream_pools *pools_of(const struct vs_allocator *a, struct vs_shard *shard,
                                        uint64_t stream)
{
    struct vs_stream_pools *pools = shard->last;
    if (pools && pools->stream == stream)
        return pools;
    const uint64_t *value = vs_map_get(&a->stream_table, stream + 1);
    if (!value)
        return NULL;
    pools = (struct vs_stream_pools *)(uintptr_t)*value;
    return shard->last = pools;
}

/* The change of inactive_split by a step: blocks and bytes. */
struct split_change {
    int64_t count, bytes;
};

static bool room_for_split(const struct vs_tally *tally, enum vs_pool_kind kind,
                           struct split_change change)
{
    return (change.count <= 0 ||
            vs_tally_has_room(tally, kind, VS_TALLY_SPLIT, (uint64_t)change.count)) &&
           (change.bytes <= 0 ||
            vs_tally_has_room(tally, kind, VS_TALLY_SPLIT_BYTES, (uint64_t)change.bytes));
}

static void count_split(struct vs_tally *tally, enum vs_pool_kind kind, struct split_change change)
{
    vs_tally_change(tally, kind, VS_TALLY_SPLIT, change.count);
    vs_tally_change(tally, kind, VS_TALLY_SPLIT_BYTES, change.bytes);
}

/* --- requests --- */

__attribute__((always_inline)) static inline struct split_change
change_by_taking(const struct vs_block *block, uint64_t size)
{
    if (block->segment->handle_bytes)
        return (struct split_change){0, 0};
    if (vs_block_is_split(block))
        return (struct split_change){size < block->size ? 0 : -1, -(int64_t)size};
    if (size < block->size)
        return (struct split_change){1, (int64_t)(block->size - size)};
    return (struct split_change){0, 0};
}

/* The best fit, if the fast path may use it; otherwise NULL. */
static struct vs_block *fit_in_shard(const struct vs_allocator *a, const struct vs_request *request)
{
    struct vs_block *block = vs_free_index_fit(&request->pool->index, request->rounded);
    if (block && block->segment->handle_bytes && request->policy->fit)
        block = request->policy->fit(request, block);
    return block && block->size < a->max_split ? block : NULL;
}

/* *block*: FREE and indexed, or *taken*. On false it is unchanged. */
__attribute__((always_inline)) static inline bool
hand_out_in_shard(struct vs_allocator *a, struct vs_shard *shard,
                  const struct vs_request *request, struct vs_block *block, bool taken,
                  struct vs_allocation *out)
{
    enum vs_pool_kind kind = request->kind;
    struct vs_free_index *index = &request->pool->index;
    struct vs_tally *tally = &shard->tally;
    bool cut = vs_request_splits(a, request, block->size);
    uint64_t size = cut ? request->rounded : block->size;
    struct split_change change = change_by_taking(block, size);
    /* a neighbour freed during the wait for the device found this block TAKEN */
    if (taken && cut && vs_block_joins(block->next) && !block->segment->handle_bytes)
        change.count--;
    if ((cut && !shard->free_blocks.head) ||
        !vs_tally_has_room(tally, kind, VS_TALLY_BLOCKS, 1) ||
        !vs_tally_has_room(tally, kind, VS_TALLY_BYTES, size) ||
        !vs_tally_has_room(tally, kind, VS_TALLY_REQUESTED, request->requested) ||
        !room_for_split(tally, kind, change) ||
        vs_live_reserve(&shard->live))
        return false;
    if (!taken)
        vs_free_remove(index, block);
    if (cut) {
        struct vs_block *rest = vs_block_take(shard);
        vs_block_cut(block, rest, size);
        if (taken)
            vs_block_merge(shard, rest, rest->next);
        vs_free_insert(index, rest);
    }
    vs_block_occupy(block, request->requested, vs_serial_next(a, shard), out);
    vs_live_insert(&shard->live, block);
    vs_allocator_emit_for_locked(a, request->call, VS_ALLOCATOR_ALLOC, kind, block->addr,
                                 request->requested, size, request->stream);
    vs_tally_raise(tally, kind, VS_TALLY_BLOCKS, 1);
    vs_tally_raise(tally, kind, VS_TALLY_BYTES, size);
    vs_tally_raise(tally, kind, VS_TALLY_REQUESTED, request->requested);
    if (change.count || change.bytes)
        count_split(tally, kind, change);
    shard->open = true;
    return true;
}

/* The block fits but is not safe yet: the lock is released during the wait for the device. With one
 * shard in use that lock is the full lock, so tickets may be taken under it; counters need no
 * gathering or sharing unless something went wrong. */
__attribute__((noinline)) static enum vs_err malloc_after_sync(struct vs_allocator *a,
                                                               struct vs_shard *shard,
                                                               const struct vs_request *request,
                                                               struct vs_block *block,
                                                               struct vs_allocation *out)
{
    uint64_t generation = a->generation, ticket = ++a->sync_started;
    vs_free_remove(&request->pool->index, block);
    vs_block_set_state(block, VS_BLOCK_TAKEN);
    vs_quick_release(&shard->lock);
    enum vs_err err = a->ops.synchronize(a->ops_ctx);
    vs_quick_acquire(&shard->lock);
    bool alone = a->shards.count == 1, same = a->generation == generation;
    if (!err && alone) {
        vs_sync_completed_locked(a, ticket);
        if (same && hand_out_in_shard(a, shard, request, block, true, out))
            return VS_OK;
    }
    vs_shards_gather_locked(&a->shards, &a->counters);
    a->call = request->call;
    if (!err && !alone)
        vs_sync_completed_locked(a, ticket);
    if (!same)
        err = VS_ERR_STATE; /* the block does not exist any more */
    else if (err)
        vs_block_cache_locked(a, block);
    else
        err = vs_block_hand_out_locked(a, request, block, out);
    a->call = NULL;
    vs_fast_prepare_locked(a, shard);
    /* the full lock becomes one lock: that of the shard, the first */
    if (vs_fast_possible_locked(a))
        vs_shards_share_locked(&a->shards, &a->counters);
    for (struct vs_shard *s = a->shards.shard + a->shards.count; --s > shard;)
        vs_quick_release(&s->lock);
    return err;
}

bool vs_fast_malloc(struct vs_allocator *a, size_t bytes, uint64_t stream, void *call,
                    struct vs_allocation *out, enum vs_err *err)
{
    struct vs_shard *shard = vs_shards_of_stream(&a->shards, stream);
    *err = VS_OK;
    if (!shard || bytes > VS_ALLOCATOR_REQUEST_MAX)
        return false;
    /* one pointer from here on: otherwise the address is computed again for every field */
    __asm__("" : "+r"(shard));
    struct vs_request request = {.requested = bytes, .stream = stream, .policy = a->policy,
                                 .call = call};
    request.rounded = vs_round_request(&a->config, bytes);
    request.kind = vs_request_kind(request.policy, request.rounded);
    vs_quick_acquire(&shard->lock);
    struct vs_stream_pools *pools = pools_of(a, shard, stream);
    bool done = false;
    if (pools && vs_fast_possible_locked(a)) {
        request.pool = &pools->pool[request.kind];
        struct vs_block *block = fit_in_shard(a, &request);
        if (block && block->idle.safe_after <= a->sync_completed) {
            done = hand_out_in_shard(a, shard, &request, block, false, out);
        } else if (block && a->shards.count == 1) {
            *err = malloc_after_sync(a, shard, &request, block, out);
            done = true;
        }
    }
    vs_quick_release(&shard->lock);
    return done;
}

/* --- frees --- */

/* The change of inactive_split when *block* is cached and merged with its neighbours. */
static struct split_change change_by_caching(const struct vs_block *block)
{
    const struct vs_block *prev = block->prev, *next = block->next;
    struct split_change change = {0, 0};
    if (block->segment->handle_bytes)
        return change;
    if (vs_block_joins(prev)) {
        change.count--;
        change.bytes -= (int64_t)prev->size;
        prev = prev->prev;
    }
    if (vs_block_joins(next)) {
        change.count--;
        change.bytes -= (int64_t)next->size;
        next = next->next;
    }
    if (prev || next) /* still a part of its segment: all of it is added */
        return (struct split_change){change.count + 1, (int64_t)block->size};
    return change;
}

/* Whether memory of *pool* is safe from work on *user* once the block is free. */
static bool ordered_with(const struct vs_allocator *a, const struct vs_pool *pool, uint64_t user)
{
    return user == VS_NO_STREAM || user == pool->owner->stream ||
           a->config.reuse == VS_REUSE_AFTER_SYNC;
}

__attribute__((always_inline)) static inline bool
free_in_shard(struct vs_allocator *a, struct vs_shard *shard, uint64_t addr, uint64_t user,
              void *call)
{
    vs_block_ref *link = vs_live_link(&shard->live, addr);
    struct vs_block *block = vs_block_of(*link);
    if (!block || block->state != VS_BLOCK_LIVE)
        return false;
    struct vs_pool *pool = block->segment->pool;
    enum vs_pool_kind kind = pool->kind;
    struct vs_tally *tally = &shard->tally;
    uint64_t size = block->size, requested = block->used.requested;
    struct split_change change = change_by_caching(block);
    if (block->used.has_uses || block->segment->view || size >= a->max_split ||
        !ordered_with(a, pool, user) || !room_for_split(tally, kind, change))
        return false;
    vs_live_unlink(&shard->live, link);
    vs_block_mark_start(block, false);
    vs_allocator_emit_for_locked(a, call, VS_ALLOCATOR_FREE, kind, addr, requested, size,
                                 pool->owner->stream);
    vs_allocator_emit_for_locked(a, call, VS_ALLOCATOR_FREE_COMPLETED, kind, addr, requested, size,
                                 pool->owner->stream);
    block->idle.safe_after = a->config.reuse == VS_REUSE_AFTER_SYNC ? a->sync_started + 1 : 0;
    vs_block_merge(shard, block, block->prev);
    vs_block_merge(shard, block, block->next);
    vs_block_set_state(block, VS_BLOCK_FREE);
    vs_free_insert(&pool->index, block);
    if (!block->segment->handle_bytes && !vs_block_is_split(block))
        block->segment->idle_since = a->searches[kind];
    vs_tally_lower(tally, kind, VS_TALLY_BLOCKS, 1);
    vs_tally_lower(tally, kind, VS_TALLY_BYTES, size);
    vs_tally_lower(tally, kind, VS_TALLY_REQUESTED, requested);
    if (change.count || change.bytes)
        count_split(tally, kind, change);
    shard->open = true;
    return true;
}

bool vs_fast_free(struct vs_allocator *a, uint64_t addr, uint64_t user, void *call)
{
    struct vs_shard *shard = vs_shards_of_page(&a->shards, addr);
    __asm__("" : "+r"(shard)); /* as in vs_fast_malloc */
    vs_quick_acquire(&shard->lock);
    bool done = free_in_shard(a, shard, addr, user, call);
    vs_quick_release(&shard->lock);
    return done;
}

/* --- lookup --- */

bool vs_fast_owns(struct vs_allocator *a, uint64_t addr, uint64_t stream)
{
    struct vs_shard *shard = vs_shards_of_page(&a->shards, addr);
    vs_quick_acquire(&shard->lock);
    const struct vs_block *block = vs_live_find(&shard->live, addr);
    bool owns = block && ordered_with(a, block->segment->pool, stream);
    vs_quick_release(&shard->lock);
    return owns;
}

bool vs_fast_find(struct vs_allocator *a, uint64_t addr, struct vs_allocation *out, bool *live)
{
    struct vs_shard *shard = vs_shards_of_page(&a->shards, addr);
    vs_quick_acquire(&shard->lock);
    const struct vs_block *block = vs_live_find(&shard->live, addr);
    if (!block) { /* perhaps inside a block; segments change only under the full lock */
        const struct vs_segment *segment = vs_segment_find_locked(a, addr);
        if (segment && segment->pool->owner->shard == shard)
            block = vs_segment_block_at_locked(segment, addr);
    }
    bool found = block && block->state != VS_BLOCK_UNMAPPED;
    if (found)
        vs_block_describe(a, block, out, live);
    vs_quick_release(&shard->lock);
    return found;
}

/* --- after a step that needed the full lock --- */

void vs_fast_prepare_locked(struct vs_allocator *a, struct vs_shard *shard)
{
    if (!vs_fast_possible_locked(a))
        return;
    (void)vs_block_reserve_locked(a, &shard->free_blocks); /* on failure the locked path is used */
    a->shards.favoured = (uint32_t)(shard - a->shards.shard);
}
