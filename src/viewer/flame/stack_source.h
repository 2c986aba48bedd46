/* SPDX-License-Identifier: Apache-2.0
 *
 * What the formats made of stacks (flame graph, collapsed, speedscope) write: the sums by stack
 * that the options ask for, with the names of their frames, and these as a tree. Not thread-safe. */
#ifndef VS_STACK_SOURCE_H
#define VS_STACK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/checkpoint/stack_sums.h"
#include "analysis/naming/stack_names.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "viewer/export/export.h"

/* --- call_tree.c: equal frames below the same caller are one node, with the sums of all stacks through
 * it --- */

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

/* --- stack_source.c --- */

#define VS_STACK_TITLE_MAX 256

struct vs_stack_source {
    enum vs_stack_subject subject;
    struct vs_stack_sums sums;
    struct vs_stack_names *names;
};

/* vs_stack_source_open: reads the trace as *options* say, and sets what *result* says of it. Errors
 * as for vs_export_write. Ownership: vs_stack_source_close. */
enum vs_err vs_stack_source_open(struct vs_reader *reader, const struct vs_export_options *options,
                                 struct vs_stack_source *out, struct vs_export_result *result)
    VS_MUST_CHECK;

/* vs_stack_source_title: "memory live at the peak". Returns out (VS_STACK_TITLE_MAX bytes). */
char *vs_stack_source_title(const struct vs_stack_source *source,
                            const struct vs_export_options *options, char *out);

/* vs_stack_source_device: "device 0", the first frame where there are several. Returns out. */
char *vs_stack_source_device(const struct vs_stack_device *device, char out[32]);

/* vs_stack_source_tree: all rows, heaviest siblings first. With several devices each is a child of
 * the root. Ownership: vs_call_tree_free. */
void vs_stack_source_tree(struct vs_stack_source *source, const struct vs_export_options *options,
                          struct vs_call_tree *tree);

/* vs_stack_source_rest: the frame that stands for memory without events of its own. */
uint32_t vs_stack_source_rest(struct vs_stack_source *source);

void vs_stack_source_close(struct vs_stack_source *source);

#endif
