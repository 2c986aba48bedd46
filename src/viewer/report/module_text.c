/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory by module of PyTorch as a tree: a row for each module that has enough of it, with the modules in
 * it below. Modules with numbers for names, one after the other, that hold alike (the blocks of a model) are one
 * row, and so is what is in them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "viewer/report/report_parts.h"

#define NAME_COLUMNS 22
#define SHOWN_PER_CENT 2     /* of all: smaller modules are summed up */
#define ALIKE_PER_CENT 10
#define DEPTH_MOST 200       /* parts of a path; a module deeper than that belongs to the one there */

static const enum vs_kind columns[] = {VS_KIND_PARAMETERS, VS_KIND_GRADIENTS, VS_KIND_OPTIMIZER_STATE,
                                       VS_KIND_ACTIVATIONS};
#define COLUMNS (sizeof columns / sizeof *columns)

struct module_node {
    const char *name; /* the last part of its path, *length* bytes */
    int length;
    uint64_t bytes, kinds[VS_KIND_COUNT];
    size_t first, last, next; /* children, and the next one of its parent; 0: none */
    size_t like;              /* of the modules that are one row, the last; 0: it is one alone */
    size_t count;             /* how many that are */
    bool uneven;              /* they do not have the same bytes */
};

struct module_tree {
    struct module_node *items; /* [0]: all */
    size_t count, capacity;
};

/* The child of *parent* with this name, of *at* and those after it, or added. */
static size_t child_of(struct module_tree *tree, size_t parent, size_t at, const char *name, int length)
{
    for (; at; at = tree->items[at].next)
        if (tree->items[at].length == length && memcmp(tree->items[at].name, name, (size_t)length) == 0)
            return at;
    size_t child = tree->count;
    VS_VEC_ADD(tree->items, tree->count, tree->capacity,
               ((struct module_node){.name = name, .length = length, .count = 1}));
    size_t *link = tree->items[parent].last ? &tree->items[tree->items[parent].last].next : &tree->items[parent].first;
    *link = tree->items[parent].last = child;
    return child;
}

static void count_row(struct module_node *node, const struct vs_module_row *row)
{
    node->bytes += row->bytes;
    node->kinds[row->kind] += row->bytes;
}

static void build(struct module_tree *tree, const struct vs_module_rows *rows)
{
    VS_VEC_ADD(tree->items, tree->count, tree->capacity, ((struct module_node){.name = "", .count = 1}));
    for (size_t i = 0; i < rows->count; i++) {
        const struct vs_module_row *row = &rows->items[i];
        const char *model = *row->model ? row->model : "(in no module)";
        size_t at = child_of(tree, 0, tree->items[0].last, model, (int)strlen(model));
        count_row(&tree->items[0], row);
        count_row(&tree->items[at], row);
        size_t depth = 0;
        for (const char *part = row->path; *part && depth++ < DEPTH_MOST;) {
            int length = (int)strcspn(part, ".");
            at = child_of(tree, at, tree->items[at].last, part, length); /* rows are sorted by the parts */
            count_row(&tree->items[at], row);
            part += length + (part[length] == '.');
        }
    }
}

static void unite(struct module_tree *tree, size_t into, size_t from)
{
    tree->items[into].bytes += tree->items[from].bytes;
    for (int k = 0; k < VS_KIND_COUNT; k++)
        tree->items[into].kinds[k] += tree->items[from].kinds[k];
    for (size_t at = tree->items[from].first; at; at = tree->items[at].next) {
        size_t child = child_of(tree, into, tree->items[into].first, tree->items[at].name, tree->items[at].length);
        unite(tree, child, at);
    }
}

static long number_of(const struct module_node *node)
{
    long number = 0;
    for (int i = 0; i < node->length; i++) {
        if (!isdigit((unsigned char)node->name[i]) || number > 1000000)
            return -1;
        number = number * 10 + (node->name[i] - '0');
    }
    return node->length ? number : -1;
}

static int by_number(const void *a, const void *b)
{
    const struct module_node *const *x = a, *const *y = b;
    return VS_ORDER(number_of(*x), number_of(*y));
}

static int by_bytes(const void *a, const void *b)
{
    const struct module_node *const *x = a, *const *y = b;
    return VS_ORDER((*y)->bytes, (*x)->bytes);
}

/* The children of *parent* that are shown, in the order of *compare*, as indices, because nodes move; the caller
 * frees them. *numbered*: only those with a number for a name. */
static size_t *children_of(const struct module_tree *tree, size_t parent, bool numbered,
                           int (*compare)(const void *, const void *), size_t *count)
{
    size_t most = 0;
    for (size_t at = tree->items[parent].first; at; at = tree->items[at].next)
        most++;
    const struct module_node **nodes = vs_xcalloc(most + 1, sizeof *nodes);
    size_t *order = vs_xcalloc(most + 1, sizeof *order);
    *count = 0;
    for (size_t at = tree->items[parent].first; at; at = tree->items[at].next)
        if (tree->items[at].bytes && (!numbered || number_of(&tree->items[at]) >= 0))
            nodes[(*count)++] = &tree->items[at];
    vs_vec_sort(nodes, *count, sizeof *nodes, compare);
    for (size_t i = 0; i < *count; i++)
        order[i] = (size_t)(nodes[i] - tree->items);
    free(nodes);
    return order;
}

/* Makes one row of the numbered children of *parent* that follow each other and are alike. */
static void fold(struct module_tree *tree, size_t parent)
{
    size_t count, *order = children_of(tree, parent, true, by_number, &count);
    for (size_t i = 0, k; i < count; i = k) {
        uint64_t first = tree->items[order[i]].bytes;
        for (k = i + 1; k < count; k++) {
            const struct module_node *node = &tree->items[order[k]];
            uint64_t apart = node->bytes > first ? node->bytes - first : first - node->bytes;
            if (number_of(node) != number_of(&tree->items[order[k - 1]]) + 1 || apart > first / 100 * ALIKE_PER_CENT)
                break;
        }
        for (size_t m = i + 1; m < k; m++) {
            unite(tree, order[i], order[m]);
            tree->items[order[i]].uneven |= tree->items[order[m]].bytes != first;
            tree->items[order[m]].bytes = 0; /* it is not shown */
            tree->items[order[i]].count++;
            tree->items[order[i]].like = order[m];
        }
    }
    free(order);
}

static void print_row(const struct vs_style *style, const char *name, int indent, uint64_t bytes, const uint64_t *kinds,
                      uint64_t parts)
{
    int pad = NAME_COLUMNS - indent - (int)vs_text_width(name);
    fprintf(style->out, "    %*s", indent, "");
    vs_text_put(style->out, name);
    if (pad < 1)
        fprintf(style->out, "\n%*s", NAME_COLUMNS + 4, "");
    fprintf(style->out, "%*s%10s", pad > 0 ? pad : 0, "", vs_size_text(bytes / parts));
    int skipped = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        skipped += 11;
        if (!kinds[columns[i]])
            continue;
        fprintf(style->out, "%*s", skipped, vs_size_text(kinds[columns[i]] / parts));
        skipped = 0;
    }
    fputc('\n', style->out);
}

static void print(struct module_tree *tree, size_t at, const char *before, int indent, uint64_t least,
                  const struct vs_style *style)
{
    fold(tree, at);
    struct module_node node = tree->items[at];
    size_t count, *order = children_of(tree, at, false, by_bytes, &count);
    uint64_t inside = 0, small = 0, small_count = 0, small_kinds[VS_KIND_COUNT] = {0}, own[VS_KIND_COUNT];
    memcpy(own, node.kinds, sizeof own);
    for (size_t i = 0; i < count; i++) {
        inside += tree->items[order[i]].bytes;
        for (int k = 0; k < VS_KIND_COUNT; k++)
            own[k] -= tree->items[order[i]].kinds[k];
    }
    const struct module_node *last = node.like ? &tree->items[node.like] : NULL;
    char *name = last ? vs_xprintf("%s%s%.*s-%.*s (%zu×)", before, *before ? "." : "", node.length, node.name,
                                   last->length, last->name, node.count)
                      : vs_xprintf("%s%s%.*s", before, *before ? "." : "", node.length, node.name);
    bool only = count == 1 && inside == node.bytes && !last; /* has nothing itself: its name is a part of the next one's */
    if (at && !only) {
        print_row(style, name, indent, node.bytes, node.kinds, 1);
        if (last)
            print_row(style, node.uneven ? "mean" : "each", indent + 2, node.bytes, node.kinds, node.count);
        indent += 2;
    }
    for (size_t i = 0; i < count; i++) {
        if (tree->items[order[i]].bytes >= least) {
            print(tree, order[i], at && only ? name : "", indent, least, style);
        } else {
            for (int k = 0; k < VS_KIND_COUNT; k++)
                small_kinds[k] += tree->items[order[i]].kinds[k];
            small += tree->items[order[i]].bytes;
            small_count += tree->items[order[i]].count;
        }
    }
    if (at && count && node.bytes - inside >= least)
        print_row(style, "itself", indent, node.bytes - inside, own, 1);
    if (small >= least && small_count) {
        char text[64];
        snprintf(text, sizeof text, "%s smaller", vs_count_text(small_count));
        print_row(style, text, indent, small, small_kinds, 1);
    }
    free(name);
    free(order);
}

void vs_modules_text(const struct vs_held *held, const struct vs_style *style)
{
    struct module_tree tree = {0};
    if (!held->modules.count) {
        vs_text_lines(style, "  by module: ", "%s", held->modules.known ? "no tensor of PyTorch is live" :
                                                   "the trace does not have modules of PyTorch: record with "
                                                   "`vramscope run --modules`");
        return;
    }
    fprintf(style->out, "  %sby module of PyTorch\n    %-*s%10s %10s %10s %10s %10s%s\n", vs_paint(style, VS_DIM), NAME_COLUMNS, "",
            "all", "parameters", "gradients", "optimizer", "activat.", vs_unpaint(style));
    build(&tree, &held->modules);
    print(&tree, 0, "", 0, style->small_sites ? 1 : held->modules.bytes / 100 * SHOWN_PER_CENT, style);
    free(tree.items);
}
