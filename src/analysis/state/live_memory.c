/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of live allocations and their free list; see the header. */
#include "analysis/state/live_memory.h"

#include "analysis/state/vec.h"

enum vs_err vs_live_table_add(struct vs_live_table *table, uint64_t addr, struct vs_live **out)
{
    size_t slot;
    if (table->free) {
        slot = table->free - 1;
    } else {
        if (table->slots >= UINT32_MAX - 1)
            return VS_ERR_LIMIT;
        enum vs_err err = vs_vec_grow(&table->items, &table->capacity, table->slots + 1,
                                      sizeof *table->items);
        if (err)
            return err;
        slot = table->slots;
    }
    enum vs_err err = vs_map_put(&table->by_addr, addr, slot);
    if (err)
        return err;
    if (table->free)
        table->free = table->items[slot].next_free;
    else
        table->slots++;
    table->count++;
    table->items[slot] = (struct vs_live){.addr = addr, .used = true};
    *out = &table->items[slot];
    return VS_OK;
}

void vs_live_table_remove(struct vs_live_table *table, struct vs_live *live)
{
    vs_map_remove(&table->by_addr, live->addr, NULL);
    live->used = false;
    live->next_free = table->free;
    table->free = (uint32_t)(live - table->items) + 1;
    table->count--;
}

void vs_live_table_free(struct vs_live_table *table)
{
    free(table->items);
    vs_map_free(&table->by_addr);
    *table = (struct vs_live_table){0};
}
