/* SPDX-License-Identifier: Apache-2.0
 *
 * A family of processes as a tree with each one's peak, and what they held together; as
 * text and as JSON. Write errors show in ferror. */
#ifndef VS_TREE_TEXT_H
#define VS_TREE_TEXT_H

#include "analysis/processes/process_tree.h"
#include "viewer/common/text_style.h"

/* vs_tree_text: the tree and the sums. VS_ERR_NOMEM prints nothing. */
enum vs_err vs_tree_text(const struct vs_tree *tree, const struct vs_style *style)
    VS_MUST_CHECK;

/* vs_tree_json: schema vramscope.family/1. */
void vs_tree_json(const struct vs_tree *tree, FILE *out);

#endif
