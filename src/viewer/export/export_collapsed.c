/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapsed stacks: a line for each stack, its frames from the outermost inwards with semicolons
 * between them, a space and the bytes (or blocks). Read by flamegraph.pl, inferno and speedscope.
 * Semicolons in names become colons. */
#include "viewer/export/export.h"

#include <inttypes.h>

#include "base/reading/vs_vec.h"
#include "viewer/flame/stack_source.h"

enum vs_err vs_export_collapsed(struct vs_reader *reader, FILE *out,
                                const struct vs_export_options *options,
                                struct vs_export_result *result)
{
    struct vs_stack_source source;
    struct vs_call_tree tree;
    enum vs_err err = vs_stack_source_open(reader, options, &source, result);
    if (err)
        return err;
    vs_stack_source_tree(&source, options, &tree);
    /* Writes a line for each node at which stacks end. *path*: the frames above, by depth. */
    uint32_t *path = NULL;
    size_t capacity = 0, depth = 0;
    for (uint32_t node = 0; (node = vs_call_tree_next(&tree, node, &depth)) != 0;) {
        const struct vs_call_node *n = &tree.nodes[node];
        vs_vec_room(&path, &capacity, depth + 1, sizeof *path);
        path[depth] = n->frame;
        uint64_t value = options->by_count ? n->own_count : n->own_bytes;
        if (!value)
            continue;
        for (size_t i = 1; i <= depth; i++) {
            fputs(i > 1 ? ";" : "", out);
            const char *name = vs_stack_names_frame(source.names, path[i])->name;
            for (; *name; name++)
                fputc(*name == ';' ? ':' : *name, out);
        }
        fprintf(out, " %" PRIu64 "\n", value);
        result->written++;
    }
    free(path);
    vs_call_tree_free(&tree);
    vs_stack_source_close(&source);
    return VS_OK;
}
