/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the block of a segment that holds an address, without walking the block list: for every
 * page of 2 MiB the first block that starts in it, with a bitmap of the pages that have one, so
 * that the starting page is found in a few words however long the block is. Where many blocks may
 * start in a page (small pools and the compact policy) a bit per 512 bytes marks the starts of
 * blocks in use (LIVE, PENDING), which the pointer table has by address; only a few other blocks
 * lie between two of them. In the large pools of PyTorch's rules blocks in use exceed 1 MiB.
 *
 * Updated where blocks are split and merged, mostly by comparing two addresses. The caller holds
 * the lock of the segment's shard, or more. */
#ifndef VS_PAGE_INDEX_H
#define VS_PAGE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "allocator/core/block_store.h"

#define VS_TABLE_CLASSES 10u /* size classes of recycled tables, 64 bytes to 32 KiB */

struct vs_allocator;
struct vs_block;
struct vs_segment;

/* Index of a segment of several pages; one piece of host memory. */
struct vs_page_index {
    vs_block_ref *first; /* by page; valid where the page is marked */
    uint64_t *marked;    /* a bit per page in which a block starts */
    uint64_t *summary;   /* a bit per word of *marked* that is not 0 */
};

static inline void vs_page_index_mark(struct vs_page_index *index, uint64_t page,
                                      vs_block_ref first)
{
    uint64_t marked = index->marked[page / 64];
    index->first[page] = first;
    index->marked[page / 64] = marked | UINT64_C(1) << (page % 64);
    if (!marked)
        index->summary[page / 4096] |= UINT64_C(1) << (page / 64 % 64);
}

/* A block moved to another node. */
static inline void vs_page_index_rename(struct vs_page_index *index, uint64_t page,
                                        vs_block_ref from, vs_block_ref to)
{
    if (index->first[page] == from)
        index->first[page] = to;
}

static inline void vs_page_index_unmark(struct vs_page_index *index, uint64_t page)
{
    index->marked[page / 64] &= ~(UINT64_C(1) << (page % 64));
    if (!index->marked[page / 64])
        index->summary[page / 4096] &= ~(UINT64_C(1) << (page / 64 % 64));
}

/* vs_page_tables_take_locked: allocates the index of a segment for one block, its first; *dense*:
 * many blocks may start in a page. VS_ERR_NOMEM: nothing changed. */
enum vs_err vs_page_tables_take_locked(struct vs_allocator *allocator, struct vs_segment *segment,
                                       bool dense);
void vs_page_tables_give_locked(struct vs_allocator *allocator, struct vs_segment *segment);

/* The block of *segment* that holds *addr*. */
struct vs_block *vs_segment_block_at_locked(const struct vs_segment *segment, uint64_t addr);
/* The same; *steps*: how many words of bitmaps and blocks were read. */
struct vs_block *vs_segment_block_at_counted(const struct vs_segment *segment, uint64_t addr,
                                             unsigned *steps);

/* vs_page_index_check: compares the index with a walk over the blocks. Returns the problem, or
 * NULL. */
const char *vs_page_index_check(const struct vs_segment *segment);

#endif
