/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "viewer/flame/call_tree.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"

enum vs_err vs_call_tree_open(struct vs_call_tree *tree)
{
    enum vs_err err = vs_vec_grow(&tree->nodes, &tree->capacity, 1, sizeof *tree->nodes);
    if (!err)
        tree->count = 1;
    return err;
}

/* The child of *parent* for *frame*, added when new. */
static enum vs_err child_of(struct vs_call_tree *tree, uint32_t parent, uint32_t frame, uint32_t *out)
{
    uint64_t key = ((uint64_t)parent << 32 | frame) + 1;
    const uint64_t *found = vs_map_get(&tree->by_key, key);
    if (found) {
        *out = (uint32_t)*found;
        return VS_OK;
    }
    if (tree->count >= UINT32_MAX)
        return VS_ERR_LIMIT;
    enum vs_err err =
        vs_vec_grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes);
    if (!err)
        err = vs_map_put(&tree->by_key, key, tree->count);
    if (err)
        return err;
    *out = (uint32_t)tree->count++;
    tree->nodes[*out] = (struct vs_call_node){.frame = frame, .parent = parent,
                                              .sibling = tree->nodes[parent].child};
    tree->nodes[parent].child = *out;
    return VS_OK;
}

static void add_to(struct vs_call_node *node, uint64_t bytes, uint64_t blocks)
{
    node->bytes += bytes;
    node->count += blocks;
}

enum vs_err vs_call_tree_add(struct vs_call_tree *tree, uint32_t node, const uint32_t *frames,
                             size_t count, bool inverted, uint64_t bytes, uint64_t blocks,
                             uint32_t *end)
{
    for (uint32_t above = node; ; above = tree->nodes[above].parent) {
        add_to(&tree->nodes[above], bytes, blocks);
        if (!above)
            break;
    }
    for (size_t i = 0; i < count; i++) {
        enum vs_err err = child_of(tree, node, frames[inverted ? count - 1 - i : i], &node);
        if (err)
            return err;
        add_to(&tree->nodes[node], bytes, blocks);
    }
    tree->nodes[node].own_bytes += bytes;
    tree->nodes[node].own_count += blocks;
    if (end)
        *end = node;
    return VS_OK;
}

/* What one sort compares. */
struct sorted_child {
    uint64_t value;
    uint32_t frame, node;
};

static int heavier(const void *a, const void *b)
{
    const struct sorted_child *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

enum vs_err vs_call_tree_sort(struct vs_call_tree *tree, bool by_count)
{
    struct sorted_child *list = NULL;
    size_t capacity = 0;
    enum vs_err err = VS_OK;
    for (size_t n = 0; !err && n < tree->count; n++) {
        size_t count = 0;
        for (uint32_t at = tree->nodes[n].child; !err && at; at = tree->nodes[at].sibling) {
            const struct vs_call_node *child = &tree->nodes[at];
            err = vs_vec_grow(&list, &capacity, count + 1, sizeof *list);
            if (!err)
                list[count++] = (struct sorted_child){by_count ? child->count : child->bytes,
                                                      child->frame, at};
        }
        if (err || count < 2)
            continue;
        qsort(list, count, sizeof *list, heavier);
        tree->nodes[n].child = list[0].node;
        for (size_t i = 0; i < count; i++)
            tree->nodes[list[i].node].sibling = i + 1 < count ? list[i + 1].node : 0;
    }
    free(list);
    return err;
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
