/* SPDX-License-Identifier: Apache-2.0
 *
 * Bins of treaps; see the header. Top-down insertion by splitting and removal by
 * joining, so there is neither recursion nor a parent link. */
#include "allocator/core/free_index.h"

#include "allocator/core/allocator_internal.h"

_Static_assert(4 * (47 - 1) + 3 < VS_FREE_BINS, "bins for any 56-bit size");

static uint64_t priority(const struct vs_block *block)
{
    return (block->addr ^ (block->addr >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Of equally large blocks, where the segment's age counts. */
static __attribute__((noinline, cold)) bool is_older(const struct vs_block *block,
                                                     const struct vs_block *other)
{
    if (block->segment->number != other->segment->number)
        return block->segment->number < other->segment->number;
    return block->addr < other->addr;
}

/* Is *block* before *other*, of *size* and at *addr*? Sizes nearly always differ, and the
 * segment, in another cache line, is looked at only where it has to be. */
static inline bool before(const struct vs_free_index *index, const struct vs_block *block,
                          uint64_t size, uint64_t addr, const struct vs_block *other)
{
    if (block->size != size)
        return block->size < size;
    if (__builtin_expect(index->oldest_first, false))
        return is_older(block, other);
    return block->addr < addr;
}

void vs_free_index_insert(struct vs_free_index *index, struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    vs_block_ref *link = &index->bins[bin];
    index->occupied[bin / 64] |= UINT64_C(1) << (bin % 64);
    uint64_t mine = priority(block), size = block->size, addr = block->addr;
    struct vs_block *node = vs_block_of(*link);
    while (node && priority(node) >= mine) {
        link = before(index, node, size, addr, block) ? &node->idle.right : &node->idle.left;
        node = vs_block_of(*link);
    }
    /* what hung here is split into what lies before and after the new block */
    struct vs_block *rest = node;
    vs_block_ref *less = &block->idle.left, *more = &block->idle.right;
    *link = vs_ref_of(block);
    while (rest) {
        if (before(index, rest, size, addr, block)) {
            *less = vs_ref_of(rest);
            less = &rest->idle.right;
            rest = vs_block_of(*less);
        } else {
            *more = vs_ref_of(rest);
            more = &rest->idle.left;
            rest = vs_block_of(*more);
        }
    }
    *less = *more = 0;
}

void vs_free_index_remove(struct vs_free_index *index, struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    vs_block_ref *link = &index->bins[bin];
    for (struct vs_block *node = vs_block_of(*link); node != block; node = vs_block_of(*link))
        link = before(index, node, block->size, block->addr, block) ? &node->idle.right : &node->idle.left;
    struct vs_block *less = vs_block_of(block->idle.left), *more = vs_block_of(block->idle.right);
    while (less && more) {
        if (priority(less) >= priority(more)) {
            *link = vs_ref_of(less);
            link = &less->idle.right;
            less = vs_block_of(*link);
        } else {
            *link = vs_ref_of(more);
            link = &more->idle.left;
            more = vs_block_of(*link);
        }
    }
    *link = vs_ref_of(less ? less : more);
    if (!index->bins[bin])
        index->occupied[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
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
    struct vs_block *best = NULL, *node = vs_block_of(index->bins[bin]);
    while (node) {
        if (node->size < size) {
            node = vs_block_of(node->idle.right);
        } else {
            best = node;
            node = vs_block_of(node->idle.left);
        }
    }
    return best ? best : first_above(index, bin);
}

struct vs_block *vs_free_index_after(const struct vs_free_index *index,
                                     const struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    struct vs_block *best = NULL, *node = vs_block_of(index->bins[bin]);
    while (node) {
        if (before(index, block, node->size, node->addr, node)) {
            best = node;
            node = vs_block_of(node->idle.left);
        } else {
            node = vs_block_of(node->idle.right);
        }
    }
    return best ? best : first_above(index, bin);
}

struct vs_block *vs_free_index_before(const struct vs_free_index *index,
                                      const struct vs_block *block)
{
    unsigned bin = vs_free_bin(block->size);
    struct vs_block *best = NULL, *node = vs_block_of(index->bins[bin]);
    while (node) {
        if (before(index, node, block->size, block->addr, block)) {
            best = node;
            node = vs_block_of(node->idle.right);
        } else {
            node = vs_block_of(node->idle.left);
        }
    }
    return best ? best : last_below(index, bin);
}

struct vs_block *vs_free_index_below(const struct vs_free_index *index, uint64_t size)
{
    unsigned bin = vs_free_bin(size);
    struct vs_block *best = NULL, *node = vs_block_of(index->bins[bin]);
    while (node) {
        if (node->size < size) {
            best = node;
            node = vs_block_of(node->idle.right);
        } else {
            node = vs_block_of(node->idle.left);
        }
    }
    return best ? best : last_below(index, bin);
}

bool vs_free_index_holds(const struct vs_free_index *index, const struct vs_block *block)
{
    const struct vs_block *node = vs_block_of(index->bins[vs_free_bin(block->size)]);
    while (node && node != block)
        node = vs_block_of(before(index, node, block->size, block->addr, block) ? node->idle.right : node->idle.left);
    return node != NULL;
}

/* Depth is logarithmic in expectation, so recursion is fine here. */
static bool check_node(const struct vs_free_index *index, const struct vs_block *node,
                       unsigned bin, const struct vs_block **last, uint64_t *count)
{
    if (!node)
        return true;
    const struct vs_block *left = vs_block_of(node->idle.left);
    const struct vs_block *right = vs_block_of(node->idle.right);
    if (!check_node(index, left, bin, last, count))
        return false;
    if ((node->state != VS_BLOCK_FREE && node->state != VS_BLOCK_DORMANT) ||
        vs_free_bin(node->size) != bin ||
        (*last && !before(index, *last, node->size, node->addr, node)) ||
        (left && priority(left) > priority(node)) || (right && priority(right) > priority(node)))
        return false;
    *last = node;
    ++*count;
    return check_node(index, right, bin, last, count);
}

bool vs_free_index_check(const struct vs_free_index *index, uint64_t *count)
{
    const struct vs_block *last = NULL;
    *count = 0;
    for (unsigned bin = 0; bin < VS_FREE_BINS; bin++) {
        bool marked = index->occupied[bin / 64] >> (bin % 64) & 1;
        if (marked != (index->bins[bin] != 0) ||
            !check_node(index, vs_block_of(index->bins[bin]), bin, &last, count))
            return false;
    }
    return true;
}
