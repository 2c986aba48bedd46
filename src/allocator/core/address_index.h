/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks ordered by address alone: the parts of address ranges that hold no memory,
 * of one pool. A treap as in free_index.[ch], with the links of the free block and
 * the address as key; there is no best fit here, only the lowest address. The
 * caller holds the world. */
#ifndef VS_ADDRESS_INDEX_H
#define VS_ADDRESS_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/block_store.h"

/* Zero-initialise. */
struct vs_address_index {
    vs_block_ref root;
};

/* The block is in no index; its address stays fixed while it is in this one, its
 * size and state may change. */
void vs_address_index_insert(struct vs_address_index *index, struct vs_block *block);
void vs_address_index_remove(struct vs_address_index *index, struct vs_block *block);
/* The first block at or above *addr*; NULL when none. */
struct vs_block *vs_address_index_at(const struct vs_address_index *index, uint64_t addr);
/* vs_address_index_check: ordered, heap-shaped, all unmapped; counts the blocks. */
bool vs_address_index_check(const struct vs_address_index *index, uint64_t *count);

#endif
