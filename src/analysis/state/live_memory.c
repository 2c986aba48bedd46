/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of live allocations and their free list; see the header. */
#include "analysis/state/live_memory.h"

#include "base/reading/vs_vec.h"

enum vs_err vs_live_table_room(struct vs_live_table *table)
{
    if (table->slots >= UINT32_MAX - 1)
        return VS_ERR_LIMIT;
    return vs_vec_grow(&table->items, &table->capacity, table->slots + 1, sizeof *table->items);
}

void vs_live_table_free(struct vs_live_table *table)
{
    free(table->items);
    vs_map_free(&table->by_addr);
    *table = (struct vs_live_table){0};
}
