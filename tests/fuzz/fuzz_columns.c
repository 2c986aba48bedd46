/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of a frame (codec 2) on any bytes, without zstd. Input: a 32-bit size of the rows, the
 * rest is the columns. Joined rows must split and join again into the same rows, if the splitter
 * accepts them. */
#include <stdint.h>

#include "unit/trace/join_columns.h"

#define ROWS_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void join_again(struct vs_reader *reader, const unsigned char *rows, size_t bytes)
{
    static struct vs_splitter *splitter;
    struct vs_column_part parts[VS_COLUMN_PARTS_MAX];
    const unsigned char *columns;
    size_t count;
    if (!splitter && !(splitter = vs_splitter_open(ROWS_MAX)))
        abort();
    size_t total = vs_splitter_split(splitter, rows, bytes, &columns, parts, &count);
    if (!total)
        return; /* kinds unknown to this build */
    unsigned char *again = malloc(bytes + 1);
    if (!again || !join_columns(reader, columns, total, again, bytes) || memcmp(again, rows, bytes) != 0)
        abort();
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct vs_reader *reader;
    uint32_t row_bytes;
    if (size < sizeof row_bytes)
        return 0;
    memcpy(&row_bytes, data, sizeof row_bytes);
    row_bytes %= ROWS_MAX + 1;
    if (!reader)
        reader = join_columns_reader();
    unsigned char *rows = malloc(row_bytes + 1);
    if (!rows)
        abort();
    if (join_columns(reader, data + sizeof row_bytes, size - sizeof row_bytes, rows, row_bytes))
        join_again(reader, rows, row_bytes);
    free(rows);
    return 0;
}
