/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns of a frame, decoded by a reader that writes each record back as a row. All kinds of this
 * build are described, and every string and stack below 2^30 is defined. */
#ifndef VS_JOIN_COLUMNS_H
#define VS_JOIN_COLUMNS_H

#include <stdlib.h>
#include <string.h>

#include "trace/read/reader_internal.h"

static struct vs_reader *join_columns_reader(void)
{
    static const struct vs_file_header empty = {
        .magic = VS_FILE_MAGIC, .major = VS_FORMAT_MAJOR, .byte_order = VS_BYTE_ORDER,
        .header_bytes = sizeof empty};
    static struct vs_file_header header;
    char why[VS_READER_WHY_MAX];
    struct vs_reader *r = NULL;
    header = empty;
    vs_header_seal(&header);
    if (vs_reader_open_bytes(&header, sizeof header, NULL, 0, "columns", &r, why))
        abort();
    r->columns = calloc(1, sizeof *r->columns);
    return r;
}

/* Returns whether the columns are good and give *row_bytes* of rows, which *rows* has room for. */
static bool join_columns(struct vs_reader *r, const unsigned char *columns, size_t bytes,
                         unsigned char *rows, size_t row_bytes)
{
    size_t used = 0;
    struct vs_event event;
    enum vs_record what;
    vs_reader_rewind(r);
    for (unsigned code = 1; code <= VS_EVENT_CODE_MAX; code++) {
        const struct vs_event_info *info = vs_event_describe(code);
        unsigned char record[3 + 2 * VS_EVENT_FIELDS_MAX + 1] = {VS_DEFINE_KIND, (unsigned char)code};
        if (!info)
            continue;
        record[2] = (unsigned char)info->field_count;
        for (unsigned i = 0; i < info->field_count; i++)
            record[3 + i] = (unsigned char)info->fields[i].codec;
        if (vs_reader_define(r, record, 4 + 2 * info->field_count)) /* names are empty */
            abort();
    }
    if (!vs_columns_place(r->columns, columns, bytes))
        return false;
    r->strings_seen = r->nodes_seen = UINT64_C(1) << 30;
    r->row_kinds = UINT64_MAX;
    vs_frame_begin(r, NULL, 0, 0, true);
    while (!vs_reader_at_end(r)) {
        if (vs_reader_record(r, &event, &what) || r->row_bytes > row_bytes - used)
            return false;
        memcpy(rows + used, r->row, r->row_bytes);
        used += r->row_bytes;
    }
    return used == row_bytes && !vs_reader_left_over(r);
}

#endif
