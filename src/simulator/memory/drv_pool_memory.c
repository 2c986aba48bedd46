/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: a pool has segments of device memory, cut into blocks. A freed block is
 * available immediately to the stream it was freed in, whose order protects it, and to streams that
 * wait for the free by events or the legacy stream; to others once the free has completed. Only if
 * the device has no more memory is a block reused with a wait. Segments without users are released
 * at synchronisations, above the release threshold. A block in use is found by its range, a free
 * one by its size in lists, so that neither cost depends on their number. Free neighbours that wait
 * for different streams stay separate until a request finds no room. A shareable pool's segments
 * are in a memory file of its own. */
#include "simulator/memory/vs_sim_memory.h"
#include "simulator/memory/vs_sim_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEGMENT_BYTES (UINT64_C(32) << 20) /* pools grow in these steps, as real ones do */
#define BLOCK_ALIGN 512

struct vs_sim_pool_block {
    struct vs_sim_pool_block *next; /* in address order */
    struct vs_sim_pool_block *prev;
    uintptr_t base;
    size_t bytes;
    bool used;
    struct vs_sim_pool_segment *segment;
    struct vs_sim_pool_block *list_next, **list_at; /* free: of its size */
    struct vs_sim_stream *stream; /* the stream of the free; NULL: nothing to wait for */
    uint64_t seq;
};

struct vs_sim_pool_segment {
    struct vs_sim_pool_segment *next;
    uintptr_t base;
    size_t bytes;
    uint64_t offset; /* in the pool's file, if it has one */
    atomic_uint pins; /* running work that reads or writes it */
    struct vs_sim_pool_block *first;
};

static pthread_mutex_t pools_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_pool *pools;     /* all ever created; guarded by pools_mu */
static atomic_bool something_to_trim; /* a block was freed since the last complete trim */

static void list_out(struct vs_sim_pool_block *b)
{
    *b->list_at = b->list_next;
    if (b->list_next)
        b->list_next->list_at = b->list_at;
}

static unsigned class_of(size_t bytes)
{
    unsigned log = 63 - (unsigned)__builtin_clzll(bytes);
    return log * 4 + (unsigned)(bytes >> (log - 2) & 3); /* at least 512 bytes */
}

static void free_in(struct vs_sim_pool *pool, struct vs_sim_pool_block *b)
{
    struct vs_sim_pool_block **list = &pool->free[class_of(b->bytes)];
    b->list_next = *list;
    b->list_at = list;
    if (b->list_next)
        b->list_next->list_at = &b->list_next;
    *list = b;
}

/* A pool that was destroyed is used again, once it has no blocks in use: pending work may still
 * refer to a pool, so none is ever freed. */
struct vs_sim_pool *vs_sim_pool_new(int device, size_t max_bytes, int store)
{
    pthread_mutex_lock(&pools_mu);
    struct vs_sim_pool *pool = pools;
    for (bool ours = false; pool; pool = pool->next) {
        unsigned gone = VS_SIM_POOL_GONE;
        if (atomic_load(&pool->mark) != gone)
            continue;
        pthread_mutex_lock(&pool->mu);
        ours = !pool->segments && pool->store < 0 &&
               atomic_compare_exchange_strong(&pool->mark, &gone, 0);
        pthread_mutex_unlock(&pool->mu);
        if (ours)
            break;
    }
    if (!pool) {
        pool = vs_sim_need(calloc(1, sizeof *pool));
        pthread_mutex_init(&pool->mu, NULL);
        pool->next = pools;
        pools = pool;
    }
    pthread_mutex_unlock(&pools_mu);
    pthread_mutex_lock(&pool->mu);
    pool->device = device;
    pool->max_bytes = max_bytes;
    pool->store = store;
    pool->is_default = pool->imported = pool->apart = false;
    pool->store_next = pool->release_threshold = 0;
    pool->reserved_high = pool->used_high = 0;
    pool->reuse_opportunistic = pool->reuse_internal = pool->reuse_events = 1;
    memset(pool->readable, 0, sizeof pool->readable);
    pool->readable[device] = true;
    pthread_mutex_unlock(&pool->mu);
    atomic_store(&pool->mark, VS_SIM_POOL_MARK);
    return pool;
}

struct vs_sim_pool *vs_sim_pool_default(struct vs_sim_device *device)
{
    pthread_mutex_lock(&device->mu);
    if (!device->default_pool) {
        device->default_pool = vs_sim_pool_new(device->ordinal, 0, -1);
        device->default_pool->is_default = true;
        if (!device->current_pool)
            device->current_pool = device->default_pool;
    }
    struct vs_sim_pool *pool = device->default_pool;
    pthread_mutex_unlock(&device->mu);
    return pool;
}

static bool passed(const struct vs_sim_pool_block *b)
{
    return !b->stream || atomic_load(&b->stream->completed) >= b->seq;
}

/* Merges *b* with its next block if both are free and wait for nothing, or for the same stream.
 * Both are in lists; so is the result. */
static bool join_next(struct vs_sim_pool *pool, struct vs_sim_pool_block *b)
{
    struct vs_sim_pool_block *n = b->next;
    if (!n || n->used || b->used)
        return false;
    if (passed(b))
        b->stream = NULL;
    if (passed(n))
        n->stream = NULL;
    if (b->stream != n->stream) {
        pool->apart = true;
        return false;
    }
    list_out(b);
    list_out(n);
    b->seq = b->seq > n->seq ? b->seq : n->seq;
    b->bytes += n->bytes;
    b->next = n->next;
    if (b->next)
        b->next->prev = b;
    free(n);
    free_in(pool, b);
    return true;
}

/* Merges blocks that could not be merged when freed. Returns false if none could. */
static bool join_all(struct vs_sim_pool *pool)
{
    bool any = false, apart = pool->apart;
    pool->apart = false; /* set again if some stay separate */
    for (struct vs_sim_pool_segment *seg = apart ? pool->segments : NULL; seg; seg = seg->next)
        for (struct vs_sim_pool_block *b = seg->first; b; b = b->next)
            while (join_next(pool, b))
                any = true;
    return any;
}

static void cut(struct vs_sim_pool *pool, struct vs_sim_pool_block *b, size_t bytes)
{
    if (b->bytes == bytes)
        return;
    struct vs_sim_pool_block *rest = vs_sim_dup(b, sizeof *b);
    rest->base += bytes;
    rest->bytes -= bytes;
    rest->prev = b;
    if (rest->next)
        rest->next->prev = rest;
    b->next = rest;
    b->bytes = bytes;
    free_in(pool, rest);
}

static bool follows(const struct vs_sim_follows *f, const struct vs_sim_pool_block *b)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->at[i].stream == b->stream)
            return f->at[i].seq >= b->seq;
    return false;
}

/* The requesting stream, and the work before its next one. */
struct asking {
    struct vs_sim_stream *stream;
    struct vs_sim_follows follows;
};

/* The smallest free block that *stream* may use without waiting; with *waiting*, the smallest of
 * all. */
static struct vs_sim_pool_block *find_locked(struct vs_sim_pool *pool, size_t bytes,
                                             const struct asking *by, bool waiting)
{
    struct vs_sim_pool_block *best = NULL;
    for (unsigned c = class_of(bytes); c < VS_SIM_POOL_CLASSES && !best; c++)
        for (struct vs_sim_pool_block *b = pool->free[c]; b; b = b->list_next) {
            if (b->bytes < bytes || (best && best->bytes <= b->bytes))
                continue;
            if (!waiting && b->stream && b->stream != by->stream &&
                !(pool->reuse_opportunistic && passed(b)) &&
                !(pool->reuse_events && follows(&by->follows, b)))
                continue;
            best = b;
            if (best->bytes == bytes)
                break;
        }
    return best;
}

/* ---- segments ---- */

static bool storage_take(struct vs_sim_pool *pool, struct vs_sim_pool_segment *seg)
{
    if (pool->store < 0)
        return vs_sim_space_alloc(pool->device, seg->bytes, &seg->base) == CUDA_SUCCESS;
    if (!vs_sim_space_charge(pool->device, seg->bytes))
        return false;
    seg->offset = pool->store_next;
    seg->base = vs_sim_store_open(seg->bytes, seg->bytes, pool->store, seg->offset);
    if (seg->base)
        pool->store_next += seg->bytes;
    else
        vs_sim_space_uncharge(pool->device, seg->bytes);
    return seg->base != 0;
}

/* The segment's only block is new and in no list yet. */
static struct vs_sim_pool_block *segment_add(struct vs_sim_pool *pool,
                                             struct vs_sim_pool_segment *seg,
                                             struct vs_sim_pool_block *b)
{
    b->base = seg->base;
    b->bytes = seg->bytes;
    b->segment = seg;
    seg->first = b;
    seg->next = pool->segments;
    pool->segments = seg;
    pool->reserved += seg->bytes;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return b;
}

static struct vs_sim_pool_block *grow_locked(struct vs_sim_pool *pool, size_t bytes)
{
    struct vs_sim_pool_segment *seg = vs_sim_need(calloc(1, sizeof *seg));
    struct vs_sim_pool_block *b = vs_sim_need(calloc(1, sizeof *b));
    uint64_t step[2] = {SEGMENT_BYTES, VS_SIM_PAGE_BYTES};
    for (int i = 0; i < 2; i++) {
        seg->bytes = (bytes + step[i] - 1) & ~(size_t)(step[i] - 1);
        if (pool->max_bytes && pool->reserved + seg->bytes > pool->max_bytes)
            continue;
        if (!storage_take(pool, seg))
            continue;
        free_in(pool, segment_add(pool, seg, b));
        return b;
    }
    free(seg);
    free(b);
    return NULL;
}

static bool segment_idle(struct vs_sim_pool_segment *seg)
{
    if (atomic_load(&seg->pins))
        return false;
    for (struct vs_sim_pool_block *b = seg->first; b; b = b->next)
        if (b->used || !passed(b))
            return false;
    return true;
}

static void trim_locked(struct vs_sim_pool *pool, uint64_t keep)
{
    for (struct vs_sim_pool_segment **p = &pool->segments; *p;) {
        struct vs_sim_pool_segment *seg = *p;
        if (pool->reserved - seg->bytes < keep || !segment_idle(seg)) {
            p = &seg->next;
            continue;
        }
        *p = seg->next;
        for (struct vs_sim_pool_block *b = seg->first, *next; b; b = next) {
            next = b->next;
            list_out(b);
            free(b);
        }
        if (pool->store < 0) {
            vs_sim_space_free(pool->device, seg->base, seg->bytes);
        } else {
            if (!pool->imported) {
                madvise((void *)seg->base, seg->bytes, MADV_REMOVE);
                vs_sim_space_uncharge(pool->device, seg->bytes);
            }
            vs_sim_store_unreserve(seg->base, seg->bytes);
        }
        pool->reserved -= seg->bytes;
        free(seg);
    }
}

/* ---- blocks ---- */

/* *b*, which is in no list, is the memory of *range* from now on. */
static void use_block(struct vs_sim_pool *pool, struct vs_sim_pool_block *b,
                      struct vs_sim_range *range)
{
    b->used = true;
    b->stream = NULL;
    pool->used += b->bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    range->base = b->base;
    range->block = b;
    range->offset = b->segment->offset + (b->base - b->segment->base);
}

CUresult vs_sim_pool_alloc(struct vs_sim_range *range, struct vs_sim_stream *stream,
                           struct vs_sim_stream **wait_stream, uint64_t *wait_seq)
{
    struct vs_sim_pool *pool = range->pool;
    if (range->bytes > SIZE_MAX / 2)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t bytes = (range->bytes + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
    *wait_stream = NULL;
    struct asking by = {.stream = stream};
    vs_sim_followed(stream, &by.follows);
    pthread_mutex_lock(&pool->mu);
    struct vs_sim_pool_block *b = find_locked(pool, bytes, &by, false);
    if (!b && join_all(pool))
        b = find_locked(pool, bytes, &by, false);
    if (!b)
        b = grow_locked(pool, bytes);
    if (!b) { /* idle segments, each too small, may give room for one that is large enough */
        uint64_t before = pool->reserved;
        trim_locked(pool, 0);
        b = pool->reserved < before ? grow_locked(pool, bytes) : NULL;
    }
    if (!b && pool->reuse_internal && (b = find_locked(pool, bytes, &by, true))) {
        *wait_stream = b->stream;
        *wait_seq = b->seq;
    }
    if (b) {
        list_out(b);
        cut(pool, b, bytes);
        use_block(pool, b, range);
    }
    pthread_mutex_unlock(&pool->mu);
    return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void vs_sim_pool_block_free(const struct vs_sim_range *range, struct vs_sim_stream *stream,
                            uint64_t seq)
{
    struct vs_sim_pool *pool = range->pool;
    struct vs_sim_pool_block *b = range->block;
    pthread_mutex_lock(&pool->mu);
    pool->used -= b->bytes;
    b->used = false;
    b->stream = stream;
    b->seq = seq;
    free_in(pool, b);
    join_next(pool, b);
    if (b->prev)
        join_next(pool, b->prev);
    atomic_store(&something_to_trim, true);
    pthread_mutex_unlock(&pool->mu);
}

CUresult vs_sim_pool_import(struct vs_sim_range *range, uint64_t offset)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = offset % page;
    struct vs_sim_pool *pool = range->pool;
    struct vs_sim_pool_segment *seg = vs_sim_need(calloc(1, sizeof *seg));
    struct vs_sim_pool_block *b = vs_sim_need(calloc(1, sizeof *b));
    seg->offset = offset - skip;
    seg->bytes = (skip + range->bytes + page - 1) / page * page;
    seg->base = vs_sim_store_open(seg->bytes, seg->bytes, pool->store, seg->offset);
    if (!seg->base) {
        free(seg);
        free(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&pool->mu);
    segment_add(pool, seg, b);
    b->base += skip;
    b->bytes -= skip;
    use_block(pool, b, range);
    pthread_mutex_unlock(&pool->mu);
    return CUDA_SUCCESS;
}

struct vs_sim_pool_state vs_sim_pool_state(struct vs_sim_pool *pool)
{
    pthread_mutex_lock(&pool->mu);
    struct vs_sim_pool_state state = {.handle = (uint64_t)(uintptr_t)pool,
                                      .release_threshold = pool->release_threshold,
                                      .reserved = pool->reserved,
                                      .used = pool->used};
    pthread_mutex_unlock(&pool->mu);
    return state;
}

atomic_uint *vs_sim_pool_pin(struct vs_sim_pool *pool, uintptr_t address)
{
    pthread_mutex_lock(&pool->mu);
    struct vs_sim_pool_segment *seg = pool->segments;
    while (seg && address - seg->base >= seg->bytes)
        seg = seg->next;
    if (seg)
        atomic_fetch_add(&seg->pins, 1);
    pthread_mutex_unlock(&pool->mu);
    return seg ? &seg->pins : NULL;
}

void vs_sim_pool_trim(struct vs_sim_pool *pool, uint64_t keep)
{
    pthread_mutex_lock(&pool->mu);
    trim_locked(pool, keep);
    if (pool->store >= 0 && !pool->segments && atomic_load(&pool->mark) == VS_SIM_POOL_GONE) {
        close(pool->store);
        pool->store = -1;
    }
    pthread_mutex_unlock(&pool->mu);
}

void vs_sim_pools_release_idle(void)
{
    if (!atomic_exchange(&something_to_trim, false))
        return;
    pthread_mutex_lock(&pools_mu);
    struct vs_sim_pool *pool = pools;
    pthread_mutex_unlock(&pools_mu);
    bool pending = false;
    for (; pool; pool = pool->next) {
        uint64_t keep = atomic_load(&pool->mark) == VS_SIM_POOL_GONE ? 0 : pool->release_threshold;
        vs_sim_pool_trim(pool, keep);
        pthread_mutex_lock(&pool->mu);
        pending |= pool->reserved > keep && pool->reserved > pool->used;
        pthread_mutex_unlock(&pool->mu);
    }
    if (pending)
        atomic_store(&something_to_trim, true);
}
