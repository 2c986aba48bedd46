/* SPDX-License-Identifier: Apache-2.0
 *
 * A family of processes as a tree with the peak of each, and the peak of their sum; as text and as
 * JSON. Write errors show in ferror. */
#ifndef VS_TREE_TEXT_H
#define VS_TREE_TEXT_H

#include "analysis/processes/process_tree.h"
#include "viewer/common/text_style.h"

/* vs_tree_text: prints the tree and the sums. Prints nothing on */
void vs_tree_text(const struct vs_tree *tree, const struct vs_style *style);

/* vs_tree_json: schema vramscope.family/1. */
void vs_tree_json(const struct vs_tree *tree, FILE *out);

#endif
