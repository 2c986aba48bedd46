/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graphs as SVG files: of one run, and of two; the parts that both have. Not thread-safe. */
#ifndef VS_SVG_GRAPH_H
#define VS_SVG_GRAPH_H

#include <stdio.h>

#include "analysis/compare/comparison.h"
#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "viewer/flame/stack_source.h"

/* --- svg_graph.c: title, legend, frames in rows, and the script that zooms and searches; what the
 * frames are is the caller's --- */

#define VS_SVG_EDGE 12 /* pixels left and right of the frames */

struct vs_svg_frame {
    const char *name, *library, *file; /* name NULL: no node has this frame */
    enum vs_frame_owner owner;
    size_t color; /* without a comparison */
};

/* Each function gets *of*, and those that print print to *out*. Node 0 is the root. */
struct vs_svg_content {
    const void *of;
    const struct vs_call_tree *tree;
    bool by_count, inverted; /* by_count: the width of a frame is its blocks, not its bytes */
    const char *const *colors;
    size_t color_count;
    unsigned shades; /* of growth, and as many of what shrank; 0: no comparison */
    size_t frame_count;
    struct vs_svg_frame (*frame)(const void *of, uint32_t frame); /* of the tree's numbers */
    const char *(*color)(const void *of, uint32_t node); /* NULL: that of frames without an owner */
    void (*put_values)(const void *of, uint32_t node, FILE *out); /* "1.2 GiB in 40 blocks" */
    void (*put_title)(const void *of, FILE *out);
    void (*put_note)(const void *of, FILE *out);   /* the line below the title */
    void (*put_legend)(const void *of, FILE *out); /* vs_svg_legend */
    void (*put_more)(const void *of, FILE *out); /* members of the script's data; NULL: none */
};

/* vs_svg_graph_write: the whole file; frames that are too narrow to be seen are only in the data. */
void vs_svg_graph_write(const struct vs_svg_content *content, FILE *out);

/* vs_svg_legend: a square of *color* at *x* pixels from the first one, with *text* (may be NULL). */
void vs_svg_legend(FILE *out, double x, const char *color, const char *text);

/* Names from a trace may be anything, and must be neither markup nor invalid XML. */
#define VS_SVG_NAME_MAX 1024 /* longer names are cut in a graph */

/* vs_svg_text: at most *characters* of *text* as XML text, with "…" if it is longer. */
void vs_svg_text(FILE *out, const char *text, size_t characters);

/* --- merged_stacks.c: the stacks of two runs in one tree; a frame is one node for both if function and
 * file are the same --- */

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

/* --- diff_graph.c: the flame graph of two runs --- */

/* vs_diff_graph_write: memory live at the peak of each device in both runs, by stack, as one SVG file.
 * Frames are the same by function and file, without lines; functions that were renamed by the
 * comparison. VS_ERR_IO if a write fails (errno has the reason), VS_ERR_NOMEM. Cost: reads each trace
 * twice. */
enum vs_err vs_diff_graph_write(struct vs_comparison *comparison, FILE *out) VS_MUST_CHECK;

#endif
