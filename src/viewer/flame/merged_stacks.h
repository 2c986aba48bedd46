/* SPDX-License-Identifier: Apache-2.0
 *
 * The stacks of two runs in one tree: a frame is one node for both if function and file are the same,
 * whatever the line. Not thread-safe. */
#ifndef VS_MERGED_STACKS_H
#define VS_MERGED_STACKS_H

#include "analysis/compare/renamed_frames.h"
#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "viewer/flame/stack_source.h"

struct vs_merged_frame {
    const char *name; /* "forward (net.py)" */
    const char *library, *file; /* "": the user's, unknown */
    enum vs_frame_owner owner;
};

struct vs_merged_stacks {
    struct vs_call_tree tree; /* bytes: the sum of the larger of both values of each stack; count: 0 */
    uint64_t *bytes[2];       /* of each node, in a and in b */
    struct vs_intern texts;   /* of the frames: name, zero byte, library */
    struct vs_merged_frame *frames; /* by the number of the text */
    size_t frame_capacity;
    size_t capacity[2];
    struct vs_intern renamed; /* texts in b of frames that have another name in a: */
    uint32_t *renamed_to;     /* their frames, by number of the text */
    size_t renamed_capacity;
    struct vs_arena memory;
};

/* vs_merged_stacks_open: heaviest siblings first. With several devices each is a child of the root.
 * *renamed*: *count* frames of a that are one with a frame of b, "forward (net.c) -> forward_pass
 * (net.c)", unless b also has the former. Ownership: vs_merged_stacks_close. */
void vs_merged_stacks_open(struct vs_merged_stacks *out, struct vs_stack_source *a,
                           struct vs_stack_source *b, const struct vs_renamed_frame *renamed,
                           size_t count);

void vs_merged_stacks_close(struct vs_merged_stacks *stacks);

#endif
