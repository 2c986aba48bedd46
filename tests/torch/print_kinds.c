/* SPDX-License-Identifier: Apache-2.0
 *
 * print_kinds TRACE [--no-names]: the kinds of live tensors at each mark "kinds N", a line of JSON
 * each. Used by check_kinds_torch.py. */
#include <stdio.h>
#include <string.h>

#include "analysis/kinds/kinds.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

#define POINTS_MAX 256

int main(int argc, char **argv)
{
    static struct vs_kinds_query queries[POINTS_MAX];
    static struct vs_kinds_table tables[POINTS_MAX];
    static char names[POINTS_MAX][32];
    size_t count = 0;
    char why[VS_READER_WHY_MAX];
    struct vs_reader *reader = NULL;
    struct vs_symbols *symbols = NULL;
    struct vs_event event;
    uint64_t device = 0; /* each rank has tensors on one */
    enum vs_err err = VS_OK;
    bool with_names = argc < 3 || strcmp(argv[2], "--no-names") != 0;
    if (argc < 2 || vs_reader_open(argv[1], &reader, why)) {
        fprintf(stderr, "print_kinds: %s\n", argc < 2 ? "TRACE is missing" : why);
        return 2;
    }
    for (uint64_t n = 1; (err = vs_reader_next(reader, &event)) == VS_OK; n++) {
        const char *name =
            event.kind == VS_EVENT_mark ? vs_reader_string(reader, event.mark.name) : "";
        if (event.kind == VS_EVENT_framework_alloc)
            device = event.framework_alloc.device;
        if (strncmp(name, "kinds ", 6) == 0 && count < POINTS_MAX) {
            queries[count] = (struct vs_kinds_query){device, n, false};
            snprintf(names[count++], sizeof names[0], "%.31s", name);
        }
    }
    if (err == VS_ERR_END) {
        symbols = vs_symbols_open(reader);
        err = vs_kinds_read(reader, with_names ? symbols : NULL, queries, count, tables);
    }
    for (size_t i = 0; !err && i < count; i++) {
        printf("{\"moment\": \"%s\", \"bytes\": %llu, \"kinds\": {", names[i],
               (unsigned long long)tables[i].total.bytes);
        for (int k = 0; k < VS_KIND_COUNT; k++)
            printf("%s\"%s\": [%llu, %llu]", k ? ", " : "", vs_kind_name((enum vs_kind)k),
                   (unsigned long long)tables[i].kinds[k].bytes,
                   (unsigned long long)tables[i].kinds[k].count);
        printf("}}\n");
        vs_kinds_table_free(&tables[i]);
    }
    vs_symbols_close(symbols);
    vs_reader_close(reader);
    if (err)
        fprintf(stderr, "print_kinds: %s\n", vs_err_text(err));
    return err ? 2 : 0;
}
