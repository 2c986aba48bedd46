/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of tensors of any trace. Input: see trace_input.h. Every byte that is live at one point in time
 * has one kind, in the sums as in the list of blocks, and each block is found by its address. */
#include <stdint.h>
#include <stdlib.h>

#include "analysis/kinds/kinds.h"
#include "fuzz/check.h"
#include "fuzz/trace_input.h"
#include "trace/read/reader_internal.h"

#define QUERIES 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(const struct vs_kinds_table *table)
{
    uint64_t bytes = 0, count = 0, listed = 0;
    enum vs_kind order[VS_KIND_COUNT];
    for (int k = 0; k < VS_KIND_COUNT; k++) {
        bytes += table->kinds[k].bytes;
        count += table->kinds[k].count;
    }
    check(bytes == table->total.bytes && count == table->total.count);
    check(vs_kinds_order(table, order) <= VS_KIND_COUNT && vs_kinds_note(table));
    for (size_t i = 0; i < table->block_count; i++) {
        const struct vs_kind_block *block = &table->blocks[i];
        const struct vs_kind_block *found = vs_kinds_find(table, block->device, block->addr);
        check(found && found->addr == block->addr && block->kind < VS_KIND_COUNT);
        listed += block->size;
    }
    check(!table->blocks || listed + table->unrecorded_bytes == table->total.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_input in;
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    if (!trace_input_make(data, size, &in))
        return 0;
    if (!vs_reader_open_bytes(in.file, in.file_bytes, in.live, in.live_bytes, "input", &reader, why)) {
        struct vs_kinds_query queries[QUERIES] = {
            {.device = 0, .event = 1 + size % 512, .blocks = true},
            {.device = 0, .event = 1 + size % 64},
            {.device = 0, .event = VS_KINDS_END, .blocks = true}};
        struct vs_kinds_table tables[QUERIES];
        if (!vs_kinds_read(reader, NULL, queries, QUERIES, tables))
            for (size_t i = 0; i < QUERIES; i++) {
                check_table(&tables[i]);
                vs_kinds_table_free(&tables[i]);
            }
        vs_reader_close(reader);
    }
    trace_input_free(&in);
    return 0;
}
