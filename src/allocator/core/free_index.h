/* SPDX-License-Identifier: Apache-2.0
 *
 * The free blocks of one pool, ordered by (size, address) or (size, age of the segment, address),
 * for an exact best fit: the smallest block that is large enough, and of equal ones the lowest or
 * that of the oldest segment. Four bins per power of two with an occupancy bitmap; in each bin a
 * search tree (base/vs_treap.h) whose links are in the blocks. The bins limit the depth of the
 * trees; the bitmap finds the next non-empty bin in a few instructions. Guarded by the allocator's
 * lock. */
#ifndef VS_FREE_INDEX_H
#define VS_FREE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/block_store.h"

#define VS_FREE_BINS 192
#define VS_FREE_WORDS (VS_FREE_BINS / 64)

/* Zero-initialise. */
struct vs_free_index {
    uint64_t occupied[VS_FREE_WORDS];
    vs_block_ref bins[VS_FREE_BINS];
    bool oldest_first; /* among equally large blocks; set while it is empty */
};

/* The bin of a size: multiples of 512 B, below 2^56. 63 ^ clz: one instruction, 63 - clz: three. */
static inline unsigned vs_free_bin(uint64_t size)
{
    uint64_t granules = size >> 9;
    if (granules < 4)
        return (unsigned)granules;
    unsigned shift = (63u ^ (unsigned)__builtin_clzll(granules)) - 2;
    return 4 * shift + (unsigned)(granules >> shift);
}

/* For vs_free_insert and vs_free_remove (allocator_internal.h): bins[*bin*], which is that of
 * *block*, has other blocks too. */
void vs_free_index_insert(struct vs_free_index *index, unsigned bin, struct vs_block *block);
void vs_free_index_remove(struct vs_free_index *index, unsigned bin, struct vs_block *block);

/* vs_free_index_fit: the best fit: the first block of at least *size*; NULL when there is none. */
struct vs_block *vs_free_index_fit(const struct vs_free_index *index, uint64_t size);
/* The first block after *block*, the last one before it; NULL when there is none. *block* need not
 * be in the index. */
struct vs_block *vs_free_index_after(const struct vs_free_index *index,
                                     const struct vs_block *block);
struct vs_block *vs_free_index_before(const struct vs_free_index *index,
                                      const struct vs_block *block);
/* The last block smaller than *size*; NULL when there is none. */
struct vs_block *vs_free_index_below(const struct vs_free_index *index, uint64_t size);
bool vs_free_index_holds(const struct vs_free_index *index, const struct vs_block *block);
/* vs_free_index_check: whether blocks are ordered, heap-shaped and in the right bins; counts
 * them. */
bool vs_free_index_check(const struct vs_free_index *index, uint64_t *count);

/* vs_unmapped_valid: whether the tree of a pool's blocks without memory is ordered and heap-shaped
 * and has only such blocks; counts them. */
bool vs_unmapped_valid(vs_block_ref unmapped, uint64_t *count);

#endif
