/* SPDX-License-Identifier: Apache-2.0
 *
 * print_kinds TRACE [--stacks] [--no-names]: the kinds of live tensors at each mark "kinds N", at the
 * peak, at each failure of PyTorch's allocator and at the end, a line of JSON each. --stacks adds,
 * for each kind, the stacks with the most bytes (for people). Used by check_kinds_torch.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/kinds.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

#define POINTS_MAX 256
#define FRAMES_SHOWN 100

struct points {
    struct vs_kinds_query queries[POINTS_MAX];
    struct vs_kinds_table tables[POINTS_MAX];
    char names[POINTS_MAX][32];
    size_t count;
};

static void add(struct points *m, uint64_t event, const char *name, bool stacks)
{
    if (m->count == POINTS_MAX)
        return;
    m->queries[m->count] = (struct vs_kinds_query){0, event, stacks};
    snprintf(m->names[m->count++], sizeof m->names[0], "%.31s", name);
}

static enum vs_err find_points(struct vs_reader *reader, struct points *m, bool stacks)
{
    struct vs_event event;
    enum vs_err err = VS_OK;
    struct vs_map live = {0}; /* address -> bytes */
    uint64_t now = 0, most = 0, bytes;
    add(m, VS_KINDS_END, "peak", stacks);
    add(m, VS_KINDS_END, "end", stacks);
    for (uint64_t n = 1; (err = vs_reader_next(reader, &event)) == VS_OK; n++) {
        const char *name = event.kind == VS_EVENT_mark ? vs_reader_string(reader, event.mark.name)
                           : event.kind == VS_EVENT_framework_oom ? "oom"
                                                                  : "";
        if (strncmp(name, "kinds ", 6) == 0 || strcmp(name, "oom") == 0)
            add(m, n, name, stacks);
        if (event.kind == VS_EVENT_framework_alloc) {
            now += event.framework_alloc.size;
            vs_xmap_put(&live, event.framework_alloc.addr, event.framework_alloc.size);
        } else if (event.kind == VS_EVENT_framework_free &&
                   vs_map_remove(&live, event.framework_free.addr, &bytes)) {
            now -= bytes;
        }
        if (now > most) {
            most = now;
            m->queries[0].event = n;
        }
    }
    vs_map_free(&live);
    return err == VS_ERR_END ? VS_OK : err;
}

static void print_stack(const struct vs_reader *reader, struct vs_symbols *symbols, uint64_t stack)
{
    struct vs_frame frames[FRAMES_SHOWN];
    struct vs_symbol found;
    size_t count = vs_reader_stack(reader, stack, frames, FRAMES_SHOWN);
    for (size_t i = 0; i < count; i++)
        if (vs_symbols_frame(symbols, &frames[i], &found, 1))
            printf("      %.90s  %s:%u\n", found.function, found.file ? found.file : found.module,
                   found.line);
}

static int by_stack(const void *a, const void *b)
{
    const struct vs_kind_block *l = a, *r = b;
    if (l->kind != r->kind)
        return (int)l->kind - (int)r->kind;
    return (l->stack > r->stack) - (l->stack < r->stack);
}

/* Every stack of the table with its kind, bytes and count. */
static void print_stacks(const struct vs_reader *reader, struct vs_symbols *symbols,
                         struct vs_kinds_table *table)
{
    if (table->block_count)
        qsort(table->blocks, table->block_count, sizeof *table->blocks, by_stack);
    for (size_t i = 0, end; i < table->block_count; i = end) {
        uint64_t bytes = 0;
        for (end = i; end < table->block_count &&
                      by_stack(&table->blocks[i], &table->blocks[end]) == 0; end++)
            bytes += table->blocks[end].size;
        printf("  %s: %llu bytes in %zu%s, the last %llu\n", vs_kind_name(table->blocks[i].kind),
               (unsigned long long)bytes, end - i, table->blocks[i].assumed ? ", assumed" : "",
               (unsigned long long)table->blocks[end - 1].size);
        print_stack(reader, symbols, table->blocks[i].stack);
    }
}

static void print_table(const struct vs_kinds_table *table, const char *name)
{
    printf("{\"moment\": \"%s\", \"event\": %llu, \"bytes\": %llu, \"count\": %llu, "
           "\"assumed\": %llu, \"kinds\": {",
           name, (unsigned long long)table->event, (unsigned long long)table->total.bytes,
           (unsigned long long)table->total.count, (unsigned long long)table->assumed_bytes);
    for (int k = 0; k < VS_KIND_COUNT; k++)
        printf("%s\"%s\": [%llu, %llu]", k ? ", " : "", vs_kind_name((enum vs_kind)k),
               (unsigned long long)table->kinds[k].bytes,
               (unsigned long long)table->kinds[k].count);
    printf("}, \"note\": \"%s\"}\n", vs_kinds_note(table));
}

int main(int argc, char **argv)
{
    static struct points points;
    char why[VS_READER_WHY_MAX];
    struct vs_reader *reader = NULL;
    struct vs_symbols *symbols = NULL;
    bool stacks = false, names = true;
    for (int i = 2; i < argc; i++) {
        stacks |= strcmp(argv[i], "--stacks") == 0;
        names &= strcmp(argv[i], "--no-names") != 0;
    }
    if (argc < 2 || vs_reader_open(argv[1], &reader, why)) {
        fprintf(stderr, "print_kinds: %s\n", argc < 2 ? "TRACE is missing" : why);
        return 2;
    }
    enum vs_err err = find_points(reader, &points, stacks);
    if (!err)
        symbols = vs_symbols_open(reader);
    if (!err)
        err = vs_kinds_read(reader, names ? symbols : NULL, points.queries, points.count,
                            points.tables);
    for (size_t i = 0; !err && i < points.count; i++) {
        print_table(&points.tables[i], points.names[i]);
        if (stacks)
            print_stacks(reader, symbols, &points.tables[i]);
        vs_kinds_table_free(&points.tables[i]);
    }
    vs_symbols_close(symbols);
    vs_reader_close(reader);
    if (err)
        fprintf(stderr, "print_kinds: %s\n", vs_err_text(err));
    return err ? 2 : 0;
}
