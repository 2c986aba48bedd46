/* SPDX-License-Identifier: Apache-2.0
 *
 * The free blocks of one pool, ordered by (size, address), giving exactly the
 * best fit: the smallest block that is large enough, the lowest of equals.
 * Four bins per power of two with an occupancy bitmap; in each bin a treap whose
 * priorities are a hash of the address, so that nodes need only two links and
 * lie inside the block. Bins keep the trees shallow; the bitmap finds the next
 * non-empty bin in a few instructions. The allocator's lock guards it. */
#ifndef VS_FREE_INDEX_H
#define VS_FREE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/block_store.h"

#define VS_FREE_BINS 192
#define VS_FREE_WORDS (VS_FREE_BINS / 64)

/* Zero-initialise. */
struct vs_free_index {
    uint64_t occupied[VS_FREE_WORDS];
    vs_block_ref bins[VS_FREE_BINS];
};

/* The bin of a size: multiples of 512 B, below 2^56. */
static inline unsigned vs_free_bin(uint64_t size)
{
    uint64_t granules = size >> 9;
    if (granules < 4)
        return (unsigned)granules;
    unsigned log = 63u - (unsigned)__builtin_clzll(granules);
    return 4 * (log - 1) + (unsigned)((granules >> (log - 2)) & 3);
}

/* The block is not in any index; its address and size stay fixed while it is.
 * Callers use vs_free_insert and vs_free_remove (allocator_internal.h), which do
 * the bins of one block themselves. */
void vs_free_index_insert(struct vs_free_index *index, struct vs_block *block);
void vs_free_index_remove(struct vs_free_index *index, struct vs_block *block);

/* The first block at or after (size, addr) in order; NULL when none. With addr 0:
 * the best fit for size. */
struct vs_block *vs_free_index_at(const struct vs_free_index *index, uint64_t size, uint64_t addr);
/* The last block before (size, addr); NULL when none. */
struct vs_block *vs_free_index_before(const struct vs_free_index *index, uint64_t size,
                                      uint64_t addr);
/* vs_free_index_check: ordered, heap-shaped, in the right bins; counts the blocks. */
bool vs_free_index_check(const struct vs_free_index *index, uint64_t *count);

#endif
