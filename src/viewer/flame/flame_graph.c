/* SPDX-License-Identifier: Apache-2.0
 *
 * A flame graph as one SVG file without references to others: the title, the frames that are wide
 * enough as plain elements (what an image viewer shows), all frames as data, and a script that draws
 * them anew to zoom and search (flame_graph.js). The outermost frames are at the top. Names come from
 * a trace and may be anything: they are escaped as text, and as data they contain no markup. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/flame/stack_source.h"
#include "viewer/flame/svg_text.h"

extern const char vs_flame_script[], vs_flame_style[]; /* by cmake/embed_text.cmake */

#define WIDTH 1200.0
#define EDGE 12.0
#define TOP 92
#define ROW 21
#define NARROWEST 0.7       /* pixels of a frame without the script */
#define CHARACTER 6.1       /* of a letter, on average */
#define SHADES 6

/* Colours by owner: warm for the user's code, cold for libraries, which differ by library. Dark text
 * is readable on all of them, on light and on dark paper. */
static const char *const user_shades[SHADES] = {"#ffb26b", "#fba24f", "#ffbf86",
                                                "#f7ab57", "#ffc79a", "#f2a25c"};
static const char *const library_shades[][SHADES] = {
    {"#9cc4ee", "#8ab8e8", "#aed0f2", "#94bfe9", "#b9d7f4", "#84b3e4"},
    {"#9bd6cf", "#88ccc4", "#aeded8", "#92d0c8", "#bae4df", "#80c6be"},
    {"#b9b8ee", "#aaa9e8", "#c6c5f2", "#b1b0ea", "#cfcef5", "#a2a1e2"},
    {"#a8cfa6", "#97c595", "#b8d9b6", "#9fca9d", "#c3e0c1", "#8ebf8c"},
};
#define LIBRARY_HUES (sizeof library_shades / sizeof *library_shades)
#define COLORS (SHADES * (1 + LIBRARY_HUES))

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

static const char *color_text(size_t color)
{
    return color < SHADES ? user_shades[color]
                          : library_shades[color / SHADES - 1][color % SHADES];
}

static void put_sums(FILE *out, const struct vs_call_node *node)
{
    char size[VS_SIZE_TEXT_MAX], count[VS_SIZE_TEXT_MAX];
    fprintf(out, "%s in %s block%s", vs_size_format(size, node->bytes),
            vs_count_format(count, node->count), node->count == 1 ? "" : "s");
}

struct flame {
    FILE *out;
    const struct vs_stack_source *source;
    const struct vs_call_tree *tree;
    const struct vs_export_options *options;
};

static uint64_t value_of(const struct flame *f, const struct vs_call_node *node)
{
    return f->options->by_count ? node->count : node->bytes;
}

/* One frame, as drawn without the script. */
static void put_frame(const struct flame *f, uint32_t index, size_t depth, double x, double width)
{
    const struct vs_call_node *node = &f->tree->nodes[index];
    const struct vs_named_frame *frame =
        index ? vs_stack_names_frame(f->source->names, node->frame) : NULL;
    bool rest = !frame || frame->owner == VS_OWNER_NONE;
    const char *name = frame ? frame->name : "all";
    size_t room = width > 8 + 3 * CHARACTER ? (size_t)((width - 8) / CHARACTER) : 0;
    fprintf(f->out, "<g class=\"frame%s\"><title>", rest ? " rest" : "");
    vs_svg_text(f->out, name, VS_SVG_NAME_MAX);
    fputs(": ", f->out);
    put_sums(f->out, node);
    fprintf(f->out, "</title><rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\"", x,
            TOP + depth * ROW, width, ROW - 1);
    if (!rest)
        fprintf(f->out, " fill=\"%s\"", color_text(color_of(frame)));
    fputs("/>", f->out);
    if (room) {
        fprintf(f->out, "<text x=\"%.2f\" y=\"%.1f\">", x + 4, (double)(TOP + depth * ROW) + 14.5);
        vs_svg_text(f->out, name, room);
        fputs("</text>", f->out);
    }
    fputs("</g>\n", f->out);
}

/* Draws what is wide enough. A frame's place follows from its caller's, and from its elder
 * siblings': *at* has the place of each node, and where its next child begins. */
static enum vs_err put_frames(const struct flame *f)
{
    const struct vs_call_tree *tree = f->tree;
    struct place {
        double x, width, next;
    } *at = calloc(tree->count, sizeof *at);
    size_t depth = 0;
    if (!at)
        return VS_ERR_NOMEM;
    uint64_t whole = value_of(f, &tree->nodes[0]);
    at[0] = (struct place){EDGE, WIDTH - 2 * EDGE, EDGE};
    put_frame(f, 0, 0, EDGE, at[0].width);
    for (uint32_t n = 0; (n = vs_call_tree_next(tree, n, &depth)) != 0;) {
        struct place *above = &at[tree->nodes[n].parent];
        double width = whole ? at[0].width * (double)value_of(f, &tree->nodes[n]) / (double)whole : 0;
        at[n] = (struct place){above->next, width, above->next};
        above->next += width;
        if (width >= NARROWEST)
            put_frame(f, n, depth, at[n].x, width);
    }
    free(at);
    return VS_OK;
}

/* The heading, the legend and the place of the frames. */
static void put_head(const struct flame *f, size_t rows)
{
    char title[VS_STACK_TITLE_MAX];
    const struct vs_stack_sums *sums = &f->source->sums;
    FILE *out = f->out;
    double height = TOP + (double)rows * ROW + 34;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>", WIDTH, height, WIDTH, height);
    vs_stack_source_title(f->source, f->options, title);
    vs_svg_text(out, *sums->program ? sums->program : "vramscope", 80);
    fprintf(out, ": %s</title>\n<style>\n%s</style>\n"
            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"title\" x=\"%.0f\" y=\"28\">", title, vs_flame_style, EDGE);
    vs_svg_text(out, *sums->program ? sums->program : "vramscope", 80);
    fprintf(out, ": %s</text>\n<text class=\"note\" x=\"%.0f\" y=\"47\">", title, EDGE);
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
    fputs("</text>\n<g id=\"legend\" class=\"legend\">", out);
    fprintf(out, "<rect x=\"%.0f\" y=\"66\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>"
            "<text x=\"%.0f\" y=\"76\">your code</text>", EDGE, user_shades[0], EDGE + 18);
    for (size_t i = 0; i < LIBRARY_HUES; i++)
        fprintf(out, "<rect x=\"%.0f\" y=\"66\" width=\"12\" height=\"12\" fill=\"%s\"/>",
                EDGE + 92 + 12.0 * (double)i, library_shades[i][0]);
    fprintf(out, "<text x=\"%.0f\" y=\"76\">libraries</text></g>\n", EDGE + 98 + 12.0 * LIBRARY_HUES);
}

static enum vs_err put_frame_table(const struct flame *f)
{
    const struct vs_stack_names *names = f->source->names;
    enum vs_err err = VS_OK;
    fputs("\"frames\":[", f->out);
    for (size_t i = 0; !err && i < vs_stack_names_count(names); i++) {
        const struct vs_named_frame *frame = vs_stack_names_frame(names, (uint32_t)i);
        fputs(i ? ",\n" : "\n", f->out);
        if (frame->same != i) { /* no node refers to it */
            fputc('0', f->out);
            continue;
        }
        fputc('[', f->out);
        err = vs_svg_json(f->out, frame->name);
        fprintf(f->out, ",%d,", frame->owner);
        if (!err)
            err = vs_svg_json(f->out, frame->library);
        fputc(',', f->out);
        if (!err)
            err = vs_svg_json(f->out, frame->file ? frame->file : "");
        fprintf(f->out, ",%zu]", color_of(frame));
    }
    fputs("],\n", f->out);
    return err;
}

/* All frames for the script: see flame_graph.js for their meaning. */
static enum vs_err put_data(const struct flame *f)
{
    const struct vs_call_tree *tree = f->tree;
    size_t depth = 0;
    fprintf(f->out, "<script type=\"application/json\" id=\"data\">{\"by\":\"%s\","
            "\"inverted\":%s,\n\"colors\":[", f->options->by_count ? "count" : "bytes",
            f->options->inverted ? "true" : "false");
    for (size_t i = 0; i < COLORS; i++)
        fprintf(f->out, "%s\"%s\"", i ? "," : "", color_text(i));
    fputs("],\n", f->out);
    enum vs_err err = put_frame_table(f);
    fprintf(f->out, "\"nodes\":[-1,0,%" PRIu64 ",%" PRIu64, tree->nodes[0].bytes,
            tree->nodes[0].count);
    for (uint32_t n = 0; (n = vs_call_tree_next(tree, n, &depth)) != 0;)
        fprintf(f->out, ",\n%" PRIu32 ",%zu,%" PRIu64 ",%" PRIu64, tree->nodes[n].frame, depth,
                tree->nodes[n].bytes, tree->nodes[n].count);
    fputs("]}</script>\n", f->out);
    return err;
}

/* The number of rows that are drawn without the script. */
static size_t count_rows(const struct flame *f)
{
    size_t depth = 0, rows = 1;
    double whole = (double)value_of(f, &f->tree->nodes[0]);
    for (uint32_t n = 0; (n = vs_call_tree_next(f->tree, n, &depth)) != 0;)
        if ((double)value_of(f, &f->tree->nodes[n]) * (WIDTH - 2 * EDGE) >= NARROWEST * whole &&
            depth + 1 > rows)
            rows = depth + 1;
    return rows;
}

static enum vs_err put_all(const struct flame *f)
{
    size_t rows = count_rows(f);
    put_head(f, rows);
    fputs("<g id=\"frames\">\n", f->out);
    enum vs_err err = put_frames(f);
    fprintf(f->out, "</g>\n<text id=\"foot\" class=\"note\" x=\"%.0f\" y=\"%zu\"></text>\n", EDGE,
            TOP + rows * ROW + 20);
    if (!err)
        err = put_data(f);
    fprintf(f->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", vs_flame_script);
    return err;
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
    err = vs_stack_source_tree(&source, options, &tree);
    if (!err) {
        struct flame f = {.out = out, .source = &source, .tree = &tree, .options = options};
        err = put_all(&f);
        result->written = tree.count - 1;
        vs_call_tree_free(&tree);
    }
    if (!err && (fflush(out) != 0 || ferror(out)))
        err = VS_ERR_IO;
    int saved_errno = errno;
    vs_stack_source_close(&source);
    errno = saved_errno;
    return err;
}
