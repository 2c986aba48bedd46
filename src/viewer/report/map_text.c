/* SPDX-License-Identifier: Apache-2.0
 *
 * The map of segments: a row each, of equally many cells. Segments of the same stream and pool stand
 * together. Where there are more rows than are shown, those with most free memory are. */
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/report/held_text.h"

#define ROWS_SHOWN 24

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
    const struct vs_picture_segment *x = *(const struct vs_picture_segment *const *)a;
    const struct vs_picture_segment *y = *(const struct vs_picture_segment *const *)b;
    uint64_t p = x->size - x->used, q = y->size - y->used;
    if (p != q)
        return p < q ? 1 : -1;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_owner(const void *a, const void *b)
{
    const struct vs_picture_segment *x = *(const struct vs_picture_segment *const *)a;
    const struct vs_picture_segment *y = *(const struct vs_picture_segment *const *)b;
    if (x->alone != y->alone)
        return x->alone ? 1 : -1;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool same_owner(const struct vs_picture_segment *a, const struct vs_picture_segment *b)
{
    return a->alone == b->alone && a->pool == b->pool && a->stream == b->stream;
}

/* A line before the first segment of a stream and pool, if there are several. */
static void owner_line(const struct vs_picture_segment *segment, bool streams, bool pools,
                       const struct vs_style *style)
{
    fprintf(style->out, "  %s", vs_paint(style, VS_DIM));
    if (segment->alone)
        fprintf(style->out, "allocations outside of segments");
    else if (pools && segment->pool)
        fprintf(style->out, "private pool %llu%s", (unsigned long long)segment->pool,
                streams ? ", " : "");
    else if (pools)
        fprintf(style->out, "default pool%s", streams ? ", " : "");
    if (!segment->alone && streams && segment->stream)
        fprintf(style->out, "stream %llu", (unsigned long long)segment->stream);
    else if (!segment->alone && streams)
        fprintf(style->out, "default stream");
    fprintf(style->out, "%s\n", vs_unpaint(style));
}

static void segment_row(const struct vs_picture_segment *segment, const struct vs_style *style)
{
    char size[VS_SIZE_TEXT_MAX], share[16];
    fprintf(style->out, "  %14llx  %10s  ", (unsigned long long)segment->addr,
            vs_size_format(size, segment->size));
    for (int i = 0; i < VS_PICTURE_CELLS; i++)
        fputs(cell(segment->cells[i], style->ascii), style->out);
    fprintf(style->out, "  %7s\n", vs_text_percent(share, segment->used, segment->size));
}

/* The rows that are not shown. */
static void folded_row(const struct vs_held *held, const struct vs_picture_segment **rows,
                       size_t shown, const struct vs_style *style)
{
    uint64_t bytes = held->segment_bytes, used = held->segment_used;
    uint64_t count = held->segment_count + held->segments_omitted - shown;
    char size[VS_SIZE_TEXT_MAX], share[16], number[VS_SIZE_TEXT_MAX];
    for (size_t i = 0; i < shown; i++) {
        bytes -= rows[i]->size;
        used -= rows[i]->used;
    }
    if (count)
        fprintf(style->out, "  %14s  %10s  %s%s more, with less free memory each%*s%s  %7s\n", "",
                vs_size_format(size, bytes), vs_paint(style, VS_DIM),
                vs_count_format(number, count), (int)(7 - strlen(number)), "", vs_unpaint(style),
                vs_text_percent(share, used, bytes));
}

static void legend(const struct vs_held *held, const char *moment, const struct vs_style *style)
{
    bool ascii = style->ascii;
    char count[VS_SIZE_TEXT_MAX], size[VS_SIZE_TEXT_MAX], share[16];
    uint64_t number = held->segment_count + held->segments_omitted;
    bool alone = true;
    for (size_t i = 0; i < held->segment_count; i++)
        alone &= held->segments[i].alone;
    fprintf(style->out, "  %s%s %s%s%s %s: %s", vs_paint(style, VS_BOLD),
            vs_count_format(count, number), alone ? "allocation" : "segment", number == 1 ? "" : "s",
            vs_unpaint(style), moment, vs_size_format(size, held->segment_bytes));
    fprintf(style->out, alone ? "\n" : ", %s in use\n",
            vs_text_percent(share, held->segment_used, held->segment_bytes));
    fprintf(style->out, "  a cell is a fortieth of its row: %s in use  %s half or more  %s less  "
                        "%s free\n", cell(100, ascii), cell(60, ascii), cell(10, ascii),
            cell(0, ascii));
    fprintf(style->out, "  %s%14s  %10s  %-40s  %7s%s\n", vs_paint(style, VS_DIM), "address", "size",
            "", "in use", vs_unpaint(style));
}

void vs_picture_text(const struct vs_report *report, const struct vs_report_device *device,
                     const struct vs_style *style)
{
    const struct vs_held *held = &device->held;
    char moment[VS_SIZE_TEXT_MAX + 8], size[VS_SIZE_TEXT_MAX];
    size_t count = held->segment_count, most = style->small_sites ? style->sites : ROWS_SHOWN;
    const struct vs_picture_segment **rows = malloc((count + 1) * sizeof *rows);
    if (!rows)
        return;
    bool streams = false, pools = false, owners = false;
    for (size_t i = 0; i < count; i++) {
        rows[i] = &held->segments[i];
        streams |= !rows[i]->alone && rows[i]->stream != rows[0]->stream;
        pools |= !rows[i]->alone && rows[i]->pool != rows[0]->pool;
        owners |= !same_owner(rows[i], rows[0]);
    }
    legend(held, vs_held_moment(moment, report), style);
    size_t shown = count < most ? count : most;
    if (count > shown)
        qsort(rows, count, sizeof *rows, most_free);
    qsort(rows, shown, sizeof *rows, by_owner);
    for (size_t i = 0; i < shown; i++) {
        if (owners && (i == 0 || !same_owner(rows[i], rows[i - 1])))
            owner_line(rows[i], streams, pools, style);
        segment_row(rows[i], style);
    }
    folded_row(held, rows, shown, style);
    if (held->unmapped_bytes)
        fprintf(style->out, "  not on the map: %s of tensors in expandable segments\n",
                vs_size_format(size, held->unmapped_bytes));
    free(rows);
}
