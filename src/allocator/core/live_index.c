/* SPDX-License-Identifier: Apache-2.0
 *
 * Grows the table of live blocks; see the header. The operations of every request and free are
 * inline in block_ops.h. */
#include "allocator/core/live_index.h"

#include "allocator/core/allocator_internal.h"
#include "base/vs_arena.h"

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
