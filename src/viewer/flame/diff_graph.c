/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The file is that of a flame graph (flame_graph.c, flame_graph.js), with the bytes of
 * both runs for each frame. Red frames have grown, blue ones have shrunk, by their share of the frame's
 * memory; the width is the larger of both, so that what is gone is visible. */
#include "viewer/flame/diff_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/flame/merged_stacks.h"
#include "viewer/flame/svg_text.h"

extern const char vs_flame_script[], vs_flame_style[]; /* by cmake/embed_text.cmake */

#define WIDTH 1200.0
#define EDGE 12.0
#define TOP 92
#define ROW 21
#define NARROWEST 0.7 /* pixels of a frame without the script */
#define CHARACTER 6.1 /* of a letter, on average */
#define SHADES 5

/* Equal, then more and more grown, then more and more shrunk. Dark text is readable on all. */
static const char *const shades[1 + 2 * SHADES] = {
    "#e3e4e6", "#f9ddd6", "#f7c1b4", "#f4a593", "#f18a74", "#ee6f58",
    "#dbe6f5", "#bdd3ef", "#9fc0e8", "#81aee2", "#659cdc"};

struct diff_graph {
    FILE *out;
    const struct vs_merged_stacks *stacks;
    const char *program;
};

static const char *shade_of(uint64_t a, uint64_t b)
{
    uint64_t most = a > b ? a : b, apart = a > b ? a - b : b - a;
    if (!apart)
        return shades[0];
    double part = (double)SHADES * (double)apart / (double)most;
    size_t step = (size_t)part + ((double)(size_t)part < part);
    step = step > SHADES ? SHADES : step < 1 ? 1 : step;
    return shades[a > b ? SHADES + step : step];
}

static void put_values(const struct diff_graph *g, size_t node)
{
    char change[VS_SIZE_TEXT_MAX];
    uint64_t a = g->stacks->bytes[0][node], b = g->stacks->bytes[1][node];
    struct vs_size_pair sizes = vs_sizes_apart(a, b);
    fprintf(g->out, "%s in A, %s in B", sizes.a, sizes.b);
    if (a != b)
        fprintf(g->out, ", %s%s", a > b ? "-" : "+", vs_size_format(change, a > b ? a - b : b - a));
}

static void put_frame(const struct diff_graph *g, uint32_t index, size_t depth, double x, double width)
{
    const struct vs_call_node *node = &g->stacks->tree.nodes[index];
    const char *name = index ? g->stacks->frames[node->frame].name : "all";
    size_t room = width > 8 + 3 * CHARACTER ? (size_t)((width - 8) / CHARACTER) : 0;
    fputs("<g class=\"frame\"><title>", g->out);
    vs_svg_text(g->out, name, VS_SVG_NAME_MAX);
    fputs(": ", g->out);
    put_values(g, index);
    fprintf(g->out, "</title><rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", x,
            TOP + depth * ROW, width, ROW - 1, shade_of(g->stacks->bytes[0][index], g->stacks->bytes[1][index]));
    if (room) {
        fprintf(g->out, "<text x=\"%.2f\" y=\"%.1f\">", x + 4, (double)(TOP + depth * ROW) + 14.5);
        vs_svg_text(g->out, name, room);
        fputs("</text>", g->out);
    }
    fputs("</g>\n", g->out);
}

/* Draws what is wide enough; *rows* receives the number of rows. With *drawn* false only counts. */
static enum vs_err put_frames(const struct diff_graph *g, bool drawn, size_t *rows)
{
    const struct vs_call_tree *tree = &g->stacks->tree;
    struct frame_place {
        double width, next;
    } *at = calloc(tree->count, sizeof *at);
    size_t depth = 0;
    double whole = (double)tree->nodes[0].bytes;
    if (!at)
        return VS_ERR_NOMEM;
    *rows = 1;
    at[0] = (struct frame_place){WIDTH - 2 * EDGE, EDGE};
    if (drawn)
        put_frame(g, 0, 0, EDGE, at[0].width);
    for (uint32_t n = 0; (n = vs_call_tree_next(tree, n, &depth)) != 0;) {
        struct frame_place *above = &at[tree->nodes[n].parent];
        double x = above->next;
        at[n].width = whole > 0 ? at[0].width * (double)tree->nodes[n].bytes / whole : 0;
        at[n].next = x;
        above->next += at[n].width;
        if (at[n].width < NARROWEST)
            continue;
        *rows = depth + 1 > *rows ? depth + 1 : *rows;
        if (drawn)
            put_frame(g, n, depth, x, at[n].width);
    }
    free(at);
    return VS_OK;
}

static void put_title(const struct diff_graph *g)
{
    vs_svg_text(g->out, g->program, 80);
    fputs(": memory live at the peak, A and B", g->out);
}

static void put_head(const struct diff_graph *g, size_t rows)
{
    static const struct {
        const char *text;
        size_t shade;
        double x;
    } legend[] = {{"more in B", SHADES, 0}, {"equal", 0, 92}, {"less in B", 2 * SHADES, 160}};
    double height = TOP + (double)rows * ROW + 34;
    fprintf(g->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>", WIDTH, height, WIDTH, height);
    put_title(g);
    fprintf(g->out, "</title>\n<style>\n%s</style>\n"
            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"title\" x=\"%.0f\" y=\"28\">", vs_flame_style, EDGE);
    put_title(g);
    fprintf(g->out, "</text>\n<text class=\"note\" x=\"%.0f\" y=\"47\">", EDGE);
    put_values(g, 0);
    fputs("; the width is the larger of both</text>\n<g id=\"legend\" class=\"legend\">", g->out);
    for (size_t i = 0; i < sizeof legend / sizeof *legend; i++)
        fprintf(g->out, "<rect x=\"%.0f\" y=\"66\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>"
                "<text x=\"%.0f\" y=\"76\">%s</text>", EDGE + legend[i].x, shades[legend[i].shade],
                EDGE + legend[i].x + 18, legend[i].text);
    fputs("</g>\n<g id=\"frames\">\n", g->out);
}

/* All frames for the script: see flame_graph.js for their meaning. */
static enum vs_err put_data(const struct diff_graph *g)
{
    const struct vs_merged_stacks *stacks = g->stacks;
    enum vs_err err = VS_OK;
    size_t depth = 0;
    fprintf(g->out, "<script type=\"application/json\" id=\"data\">{\"by\":\"bytes\",\"inverted\":false,"
            "\"shades\":%d,\n\"colors\":[", SHADES);
    for (size_t i = 0; i < 1 + 2 * SHADES; i++)
        fprintf(g->out, "%s\"%s\"", i ? "," : "", shades[i]);
    fputs("],\n\"frames\":[", g->out);
    for (size_t i = 0; !err && i < stacks->frame_count; i++) {
        const struct vs_merged_frame *frame = &stacks->frames[i];
        fputs(i ? ",\n[" : "\n[", g->out);
        err = vs_svg_json(g->out, frame->name);
        fprintf(g->out, ",%d,", frame->owner);
        if (!err)
            err = vs_svg_json(g->out, frame->library);
        fputc(',', g->out);
        if (!err)
            err = vs_svg_json(g->out, frame->file);
        fputs(",0]", g->out);
    }
    fprintf(g->out, "],\n\"nodes\":[-1,0,%" PRIu64 ",0", stacks->tree.nodes[0].bytes);
    for (uint32_t n = 0; (n = vs_call_tree_next(&stacks->tree, n, &depth)) != 0;)
        fprintf(g->out, ",\n%" PRIu32 ",%zu,%" PRIu64 ",0", stacks->tree.nodes[n].frame, depth,
                stacks->tree.nodes[n].bytes);
    fprintf(g->out, "],\n\"diff\":[%" PRIu64 ",%" PRIu64, stacks->bytes[0][0], stacks->bytes[1][0]);
    for (uint32_t n = 0; (n = vs_call_tree_next(&stacks->tree, n, &depth)) != 0;)
        fprintf(g->out, ",\n%" PRIu64 ",%" PRIu64, stacks->bytes[0][n], stacks->bytes[1][n]);
    fputs("]}</script>\n", g->out);
    return err;
}

static enum vs_err put_all(const struct diff_graph *g)
{
    size_t rows;
    enum vs_err err = put_frames(g, false, &rows);
    if (err)
        return err;
    put_head(g, rows);
    err = put_frames(g, true, &rows);
    fprintf(g->out, "</g>\n<text id=\"foot\" class=\"note\" x=\"%.0f\" y=\"%zu\"></text>\n", EDGE,
            TOP + rows * ROW + 20);
    if (!err)
        err = put_data(g);
    fprintf(g->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", vs_flame_script);
    return err;
}

enum vs_err vs_diff_graph_write(struct vs_reader *a, struct vs_reader *b, FILE *out)
{
    static const struct vs_export_options at_peak;
    struct vs_stack_source of_a = {0}, of_b = {0};
    struct vs_merged_stacks stacks = {0};
    struct vs_export_result ignored;
    enum vs_err err = vs_stack_source_open(a, &at_peak, &of_a, &ignored);
    if (err)
        return err;
    err = vs_stack_source_open(b, &at_peak, &of_b, &ignored);
    if (!err) {
        err = vs_merged_stacks_open(&stacks, &of_a, &of_b);
        struct diff_graph g = {out, &stacks, *of_b.sums.program ? of_b.sums.program : "vramscope"};
        if (!err)
            err = put_all(&g);
        if (!err && (fflush(out) != 0 || ferror(out)))
            err = VS_ERR_IO;
        int saved_errno = errno;
        vs_merged_stacks_close(&stacks);
        vs_stack_source_close(&of_b);
        errno = saved_errno;
    }
    int saved_errno = errno;
    vs_stack_source_close(&of_a);
    errno = saved_errno;
    return err;
}
