/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of a flame graph: title, legend, frames in rows, and the script that zooms and searches.
 * The outermost frames are at the top. What the frames are, their colours and sums, is the caller's:
 * the memory of one run, or the difference of two. No state. */
#ifndef VS_SVG_GRAPH_H
#define VS_SVG_GRAPH_H

#include <stdio.h>

#include "viewer/flame/stack_source.h"

#define VS_SVG_EDGE 12 /* pixels left and right of the frames */

/* Each function gets *of*, and those that print print to *out*. Node 0 is the root. */
struct vs_svg_content {
    const void *of;
    uint64_t (*value)(const void *of, uint32_t node);    /* the width of a frame */
    const char *(*name)(const void *of, uint32_t node);  /* not of the root */
    const char *(*color)(const void *of, uint32_t node); /* NULL: that of frames without an owner */
    void (*put_values)(const void *of, uint32_t node, FILE *out); /* "1.2 GiB in 40 blocks" */
    void (*put_title)(const void *of, FILE *out);
    void (*put_note)(const void *of, FILE *out);   /* the line below the title */
    void (*put_legend)(const void *of, FILE *out); /* vs_svg_legend */
    void (*put_data)(const void *of, FILE *out); /* the data of flame_graph.js, as JSON */
};

/* vs_svg_graph_write: the whole file; frames that are too narrow to be seen are only in the data. */
void vs_svg_graph_write(const struct vs_svg_content *content, const struct vs_call_tree *tree, FILE *out);

/* vs_svg_legend: a square of *color* at *x* pixels from the first one, with *text* (may be NULL). */
void vs_svg_legend(FILE *out, double x, const char *color, const char *text);

/* Names from a trace may be anything, and must be neither markup nor invalid XML. */
#define VS_SVG_NAME_MAX 1024 /* longer names are cut in a graph */

/* vs_svg_text: at most *characters* of *text* as XML text, with "…" if it is longer. */
void vs_svg_text(FILE *out, const char *text, size_t characters);

/* vs_svg_json: *text* as a JSON string without characters that have a meaning in XML, cut after
 * VS_SVG_NAME_MAX bytes. */
void vs_svg_json(FILE *out, const char *text);

#endif
