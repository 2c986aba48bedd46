/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's own structures, shared by its files. Everything in struct vs_allocator that is
 * not immutable changes under the full lock (all shards' locks, see shard.h) and may be read under
 * any one shard's lock. Pools, segments and blocks change under the lock of the shard they belong
 * to.
 *
 * A segment is one device allocation; blocks tile it, linked by address. A free block is in the
 * free index of its segment's pool; a live one is in the pointer table. Segments belong to the
 * (stream, kind) pool they were made for. */
#ifndef VS_ALLOCATOR_INTERNAL_H
#define VS_ALLOCATOR_INTERNAL_H

#include "allocator/core/page_index.h"
#include "allocator/core/views.h"
#include "allocator/core/allocator.h"
#include "allocator/core/block_store.h"
#include "allocator/core/free_index.h"
#include "allocator/core/placement.h"
#include "allocator/core/shard.h"
#include "allocator/core/statistics.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "base/vs_treap.h"

struct vs_segment;
struct vs_event_queue;

/* Another stream's use of a block: in vs_allocator.uses while the block is live; after the free in
 * the stream's queue with its event, or on the deferred list without one. */
struct vs_note {
    struct vs_note *next;
    struct vs_event_queue *queue; /* NULL: the block is used by others (kept.c) */
    struct vs_block *block;
    uint64_t event;               /* with a queue; otherwise enum vs_keep_mark */
    bool captured; /* first recorded during a capture */
};

/* 56 bytes: with its share of the pointer table a live block takes less than 64. The fields that
 * searches of the indexes and the pointer table read come first, because most nodes span two cache
 * lines. */
struct vs_block {
    uint64_t addr;
    union {
        struct {
            uint64_t size : 56; /* bytes */
            uint64_t state : 8; /* enum vs_block_state */
        };
        uint64_t size_and_state;
    };
    union {
        struct { /* not allocated: all other states */
            vs_block_ref left, right; /* free index; UNMAPPED: vs_pool.unmapped; LENT: views.h */
            uint64_t safe_after; /* reusable once this ticket, or a later one, completed */
        } idle;
        struct { /* VS_BLOCK_LIVE, VS_BLOCK_PENDING */
            union {
                struct {
                    uint64_t requested : 49;
                    uint64_t has_uses : 1;     /* notes of it are in vs_allocator.uses */
                    uint64_t serial_high : 14; /* of the allocation's number: vs_block_serial */
                };
                uint64_t requested_and_more;
            };
            union {
                uint32_t serial_low; /* LIVE */
                uint32_t events;     /* PENDING: events not completed yet */
            };
            vs_block_ref chain; /* the next one in the pointer table */
        } used;
    };
    struct vs_segment *segment;
    struct vs_block *prev, *next; /* neighbours by address in the segment */
};
_Static_assert(sizeof(struct vs_block) == 56, "metadata of a live block stays within 64 bytes");

/* VS_BLOCK_TREAP: trees (base/vs_treap.h) of blocks that are not allocated. */
#define VS_BLOCK_TREAP(name, key)                                                               \
    static inline struct vs_block *name##_node(vs_block_ref ref) { return vs_block_of(ref); }   \
    static inline vs_block_ref name##_link(const struct vs_block *b) { return vs_ref_of(b); }   \
    static inline vs_block_ref *name##_left(struct vs_block *b) { return &b->idle.left; }       \
    static inline vs_block_ref *name##_right(struct vs_block *b) { return &b->idle.right; }     \
    static inline uint64_t name##_address(const struct vs_block *b) { return b->addr; }         \
    VS_TREAP(name, struct vs_block, vs_block_ref, key)

/* Blocks without memory, by address: vs_unmapped_insert and so on. */
static inline bool vs_unmapped_before(const struct vs_block *block, uint64_t addr)
{
    return block->addr < addr;
}
VS_BLOCK_TREAP(vs_unmapped, uint64_t)

/* Free blocks of one kind and stream. */
struct vs_pool {
    struct vs_free_index index;
    vs_block_ref unmapped; /* tree by address: the blocks of its ranges without memory */
    struct vs_stream_pools *owner;
    enum vs_pool_kind kind;
};

/* The two pools of a stream, in the default or in one private pool. Recycled when it has no segment
 * and no request under the full lock. */
struct vs_stream_pools {
    uint64_t stream;
    struct vs_private_pool *home; /* NULL: the default pool */
    struct vs_shard *shard;
    struct vs_stream_pools *next; /* by ascending stream */
    uint64_t segments;
    uint64_t pins;   /* requests in progress, except on fast paths */
    struct vs_pool pool[2];
    struct vs_views views;
};

struct vs_private_pool {
    struct vs_private_pool *next; /* by age, oldest first */
    struct vs_pool_id id;
    uint64_t users;               /* 0: freeable */
    struct vs_stream_pools *streams;
};

/* Requests redirected to a private pool. */
struct vs_scope {
    struct vs_scope *next; /* in the order they began */
    struct vs_private_pool *pool;
    vs_pool_filter *filter; /* NULL: every stream */
    void *ctx;
};

/* One device allocation, or a range: reserved addresses with memory mapped on
 * demand (ranges.c). */
struct vs_segment {
    uint64_t addr;
    struct vs_pool *pool;
    struct vs_block *first;
    uint64_t handle_bytes; /* of each handle mapped into a range; 0: one device allocation */
    struct vs_view *view;  /* NULL unless it is a view: pages of a range, mapped again */
    struct vs_page_index *pages; /* NULL: a view, or only one page */
    uint64_t *starts;      /* a bit per 512 bytes where a block in use starts, or NULL */
    /* --- not needed by most requests and frees --- */
    uint64_t size;
    uint64_t *handles;     /* of a range, by position; valid where a block is mapped */
    uint64_t number;       /* order of creation: the lower, the older */
    uint64_t idle_since; /* number of searches of the pool kind when it became one free block */
};

struct vs_event_queue {
    uint64_t stream;
    struct vs_event_queue *next; /* by ascending stream */
    struct vs_note *head, **tail;
    uint64_t refs; /* notes that name this queue, queued or not */
    uint64_t refused_turn; /* vs_allocator.record_turns when the device rejected an event */
};

/* A request while vs_allocator_malloc processes it. */
struct vs_request {
    uint64_t requested, rounded, stream;
    enum vs_pool_kind kind;
    const struct vs_policy *policy; /* PyTorch's fixed segments where ranges cannot serve it */
    bool whole; /* gets a device allocation of its own */
    struct vs_pool *pool;
    void *call; /* for its events */
};

struct vs_allocator {
    /* immutable after create */
    struct vs_allocator_config config;
    const struct vs_policy *policy;
    uint64_t max_split;          /* UINT64_MAX: unlimited */
    uint64_t non_split_rounding;
    struct vs_device_ops ops;
    void *ops_ctx;
    struct vs_event_sink sink;
    void *sink_ctx;

    void *call;                  /* event argument of the call that holds all locks */
    uint64_t generation;         /* abandons so far */
    bool limited;                /* a memory fraction below 1 is set */
    uint64_t allowed_bytes;      /* when limited */
    uint64_t reserved_bytes;
    uint64_t searches[2];        /* per kind; counted while garbage collection is on */
    uint64_t sync_started, sync_completed; /* tickets */

    uint64_t serial;             /* atomic; allocation numbers distributed to shards so far */

    /* from here to *counters*: all zero at first, and after an abandon (lifecycle.c) */
    struct vs_segment **segments; /* by ascending address */
    size_t segment_count, segment_capacity;
    uint64_t segments_made;      /* numbers used so far */
    struct vs_slabs slabs;       /* of blocks */
    uint64_t blocks_made;        /* nodes, in use or recycled */

    struct vs_stream_pools *streams; /* list */
    struct vs_map stream_table;  /* stream + 1 to struct vs_stream_pools */

    struct vs_private_pool *private_pools;
    struct vs_scope *scopes; /* the most recent first */
    uint64_t captures; /* active private pools: no waiting and no event queries */

    struct vs_event_queue *queues;
    struct vs_map uses;          /* address of a live block to its list of struct vs_note */
    struct vs_note *deferred, **deferred_tail; /* events that the device cannot record yet */
    struct vs_note *held, **held_tail; /* of frees during a capture, not to be recorded yet */
    struct vs_note *retired;     /* of freed blocks that others still use */
    uint64_t pending_notes;      /* queued, deferred or held */
    uint64_t record_turns;       /* number of passes over the deferred list */

    struct vs_arena arena;
    struct vs_node_list free_tables[VS_TABLE_CLASSES]; /* page_index.c */
    struct vs_node_list free_segments, free_streams, free_notes, free_queues;
    struct vs_node_list free_private_pools, free_scopes;
    struct vs_node_list free_views;
    struct vs_counters counters; /* complete only under the full lock */
    struct vs_shards shards;
};

/* The full lock: the locks of all shards, by ascending address. Its holder may access everything;
 * functions named _locked require it. As long as all streams are in one shard it is that one
 * lock. */
static inline void vs_full_lock_acquire(struct vs_allocator *allocator)
{
    struct vs_shards *shards = &allocator->shards;
    vs_quick_acquire(&shards->shard[0].lock);
    if (shards->count > 1 || shards->shard[0].open)
        vs_shards_gather_locked(shards, &allocator->counters);
}

/* The same for code that neither reads nor changes the counters: they do not include the shards'
 * counts. */
static inline void vs_full_lock_enter(struct vs_allocator *allocator)
{
    struct vs_shards *shards = &allocator->shards;
    vs_quick_acquire(&shards->shard[0].lock);
    for (uint32_t i = 1; i < shards->count; i++)
        vs_quick_acquire_sibling(&shards->shard[i].lock);
}

static inline void vs_full_lock_leave(struct vs_allocator *allocator)
{
    for (uint32_t i = allocator->shards.count; i-- > 0;)
        vs_quick_release(&allocator->shards.shard[i].lock);
}

/* Whether any request can be served without the full lock. */
static inline bool vs_fast_possible_locked(const struct vs_allocator *allocator)
{
    return !allocator->pending_notes && !allocator->scopes &&
           !(allocator->limited && allocator->config.garbage_collection_threshold > 0);
}

/* Distributes the room below the peaks again if shards can use it. */
static inline void vs_full_lock_release(struct vs_allocator *allocator)
{
    struct vs_shards *shards = &allocator->shards;
    if (vs_fast_possible_locked(allocator))
        vs_shards_share_locked(shards, &allocator->counters);
    vs_full_lock_leave(allocator);
}

/* VS_FULL_LOCK_SCOPE: held to the end of the block, however the block is left. */
static inline struct vs_allocator *vs_full_lock_begin(struct vs_allocator *allocator)
{
    vs_full_lock_acquire(allocator);
    return allocator;
}
static inline void vs_full_lock_end(struct vs_allocator *const *allocator)
{
    vs_full_lock_release(*allocator);
}
#define VS_FULL_LOCK_SCOPE(allocator) \
    struct vs_allocator *const vs_full_lock_ \
        __attribute__((cleanup(vs_full_lock_end), unused)) = vs_full_lock_begin(allocator)

/* --- fast_path.c: under the lock of one shard --- */

/* vs_fast_malloc, vs_fast_free: true when done; otherwise nothing has changed and the caller takes
 * the full lock. Arguments are valid; the caller holds no lock. A request that had to synchronise
 * may be done with an error: that of the device, or VS_ERR_STATE after a change of generation. */
bool vs_fast_malloc(struct vs_allocator *allocator, size_t bytes, uint64_t stream, void *call,
                    struct vs_allocation *out, enum vs_err *err);
bool vs_fast_free(struct vs_allocator *allocator, uint64_t addr, uint64_t user, void *call);
/* vs_fast_owns: whether *addr* is a live block whose uses by *stream* need no record. */
bool vs_fast_owns(struct vs_allocator *allocator, uint64_t addr, uint64_t stream);
/* vs_fast_find: true when *addr* is in a block of the shard that the hint names. */
bool vs_fast_find(struct vs_allocator *allocator, uint64_t addr, struct vs_allocation *out,
                  bool *live);
/* vs_fast_prepare_locked: called before the full lock is released after a request or a free that
 * *shard* could not do: prepares the shard so that the next one takes the fast path. */
void vs_fast_prepare_locked(struct vs_allocator *allocator, struct vs_shard *shard);

/* --- allocator.c: blocks; the caller holds the full lock --- */

/* A node for a block of *pool*, or NULL: of its own shard if possible, because two nodes in one
 * cache line would move between the shards' threads. Returned to the same shard, otherwise one
 * shard would allocate new ones for ever and another collect them. */
struct vs_block *vs_block_new_in_locked(struct vs_allocator *allocator, const struct vs_pool *pool);
void vs_block_recycle_locked(const struct vs_pool *pool, struct vs_block *block);
/* Nodes in use. */
uint64_t vs_block_count_locked(const struct vs_allocator *allocator);
/* Ensures that *list* is not empty; false when host memory is out. */
bool vs_block_reserve_locked(struct vs_allocator *allocator, struct vs_node_list *list);
/* vs_block_complete_free_locked: a LIVE or PENDING block without uses and events becomes cached:
 * reported, merged with free neighbours, indexed, counted. */
void vs_block_complete_free_locked(struct vs_allocator *allocator, struct vs_block *block);
/* vs_block_cache_locked: returns a TAKEN block to the cache unchanged. */
void vs_block_cache_locked(struct vs_allocator *allocator, struct vs_block *block);

/* vs_allocator_wait_locked: synchronises the device, for VS_REUSE_AFTER_SYNC, with the full lock
 * released meanwhile: on return everything may have changed, even the generation. Returns the error
 * of the device. */
enum vs_err vs_allocator_wait_locked(struct vs_allocator *allocator);

/* A synchronisation of ours is over. */
static inline void vs_sync_completed_locked(struct vs_allocator *allocator, uint64_t ticket)
{
    allocator->counters.num_reuse_syncs++;
    if (ticket > allocator->sync_completed)
        allocator->sync_completed = ticket;
}

/* vs_block_search_locked: the best fit, TAKEN; NULL when there is none. */
struct vs_block *vs_block_search_locked(struct vs_allocator *allocator,
                                        const struct vs_request *request);

/* vs_block_hand_out_locked: from TAKEN to LIVE. On failure the block is cached again. */
enum vs_err vs_block_hand_out_locked(struct vs_allocator *allocator,
                                     const struct vs_request *request, struct vs_block *block,
                                     struct vs_allocation *out);

/* Updates the statistics for a block becoming LIVE, except inactive_split. */
void vs_allocator_count_alloc_locked(struct vs_allocator *allocator, enum vs_pool_kind kind,
                                     uint64_t size, uint64_t requested);

/* vs_block_set: stores size and state at once. Assigning the fields one by one would store a single
 * byte into a word that is read as a whole right after, and the processor cannot forward that
 * store: tens of cycles each time. */
static inline void vs_block_set(struct vs_block *block, uint64_t size, enum vs_block_state state)
{
    uint64_t word = size | (uint64_t)state << 56;
    __asm__("" : "+r"(word)); /* otherwise the compiler turns it into a byte store again */
    block->size_and_state = word;
}

/* The number of a LIVE block's allocation. */
static inline uint64_t vs_block_serial(const struct vs_block *block)
{
    return (uint64_t)block->used.serial_high << 32 | block->used.serial_low;
}

static inline void vs_block_set_used(struct vs_block *block, uint64_t requested, uint64_t serial)
{
    block->used.requested_and_more = requested | serial >> 32 << 50;
    block->used.serial_low = (uint32_t)serial;
}

static inline void vs_block_set_state(struct vs_block *block, enum vs_block_state state)
{
    vs_block_set(block, block->size, state);
}

static inline void vs_block_set_size(struct vs_block *block, uint64_t size)
{
    vs_block_set(block, size, (enum vs_block_state)block->state);
}

/* --- where blocks start, for lookups: page_index.h --- */

static inline uint64_t vs_page_at(const struct vs_segment *segment, uint64_t addr)
{
    return (addr - segment->addr) / VS_PAGE_BYTES;
}

/* *block* was linked, or its start changed. */
static inline void vs_block_started(const struct vs_block *block)
{
    const struct vs_segment *segment = block->segment;
    if (!segment->pages)
        return;
    uint64_t page = vs_page_at(segment, block->addr);
    if (!block->prev || vs_page_at(segment, block->prev->addr) != page)
        vs_page_index_mark(segment->pages, page, vs_ref_of(block));
}

/* The start of *block* after *prev*, both still linked, is about to disappear. */
static inline void vs_block_unstart(const struct vs_segment *segment, const struct vs_block *prev,
                                    const struct vs_block *block)
{
    uint64_t page = vs_page_at(segment, block->addr);
    if (vs_page_at(segment, prev->addr) == page)
        return;
    if (block->next && vs_page_at(segment, block->next->addr) == page)
        segment->pages->first[page] = vs_ref_of(block->next);
    else
        vs_page_index_unmark(segment->pages, page);
}

/* *other*, a neighbour in no index, becomes part of *block*; its node can be reused. */
static inline void vs_block_absorb(struct vs_block *block, const struct vs_block *other)
{
    struct vs_segment *segment = block->segment;
    if (other == block->prev) {
        if (segment->pages) {
            vs_block_unstart(segment, other, block);
            vs_page_index_rename(segment->pages, vs_page_at(segment, other->addr),
                                 vs_ref_of(other), vs_ref_of(block));
        }
        block->addr = other->addr;
        block->prev = other->prev;
        if (block->prev)
            block->prev->next = block;
        else
            segment->first = block;
    } else {
        if (segment->pages)
            vs_block_unstart(segment, block, other);
        block->next = other->next;
        if (block->next)
            block->next->prev = block;
    }
    vs_block_set_size(block, block->size + other->size);
}

/* The block must not be in any index; its address and size must not change while it is. Most bins
 * hold one block or none: these cases need no call. */
static inline void vs_free_insert(struct vs_free_index *index, struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    if (index->bins[bin]) {
        vs_free_index_insert(index, bin, block);
        return;
    }
    index->bins[bin] = vs_ref_of(block);
    index->occupied[bin / 64] |= UINT64_C(1) << (bin % 64);
    block->idle.left = block->idle.right = 0;
}

static inline void vs_free_remove(struct vs_free_index *index, struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    if (index->bins[bin] != vs_ref_of(block) || block->idle.left || block->idle.right) {
        vs_free_index_remove(index, bin, block);
        return;
    }
    index->bins[bin] = 0;
    index->occupied[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
}

static inline bool vs_block_is_split(const struct vs_block *block)
{
    return block->prev || block->next;
}

/* A whole device allocation, neither part of one nor in a range. */
static inline bool vs_block_is_whole(const struct vs_block *block)
{
    return !vs_block_is_split(block) && !block->segment->handle_bytes && !block->segment->view;
}

/* Whether it counts as inactive_split while it is cached. Whole handles of a range can always be
 * released, so PyTorch excludes ranges. */
static inline bool vs_block_counts_split(const struct vs_block *block)
{
    return vs_block_is_split(block) && !block->segment->handle_bytes;
}

/* *call*: the event argument of the call; with all locks held allocator->call. */
static inline void vs_allocator_emit_for_locked(struct vs_allocator *allocator, void *call,
                                                enum vs_allocator_event_kind kind,
                                                enum vs_pool_kind pool, uint64_t addr,
                                                uint64_t requested, uint64_t size, uint64_t stream)
{
    if (!allocator->sink.event || allocator->sink.ignored >> kind & 1)
        return;
    struct vs_allocator_event event = {kind, pool, addr, requested, size, stream, call};
    allocator->sink.event(allocator->sink_ctx, &event);
}

static inline void vs_allocator_emit_locked(struct vs_allocator *allocator,
                                            enum vs_allocator_event_kind kind,
                                            enum vs_pool_kind pool, uint64_t addr,
                                            uint64_t requested, uint64_t size, uint64_t stream)
{
    vs_allocator_emit_for_locked(allocator, allocator->call, kind, pool, addr, requested, size,
                                 stream);
}

/* Whether a block of *size* is split for *request*. */
static inline bool vs_request_splits(const struct vs_allocator *allocator,
                                     const struct vs_request *request, uint64_t size)
{
    if (request->whole)
        return false;
    if (request->policy->mapped)
        return size - request->rounded >= VS_BLOCK_MIN;
    return vs_should_split(request->kind, size, request->rounded, allocator->max_split);
}

/* Whether many blocks may start in a page of the pool's segments. */
static inline bool vs_pool_is_dense(const struct vs_allocator *allocator,
                                    const struct vs_pool *pool)
{
    return pool->kind == VS_POOL_SMALL || !allocator->policy->small_max;
}

/* get_pool: by the rounded size. */
static inline enum vs_pool_kind vs_request_kind(const struct vs_policy *policy, uint64_t rounded)
{
    return rounded <= policy->small_max ? VS_POOL_SMALL : VS_POOL_LARGE;
}

/* --- the pointer tables; the caller holds the full lock --- */

static inline struct vs_shard *vs_block_shard(const struct vs_block *block)
{
    return block->segment->pool->owner->shard;
}

/* The LIVE block that starts at *addr*, or NULL. */
struct vs_block *vs_live_get_locked(struct vs_allocator *allocator, uint64_t addr);
enum vs_err vs_live_put_locked(struct vs_block *block);

/* A number for an allocation of *shard*; its lock is enough. */
static inline uint64_t vs_serial_next(struct vs_allocator *allocator, struct vs_shard *shard)
{
    enum { BATCH = 4096 };
    if (shard->serial == shard->serial_end) {
        shard->serial = __atomic_fetch_add(&allocator->serial, BATCH, __ATOMIC_RELAXED);
        shard->serial_end = shard->serial + BATCH;
    }
    return ++shard->serial;
}

/* A node of *bytes* (always the same for a list), its contents unspecified, aligned
 * to a cache line; NULL without host memory. */
void *vs_node_take_locked(struct vs_allocator *allocator, struct vs_node_list *list, size_t bytes);
static inline void vs_node_give_locked(struct vs_node_list *list, void *node)
{
    *(void **)node = list->head;
    list->head = node;
}

/* --- segments.c: device memory, the segment index, the pools of streams; the caller holds the lock
 * --- */

/* The pools of *stream*, created if new, and pinned; NULL when host memory is out. */
struct vs_stream_pools *vs_stream_pin_locked(struct vs_allocator *allocator, uint64_t stream);
/* The same in a private pool. */
struct vs_stream_pools *vs_private_stream_pin_locked(struct vs_allocator *allocator,
                                                     struct vs_private_pool *home, uint64_t stream);
void vs_stream_unpin_locked(struct vs_allocator *allocator, struct vs_stream_pools *pools);
/* vs_segment_obtain_locked: a TAKEN block for *request* that the cache could not serve: a new
 * segment, after garbage collection and, where needed, releasing cached memory; or a block of
 * another pool, to which *request* then belongs. */
enum vs_err vs_segment_obtain_locked(struct vs_allocator *allocator, struct vs_request *request,
                                     struct vs_block **out);
/* Frees a segment's memory at its source. */
enum vs_err vs_segment_give_back(struct vs_allocator *allocator, const struct vs_segment *segment);
/* vs_segment_release_kind_locked: releases every wholly free segment of one kind and all that can
 * be unmapped, in a list of streams; the first error. */
enum vs_err vs_segment_release_kind_locked(struct vs_allocator *allocator,
                                           struct vs_stream_pools **list, enum vs_pool_kind kind,
                                           uint64_t *released);
/* vs_segment_enter_locked: enters a segment of one TAKEN block into the tables, without page tables
 * and statistics. VS_ERR_NOMEM, VS_ERR_ARG for an overlap: nothing changed. */
enum vs_err vs_segment_enter_locked(struct vs_allocator *allocator, struct vs_pool *pool,
                                    uint64_t addr, uint64_t size, struct vs_segment **out);
/* vs_segment_leave_locked: the reverse, for a segment of one block in no index. Its pools may be
 * removed by it. */
void vs_segment_leave_locked(struct vs_allocator *allocator, struct vs_segment *segment);
/* vs_segment_register_locked: enters a segment of one TAKEN block into the tables and statistics.
 * On VS_ERR_NOMEM nothing changed. */
enum vs_err vs_segment_register_locked(struct vs_allocator *allocator, struct vs_pool *pool,
                                       uint64_t addr, uint64_t size, struct vs_segment **out);
/* vs_segment_taken_back_locked: the segment that is the FREE block *block* was freed: reported,
 * counted and removed. Its pools may be removed by it. */
void vs_segment_taken_back_locked(struct vs_allocator *allocator, struct vs_block *block);
/* Releases every wholly free segment; the first error of the device. */
enum vs_err vs_segment_release_cached_locked(struct vs_allocator *allocator, uint64_t *released);
/* The search of PyTorch's policies. */
struct vs_block *vs_pytorch_search_locked(struct vs_allocator *allocator,
                                          const struct vs_request *request);
struct vs_segment *vs_segment_find_locked(const struct vs_allocator *allocator, uint64_t addr);

/* Counts memory of *pool* allocated from the device, and freed. */
static inline void vs_reserved_raise_locked(struct vs_allocator *allocator,
                                            const struct vs_pool *pool, uint64_t bytes)
{
    allocator->reserved_bytes += bytes;
    vs_counter_increase(&allocator->counters.reserved_bytes, pool->kind, bytes);
}

static inline void vs_reserved_lower_locked(struct vs_allocator *allocator,
                                            const struct vs_pool *pool, uint64_t bytes)
{
    allocator->reserved_bytes -= bytes;
    vs_counter_decrease(&allocator->counters.reserved_bytes, pool->kind, bytes);
}

/* --- ranges.c; the caller holds the full lock --- */

/* vs_range_new_locked: reserves *bytes* (a multiple of *handle_bytes*) as one UNMAPPED block. The
 * device's error or VS_ERR_NOMEM: nothing changed. */
enum vs_err vs_range_new_locked(struct vs_allocator *allocator, struct vs_pool *pool,
                                uint64_t handle_bytes, uint64_t bytes, struct vs_segment **out);
/* vs_range_map_locked: maps memory at the start of an UNMAPPED block, *bytes* rounded up to whole
 * handles: one SEGMENT_MAP. *block* becomes FREE, merged with free neighbours (so it may start
 * lower), and is indexed. The device's error or VS_ERR_NOMEM: nothing changed. */
enum vs_err vs_range_map_locked(struct vs_allocator *allocator, struct vs_block *block,
                                uint64_t bytes);
/* vs_block_carve: *block*, FREE and in no index, keeps its part from *addr* on for *bytes*; the parts
 * on either side become *before* and *after* (NULL: none), FREE and indexed. Its node stays that of
 * the middle part: neighbours point to it already. */
void vs_block_carve(struct vs_block *block, struct vs_block *before, struct vs_block *after,
                    uint64_t addr, uint64_t bytes);
/* vs_range_unmap_locked: releases the whole handles inside a FREE block to the device: one
 * SEGMENT_UNMAP, after a wait for the stream. The range is released too when nothing else is
 * mapped. *released* grows. VS_ERR_STATE when under VS_REUSE_AFTER_SYNC the block is not safe yet;
 * the device's error or VS_ERR_NOMEM: nothing changed. */
enum vs_err vs_range_unmap_locked(struct vs_allocator *allocator, struct vs_block *block,
                                  uint64_t *released);
/* At the end of the allocator, without the full lock: waits for the device, then releases
 * everything; the tables stay unchanged. */
void vs_range_destroy(struct vs_allocator *allocator, const struct vs_segment *range);
/* Drops the ranges of a private pool that have no memory. */
void vs_range_drop_unmapped_locked(struct vs_allocator *allocator,
                                   const struct vs_private_pool *pool);
/* Host memory of range->handles. */
size_t vs_range_handles_bytes(const struct vs_segment *range);
/* Frees the range's host memory except its node and page tables. */
void vs_range_tables_unmap(struct vs_segment *range);

/* Unmaps the free memory of a pool's ranges; the first error. The pool is pinned. */
enum vs_err vs_range_release_locked(struct vs_allocator *allocator, struct vs_pool *pool,
                                         uint64_t *released);
/* Whether that needs a synchronisation first. */
bool vs_range_unsettled_locked(const struct vs_allocator *allocator,
                                    const struct vs_pool *pool);

/* --- stream_events.c: uses by other streams; the caller holds the lock --- */

/* *captured*: perhaps part of a graph under capture, which orders it. */
enum vs_err vs_uses_add_locked(struct vs_allocator *allocator, struct vs_block *block,
                               uint64_t stream, bool captured);
/* Turns a freed block's uses into events; it is PENDING until they complete. During a capture they
 * are delayed: PyTorch, insert_events_deferred_until_no_capture. */
void vs_uses_to_events_locked(struct vs_allocator *allocator, struct vs_block *block);
/* Completes the frees whose events are ready; never waits. Not during a capture. */
void vs_events_poll_locked(struct vs_allocator *allocator);
/* Waits for all events; the first error of the device. Not during a capture. */
enum vs_err vs_events_wait_locked(struct vs_allocator *allocator);
/* Releases every event without waiting. */
void vs_events_drop_locked(struct vs_allocator *allocator);

/* --- kept.c: blocks that others use; the caller holds the full lock --- */

/* The marks of a LIVE block; 0 for any other. The lock of its shard is enough. */
unsigned vs_kept_marks(const struct vs_allocator *allocator, const struct vs_block *block);
/* The block of *note*, just freed, waits for its segment. */
void vs_kept_retire_locked(struct vs_allocator *allocator, struct vs_note *note);
/* Releases the segments with only such blocks left; *released* grows. Segments and pools may be
 * removed by it. Memory that the device does not take back stays unavailable. */
void vs_kept_release_locked(struct vs_allocator *allocator, uint64_t *released);

/* --- private_pools.c; the caller holds the full lock --- */

/* The private pool that receives requests of *stream* now, or NULL. */
struct vs_private_pool *vs_private_pool_for_locked(const struct vs_allocator *allocator,
                                                   uint64_t stream);
/* Releases the free memory of freeable pools; removes pools without memory. */
enum vs_err vs_private_pools_release_locked(struct vs_allocator *allocator, uint64_t *released);

#endif
