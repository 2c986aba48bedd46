/* SPDX-License-Identifier: Apache-2.0
 *
 * The flame graph of one run's memory (svg_graph.h): the frames' sums, their colours by owner, and the
 * data for the script (flame_graph.js). Names come from a trace and may be anything: they are escaped as
 * text, and as data they contain no markup. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/flame/stack_source.h"
#include "viewer/flame/svg_graph.h"

#define SHADES 6

/* Colours by owner: warm for the user's code, cold for libraries, which differ by library. Dark text
 * is readable on all of them, on light and on dark paper. */
static const char *const shades[] = {
    "#ffb26b", "#fba24f", "#ffbf86", "#f7ab57", "#ffc79a", "#f2a25c", /* the user's */
    "#9cc4ee", "#8ab8e8", "#aed0f2", "#94bfe9", "#b9d7f4", "#84b3e4",
    "#9bd6cf", "#88ccc4", "#aeded8", "#92d0c8", "#bae4df", "#80c6be",
    "#b9b8ee", "#aaa9e8", "#c6c5f2", "#b1b0ea", "#cfcef5", "#a2a1e2",
    "#a8cfa6", "#97c595", "#b8d9b6", "#9fca9d", "#c3e0c1", "#8ebf8c",
};
#define COLORS (sizeof shades / sizeof *shades)
#define LIBRARY_HUES (COLORS / SHADES - 1)

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash ^ hash >> 15;
}

/* The number of the colour of *frame*: shades of a hue differ by name. */
static size_t color_of(const struct vs_named_frame *frame)
{
    size_t hue = *frame->library ? 1 + hash_text(frame->library) % LIBRARY_HUES : 0;
    return hue * SHADES + hash_text(frame->name) % SHADES;
}

static void put_sums(FILE *out, const struct vs_call_node *node)
{
    fprintf(out, "%s in %s", vs_size_text(node->bytes), vs_number_text(node->count, "block"));
}

struct flame {
    const struct vs_stack_source *source;
    const struct vs_call_tree *tree;
    const struct vs_export_options *options;
};

static struct vs_svg_frame frame_of(const void *of, uint32_t number)
{
    const struct vs_named_frame *frame =
        vs_stack_names_frame(((const struct flame *)of)->source->names, number);
    return (struct vs_svg_frame){frame->same == number ? frame->name : NULL, frame->library,
                                 frame->file ? frame->file : "", frame->owner, color_of(frame)};
}

static const char *node_color(const void *of, uint32_t node)
{
    const struct flame *f = of;
    const struct vs_named_frame *frame =
        node ? vs_stack_names_frame(f->source->names, f->tree->nodes[node].frame) : NULL;
    return frame && frame->owner != VS_OWNER_NONE ? shades[color_of(frame)] : NULL;
}

static void put_node(const void *of, uint32_t node, FILE *out)
{
    put_sums(out, &((const struct flame *)of)->tree->nodes[node]);
}

static void put_title(const void *of, FILE *out)
{
    const struct flame *f = of;
    char title[VS_STACK_TITLE_MAX];
    vs_stack_source_title(f->source, f->options, title);
    vs_svg_text(out, *f->source->sums.program ? f->source->sums.program : "vramscope", 80);
    fprintf(out, ": %s", title);
}

static void put_note(const void *of, FILE *out)
{
    const struct flame *f = of;
    const struct vs_stack_sums *sums = &f->source->sums;
    put_sums(out, &f->tree->nodes[0]);
    for (size_t i = 0; i < sums->count && i < 4; i++)
        fprintf(out, "%s%" PRIu64 "%s", i ? ", " : sums->count > 1 ? ", devices " : ", device ",
                sums->devices[i].device, i == 3 && sums->count > 4 ? ", …" : "");
    if (f->options->by_count)
        fputs(", width by blocks", out);
    if (f->options->inverted)
        fputs(", callers below the allocating function", out);
    if (sums->weight > 1)
        fprintf(out, ", estimated from 1 of %" PRIu64 " allocations", sums->weight);
}

static void put_legend(const void *of, FILE *out)
{
    (void)of;
    vs_svg_legend(out, 0, shades[0], "your code");
    for (size_t i = 0; i < LIBRARY_HUES; i++)
        vs_svg_legend(out, 92 + 12.0 * (double)i, shades[SHADES * (1 + i)], NULL);
    fprintf(out, "<text x=\"%.0f\" y=\"76\">libraries</text>", VS_SVG_EDGE + 98 + 12.0 * (double)LIBRARY_HUES);
}

enum vs_err vs_export_flamegraph(struct vs_reader *reader, FILE *out,
                                 const struct vs_export_options *options,
                                 struct vs_export_result *result)
{
    struct vs_stack_source source;
    struct vs_call_tree tree;
    enum vs_err err = vs_stack_source_open(reader, options, &source, result);
    if (err)
        return err;
    vs_stack_source_tree(&source, options, &tree);
    struct flame f = {.source = &source, .tree = &tree, .options = options};
    struct vs_svg_content content = {
        &f, &tree, options->by_count, options->inverted, shades, COLORS, 0,
        vs_stack_names_count(source.names), frame_of, node_color, put_node, put_title, put_note,
        put_legend, NULL};
    vs_svg_graph_write(&content, out);
    result->written = tree.count - 1;
    vs_call_tree_free(&tree);
    vs_stack_source_close(&source);
    return VS_OK;
}
