/* SPDX-License-Identifier: Apache-2.0
 *
 * The C reader's side of check_decoder.py: prints for every path on standard input a line "# PATH",
 * the text of vs_trace_dump, and "== CONDITION EVENTS RECOVERED", or "!!" if it is not a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/reader_internal.h"
#include "golden/trace_dump.h"
#include "trace/symbols/symbol_cache.h"

static void put_text(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else
            printf(*p < 0x20 || *p >= 0x7f ? "\\x%02x" : "%c", *p);
    }
    putchar('"');
}

static int compare(const void *a, const void *b)
{
    const struct vs_symbol_entry *const *x = a, *const *y = b;
    if ((*x)->module != (*y)->module)
        return (*x)->module < (*y)->module ? -1 : 1;
    return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* How the recording ended: the first words of the condition. Only the C reader checks whether a
 * trace is still being recorded. */
static void put_ending(const struct vs_reader *reader)
{
    static const char unknown[] = "the trace has no end", recorded[] = "the trace is still being";
    char text[VS_READER_WHY_MAX];
    enum vs_condition condition = vs_reader_condition(reader, text);
    if (condition != VS_TRACE_COMPLETE && condition != VS_TRACE_LIVE)
        return;
    if (!strncmp(text, unknown, strlen(unknown)) || !strncmp(text, recorded, strlen(recorded)))
        printf(" %s", unknown);
    else
        printf(" %.*s", (int)strcspn(text, ":"), text);
}

static int put_trace(const char *path)
{
    static const char *const names[] = {[VS_TRACE_COMPLETE] = "complete",
                                        [VS_TRACE_LIVE] = "live",
                                        [VS_TRACE_TRUNCATED] = "truncated",
                                        [VS_TRACE_DAMAGED] = "damaged"};
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    printf("# %s\n", path);
    enum vs_err err = vs_reader_open(path, &reader, why);
    if (err) {
        printf("!!\n");
        return err == VS_ERR_NOMEM;
    }
    err = vs_trace_dump(reader, stdout, true);
    /* The names in the trace, by module and offset. */
    struct vs_symbol_set set = {.budget = UINT64_C(1) << 30};
    vs_trace_symbols_load(reader, &set);
    if (set.count)
        qsort(set.entries, set.count, sizeof *set.entries, compare);
    for (size_t i = 0; i < set.count; i++) {
        const struct vs_symbol_entry *e = set.entries[i];
        printf("symbol %" PRIu32 "+0x%" PRIx64 " %d", e->module, e->offset, (int)e->level);
        for (uint32_t j = 0; j < e->count; j++) {
            putchar(' ');
            put_text(e->symbols[j].function);
            putchar(' ');
            put_text(e->symbols[j].file);
            printf(" %u", e->symbols[j].line);
        }
        putchar('\n');
    }
    vs_symbol_set_free(&set);
    if (!err)
        printf("== %s %" PRIu64 " %" PRIu64, names[vs_reader_condition(reader, NULL)],
               reader->events, reader->events_recovered);
    if (!err)
        put_ending(reader);
    putchar('\n');
    vs_reader_close(reader);
    return err != VS_OK;
}

int main(void)
{
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        if (put_trace(path))
            return 1;
    }
    return 0;
}
