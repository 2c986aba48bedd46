/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and work are limited in proportion to the bytes read: a frame may
 * decompress to thousands of times its size. */
#include "trace/symbols/symbol_cache.h"

#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

#define BUDGET_BASE ((uint64_t)24 << 20)
#define BUDGET_FACTOR 64u
#define BUDGET_MAX ((uint64_t)2 << 30)

void vs_trace_symbols_load(const struct vs_reader *reader, struct vs_symbol_set *set)
{
    struct vs_directory_entry *entries;
    size_t count, bytes;
    uint64_t most = BUDGET_MAX / BUDGET_FACTOR, size = reader->file.size, last_offset = 0;
    uint64_t work = BUDGET_BASE + (size < most ? size : most) * BUDGET_FACTOR;
    set->budget = work;
    if (vs_directory_load(&reader->file, &entries, &count))
        return;
    unsigned char *raw = NULL;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].type != VS_FRAME_SYMBOLS || entries[i].offset <= last_offset)
            continue;
        last_offset = entries[i].offset;
        if (!raw)
            raw = vs_xcalloc(1, VS_FRAME_RAW_MAX);
        if (vs_directory_read(&reader->file, &entries[i], raw, &bytes))
            continue;
        if (vs_symbol_set_decode(set, raw, bytes) == VS_ERR_LIMIT || bytes > work)
            break;
        work -= bytes;
    }
    free(raw);
    free(entries);
}
