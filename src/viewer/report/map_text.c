/* SPDX-License-Identifier: Apache-2.0
 *
 * The map of segments: a row each, of equally many cells; neighbours that look the same are one.
 * Segments of the same stream and pool stand together. Where there are more rows than are shown,
 * those with most free memory are. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_size.h"
#include "viewer/report/report_parts.h"

#define ROWS_SHOWN 24
#define FOLDED_MIN 3 /* as many equal neighbours are one row */

/* A row: neighbours of which all have the same cells. */
struct map_row {
    const struct vs_picture_segment *first, *last;
    uint64_t count;
};

static const char *cell(uint8_t percent, bool ascii)
{
    if (percent == 0)
        return ascii ? "." : "·";
    if (percent < 50)
        return ascii ? "-" : "░";
    return percent < 100 ? ascii ? "+" : "▓" : ascii ? "#" : "█";
}

static int most_free(const void *a, const void *b)
{
    const struct vs_picture_segment *x = ((const struct map_row *)a)->first;
    const struct vs_picture_segment *y = ((const struct map_row *)b)->first;
    uint64_t p = x->size - x->used, q = y->size - y->used;
    return vs_then(VS_ORDER(q, p), vs_then(VS_ORDER(y->size, x->size), VS_ORDER(x->addr, y->addr)));
}

static int by_owner(const void *a, const void *b)
{
    const struct vs_picture_segment *x = ((const struct map_row *)a)->first;
    const struct vs_picture_segment *y = ((const struct map_row *)b)->first;
    return vs_then(vs_then(VS_ORDER(x->alone, y->alone), VS_ORDER(x->pool, y->pool)),
                   vs_then(VS_ORDER(x->stream, y->stream), VS_ORDER(x->addr, y->addr)));
}

static bool same_owner(const struct vs_picture_segment *a, const struct vs_picture_segment *b)
{
    return a->alone == b->alone && a->pool == b->pool && a->stream == b->stream;
}

static bool same_row(const struct vs_picture_segment *a, const struct vs_picture_segment *b)
{
    return same_owner(a, b) && a->size == b->size && a->used == b->used &&
           memcmp(a->cells, b->cells, sizeof a->cells) == 0;
}

void vs_picture_text(const struct vs_report *report, const struct vs_report_device *device,
                     const struct vs_style *style)
{
    const struct vs_held *held = &device->held;
    char point[VS_HELD_POINT_MAX];
    size_t count = held->segment_count, most = style->small_sites ? style->sites : ROWS_SHOWN;
    struct map_row *rows = vs_xcalloc(count + 1, sizeof *rows);
    bool streams = false, pools = false, owners = false, alone = true;
    for (size_t i = 0; i < count; i++) {
        const struct vs_picture_segment *one = &held->segments[i], *first = held->segments;
        rows[i] = (struct map_row){one, one, 1};
        streams |= !one->alone && one->stream != first->stream;
        pools |= !one->alone && one->pool != first->pool;
        owners |= !same_owner(one, first);
        alone &= one->alone;
    }
    bool ascii = style->ascii;
    uint64_t number = held->segment_count + held->segments_omitted;
    fprintf(style->out, "  %s%s%s %s: %s", vs_paint(style, VS_BOLD),
            vs_number_text(number, alone ? "allocation" : "segment"), vs_unpaint(style),
            vs_held_point(point, report), vs_size_text(held->segment_bytes));
    fprintf(style->out, alone ? "\n" : ", %s in use\n",
            vs_percent_text(held->segment_used, held->segment_bytes));
    fprintf(style->out, "  a cell is a fortieth of its row: %s in use  %s half or more  %s less  "
                        "%s free\n", cell(100, ascii), cell(60, ascii), cell(10, ascii),
            cell(0, ascii));
    fprintf(style->out, "  %s%14s  %10s  %-40s  %7s%s\n", vs_paint(style, VS_DIM), "address",
            "size", "", "in use", vs_unpaint(style));
    qsort(rows, count, sizeof *rows, by_owner);
    /* Folds the *count* rows of one segment each, in the order of by_owner; returns how many remain. */
    size_t folded = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_row(rows[i].first, rows[end].first); end++)
            ;
        if (end - i < FOLDED_MIN)
            end = i + 1;
        rows[folded++] = (struct map_row){rows[i].first, rows[end - 1].first, end - i};
    }
    count = folded;
    size_t shown = count < most ? count : most;
    if (count > shown) {
        qsort(rows, count, sizeof *rows, most_free);
        qsort(rows, shown, sizeof *rows, by_owner);
    }
    for (size_t i = 0; i < shown; i++) {
        const struct map_row *row = &rows[i];
        const struct vs_picture_segment *segment = row->first;
        if (owners && (i == 0 || !same_owner(segment, row[-1].first))) {
            /* A line before the first segment of a stream and pool, if there are several. */
            fprintf(style->out, "  %s", vs_paint(style, VS_DIM));
            if (segment->alone)
                fprintf(style->out, "allocations outside of segments");
            else if (pools)
                fprintf(style->out, "%s pool%s", segment->pool ? "large" : "small",
                        streams ? ", " : "");
            if (!segment->alone && streams && segment->stream)
                fprintf(style->out, "stream %llu", (unsigned long long)segment->stream);
            else if (!segment->alone && streams)
                fprintf(style->out, "default stream");
            fprintf(style->out, "%s\n", vs_unpaint(style));
        }
        fprintf(style->out, "  %14llx  %10s  ", (unsigned long long)segment->addr,
                vs_size_text(segment->size));
        for (int k = 0; k < VS_PICTURE_CELLS; k++)
            fputs(cell(segment->cells[k], style->ascii), style->out);
        fprintf(style->out, "  %7s\n", vs_percent_text(segment->used, segment->size));
        if (row->count > 1)
            fprintf(style->out, "  %14llx  %s%s%s the row above, the last at this address%s\n",
                    (unsigned long long)row->last->addr, vs_paint(style, VS_DIM),
                    vs_count_text(row->count), style->ascii ? "x" : "×", vs_unpaint(style));
    }
    /* The rows that are not shown. */
    uint64_t bytes = held->segment_bytes, used = held->segment_used;
    count = number;
    for (size_t i = 0; i < shown; i++) {
        count -= rows[i].count;
        bytes -= rows[i].count * rows[i].first->size;
        used -= rows[i].count * rows[i].first->used;
    }
    const char *left = vs_count_text(count);
    if (count)
        fprintf(style->out, "  %14s  %10s  %s%s more, none with more free memory%*s%s  %7s\n", "",
                vs_size_text(bytes), vs_paint(style, VS_DIM), left, (int)(7 - strlen(left)), "",
                vs_unpaint(style), vs_percent_text(used, bytes));
    if (held->unmapped_bytes)
        fprintf(style->out, "  not on the map: %s of tensors in expandable segments\n",
                vs_size_text(held->unmapped_bytes));
    free(rows);
}
