/* SPDX-License-Identifier: Apache-2.0
 *
 * The call tree: the chains of the call sites that hold most, from the outermost function, where
 * equal ones are one row. Functions with one callee are in its row. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_size.h"
#include "viewer/top/top_frame.h"

#define FRAMES_MAX 40u
#define LABEL_MAX 320

struct tree_node {
    char label[LABEL_MAX];
    uint64_t bytes, growth; /* growth: per step */
    bool growing;
    const char *code;       /* the line that allocates; NULL: unknown. Not owned */
    uint32_t child, next;   /* index; 0: none */
};

struct call_tree {
    struct tree_node *nodes; /* [0] is above all */
    size_t count, capacity;
    bool by_growth;
};

static uint32_t child_of(struct call_tree *tree, uint32_t parent, const char *label)
{
    uint32_t at = tree->nodes[parent].child;
    while (at && strcmp(tree->nodes[at].label, label) != 0)
        at = tree->nodes[at].next;
    if (at)
        return at;
    struct tree_node *fresh =
        vs_vec_push(&tree->nodes, &tree->count, &tree->capacity, sizeof *fresh);
    *fresh = (struct tree_node){.next = tree->nodes[parent].child};
    snprintf(fresh->label, LABEL_MAX, "%s", label);
    return tree->nodes[parent].child = (uint32_t)tree->count - 1;
}

/* "f (a.c:12) < g:30", and a line of code: the frames, each with its file. Returns their number. */
static size_t split(const char *chain, char out[FRAMES_MAX][LABEL_MAX])
{
    char file[LABEL_MAX] = "";
    size_t count = 0;
    const char *stop = chain + strcspn(chain, "\n");
    while (chain && count < FRAMES_MAX) {
        const char *end = strstr(chain, " < "), *open = NULL, *p = chain;
        end = end && end < stop ? end : NULL;
        int length = (int)((end ? end : stop) - chain);
        char *label = out[count++];
        snprintf(label, LABEL_MAX, "%.*s", length, chain);
        for (; (p = strstr(p, " (")) && p < chain + length; p++)
            open = p + 2;
        const char *colon = strrchr(label, ':');
        if (open)
            snprintf(file, sizeof file, "%.*s", (int)strcspn(open, ":)"), open);
        else if (*file && colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1))
            snprintf(label, LABEL_MAX, "%.*s (%.100s:%.*s)", (int)(colon - label), chain, file,
                     (int)strlen(colon + 1), chain + (colon + 1 - label));
        chain = end ? end + 3 : NULL;
    }
    return count;
}

static bool is_before(const struct call_tree *tree, const struct tree_node *a,
                      const struct tree_node *b)
{
    if (tree->by_growth && (a->growth != b->growth || a->growing != b->growing))
        return a->growth != b->growth ? a->growth > b->growth : a->growing;
    return a->bytes > b->bytes;
}

static void sort_children(struct call_tree *tree, uint32_t parent)
{
    uint32_t at = tree->nodes[parent].child, first = 0;
    while (at) {
        uint32_t next = tree->nodes[at].next, *to = &first;
        while (*to && !is_before(tree, &tree->nodes[at], &tree->nodes[*to]))
            to = &tree->nodes[*to].next;
        tree->nodes[at].next = *to;
        *to = at;
        at = next;
    }
    tree->nodes[parent].child = first;
}

#define WIDE_COLUMN 32u /* with the growth before it */

static unsigned name_column(const struct vs_grid *grid)
{
    return grid->columns >= 72 ? WIDE_COLUMN : 20;
}

static unsigned put_node(struct call_tree *tree, uint32_t at, uint64_t whole, unsigned depth,
                         struct vs_grid *grid, unsigned row, unsigned end)
{
    char text[1024];
    const struct tree_node *node = &tree->nodes[at];
    if (row >= end || node->bytes * 200 < whole)
        return row;
    size_t length = (size_t)snprintf(text, sizeof text, "%s", node->label);
    while (node->child && !tree->nodes[node->child].next) { /* the only callee */
        node = &tree->nodes[node->child];
        if (length + strlen(node->label) + 4 < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, " > %s", node->label);
    }
    unsigned column = name_column(grid) + 2 * depth;
    vs_grid_right(grid, row, 11, 10, VS_PLAIN, "%s", vs_size_text(node->bytes));
    vs_grid_right(grid, row, 18, 6, VS_PLAIN, "%.0f %%", 100 * (double)node->bytes / (double)whole);
    if (node->growing && column >= WIDE_COLUMN)
        vs_grid_right(grid, row, 31, 12, VS_WARN, node->growth ? "+%s" : "grows",
                      vs_size_text(node->growth));
    const char *shown = text; /* the innermost functions */
    while (vs_text_width(shown) + column + (shown == text ? 0 : 4) > grid->columns &&
           strstr(shown, " > "))
        shown = strstr(shown, " > ") + 3;
    if (shown != text)
        column = vs_grid_put(grid, row, column, grid->columns, VS_DIM, "… > ");
    vs_grid_put(grid, row++, column, grid->columns, node->growing ? VS_WARN : VS_PLAIN, "%s",
                shown);
    if (node->code && row < end)
        vs_grid_put(grid, row++, name_column(grid) + 2 * depth + 4, grid->columns, VS_DIM, "%s",
                    node->code);
    sort_children(tree, (uint32_t)(node - tree->nodes));
    for (uint32_t child = node->child; child; child = tree->nodes[child].next)
        row = put_node(tree, child, whole, depth + 1, grid, row, end);
    return row;
}

unsigned vs_top_tree(const struct vs_watch_device *device, bool by_growth, struct vs_grid *grid,
                     unsigned row, unsigned end)
{
    static char frames[FRAMES_MAX][LABEL_MAX];
    struct call_tree tree = {.by_growth = by_growth};
    if (!device->site_count || row + 2 > end)
        return row;
    struct tree_node *root = vs_vec_push(&tree.nodes, &tree.count, &tree.capacity, sizeof *root);
    *root = (struct tree_node){.label = ""};
    size_t known = 0;
    for (; known < device->site_count && device->sites[known].name; known++) {
        const struct vs_watch_site *site = &device->sites[known];
        size_t count = split(site->chain ? site->chain : site->name, frames);
        const char *code = site->chain ? strchr(site->chain, '\n') : NULL;
        uint32_t at = 0;
        while (count--) {
            at = child_of(&tree, at, frames[count]);
            tree.nodes[at].bytes += site->bytes;
            tree.nodes[at].growth += site->growth_per_step;
            tree.nodes[at].growing |= site->growing;
        }
        /* the name of a call site in Python is its line of code */
        if (code || (site->chain && strncmp(site->name, site->chain, strcspn(site->name, " ("))))
            tree.nodes[at].code = code ? code + 1 : site->name;
    }
    vs_grid_right(grid, row, 11, 10, VS_BOLD, "LIVE");
    vs_grid_right(grid, row, 18, 6, VS_BOLD, "SHARE");
    if (name_column(grid) == WIDE_COLUMN)
        vs_grid_right(grid, row, 31, 12, VS_BOLD, "GROWTH/STEP");
    vs_grid_put(grid, row++, name_column(grid), grid->columns, VS_BOLD, "CALL TREE by %s",
                by_growth ? "growth" : "bytes");
    sort_children(&tree, 0);
    for (uint32_t at = tree.nodes[0].child; at; at = tree.nodes[at].next)
        row = put_node(&tree, at, device->sites_bytes, 0, grid, row, end);
    size_t more = device->site_count - known + device->sites_omitted;
    if (more && row < end)
        vs_grid_put(grid, row++, name_column(grid), grid->columns, VS_DIM, "without %s",
                    vs_number_text(more, "smaller call site"));
    free(tree.nodes);
    return row;
}
