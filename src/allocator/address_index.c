/* SPDX-License-Identifier: Apache-2.0
 *
 * A treap by address; see the header. */
#include "allocator/address_index.h"

#include "allocator/allocator_internal.h"

static uint64_t priority(const struct vs_block *block)
{
    return (block->addr ^ (block->addr >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct vs_block **child(struct vs_block *node, uint64_t addr)
{
    return node->addr < addr ? &node->idle.right : &node->idle.left;
}

void vs_address_index_insert(struct vs_address_index *index, struct vs_block *block)
{
    struct vs_block **link = &index->root;
    uint64_t mine = priority(block);
    while (*link && priority(*link) >= mine)
        link = child(*link, block->addr);
    /* what hung here is split into what lies below and above the new block */
    struct vs_block *rest = *link, **below = &block->idle.left, **above = &block->idle.right;
    *link = block;
    while (rest) {
        if (rest->addr < block->addr) {
            *below = rest;
            below = &rest->idle.right;
            rest = *below;
        } else {
            *above = rest;
            above = &rest->idle.left;
            rest = *above;
        }
    }
    *below = *above = NULL;
}

void vs_address_index_remove(struct vs_address_index *index, struct vs_block *block)
{
    struct vs_block **link = &index->root;
    while (*link != block)
        link = child(*link, block->addr);
    struct vs_block *below = block->idle.left, *above = block->idle.right;
    while (below && above) {
        if (priority(below) >= priority(above)) {
            *link = below;
            link = &below->idle.right;
            below = *link;
        } else {
            *link = above;
            link = &above->idle.left;
            above = *link;
        }
    }
    *link = below ? below : above;
}

struct vs_block *vs_address_index_at(const struct vs_address_index *index, uint64_t addr)
{
    struct vs_block *best = NULL, *node = index->root;
    while (node) {
        if (node->addr < addr) {
            node = node->idle.right;
        } else {
            best = node;
            node = node->idle.left;
        }
    }
    return best;
}

/* Depth is logarithmic in expectation, so recursion is fine here. */
static bool check_node(const struct vs_block *node, const struct vs_block **last, uint64_t *count)
{
    if (!node)
        return true;
    const struct vs_block *left = node->idle.left, *right = node->idle.right;
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
    return check_node(index->root, &last, count);
}
