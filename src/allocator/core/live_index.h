/* SPDX-License-Identifier: Apache-2.0
 *
 * The live blocks of a shard by address: a hash table whose chains go through the blocks
 * themselves, so that an entry costs only its share of the heads, 4 bytes each. There is at least
 * one head for each 5/4 blocks. Guarded by the shard's lock. */
#ifndef VS_LIVE_INDEX_H
#define VS_LIVE_INDEX_H

#include "allocator/core/block_store.h"
#include "base/vs_err.h"

/* Zero-initialise. */
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

#endif
