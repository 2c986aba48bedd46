/* SPDX-License-Identifier: Apache-2.0
 *
 * The live allocations of one level at one time of the replay, found by address. The device's and a
 * framework's are separate tables: the first tensor of a segment has the segment's address. Slots
 * are reused, so that memory is bounded by the most that was live at once. Not thread-safe. */
#ifndef VS_LIVE_MEMORY_H
#define VS_LIVE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/phases.h"
#include "base/reading/vs_vec.h"
#include "base/vs_err.h"
#include "base/vs_map.h"

struct vs_live {
    uint64_t addr, requested, size;
    uint64_t time_ns, context;
    uint64_t epoch;  /* vs_replay_epoch at its allocation */
    uint64_t event;  /* 1-based index of its allocation; 0: before the state that a checkpoint had */
    uint32_t site;   /* index in vs_replay.sites */
    uint8_t family, device;
    uint8_t level;   /* VS_LEVEL_FRAMEWORK: a tensor; VS_LEVEL_DEVICE: all else, blocks included */
    bool used;       /* false: on the free list */
    bool in_segment; /* a block of a cached segment */
    bool counted;    /* included in its account's allocated */
    uint8_t kind;    /* enum vs_kind, of a tensor, when a reader that finds kinds has decided it */
    bool kind_assumed;
    uint32_t module; /* likewise: the number of its module (kinds/modules.h) */
    struct vs_place place; /* of its thread at its allocation */
    uint32_t mark;   /* string id of the line that was marked ("at FILE:LINE"), see user_line.c; 0:
                      * none */
    union {
        uint32_t tid;       /* of the thread that allocated it */
        uint32_t next_free; /* while on the free list: the next slot + 1 */
    };
};

/* Zero-initialise. */
struct vs_live_table {
    struct vs_live *items; /* [0, slots), some of them unused */
    size_t count, slots, capacity;
    uint32_t free; /* head of the free list + 1 */
    struct vs_map by_addr;
};

/* vs_live_table_find: the allocation at *addr*, or NULL. Valid until the next vs_live_table_add. */
static inline struct vs_live *vs_live_table_find(const struct vs_live_table *table, uint64_t addr)
{
    const uint64_t *slot = vs_map_get(&table->by_addr, addr);
    return slot ? &table->items[*slot] : NULL;
}

/* vs_live_table_add: a new row for *addr*, of which the caller sets everything, with *addr* and *used*, before
 * the next call. NULL if there is a row for *addr*. */
static inline struct vs_live *vs_live_table_add(struct vs_live_table *table, uint64_t addr)
{
    size_t slot = table->free ? table->free - 1 : table->slots;
    if (vs_xmap_number(&table->by_addr, addr, slot) != slot)
        return NULL;
    vs_vec_room(&table->items, &table->capacity, slot + 1, sizeof *table->items);
    struct vs_live *row = &table->items[slot];
    if (table->free)
        table->free = row->next_free;
    else
        table->slots++;
    table->count++;
    return row;
}

/* vs_live_table_remove: *live* is of this table. */
static inline void vs_live_table_remove(struct vs_live_table *table, struct vs_live *live)
{
    vs_map_remove(&table->by_addr, live->addr, NULL);
    live->used = false;
    live->next_free = table->free;
    table->free = (uint32_t)(live - table->items) + 1;
    table->count--;
}

static inline void vs_live_table_free(struct vs_live_table *table)
{
    free(table->items);
    vs_map_free(&table->by_addr);
    *table = (struct vs_live_table){0};
}

#endif
