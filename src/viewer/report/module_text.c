/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory by module of PyTorch as a tree: a row for each module that has enough of it, with the modules in
 * it below. Modules with numbers for names, one after the other, that hold alike (the blocks of a model) are one
 * row, and so is what is in them. */
#include <ctype.h>
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
static const char *const column_names[COLUMNS + 1] = {"parameters", "gradients", "optimizer", "activat.", "other"};

struct module_node {
    const char *name; /* the last part of its path, *length* bytes */
    int length;
    uint64_t bytes, kinds[VS_KIND_COUNT];
    struct module_node *first, *last, *next; /* children, and the next one of its parent */
    const struct module_node *like; /* of the modules that are one row, the last; NULL: it is one alone */
    size_t count;                   /* how many that are; 0: it is in the row of another one */
    bool uneven;                    /* they do not have the same bytes */
};

/* The child of *parent* with this name, of *at* and those after it, or added. */
static struct module_node *child_of(struct vs_arena *memory, struct module_node *parent, struct module_node *at,
                                    const char *name, int length)
{
    for (; at; at = at->next)
        if (at->length == length && memcmp(at->name, name, (size_t)length) == 0)
            return at;
    at = vs_xarena(memory, sizeof *at);
    *at = (struct module_node){.name = name, .length = length, .count = 1};
    *(parent->last ? &parent->last->next : &parent->first) = at;
    return parent->last = at;
}

static void count_row(struct module_node *node, const struct vs_module_row *row)
{
    node->bytes += row->bytes;
    node->kinds[row->kind] += row->bytes;
}

static void build(struct vs_arena *memory, const struct vs_module_rows *rows, struct module_node *all)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct vs_module_row *row = &rows->items[i];
        const char *model = *row->model ? row->model : "(in no module)";
        struct module_node *at = child_of(memory, all, all->last, model, (int)strlen(model));
        count_row(all, row);
        count_row(at, row);
        size_t depth = 0;
        for (const char *part = row->path; *part && depth++ < DEPTH_MOST;) {
            int length = (int)strcspn(part, ".");
            at = child_of(memory, at, at->last, part, length); /* rows are sorted by the parts */
            count_row(at, row);
            part += length + (part[length] == '.');
        }
    }
}

static void unite(struct vs_arena *memory, struct module_node *into, const struct module_node *from)
{
    into->bytes += from->bytes;
    for (int k = 0; k < VS_KIND_COUNT; k++)
        into->kinds[k] += from->kinds[k];
    for (const struct module_node *at = from->first; at; at = at->next)
        unite(memory, child_of(memory, into, into->first, at->name, at->length), at);
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
    struct module_node *const *x = a, *const *y = b;
    return VS_ORDER(number_of(*x), number_of(*y));
}

static int by_bytes(const void *a, const void *b)
{
    struct module_node *const *x = a, *const *y = b;
    return VS_ORDER((*y)->bytes, (*x)->bytes);
}

/* The children of *parent* that are rows, in the order of *compare*. */
static struct module_node **children_of(struct vs_arena *memory, const struct module_node *parent,
                                        int (*compare)(const void *, const void *), size_t *count)
{
    size_t most = 0;
    for (const struct module_node *at = parent->first; at; at = at->next)
        most++;
    struct module_node **nodes = vs_xarena(memory, (most + 1) * sizeof *nodes);
    *count = 0;
    for (struct module_node *at = parent->first; at; at = at->next)
        if (at->bytes && at->count)
            nodes[(*count)++] = at;
    vs_vec_sort(nodes, *count, sizeof *nodes, compare);
    return nodes;
}

/* Makes one row of the numbered children of *parent* that follow each other and are alike. */
static void fold(struct vs_arena *memory, const struct module_node *parent)
{
    size_t count;
    struct module_node **order = children_of(memory, parent, by_number, &count);
    for (size_t i = 0, k; i < count; i = k) {
        uint64_t first = order[i]->bytes;
        for (k = i + 1; k < count; k++) {
            uint64_t bytes = order[k]->bytes, apart = bytes > first ? bytes - first : first - bytes;
            if (number_of(order[i]) < 0 || number_of(order[k]) != number_of(order[k - 1]) + 1 ||
                apart > first / 100 * ALIKE_PER_CENT)
                break;
        }
        for (size_t m = i + 1; m < k; m++) {
            unite(memory, order[i], order[m]);
            order[i]->uneven |= order[m]->bytes != first;
            order[i]->like = order[m];
            order[i]->count++;
            order[m]->count = 0;
        }
    }
}

/* The bytes of *node* in column *i*; in the last one, those of all kinds without a column. */
static uint64_t in_column(const struct module_node *node, size_t i)
{
    uint64_t other = node->bytes;
    if (i < COLUMNS)
        return node->kinds[columns[i]];
    for (size_t k = 0; k < COLUMNS; k++)
        other -= node->kinds[columns[k]];
    return other;
}

/* Columns in which *all* has nothing are left out. */
static void print_row(const struct vs_style *style, const char *name, int indent, const struct module_node *node,
                      uint64_t parts, const struct module_node *all)
{
    int pad = NAME_COLUMNS - indent - (int)vs_text_width(name);
    fprintf(style->out, "    %*s", indent, "");
    vs_text_put(style->out, name);
    if (pad < 1)
        fprintf(style->out, "\n%*s", NAME_COLUMNS + 4, "");
    fprintf(style->out, "%*s%10s", pad > 0 ? pad : 0, "", vs_size_text(node->bytes / parts));
    int skipped = 0;
    for (size_t i = 0; i <= COLUMNS; i++) {
        skipped += in_column(all, i) ? 11 : 0;
        if (!in_column(node, i))
            continue;
        fprintf(style->out, "%*s", skipped, vs_size_text(in_column(node, i) / parts));
        skipped = 0;
    }
    fputc('\n', style->out);
}

static void print(struct vs_arena *memory, const struct module_node *node, const char *before, int indent,
                  uint64_t least, const struct module_node *all, const struct vs_style *style)
{
    fold(memory, node);
    size_t count;
    struct module_node **order = children_of(memory, node, by_bytes, &count);
    struct module_node own = *node, small = {.count = 0};
    const struct module_node *smallest = NULL;
    uint64_t rest = indent > 2 ? least : 1; /* models, and the modules of one, add up to all */
    for (size_t i = 0; i < count; i++) {
        own.bytes -= order[i]->bytes;
        for (int k = 0; k < VS_KIND_COUNT; k++)
            own.kinds[k] -= order[i]->kinds[k];
    }
    const struct module_node *last = node->like;
    const char *name = last ? vs_xarena_printf(memory, "%s%s%.*s-%.*s (%zu×)", before, *before ? "." : "", node->length,
                                               node->name, last->length, last->name, node->count)
                            : vs_xarena_printf(memory, "%s%s%.*s", before, *before ? "." : "", node->length, node->name);
    bool model = node->length != 0;
    bool only = count == 1 && !own.bytes && !last; /* has nothing itself: its name is a part of the next one's */
    if (model && !only) {
        print_row(style, name, indent, node, 1, all);
        if (last)
            print_row(style, node->uneven ? "mean" : "each", indent + 2, node, node->count, all);
        indent += 2;
    }
    for (size_t i = 0; i < count; i++) {
        if (order[i]->bytes >= least) {
            print(memory, order[i], model && only ? name : "", indent, least, all, style);
        } else {
            smallest = order[i];
            small.bytes += order[i]->bytes;
            small.count += order[i]->count;
            for (int k = 0; k < VS_KIND_COUNT; k++)
                small.kinds[k] += order[i]->kinds[k];
        }
    }
    if (model && count && own.bytes >= rest)
        print_row(style, "itself", indent, &own, 1, all);
    if (small.bytes >= rest && small.count)
        print_row(style, small.count == 1
                             ? vs_xarena_printf(memory, "%.*s", smallest->length, smallest->name)
                             : vs_xarena_printf(memory, "%s smaller", vs_count_text(small.count)), indent, &small, 1, all);
}

void vs_modules_text(const struct vs_held *held, const struct vs_style *style)
{
    struct vs_arena memory = {0};
    struct module_node all = {.name = "", .count = 1};
    if (!held->modules.count) {
        vs_text_lines(style, "  by module: ", "%s", held->modules.known ? "no tensor of PyTorch is live" :
                                                   "the trace does not have modules of PyTorch: record with "
                                                   "`vramscope run --modules`");
        return;
    }
    build(&memory, &held->modules, &all);
    fprintf(style->out, "  %sby module of PyTorch\n    %-*s%10s", vs_paint(style, VS_DIM), NAME_COLUMNS, "", "all");
    for (size_t i = 0; i <= COLUMNS; i++)
        if (in_column(&all, i))
            fprintf(style->out, " %10s", column_names[i]);
    fprintf(style->out, "%s\n", vs_unpaint(style));
    print(&memory, &all, "", 0, style->small_sites ? 1 : held->modules.bytes / 100 * SHOWN_PER_CENT, &all, style);
    vs_arena_free_all(&memory);
}
