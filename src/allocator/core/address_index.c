/* SPDX-License-Identifier: Apache-2.0
 *
 * A treap by address; see the header. */
#include "allocator/core/address_index.h"

#include "allocator/core/allocator_internal.h"

static uint64_t priority(const struct vs_block *block)
{
    return (block->addr ^ (block->addr >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
}

static vs_block_ref *child(struct vs_block *node, uint64_t addr)
{
    return node->addr < addr ? &node->idle.right : &node->idle.left;
}

void vs_address_index_insert(struct vs_address_index *index, struct vs_block *block)
{
    vs_block_ref *link = &index->root;
    uint64_t mine = priority(block);
    struct vs_block *rest = vs_block_of(*link);
    while (rest && priority(rest) >= mine) {
        link = child(rest, block->addr);
        rest = vs_block_of(*link);
    }
    /* what hung here is split into what lies below and above the new block */
    vs_block_ref *below = &block->idle.left, *above = &block->idle.right;
    *link = vs_ref_of(block);
    while (rest) {
        if (rest->addr < block->addr) {
            *below = vs_ref_of(rest);
            below = &rest->idle.right;
            rest = vs_block_of(*below);
        } else {
            *above = vs_ref_of(rest);
            above = &rest->idle.left;
            rest = vs_block_of(*above);
        }
    }
    *below = *above = 0;
}

void vs_address_index_remove(struct vs_address_index *index, struct vs_block *block)
{
    vs_block_ref *link = &index->root;
    while (vs_block_of(*link) != block)
        link = child(vs_block_of(*link), block->addr);
    struct vs_block *below = vs_block_of(block->idle.left), *above = vs_block_of(block->idle.right);
    while (below && above) {
        if (priority(below) >= priority(above)) {
            *link = vs_ref_of(below);
            link = &below->idle.right;
            below = vs_block_of(*link);
        } else {
            *link = vs_ref_of(above);
            link = &above->idle.left;
            above = vs_block_of(*link);
        }
    }
    *link = vs_ref_of(below ? below : above);
}

struct vs_block *vs_address_index_at(const struct vs_address_index *index, uint64_t addr)
{
    struct vs_block *best = NULL, *node = vs_block_of(index->root);
    while (node) {
        if (node->addr < addr) {
            node = vs_block_of(node->idle.right);
        } else {
            best = node;
            node = vs_block_of(node->idle.left);
        }
    }
    return best;
}

/* Depth is logarithmic in expectation, so recursion is fine here. */
static bool check_node(const struct vs_block *node, const struct vs_block **last, uint64_t *count)
{
    if (!node)
        return true;
    const struct vs_block *left = vs_block_of(node->idle.left);
    const struct vs_block *right = vs_block_of(node->idle.right);
    if (!check_node(left, last, count))
        return false;
    if (node->state != VS_BLOCK_UNMAPPED || (*last && (*last)->addr >= node->addr) ||
        (left && priority(left) > priority(node)) || (right && priority(right) > priority(node)))
        return false;
    *last = node;
    ++*count;
    return check_node(right, last, count);
}

bool vs_address_index_check(const struct vs_address_index *index, uint64_t *count)
{
    const struct vs_block *last = NULL;
    *count = 0;
    return check_node(vs_block_of(index->root), &last, count);
}
