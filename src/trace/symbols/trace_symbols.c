/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and work are limited in proportion to the bytes read: a frame may
 * decompress to thousands of times its size. */
#include "trace/symbols/trace_symbols.h"

#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

#define BUDGET_BASE ((uint64_t)24 << 20)
#define BUDGET_FACTOR 64u
#define BUDGET_MAX ((uint64_t)2 << 30)

static uint64_t bound_of(const struct vs_source *file)
{
    uint64_t most = BUDGET_MAX / BUDGET_FACTOR;
    return BUDGET_BASE + (file->size < most ? file->size : most) * BUDGET_FACTOR;
}

enum vs_err vs_trace_symbols_load(const struct vs_reader *reader, struct vs_symbol_set *set)
{
    struct vs_directory_entry *entries;
    size_t count, bytes;
    uint64_t work = bound_of(&reader->file), last_offset = 0;
    set->budget = work;
    enum vs_err err = vs_directory_load(&reader->file, &entries, &count);
    if (err)
        return err == VS_ERR_NOMEM ? err : VS_OK;
    unsigned char *raw = NULL;
    for (size_t i = 0; i < count && !err; i++) {
        if (entries[i].type != VS_FRAME_SYMBOLS || entries[i].offset <= last_offset)
            continue;
        last_offset = entries[i].offset;
        if (!raw && !(raw = vs_xcalloc(1, VS_FRAME_RAW_MAX)))
            err = VS_ERR_NOMEM;
        else if (!vs_directory_read(&reader->file, &entries[i], raw, &bytes)) {
            err = vs_symbol_set_decode(set, raw, bytes);
            if (bytes > work || err == VS_ERR_LIMIT)
                break;
            work -= bytes;
            if (err == VS_ERR_CORRUPT)
                err = VS_OK;
        }
    }
    free(raw);
    free(entries);
    return err == VS_ERR_LIMIT ? VS_OK : err;
}
