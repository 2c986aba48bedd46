/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of a page: call sites with their stacks as a prefix tree, each name once. Only sites
 * that have rows are named, the heaviest ones first; what is beyond the limits shares one row, so
 * that the page's first element stays small. Not thread-safe. */
#ifndef VS_PAGE_NAMES_H
#define VS_PAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/summary.h"
#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"

#define VS_PAGE_NODES_MAX 40000 /* later ones are not on the page */

struct vs_page_node {
    uint32_t parent, frame, file; /* parent: row + 1; file: index + 1; 0: none */
    uint32_t line;
    uint32_t user; /* 1: the user's own code, 0: a library's */
};

struct vs_page_site {
    uint32_t stack;    /* row of its innermost frame + 1; 0: none */
    const char *label; /* as the report prints it */
    const char *through; /* the function of a library that it called; "": none */
    uint32_t library;  /* index */
    bool user;         /* the label is of the user's code */
};

/* Zero-initialise. */
struct vs_page_names {
    struct vs_intern frames, files, libraries; /* texts */
    struct vs_intern nodes; /* struct vs_page_node */
    struct vs_page_site *sites;
    size_t site_count, site_capacity;
    size_t unnamed;         /* sites of the replay that share the last row; 0: none */
    uint32_t *site_numbers; /* of each site of the replay; those without rows have 0 */
    struct vs_arena memory;
};

/* vs_page_names_build: *used*: for each site of the replay, whether a row has it. Cost: looks up
 * the symbols of their stacks. */
void vs_page_names_build(struct vs_page_names *names, const struct vs_replay *replay,
                         struct vs_symbols *symbols, const bool *used);

void vs_page_names_free(struct vs_page_names *names);

#endif
