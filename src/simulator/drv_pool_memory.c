/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: a pool holds segments of device memory, cut into blocks.
 * A block freed in a stream is free at once for that stream, whose order protects
 * it, and for others when the free has been passed; only when the device has no
 * more is a block handed on with a wait. Segments without users go back at
 * synchronisations, above the release threshold. */
#include "simulator/vs_sim_pool.h"

#include <stdlib.h>

#define SEGMENT_BYTES (UINT64_C(32) << 20) /* pools grow in steps of this, as real ones do */
#define BLOCK_ALIGN 512

struct block {
    struct block *next; /* in address order */
    struct block *prev;
    uintptr_t base;
    size_t bytes;
    bool used;
    struct vs_sim_stream *stream; /* freed in; NULL: nothing to wait for */
    uint64_t seq;
};

struct vs_sim_pool_segment {
    struct vs_sim_pool_segment *next;
    uintptr_t base;
    size_t bytes;
    struct block *first;
};

static pthread_mutex_t pools_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_pool *pools;     /* all ever; guarded by pools_mu */
static atomic_bool something_to_trim; /* a block was freed since the last trim left nothing */

struct vs_sim_pool *vs_sim_pool_new(int device, bool is_default, size_t max_bytes)
{
    struct vs_sim_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->mu, NULL);
    pool->device = device;
    pool->is_default = is_default;
    pool->max_bytes = max_bytes;
    pool->reuse_opportunistic = pool->reuse_internal = pool->reuse_events = 1;
    pool->readable[device] = true;
    atomic_store(&pool->mark, VS_SIM_POOL_MARK);
    pthread_mutex_lock(&pools_mu);
    pool->next = pools;
    pools = pool;
    pthread_mutex_unlock(&pools_mu);
    return pool;
}

struct vs_sim_pool *vs_sim_pool_default(struct vs_sim_device *device)
{
    pthread_mutex_lock(&device->mu);
    if (!device->default_pool) {
        device->default_pool = vs_sim_pool_new(device->ordinal, true, 0);
        if (!device->current_pool)
            device->current_pool = device->default_pool;
    }
    struct vs_sim_pool *pool = device->default_pool;
    pthread_mutex_unlock(&device->mu);
    return pool;
}

static bool passed(const struct block *b)
{
    return !b->stream || atomic_load(&b->stream->completed) >= b->seq;
}

/* Neighbours become one block only when nothing, or the same stream, is waited for. */
static void join_next(struct block *b)
{
    struct block *n = b->next;
    if (!n || n->used || b->used)
        return;
    if (passed(b))
        b->stream = NULL;
    if (passed(n))
        n->stream = NULL;
    if (b->stream != n->stream)
        return;
    b->seq = b->seq > n->seq ? b->seq : n->seq;
    b->bytes += n->bytes;
    b->next = n->next;
    if (b->next)
        b->next->prev = b;
    free(n);
}

static void cut(struct block *b, size_t bytes)
{
    struct block *rest;
    if (b->bytes == bytes || !(rest = malloc(sizeof *rest)))
        return; /* without host memory the block is simply larger */
    *rest = *b;
    rest->base += bytes;
    rest->bytes -= bytes;
    rest->prev = b;
    if (rest->next)
        rest->next->prev = rest;
    b->next = rest;
    b->bytes = bytes;
}

/* The smallest free block that *stream* may use without waiting; with *waiting*,
 * the smallest at all. */
static struct block *find_locked(struct vs_sim_pool *pool, size_t bytes,
                                 struct vs_sim_stream *stream, bool waiting)
{
    struct block *best = NULL;
    for (struct vs_sim_pool_segment *seg = pool->segments; seg; seg = seg->next)
        for (struct block *b = seg->first; b; b = b->next) {
            if (!b->used)
                join_next(b);
            if (b->used || b->bytes < bytes || (best && best->bytes <= b->bytes))
                continue;
            if (waiting || !b->stream || b->stream == stream ||
                (pool->reuse_opportunistic && passed(b)))
                best = b;
        }
    return best;
}

static struct block *grow_locked(struct vs_sim_pool *pool, size_t bytes)
{
    struct vs_sim_pool_segment *seg = calloc(1, sizeof *seg);
    struct block *b = calloc(1, sizeof *b);
    uint64_t step[2] = {SEGMENT_BYTES, VS_SIM_PAGE_BYTES};
    for (int i = 0; seg && b && i < 2; i++) {
        seg->bytes = (bytes + step[i] - 1) & ~(size_t)(step[i] - 1);
        if (pool->max_bytes && pool->reserved + seg->bytes > pool->max_bytes)
            continue;
        if (vs_sim_space_alloc(pool->device, seg->bytes, &seg->base) != CUDA_SUCCESS)
            continue;
        b->base = seg->base;
        b->bytes = seg->bytes;
        seg->first = b;
        seg->next = pool->segments;
        pool->segments = seg;
        pool->reserved += seg->bytes;
        if (pool->reserved > pool->reserved_high)
            pool->reserved_high = pool->reserved;
        return b;
    }
    free(seg);
    free(b);
    return NULL;
}

CUresult vs_sim_pool_alloc(struct vs_sim_pool *pool, size_t bytes, struct vs_sim_stream *stream,
                           uintptr_t *address, struct vs_sim_stream **wait_stream,
                           uint64_t *wait_seq)
{
    if (bytes > SIZE_MAX / 2)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bytes = (bytes + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
    *wait_stream = NULL;
    pthread_mutex_lock(&pool->mu);
    struct block *b = find_locked(pool, bytes, stream, false);
    if (!b)
        b = grow_locked(pool, bytes);
    if (!b && pool->reuse_internal && (b = find_locked(pool, bytes, stream, true))) {
        *wait_stream = b->stream;
        *wait_seq = b->seq;
    }
    if (b) {
        cut(b, bytes);
        b->used = true;
        b->stream = NULL;
        *address = b->base;
        pool->used += b->bytes;
        if (pool->used > pool->used_high)
            pool->used_high = pool->used;
    }
    pthread_mutex_unlock(&pool->mu);
    return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool vs_sim_pool_block_free(struct vs_sim_pool *pool, uintptr_t address,
                            struct vs_sim_stream *stream, uint64_t seq)
{
    struct block *b = NULL;
    pthread_mutex_lock(&pool->mu);
    for (struct vs_sim_pool_segment *seg = pool->segments; seg && !b; seg = seg->next)
        if (address - seg->base < seg->bytes)
            for (b = seg->first; b && b->base != address;)
                b = b->next;
    bool found = b && b->used;
    if (found) {
        pool->used -= b->bytes;
        b->used = false;
        b->stream = stream;
        b->seq = seq;
        join_next(b);
        if (b->prev && !b->prev->used)
            join_next(b->prev);
        atomic_store(&something_to_trim, true);
    }
    pthread_mutex_unlock(&pool->mu);
    return found;
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

static bool segment_idle(struct vs_sim_pool_segment *seg)
{
    for (struct block *b = seg->first; b; b = b->next)
        if (b->used || !passed(b))
            return false;
    return true;
}

static void segment_free(struct vs_sim_pool *pool, struct vs_sim_pool_segment *seg)
{
    for (struct block *b = seg->first; b;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    vs_sim_space_free(pool->device, seg->base, seg->bytes);
    pool->reserved -= seg->bytes;
    free(seg);
}

void vs_sim_pool_trim(struct vs_sim_pool *pool, uint64_t keep)
{
    pthread_mutex_lock(&pool->mu);
    for (struct vs_sim_pool_segment **p = &pool->segments; *p;) {
        struct vs_sim_pool_segment *seg = *p;
        if (pool->reserved - seg->bytes < keep || !segment_idle(seg)) {
            p = &seg->next;
            continue;
        }
        *p = seg->next;
        segment_free(pool, seg);
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
