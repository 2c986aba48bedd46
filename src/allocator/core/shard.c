/* SPDX-License-Identifier: Apache-2.0
 *
 * The shards of streams and addresses, and the distribution of room below the peaks; see the
 * header. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "allocator/core/shard.h"

#include <sched.h>
#include <string.h>

#include "allocator/core/allocator_internal.h"
#include "allocator/core/statistics.h"
#include "base/vs_arena.h"

#define SHARDS_LEAST 4u

void vs_shards_init(struct vs_shards *shards)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    shards->count = 1;
    shards->limit = SHARDS_LEAST; /* more than threads that run only make the full lock dearer */
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        shards->limit = 2 * (uint32_t)CPU_COUNT(&cpus);
    shards->limit = shards->limit < SHARDS_LEAST    ? SHARDS_LEAST
                    : shards->limit > VS_SHARDS_MAX ? VS_SHARDS_MAX
                                                    : shards->limit;
    for (uint32_t i = 0; i < VS_SHARDS_MAX; i++)
        vs_quick_init(&shards->shard[i].lock, VS_RANK_ALLOCATOR, "allocator");
}

void vs_shards_gather_locked(struct vs_shards *shards, struct vs_counters *counters)
{
    for (uint32_t i = 1; i < shards->count; i++)
        vs_quick_acquire_sibling(&shards->shard[i].lock);
    for (uint32_t i = 0; i < shards->count; i++) {
        struct vs_shard *shard = &shards->shard[i];
        if (shard->open) {
            vs_tally_fold(&shard->tally, counters);
            shard->open = false;
        }
    }
}

struct vs_shard *vs_shards_assign_locked(struct vs_shards *shards, uint64_t stream)
{
    uint8_t *route = vs_shards_route(shards, stream);
    if (*route)
        return &shards->shard[*route - 1];
    uint32_t chosen = shards->next++ % shards->limit;
    if (chosen == shards->count) {
        vs_quick_acquire_sibling(&shards->shard[chosen].lock);
        shards->count++;
    }
    __atomic_store_n(route, (uint8_t)(chosen + 1), __ATOMIC_RELAXED);
    return &shards->shard[chosen];
}

void vs_shards_hint_locked(struct vs_shards *shards, uint64_t addr, uint64_t size,
                           const struct vs_shard *shard)
{
    uint8_t number = (uint8_t)(shard - shards->shard);
    uint64_t page = addr / VS_PAGE_BYTES, last = (addr + size - 1) / VS_PAGE_BYTES;
    if (last - page >= VS_PAGE_HINTS)
        last = page + VS_PAGE_HINTS - 1;
    for (; page <= last; page++) {
        uint8_t *hint = &shards->page_hints[page % VS_PAGE_HINTS];
        if (*hint != number) /* with one shard the table's pages stay untouched */
            __atomic_store_n(hint, number, __ATOMIC_RELAXED);
    }
}

void vs_shards_discard_locked(struct vs_shards *shards)
{
    for (uint32_t i = 0; i < shards->count; i++) {
        shards->shard[i].last = NULL;
        shards->shard[i].free_blocks = (struct vs_node_list){0};
        shards->shard[i].blocks = 0;
        shards->shard[i].live = (struct vs_live_index){0};
    }
}

/* --- tallies --- */

static void fold(const struct vs_tally *tally, enum vs_tally_figure figure,
                 struct vs_counter *counter)
{
    for (int kind = 0; kind < 2; kind++) {
        counter->up[kind] += tally->up[kind][figure];
        counter->down[kind] += tally->down[kind][figure];
    }
}

void vs_tally_fold(struct vs_tally *tally, struct vs_counters *counters)
{
    fold(tally, VS_TALLY_BLOCKS, &counters->allocation);
    fold(tally, VS_TALLY_BLOCKS, &counters->active);
    fold(tally, VS_TALLY_BYTES, &counters->allocated_bytes);
    fold(tally, VS_TALLY_BYTES, &counters->active_bytes);
    fold(tally, VS_TALLY_REQUESTED, &counters->requested_bytes);
    fold(tally, VS_TALLY_SPLIT, &counters->inactive_split);
    fold(tally, VS_TALLY_SPLIT_BYTES, &counters->inactive_split_bytes);
    memset(tally, 0, sizeof *tally);
}

static void room_below(const struct vs_counter *counter, uint64_t room[VS_STAT_POOLS])
{
    uint64_t small = counter->up[VS_POOL_SMALL] - counter->down[VS_POOL_SMALL];
    uint64_t large = counter->up[VS_POOL_LARGE] - counter->down[VS_POOL_LARGE];
    room[VS_STAT_ALL] = counter->peak[VS_STAT_ALL] - (small + large);
    room[VS_STAT_SMALL] = counter->peak[VS_STAT_SMALL] - small;
    room[VS_STAT_LARGE] = counter->peak[VS_STAT_LARGE] - large;
}

/* *other* may be NULL: a second counter that increases with *counter*. */
static void share(struct vs_shards *shards, enum vs_tally_figure figure,
                  const struct vs_counter *counter, const struct vs_counter *other)
{
    uint64_t room[VS_STAT_POOLS], room2[VS_STAT_POOLS];
    uint32_t count = shards->count;
    unsigned shift = count > 1 ? 32u - (unsigned)__builtin_clz(count - 1) : 0;
    room_below(counter, room);
    if (other)
        room_below(other, room2);
    for (int pool = 0; pool < VS_STAT_POOLS; pool++) {
        if (other && room2[pool] < room[pool])
            room[pool] = room2[pool];
        uint64_t part = room[pool] >> shift;
        for (uint32_t i = 0; i < count; i++)
            shards->shard[i].tally.room[pool][figure] = part;
        shards->shard[shards->favoured].tally.room[pool][figure] += room[pool] - part * count;
    }
}

void vs_shards_share_locked(struct vs_shards *shards, const struct vs_counters *c)
{
    share(shards, VS_TALLY_BLOCKS, &c->allocation, &c->active);
    share(shards, VS_TALLY_BYTES, &c->allocated_bytes, &c->active_bytes);
    share(shards, VS_TALLY_REQUESTED, &c->requested_bytes, NULL);
    share(shards, VS_TALLY_SPLIT, &c->inactive_split, NULL);
    share(shards, VS_TALLY_SPLIT_BYTES, &c->inactive_split_bytes, NULL);
    for (uint32_t i = 0; i < shards->count; i++)
        shards->shard[i].open = true;
}

/* --- the table of live blocks; the operations of every request and free are inline in block_ops.h --- */

#define LOG_LEAST 10u /* of the number of heads: one page */

static size_t heads_of(const struct vs_live_index *table)
{
    return table->heads ? (size_t)1 << (64 - table->shift) : 0;
}

enum vs_err vs_live_grow(struct vs_live_index *table)
{
    unsigned log = table->heads ? 64 - table->shift + 1 : LOG_LEAST;
    size_t heads = (size_t)1 << log;
    struct vs_live_index larger = {vs_pages_map(heads * sizeof *larger.heads), 64 - log,
                                   table->count, heads + heads / 4};
    if (!larger.heads)
        return VS_ERR_NOMEM;
    for (size_t i = 0; i < heads_of(table); i++) {
        for (struct vs_block *block = vs_block_of(table->heads[i]), *next; block; block = next) {
            next = vs_block_of(block->used.chain);
            vs_block_ref *head = vs_live_head(&larger, block->addr);
            block->used.chain = *head;
            *head = vs_ref_of(block);
        }
    }
    vs_live_free(table);
    *table = larger;
    return VS_OK;
}

void vs_live_free(struct vs_live_index *table)
{
    vs_pages_unmap(table->heads, heads_of(table) * sizeof *table->heads);
    *table = (struct vs_live_index){0};
}
