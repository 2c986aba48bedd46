/* SPDX-License-Identifier: Apache-2.0
 *
 * Shards: how several threads use one allocator at once. Each stream belongs permanently to one
 * shard, and so do its pools, segments and blocks. A shard's lock is enough to serve a request from
 * the cache and for a plain free (fast_path.c); everything else holds the full lock: the locks of
 * all shards. Data changed only under the full lock may be read under any one shard's lock.
 *
 * Statistics stay exact although shards count separately: under the full lock the difference
 * between each peak and its level is distributed to the shards as room. A shard that stays within
 * its room cannot have raised a peak, whatever the others did; one that would exceed it takes the
 * full lock instead. Taking the full lock adds the shards' counts to the allocator's counters and
 * takes the room back, so that code under the full lock sees one set of counters, as without
 * shards. */
#ifndef VS_SHARD_H
#define VS_SHARD_H

#include "allocator/core/allocator.h"
#include "allocator/core/block_store.h"
#include "base/vs_err.h"
#include "base/vs_quick_lock.h"

struct vs_counters;
struct vs_stream_pools;

/* The figures counted on a fast path. There, blocks in use are also the active ones: one figure
 * stands for allocation and active, one for allocated_bytes and active_bytes. */
enum vs_tally_figure {
    VS_TALLY_BLOCKS,
    VS_TALLY_BYTES,
    VS_TALLY_REQUESTED,
    VS_TALLY_SPLIT,
    VS_TALLY_SPLIT_BYTES,
    VS_TALLY_FIGURES,
};

struct vs_tally {
    uint64_t up[2][VS_TALLY_FIGURES], down[2][VS_TALLY_FIGURES]; /* by enum vs_pool_kind */
    uint64_t room[VS_STAT_POOLS][VS_TALLY_FIGURES];
};

/* Recycled fixed-size nodes. */
struct vs_node_list {
    void *head;
};

/* The live blocks of a shard by address: a hash table whose chains go through the blocks
 * themselves, so that an entry costs only its share of the heads, 4 bytes each. There is at least
 * one head for each 5/4 blocks. Guarded by the shard's lock. */
struct vs_live_index {
    vs_block_ref *heads;
    unsigned shift; /* 64 - log2 of the number of heads */
    uint64_t count, count_max;
};

static inline vs_block_ref *vs_live_head(const struct vs_live_index *table, uint64_t addr)
{
    return &table->heads[(addr ^ addr >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> table->shift];
}

enum vs_err vs_live_grow(struct vs_live_index *table) VS_MUST_CHECK;
/* vs_live_reserve: makes room for one more block; VS_ERR_NOMEM. */
VS_MUST_CHECK static inline enum vs_err vs_live_reserve(struct vs_live_index *table)
{
    return table->count < table->count_max ? VS_OK : vs_live_grow(table);
}
void vs_live_free(struct vs_live_index *table);

#define VS_SHARDS_MAX 16u

/* Guarded by its lock. */
struct vs_shard {
    struct vs_quick_lock lock;
    bool open; /* the tally is not all zero */
    struct vs_stream_pools *last; /* the pools used most recently */
    uint64_t serial, serial_end;  /* allocation numbers not used yet */
    struct vs_node_list free_blocks;
    uint64_t blocks;              /* taken minus recycled here; the sum over shards is the number of
                                   * nodes in use */
    struct vs_live_index live;
    struct vs_tally tally;
} __attribute__((aligned(128)));

/* vs_tally_has_room: whether *figure* may increase by *amount* without reaching a peak. */
static inline bool vs_tally_has_room(const struct vs_tally *tally, enum vs_pool_kind kind,
                                     enum vs_tally_figure figure, uint64_t amount)
{
    return tally->room[VS_STAT_ALL][figure] >= amount &&
           tally->room[VS_STAT_SMALL + kind][figure] >= amount;
}

static inline void vs_tally_raise(struct vs_tally *tally, enum vs_pool_kind kind,
                                  enum vs_tally_figure figure, uint64_t amount)
{
    tally->up[kind][figure] += amount;
    tally->room[VS_STAT_ALL][figure] -= amount;
    tally->room[VS_STAT_SMALL + kind][figure] -= amount;
}

static inline void vs_tally_lower(struct vs_tally *tally, enum vs_pool_kind kind,
                                  enum vs_tally_figure figure, uint64_t amount)
{
    tally->down[kind][figure] += amount;
    tally->room[VS_STAT_ALL][figure] += amount;
    tally->room[VS_STAT_SMALL + kind][figure] += amount;
}

/* A signed change as one step. */
static inline void vs_tally_change(struct vs_tally *tally, enum vs_pool_kind kind,
                                   enum vs_tally_figure figure, int64_t amount)
{
    if (amount > 0)
        vs_tally_raise(tally, kind, figure, (uint64_t)amount);
    else if (amount < 0)
        vs_tally_lower(tally, kind, figure, (uint64_t)-amount);
}

/* vs_tally_fold: adds the counts to *counters*; the tally is then zero. */
void vs_tally_fold(struct vs_tally *tally, struct vs_counters *counters);

/* --- the shards of an allocator --- */

#define VS_ROUTES 1024u
#define VS_PAGE_HINTS 65536u

struct vs_shards {
    struct vs_shard shard[VS_SHARDS_MAX];
    uint32_t count, limit; /* in use, at least 1; maximum. Changed under the full lock */
    uint32_t favoured;     /* the shard that gets the remainder when room is divided */
    uint32_t next;         /* the shard for the next new stream once all are in use */
    /* atomic; by hash of a stream: its shard's number + 1; 0: none yet. Set once. */
    uint8_t routes[VS_ROUTES];
    /* atomic; by address / VS_PAGE_BYTES: the shard whose segment was last there. A hint: the block
     * is looked up in that shard's table first. */
    uint8_t page_hints[VS_PAGE_HINTS];
};

static inline uint8_t *vs_shards_route(struct vs_shards *shards, uint64_t stream)
{
    return &shards->routes[((stream ^ stream >> 32) * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* vs_shards_of_stream: NULL when the stream has none yet. Any thread, no lock. */
static inline struct vs_shard *vs_shards_of_stream(struct vs_shards *shards, uint64_t stream)
{
    uint8_t route = __atomic_load_n(vs_shards_route(shards, stream), __ATOMIC_RELAXED);
    return route ? &shards->shard[route - 1] : NULL;
}

/* vs_shards_of_page: the likely shard of a block at *addr*. Any thread, no lock. */
static inline struct vs_shard *vs_shards_of_page(struct vs_shards *shards, uint64_t addr)
{
    return &shards->shard[__atomic_load_n(&shards->page_hints[addr / VS_PAGE_BYTES % VS_PAGE_HINTS],
                                          __ATOMIC_RELAXED)];
}

void vs_shards_init(struct vs_shards *shards);
/* vs_shards_gather_locked: with the lock of shard 0 held, takes the others' and folds all tallies
 * into *counters*. */
void vs_shards_gather_locked(struct vs_shards *shards, struct vs_counters *counters);
/* vs_shards_share_locked: distributes the room below the peaks of *counters*. The tallies are zero,
 * or as this function left them with nothing counted since. */
void vs_shards_share_locked(struct vs_shards *shards, const struct vs_counters *counters);
/* vs_shards_assign_locked: the shard of *stream*, chosen now when it has none. A shard that comes
 * into use is locked, because it is part of the full lock from then on. */
struct vs_shard *vs_shards_assign_locked(struct vs_shards *shards, uint64_t stream);
/* vs_shards_hint_locked: records that *addr* to *addr* + *size* belong to *shard* now. */
void vs_shards_hint_locked(struct vs_shards *shards, uint64_t addr, uint64_t size,
                           const struct vs_shard *shard);
/* vs_shards_discard_locked: blocks and pools were discarded; the counts stay. */
void vs_shards_discard_locked(struct vs_shards *shards);
#endif
