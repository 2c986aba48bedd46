/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/flame/stack_source.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"

void vs_call_tree_open(struct vs_call_tree *tree)
{
    vs_vec_room(&tree->nodes, &tree->capacity, 1, sizeof *tree->nodes);
    tree->count = 1;
}

/* The child of *parent* for *frame*, added when new. */
static uint32_t child_of(struct vs_call_tree *tree, uint32_t parent, uint32_t frame)
{
    uint64_t key = ((uint64_t)parent << 32 | frame) + 1;
    const uint64_t *found = vs_map_get(&tree->by_key, key);
    if (found)
        return (uint32_t)*found;
    if (tree->count >= UINT32_MAX)
        vs_out_of_memory();
    vs_vec_room(&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes);
    vs_xmap_put(&tree->by_key, key, tree->count);
    uint32_t child = (uint32_t)tree->count++;
    tree->nodes[child] = (struct vs_call_node){.frame = frame, .parent = parent,
                                               .sibling = tree->nodes[parent].child};
    tree->nodes[parent].child = child;
    return child;
}

uint32_t vs_call_tree_add(struct vs_call_tree *tree, uint32_t node, const uint32_t *frames,
                          size_t count, bool inverted, uint64_t bytes, uint64_t blocks)
{
    for (size_t i = 0; i < count; i++)
        node = child_of(tree, node, frames[inverted ? count - 1 - i : i]);
    tree->nodes[node].own_bytes += bytes;
    tree->nodes[node].own_count += blocks;
    for (uint32_t above = node; ; above = tree->nodes[above].parent) {
        tree->nodes[above].bytes += bytes;
        tree->nodes[above].count += blocks;
        if (!above)
            return node;
    }
}

/* What one sort compares. */
struct sorted_child {
    uint64_t value;
    uint32_t frame, node;
};

void vs_call_tree_sort(struct vs_call_tree *tree, bool by_count)
{
    struct sorted_child *list = NULL;
    size_t capacity = 0;
    for (size_t n = 0; n < tree->count; n++) {
        size_t count = 0;
        for (uint32_t at = tree->nodes[n].child; at; at = tree->nodes[at].sibling) {
            const struct vs_call_node *child = &tree->nodes[at];
            vs_vec_room(&list, &capacity, count + 1, sizeof *list);
            list[count++] = (struct sorted_child){by_count ? child->count : child->bytes,
                                                  child->frame, at};
        }
        if (count < 2)
            continue;
        VS_SORT(list, count, VS_DOWN(value), VS_UP(frame));
        tree->nodes[n].child = list[0].node;
        for (size_t i = 0; i < count; i++)
            tree->nodes[list[i].node].sibling = i + 1 < count ? list[i + 1].node : 0;
    }
    free(list);
}

uint32_t vs_call_tree_next(const struct vs_call_tree *tree, uint32_t node, size_t *depth)
{
    if (tree->nodes[node].child) {
        ++*depth;
        return tree->nodes[node].child;
    }
    while (node && !tree->nodes[node].sibling) {
        node = tree->nodes[node].parent;
        --*depth;
    }
    return node ? tree->nodes[node].sibling : 0;
}

void vs_call_tree_free(struct vs_call_tree *tree)
{
    free(tree->nodes);
    vs_map_free(&tree->by_key);
    *tree = (struct vs_call_tree){0};
}
