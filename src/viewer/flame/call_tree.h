/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks merged into a tree: equal frames below the same caller are one node, with the sums of all
 * stacks through it. Not thread-safe. */
#ifndef VS_CALL_TREE_H
#define VS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "base/vs_map.h"

struct vs_call_node {
    uint32_t frame;          /* the caller's number for it; of the root: unused */
    uint32_t parent;         /* 0: the root */
    uint32_t child, sibling; /* first child, next sibling; 0: none */
    uint64_t bytes, count;   /* of all stacks through it */
    uint64_t own_bytes, own_count; /* of stacks that end here */
};

/* Zero-initialise, then vs_call_tree_open. Node 0 is the root. */
struct vs_call_tree {
    struct vs_call_node *nodes;
    size_t count, capacity;
    struct vs_map by_key; /* parent and frame -> node */
};

void vs_call_tree_open(struct vs_call_tree *tree);

/* vs_call_tree_add: a stack of *count* frames, in the order from the root, below *node*. Returns
 * its last node. */
uint32_t vs_call_tree_add(struct vs_call_tree *tree, uint32_t node, const uint32_t *frames,
                          size_t count, bool inverted, uint64_t bytes, uint64_t blocks);

/* vs_call_tree_sort: orders all siblings, heaviest first, by bytes or by count. */
void vs_call_tree_sort(struct vs_call_tree *tree, bool by_count);

/* vs_call_tree_next: the node after *node* in the order of a walk from the root, callers first; 0 at
 * the end. *depth* (of *node*, the root has 0) is updated. */
uint32_t vs_call_tree_next(const struct vs_call_tree *tree, uint32_t node, size_t *depth);

void vs_call_tree_free(struct vs_call_tree *tree);

#endif
