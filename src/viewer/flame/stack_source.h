/* SPDX-License-Identifier: Apache-2.0
 *
 * What the formats made of stacks (flame graph, collapsed, speedscope) write: the sums by stack that
 * the options ask for, with the names of their frames, and these as a tree. */
#ifndef VS_STACK_SOURCE_H
#define VS_STACK_SOURCE_H

#include "analysis/naming/stack_names.h"
#include "analysis/checkpoint/stack_sums.h"
#include "viewer/export/export.h"
#include "viewer/flame/call_tree.h"

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
