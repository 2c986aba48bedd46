/* SPDX-License-Identifier: Apache-2.0
 *
 * What the framework's live tensors were at the failure: parameters, gradients, activations, … The
 * whole trace is read, because the kind of a block depends on what became of others like it. The
 * names of native functions tell results that the program computes from its inputs, as in the
 * report. */
#include <stdio.h>
#include <string.h>

#include "analysis/oom/verdict.h"
#include "base/vs_size.h"

#define SHOWN 5

void vs_oom_kinds(struct vs_oom *oom, struct vs_reader *reader)
{
    struct vs_kinds_query query = {.device = oom->failure.device, .event = oom->failure.event};
    struct vs_kinds_table table = {.total.bytes = oom->kinds_total};
    if (!oom->has_framework || oom->failure.host)
        return;
    if (oom->kinds_total) {
        memcpy(table.kinds, oom->kinds, sizeof oom->kinds);
    } else {
        struct vs_symbols *symbols = vs_symbols_open(reader);
        if (vs_kinds_read(reader, symbols, &query, 1, &table))
            table = (struct vs_kinds_table){0}; /* the verdict does not need them */
        vs_symbols_close(symbols);
        memcpy(oom->kinds, table.kinds, sizeof oom->kinds);
        oom->kinds_total = table.total.bytes;
        vs_kinds_table_free(&table);
    }
    enum vs_kind order[VS_KIND_COUNT];
    char text[320] = "";
    size_t count = vs_kinds_order(&table, order), length = 0;
    for (size_t i = 1; i < count; i++) { /* `other` and `unknown` by size as well: here they can
                                          * be the answer */
        enum vs_kind kind = order[i];
        size_t at = i;
        for (; at && table.kinds[order[at - 1]].bytes < table.kinds[kind].bytes; at--)
            order[at] = order[at - 1];
        order[at] = kind;
    }
    if (table.kinds[VS_KIND_UNKNOWN].bytes > table.total.bytes / 2)
        return; /* no Python stacks */
    for (size_t i = 0; i < count && i < SHOWN && length < sizeof text; i++) {
        const struct vs_kind_sum *sum = &table.kinds[order[i]];
        if (sum->bytes >= table.total.bytes / 100)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s",
                                       length ? ", " : "", vs_kind_name(order[i]),
                                       vs_size_text(sum->bytes));
    }
    if (length)
        vs_oom_evidence(oom, "live tensors: %s", text);
}
