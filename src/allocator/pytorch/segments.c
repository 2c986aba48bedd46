/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory: taking segments from the device and giving them back, in
 * PyTorch's order (alloc_block, release_available_cached_blocks,
 * release_cached_blocks, garbage_collect_cached_blocks), the index of segments by
 * address, and the pools of each stream. Invariant: a segment is given back only
 * while it is one FREE block; ranges are ranges.c's. The caller holds the allocator's lock. */
#include <string.h>

#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

#define SEGMENTS_MIN ((size_t)512)

/* --- pools of streams --- */

static struct vs_stream_pools *stream_new(struct vs_allocator *a, struct vs_private_pool *home,
                                          uint64_t stream)
{
    struct vs_stream_pools *pools = vs_node_take_locked(a, &a->free_streams, sizeof *pools);
    if (!pools)
        return NULL;
    if (!home && vs_map_put(&a->stream_table, stream + 1, (uint64_t)(uintptr_t)pools)) {
        vs_node_give_locked(&a->free_streams, pools);
        return NULL;
    }
    memset(pools, 0, sizeof *pools);
    pools->stream = stream;
    pools->shard = vs_shards_assign_locked(&a->shards, stream);
    pools->home = home;
    for (int kind = VS_POOL_SMALL; kind <= VS_POOL_LARGE; kind++) {
        pools->pool[kind].kind = (enum vs_pool_kind)kind;
        pools->pool[kind].owner = pools;
        pools->pool[kind].index.oldest_first = a->config.tie == VS_TIE_OLDEST_SEGMENT;
    }
    struct vs_stream_pools **link = home ? &home->streams : &a->streams;
    while (*link && (*link)->stream < stream)
        link = &(*link)->next;
    pools->next = *link;
    *link = pools;
    return pools;
}

struct vs_stream_pools *vs_stream_pin_locked(struct vs_allocator *a, uint64_t stream)
{
    const uint64_t *value = vs_map_get(&a->stream_table, stream + 1);
    struct vs_stream_pools *pools =
        value ? (struct vs_stream_pools *)(uintptr_t)*value : stream_new(a, NULL, stream);
    if (!pools)
        return NULL;
    pools->pins++;
    return pools;
}

struct vs_stream_pools *vs_private_stream_pin_locked(struct vs_allocator *a,
                                                     struct vs_private_pool *home, uint64_t stream)
{
    struct vs_stream_pools *pools = home->streams;
    while (pools && pools->stream != stream)
        pools = pools->next;
    if (!pools)
        pools = stream_new(a, home, stream);
    if (pools)
        pools->pins++;
    return pools;
}

static void stream_recycle_if_unused(struct vs_allocator *a, struct vs_stream_pools *pools)
{
    if (pools->pins || pools->segments)
        return;
    struct vs_stream_pools **link = pools->home ? &pools->home->streams : &a->streams;
    while (*link != pools)
        link = &(*link)->next;
    *link = pools->next;
    if (!pools->home)
        vs_map_remove(&a->stream_table, pools->stream + 1, NULL);
    if (pools->shard->last == pools)
        pools->shard->last = NULL;
    vs_node_give_locked(&a->free_streams, pools);
}

void vs_stream_unpin_locked(struct vs_allocator *a, struct vs_stream_pools *pools)
{
    pools->pins--;
    stream_recycle_if_unused(a, pools);
}

/* --- index by address --- */

/* The number of segments that start at or below *addr*. */
static size_t segments_up_to(const struct vs_allocator *a, uint64_t addr)
{
    size_t low = 0, high = a->segment_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a->segments[middle]->addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct vs_segment *vs_segment_find_locked(const struct vs_allocator *a, uint64_t addr)
{
    size_t n = segments_up_to(a, addr);
    if (!n || addr - a->segments[n - 1]->addr >= a->segments[n - 1]->size)
        return NULL;
    return a->segments[n - 1];
}

static enum vs_err index_reserve(struct vs_allocator *a)
{
    if (a->segment_count < a->segment_capacity)
        return VS_OK;
    size_t capacity = a->segment_capacity ? 2 * a->segment_capacity : SEGMENTS_MIN;
    struct vs_segment **larger = vs_pages_map(capacity * sizeof *larger);
    if (!larger)
        return VS_ERR_NOMEM;
    if (a->segment_count)
        memcpy(larger, a->segments, a->segment_count * sizeof *larger);
    vs_pages_unmap(a->segments, a->segment_capacity * sizeof *a->segments);
    a->segments = larger;
    a->segment_capacity = capacity;
    return VS_OK;
}

static bool overlaps(const struct vs_allocator *a, uint64_t addr, uint64_t size)
{
    size_t n = segments_up_to(a, addr);
    return (n && addr - a->segments[n - 1]->addr < a->segments[n - 1]->size) ||
           (n < a->segment_count && a->segments[n]->addr - addr < size);
}

/* --- segments --- */

static void segment_nodes_give(struct vs_allocator *a, struct vs_segment *segment)
{
    if (segment->first)
        vs_block_recycle_locked(segment->pool, segment->first);
    vs_page_tables_give_locked(a, segment);
    vs_node_give_locked(&a->free_segments, segment);
}

/* The nodes of a segment of one TAKEN block; NULL when host memory is out. */
static struct vs_segment *segment_nodes_take(struct vs_allocator *a, struct vs_pool *pool,
                                             uint64_t addr, uint64_t size)
{
    struct vs_segment *segment = vs_node_take_locked(a, &a->free_segments, sizeof *segment);
    if (!segment)
        return NULL;
    *segment = (struct vs_segment){
        .addr = addr, .size = size, .pool = pool, .number = a->segments_made++};
    segment->first = vs_block_new_in_locked(a, pool);
    if (!segment->first) {
        segment_nodes_give(a, segment);
        return NULL;
    }
    *segment->first = (struct vs_block){
        .addr = addr, .size = size, .state = VS_BLOCK_TAKEN, .segment = segment};
    return segment;
}

enum vs_err vs_segment_enter_locked(struct vs_allocator *a, struct vs_pool *pool, uint64_t addr,
                                    uint64_t size, struct vs_segment **out)
{
    if (!addr || addr + size < addr || overlaps(a, addr, size))
        return VS_ERR_ARG;
    enum vs_err err = index_reserve(a);
    if (err)
        return err;
    struct vs_segment *segment = segment_nodes_take(a, pool, addr, size);
    if (!segment)
        return VS_ERR_NOMEM;
    size_t n = segments_up_to(a, segment->addr);
    memmove(&a->segments[n + 1], &a->segments[n], (a->segment_count - n) * sizeof *a->segments);
    a->segments[n] = segment;
    a->segment_count++;
    pool->owner->segments++;
    *out = segment;
    return VS_OK;
}

void vs_segment_leave_locked(struct vs_allocator *a, struct vs_segment *segment)
{
    struct vs_stream_pools *owner = segment->pool->owner;
    size_t n = segments_up_to(a, segment->addr) - 1;
    a->segment_count--;
    memmove(&a->segments[n], &a->segments[n + 1], (a->segment_count - n) * sizeof *a->segments);
    segment_nodes_give(a, segment);
    owner->segments--;
    stream_recycle_if_unused(a, owner);
}

enum vs_err vs_segment_register_locked(struct vs_allocator *a, struct vs_pool *pool, uint64_t addr,
                                       uint64_t size, struct vs_segment **out)
{
    enum vs_err err = vs_segment_enter_locked(a, pool, addr, size, out);
    if (err)
        return err;
    err = vs_page_tables_take_locked(a, *out, vs_pool_is_dense(a, pool));
    if (err) {
        vs_segment_leave_locked(a, *out);
        return err;
    }
    vs_shards_hint_locked(&a->shards, addr, size, pool->owner->shard);
    vs_reserved_raise_locked(a, pool, size);
    vs_counter_increase(&a->counters.segment, pool->kind, 1);
    if (size >= a->max_split)
        vs_counter_increase(&a->counters.oversize_segments, VS_POOL_LARGE, 1);
    return VS_OK;
}

enum vs_err vs_segment_give_back(struct vs_allocator *a, const struct vs_segment *segment)
{
    return a->ops.segment_free(a->ops_ctx, segment->addr, segment->size);
}

/* alloc_block: one attempt at the device. */
static enum vs_err pytorch_grow(struct vs_allocator *a, const struct vs_request *request,
                                struct vs_block **out)
{
    uint64_t addr, size = request->whole ? request->rounded
                                         : vs_segment_size_for(&a->config, request->rounded);
    if (a->limited && a->reserved_bytes + size > a->allowed_bytes)
        return VS_ERR_DEVICE_OOM;
    enum vs_err err = a->ops.segment_alloc(a->ops_ctx, size, &addr);
    if (err)
        return err;
    struct vs_segment *segment;
    err = vs_segment_register_locked(a, request->pool, addr, size, &segment);
    if (err) {
        /* the segment cannot be entered: freeing it is all that can be done */
        enum vs_err ignored = a->ops.segment_free(a->ops_ctx, addr, size);
        (void)ignored;
        return err == VS_ERR_ARG ? VS_ERR_DEVICE : err;
    }
    a->counters.num_device_alloc++;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_ALLOC, request->kind, addr, size, size,
                             request->stream);
    *out = segment->first;
    return VS_OK;
}

/* release_block: frees the segment that is the FREE block *block*. */
static enum vs_err release(struct vs_allocator *a, struct vs_block *block)
{
    struct vs_segment *segment = block->segment;
    enum vs_err err = vs_segment_give_back(a, segment);
    if (!err)
        vs_segment_taken_back_locked(a, block);
    return err;
}

void vs_segment_taken_back_locked(struct vs_allocator *a, struct vs_block *block)
{
    struct vs_segment *segment = block->segment;
    struct vs_pool *pool = segment->pool;
    vs_free_remove(&pool->index, block);
    a->counters.num_device_free++;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_FREE, pool->kind, segment->addr, segment->size,
                             segment->size, pool->owner->stream);
    vs_reserved_lower_locked(a, pool, segment->size);
    vs_counter_decrease(&a->counters.segment, pool->kind, 1);
    if (segment->size >= a->max_split)
        vs_counter_decrease(&a->counters.oversize_segments, VS_POOL_LARGE, 1);
    vs_segment_leave_locked(a, segment);
}

static struct vs_block *first_free(const struct vs_pool *pool)
{
    return vs_free_index_fit(&pool->index, 0);
}

static struct vs_block *next_free(const struct vs_pool *pool, const struct vs_block *block)
{
    return vs_free_index_after(&pool->index, block);
}

/* Drops the dormant views of every stream in *list*. */
static enum vs_err drop_views(struct vs_allocator *a, struct vs_stream_pools *list)
{
    enum vs_err first_error = VS_OK;
    for (struct vs_stream_pools *pools = list, *next; pools; pools = next) {
        next = pools->next;
        pools->pins++;
        enum vs_err err = vs_views_drop_locked(a, pools, 0);
        if (err && !first_error)
            first_error = err;
        vs_stream_unpin_locked(a, pools);
    }
    return first_error;
}

/* release_blocks: frees every wholly free segment of one kind, by stream and in the order of the
 * index. */
enum vs_err vs_segment_release_kind_locked(struct vs_allocator *a, struct vs_stream_pools **list,
                                           enum vs_pool_kind kind, uint64_t *released)
{
    enum vs_err first_error = VS_OK;
    for (struct vs_stream_pools *pools = *list, *next_pools; pools; pools = next_pools) {
        next_pools = pools->next;
        struct vs_pool *pool = &pools->pool[kind];
        pools->pins++; /* it must outlive its last segment until the loop ends */
        for (struct vs_block *block = first_free(pool), *next; block; block = next) {
            next = next_free(pool, block);
            if (!vs_block_is_whole(block))
                continue;
            uint64_t size = block->size;
            enum vs_err err = release(a, block);
            if (!err)
                *released += size;
            else if (!first_error)
                first_error = err;
        }
        vs_stream_unpin_locked(a, pools);
    }
    /* a page that is mapped twice must be unmapped twice */
    enum vs_err dropped = drop_views(a, *list);
    if (dropped)
        return first_error ? first_error : dropped;
    for (struct vs_stream_pools *pools = *list, *next_pools; pools; pools = next_pools) {
        next_pools = pools->next;
        pools->pins++;
        enum vs_err err = vs_range_release_locked(a, &pools->pool[kind], released);
        if (err && !first_error)
            first_error = err;
        vs_stream_unpin_locked(a, pools);
    }
    return first_error;
}

static bool unsettled(const struct vs_allocator *a, const struct vs_stream_pools *list)
{
    for (const struct vs_stream_pools *pools = list; pools; pools = pools->next) {
        if (vs_range_unsettled_locked(a, &pools->pool[VS_POOL_LARGE]) ||
            vs_range_unsettled_locked(a, &pools->pool[VS_POOL_SMALL]))
            return true;
    }
    return false;
}

/* Synchronises before memory is unmapped of the default pool and of all freeable ones, where that is
 * needed. The full lock is released meanwhile. */
static enum vs_err settle(struct vs_allocator *a)
{
    if (a->config.reuse != VS_REUSE_AFTER_SYNC)
        return VS_OK;
    bool wait = unsettled(a, a->streams);
    for (const struct vs_private_pool *p = a->private_pools; p && !wait; p = p->next)
        wait = !p->users && unsettled(a, p->streams);
    return wait ? vs_allocator_wait_locked(a) : VS_OK;
}

enum vs_err vs_segment_release_cached_locked(struct vs_allocator *a, uint64_t *released)
{
    enum vs_err waited = VS_OK, large = VS_OK, small = VS_OK;
    if (!a->captures) {
        uint64_t generation = a->generation;
        waited = vs_events_wait_locked(a);
        enum vs_err settled = settle(a);
        if (a->generation != generation)
            return VS_ERR_STATE;
        if (!waited)
            waited = settled;
        large = vs_segment_release_kind_locked(a, &a->streams, VS_POOL_LARGE, released);
        small = vs_segment_release_kind_locked(a, &a->streams, VS_POOL_SMALL, released);
    }
    enum vs_err private = vs_private_pools_release_locked(a, released);
    if (a->retired && !a->captures)
        vs_kept_release_locked(a, released);
    return waited ? waited : large ? large : small ? small : private;
}

/* release_available_cached_blocks: with max_split_size set, frees oversize blocks of this pool: one
 * that is large enough, or the largest ones until their sum is. */
static bool release_oversize(struct vs_allocator *a, const struct vs_request *request)
{
    if (a->max_split >> 56)
        return false; /* unlimited, or nearly: no block is that large */
    struct vs_pool *pool = request->pool;
    uint64_t size = request->rounded < a->max_split ? a->max_split : request->rounded;
    struct vs_block *block = vs_free_index_fit(&pool->index, size);
    if (block && !block->segment->handle_bytes)
        return vs_block_is_whole(block) && release(a, block) == VS_OK;
    uint64_t released = 0;
    block = vs_free_index_below(&pool->index, size);
    while (block && released < size && block->size >= a->max_split) {
        struct vs_block *smaller = vs_free_index_before(&pool->index, block);
        uint64_t bytes = block->size;
        if (vs_block_is_whole(block) && release(a, block) == VS_OK)
            released += bytes;
        block = smaller;
    }
    return released >= size;
}

/* The sum and number of the ages of the free large segments. An age is counted in searches of the
 * large pools since the segment became free. */
static uint64_t ages(const struct vs_allocator *a, uint64_t *count)
{
    uint64_t sum = 0;
    *count = 0;
    for (const struct vs_stream_pools *pools = a->streams; pools; pools = pools->next) {
        const struct vs_pool *pool = &pools->pool[VS_POOL_LARGE];
        for (struct vs_block *block = first_free(pool); block; block = next_free(pool, block)) {
            if (!vs_block_is_whole(block))
                continue;
            sum += a->searches[VS_POOL_LARGE] - block->segment->idle_since;
            ++*count;
        }
    }
    return sum;
}

/* One round of collection: frees every free large segment at least as old as the mean. */
static uint64_t collect_older(struct vs_allocator *a, double mean_age)
{
    uint64_t released = 0;
    for (struct vs_stream_pools *pools = a->streams, *next_pools; pools; pools = next_pools) {
        next_pools = pools->next;
        struct vs_pool *pool = &pools->pool[VS_POOL_LARGE];
        pools->pins++;
        for (struct vs_block *block = first_free(pool), *next; block; block = next) {
            next = next_free(pool, block);
            uint64_t age = a->searches[VS_POOL_LARGE] - block->segment->idle_since;
            uint64_t bytes = block->size;
            if (vs_block_is_whole(block) && (double)age >= mean_age && release(a, block) == VS_OK)
                released += bytes;
        }
        vs_stream_unpin_locked(a, pools);
    }
    return released;
}

enum vs_err vs_segment_obtain_locked(struct vs_allocator *a, struct vs_request *request,
                                     struct vs_block **out)
{
    uint64_t threshold = /* garbage_collect_cached_blocks */
        a->limited && a->config.garbage_collection_threshold > 0
            ? (uint64_t)(a->config.garbage_collection_threshold * (double)a->allowed_bytes)
            : UINT64_MAX;
    while (a->reserved_bytes > threshold) {
        uint64_t count, sum = ages(a, &count);
        if (!count || !collect_older(a, (double)sum / (double)count))
            break;
    }
    enum vs_err err = request->policy->grow(a, request, out);
    if (err != VS_ERR_DEVICE_OOM)
        return err;
    if (release_oversize(a, request)) {
        err = request->policy->grow(a, request, out);
        if (err != VS_ERR_DEVICE_OOM)
            return err;
    }
    if (a->captures)
        return err; /* no waiting is allowed */
    uint64_t released = 0;
    err = vs_segment_release_cached_locked(a, &released);
    if (err == VS_ERR_STATE)
        return err;
    a->counters.num_alloc_retries++;
    return request->policy->grow(a, request, out);
}

/* --- PyTorch's rules with segments of fixed size --- */

/* get_free_block */
struct vs_block *vs_pytorch_search_locked(struct vs_allocator *a, const struct vs_request *request)
{
    struct vs_block *block = vs_free_index_fit(&request->pool->index, request->rounded);
    if (block && block->segment->handle_bytes)
        block = request->policy->fit(request, block);
    if (!block ||
        !vs_may_take(block->size, request->rounded, a->max_split, a->non_split_rounding))
        return NULL;
    vs_free_remove(&request->pool->index, block);
    vs_block_set_state(block, VS_BLOCK_TAKEN);
    return block;
}

/* These requests do not use ranges. */
static struct vs_block *pytorch_fit(const struct vs_request *request, struct vs_block *block)
{
    while (block && block->segment->handle_bytes)
        block = vs_free_index_after(&request->pool->index, block);
    return block;
}

const struct vs_policy vs_policy_pytorch = {
    .name = "pytorch",
    .tunable = true,
    .small_max = VS_SMALL_MAX,
    .fit = pytorch_fit,
    .search = vs_pytorch_search_locked,
    .grow = pytorch_grow,
};
