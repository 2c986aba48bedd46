/* SPDX-License-Identifier: Apache-2.0
 *
 * Bins of search trees (base/vs_treap.h); see the header. */
#include "allocator/core/free_index.h"

#include "allocator/core/allocator_internal.h"

_Static_assert(4 * (47 - 1) + 3 < VS_FREE_BINS, "bins for any 56-bit size");

/* A place in the order of the free blocks: that of *block*, but at *addr*. */
struct free_index_place {
    uint64_t size, addr;
    const struct vs_block *block;
    bool by_age;     /* of the segments, where sizes are equal */
    bool before_all; /* before all blocks of this size */
};

static inline struct free_index_place place_of(const struct vs_block *block, bool by_age)
{
    return (struct free_index_place){block->size, block->addr, block, by_age, false};
}

static inline struct free_index_place first_of_size(uint64_t size)
{
    return (struct free_index_place){.size = size, .before_all = true};
}

/* Order of equally large blocks, where the segment's age counts. */
static __attribute__((noinline, cold)) bool is_older(const struct vs_block *block,
                                                     const struct vs_segment *segment,
                                                     uint64_t addr)
{
    if (block->segment->number != segment->number)
        return block->segment->number < segment->number;
    return block->addr < addr;
}

/* Sizes nearly always differ, and segments, in other cache lines, are looked at only where
 * they have to be. */
static inline bool bin_before(const struct vs_block *block, struct free_index_place at)
{
    if (block->size != at.size)
        return block->size < at.size;
    if (at.before_all)
        return false;
    if (__builtin_expect(at.by_age, false))
        return is_older(block, at.block->segment, at.addr);
    return block->addr < at.addr;
}

VS_BLOCK_TREAP(bin, struct free_index_place)

/* Separate: without a call in its loop the common case needs fewer registers. */
static __attribute__((noinline, cold)) void insert_by_age(vs_block_ref *bin, struct vs_block *block)
{
    bin_insert(bin, block, place_of(block, true));
}

static __attribute__((noinline, cold)) void remove_by_age(vs_block_ref *bin, struct vs_block *block)
{
    bin_remove(bin, block, place_of(block, true));
}

void vs_free_index_insert(struct vs_free_index *index, unsigned bin, struct vs_block *block)
{
    if (__builtin_expect(index->oldest_first, false))
        insert_by_age(&index->bins[bin], block);
    else
        bin_insert(&index->bins[bin], block, place_of(block, false));
}

void vs_free_index_remove(struct vs_free_index *index, unsigned bin, struct vs_block *block)
{
    if (__builtin_expect(index->oldest_first, false))
        remove_by_age(&index->bins[bin], block);
    else
        bin_remove(&index->bins[bin], block, place_of(block, false));
}

/* The first block of the bins above *bin*. */
static struct vs_block *first_above(const struct vs_free_index *index, unsigned bin)
{
    if (bin == VS_FREE_BINS - 1)
        return NULL;
    unsigned word = (bin + 1) / 64;
    uint64_t bits = index->occupied[word] & (~UINT64_C(0) << ((bin + 1) % 64));
    while (!bits) {
        if (++word == VS_FREE_WORDS)
            return NULL;
        bits = index->occupied[word];
    }
    struct vs_block *node =
        vs_block_of(index->bins[word * 64 + (unsigned)__builtin_ctzll(bits)]);
    while (node->idle.left)
        node = vs_block_of(node->idle.left);
    return node;
}

/* The last block of the bins below *bin*. */
static struct vs_block *last_below(const struct vs_free_index *index, unsigned bin)
{
    unsigned word = bin / 64;
    uint64_t bits = index->occupied[word] & ((UINT64_C(1) << (bin % 64)) - 1);
    while (!bits) {
        if (word-- == 0)
            return NULL;
        bits = index->occupied[word];
    }
    struct vs_block *node = vs_block_of(index->bins[word * 64 + vs_floor_log2(bits)]);
    while (node->idle.right)
        node = vs_block_of(node->idle.right);
    return node;
}

struct vs_block *vs_free_index_fit(const struct vs_free_index *index, uint64_t size)
{
    unsigned bin = vs_free_bin(size);
    struct vs_block *best = bin_first_from(index->bins[bin], first_of_size(size));
    return best ? best : first_above(index, bin);
}

struct vs_block *vs_free_index_after(const struct vs_free_index *index,
                                     const struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    struct free_index_place behind = place_of(block, index->oldest_first);
    behind.addr++;
    struct vs_block *best = bin_first_from(index->bins[bin], behind);
    return best ? best : first_above(index, bin);
}

struct vs_block *vs_free_index_before(const struct vs_free_index *index,
                                      const struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    struct vs_block *best = bin_last_before(index->bins[bin], place_of(block, index->oldest_first));
    return best ? best : last_below(index, bin);
}

struct vs_block *vs_free_index_below(const struct vs_free_index *index, uint64_t size)
{
    unsigned bin = vs_free_bin(size);
    struct vs_block *best = bin_last_before(index->bins[bin], first_of_size(size));
    return best ? best : last_below(index, bin);
}

bool vs_free_index_holds(const struct vs_free_index *index, const struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    return bin_first_from(index->bins[bin], place_of(block, index->oldest_first)) == block;
}

/* --- checking --- */

struct free_index_recount {
    const struct vs_free_index *index;
    unsigned bin;
    uint64_t count;
};

static bool check_free(void *ctx, const struct vs_block *block, const struct vs_block *last)
{
    struct free_index_recount *r = ctx;
    r->count++;
    return (block->state == VS_BLOCK_FREE || block->state == VS_BLOCK_DORMANT) &&
           vs_free_bin(block->size) == r->bin &&
           (!last || bin_before(last, place_of(block, r->index->oldest_first)));
}

bool vs_free_index_check(const struct vs_free_index *index, uint64_t *count)
{
    struct free_index_recount r = {.index = index};
    for (; r.bin < VS_FREE_BINS; r.bin++) {
        const struct vs_block *last = NULL;
        bool marked = index->occupied[r.bin / 64] >> (r.bin % 64) & 1;
        if (marked != (index->bins[r.bin] != 0) ||
            !bin_check(index->bins[r.bin], check_free, &r, &last))
            return false;
    }
    *count = r.count;
    return true;
}

static bool check_unmapped(void *count, const struct vs_block *block, const struct vs_block *last)
{
    ++*(uint64_t *)count;
    return block->state == VS_BLOCK_UNMAPPED && (!last || last->addr < block->addr);
}

bool vs_unmapped_valid(vs_block_ref unmapped, uint64_t *count)
{
    const struct vs_block *last = NULL;
    *count = 0;
    return vs_unmapped_check(unmapped, check_unmapped, count, &last);
}
