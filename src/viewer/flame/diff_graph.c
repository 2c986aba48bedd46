/* SPDX-License-Identifier: Apache-2.0
 *
 * The file is that of a flame graph (svg_graph.h, flame_graph.js), with the bytes of
 * both runs for each frame. Red frames have grown, blue ones have shrunk, by their share of the frame's
 * memory; the width is the larger of both, so that what is gone is visible. */
#include "viewer/flame/svg_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"

#define SHADES 5

/* Equal, then more and more grown, then more and more shrunk. Dark text is readable on all. */
static const char *const shades[1 + 2 * SHADES] = {
    "#e3e4e6", "#f9ddd6", "#f7c1b4", "#f4a593", "#f18a74", "#ee6f58",
    "#dbe6f5", "#bdd3ef", "#9fc0e8", "#81aee2", "#659cdc"};

struct diff_graph {
    const struct vs_merged_stacks *stacks;
    const char *program;
};

static struct vs_svg_frame frame_of(const void *of, uint32_t number)
{
    const struct vs_merged_frame *f = &((const struct diff_graph *)of)->stacks->frames[number];
    return (struct vs_svg_frame){f->name, f->library, f->file, f->owner, 0};
}

static const char *color_of(const void *of, uint32_t node)
{
    const struct vs_merged_stacks *stacks = ((const struct diff_graph *)of)->stacks;
    uint64_t a = stacks->bytes[0][node];
    uint64_t b = stacks->bytes[1][node];
    uint64_t most = a > b ? a : b, apart = a > b ? a - b : b - a;
    if (!apart)
        return shades[0];
    double part = (double)SHADES * (double)apart / (double)most;
    size_t step = (size_t)part + ((double)(size_t)part < part);
    step = step > SHADES ? SHADES : step < 1 ? 1 : step;
    return shades[a > b ? SHADES + step : step];
}

static void put_values(const void *of, uint32_t node, FILE *out)
{
    const struct vs_merged_stacks *stacks = ((const struct diff_graph *)of)->stacks;
    uint64_t a = stacks->bytes[0][node], b = stacks->bytes[1][node];
    struct vs_size_pair sizes = vs_sizes_apart(a, b);
    fprintf(out, "%s in A, %s in B", sizes.a, sizes.b);
    if (a != b)
        fprintf(out, ", %s%s", a > b ? "-" : "+", vs_size_text(a > b ? a - b : b - a));
}

static void put_title(const void *of, FILE *out)
{
    vs_svg_text(out, ((const struct diff_graph *)of)->program, 80);
    fputs(": memory live at the peak, A and B", out);
}

static void put_note(const void *of, FILE *out)
{
    put_values(of, 0, out);
    fputs("; the width is the larger of both", out);
}

static void put_legend(const void *of, FILE *out)
{
    (void)of;
    vs_svg_legend(out, 0, shades[SHADES], "more in B");
    vs_svg_legend(out, 92, shades[0], "equal");
    vs_svg_legend(out, 160, shades[2 * SHADES], "less in B");
}

/* "diff": the bytes of both runs for each node. */
static void put_both(const void *of, FILE *out)
{
    const struct vs_merged_stacks *stacks = ((const struct diff_graph *)of)->stacks;
    size_t depth = 0;
    fprintf(out, ",\n\"diff\":[%" PRIu64 ",%" PRIu64, stacks->bytes[0][0], stacks->bytes[1][0]);
    for (uint32_t n = 0; (n = vs_call_tree_next(&stacks->tree, n, &depth)) != 0;)
        fprintf(out, ",\n%" PRIu64 ",%" PRIu64, stacks->bytes[0][n], stacks->bytes[1][n]);
    fputc(']', out);
}

enum vs_err vs_diff_graph_write(struct vs_comparison *comparison, FILE *out)
{
    static const struct vs_export_options at_peak;
    struct vs_stack_source of_a = {0}, of_b = {0};
    struct vs_merged_stacks stacks = {0};
    struct vs_export_result ignored;
    const struct vs_renamed_frame *renamed = NULL;
    size_t renamed_count = 0;
    vs_renamed_frames(comparison, &renamed, &renamed_count);
    enum vs_err err = vs_stack_source_open(comparison->a->reader, &at_peak, &of_a, &ignored);
    if (err)
        return err;
    err = vs_stack_source_open(comparison->b->reader, &at_peak, &of_b, &ignored);
    if (!err) {
        vs_merged_stacks_open(&stacks, &of_a, &of_b, renamed, renamed_count);
        struct diff_graph g = {&stacks, *comparison->b->process ? comparison->b->process : "vramscope"};
        struct vs_svg_content content = {
            &g, &stacks.tree, false, false, shades, 1 + 2 * SHADES, SHADES, stacks.texts.count,
            frame_of, color_of, put_values, put_title, put_note, put_legend, put_both};
        vs_svg_graph_write(&content, out);
        vs_merged_stacks_close(&stacks);
        vs_stack_source_close(&of_b);
    }
    vs_stack_source_close(&of_a);
    return !err && (fflush(out) != 0 || ferror(out)) ? VS_ERR_IO : err;
}
