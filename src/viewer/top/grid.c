/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/top/grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_utf8.h"

#define TEXT_MAX 1024

void vs_grid_begin(struct vs_grid *grid, unsigned rows, unsigned columns)
{
    size_t count = (size_t)rows * columns;
    struct vs_grid_cell *cells = vs_xcalloc(count ? count : 1, sizeof *cells);
    free(grid->cells);
    grid->cells = cells;
    grid->rows = rows;
    grid->columns = columns;
}

void vs_grid_free(struct vs_grid *grid)
{
    free(grid->cells);
    *grid = (struct vs_grid){0};
}

const struct vs_grid_cell *vs_grid_at(const struct vs_grid *grid, unsigned row, unsigned column)
{
    return &grid->cells[(size_t)row * grid->columns + column];
}

static uint32_t code_point(const unsigned char *p, size_t length)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = p[0] & first[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (p[i] & 0x3f);
    return code;
}

/* Whether a terminal shows it in one column, whatever its fonts. */
static bool is_one_column(uint32_t code)
{
    bool letter = code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) &&
                  !(code >= 0x300 && code < 0x370) && code < 0x483;
    bool symbol = (code >= 0x2010 && code < 0x2028) || (code >= 0x2190 && code < 0x2200) ||
                  (code >= 0x2500 && code < 0x25a0);
    return letter || symbol;
}

/* One character of *text* into *cell*; returns its length. */
static size_t put_character(const char *text, bool ascii, struct vs_grid_cell *cell)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t length = vs_utf8_length(p, strlen(text));
    bool shown = length && is_one_column(code_point(p, length)) && !(ascii && length > 1);
    memset(cell->text, 0, sizeof cell->text);
    if (shown)
        memcpy(cell->text, text, length);
    else if (length == 3 && memcmp(text, "…", 3) == 0)
        cell->text[0] = '~';
    else
        cell->text[0] = '?';
    return length ? length : 1;
}

static unsigned put_text(struct vs_grid *grid, unsigned row, unsigned column, unsigned end,
                         enum vs_paint paint, const char *text)
{
    struct vs_grid_cell *cells = grid->cells + (size_t)row * grid->columns;
    if (end > grid->columns)
        end = grid->columns;
    if (row >= grid->rows)
        return column;
    unsigned first = column;
    while (*text && column < end) {
        text += put_character(text, grid->ascii, &cells[column]);
        cells[column++].paint = (uint8_t)paint;
    }
    if (*text && column > first)
        put_character("…", grid->ascii, &cells[column - 1]);
    return column;
}

unsigned vs_grid_put(struct vs_grid *grid, unsigned row, unsigned column, unsigned end,
                     enum vs_paint paint, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return put_text(grid, row, column, end, paint, text);
}

void vs_grid_right(struct vs_grid *grid, unsigned row, unsigned end, unsigned width,
                   enum vs_paint paint, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    unsigned columns = (unsigned)vs_text_width(text);
    if (columns > width)
        columns = width;
    if (columns <= end)
        put_text(grid, row, end - columns, end, paint, text);
}

void vs_grid_reverse(struct vs_grid *grid, unsigned row)
{
    for (unsigned i = 0; row < grid->rows && i < grid->columns; i++)
        grid->cells[(size_t)row * grid->columns + i].reverse = true;
}

void vs_grid_print(const struct vs_grid *grid, unsigned rows, const struct vs_style *style)
{
    for (unsigned row = 0; row < rows && row < grid->rows; row++) {
        unsigned width = grid->columns;
        enum vs_paint paint = VS_PLAIN;
        while (width && !*vs_grid_at(grid, row, width - 1)->text)
            width--;
        for (unsigned i = 0; i < width; i++) {
            const struct vs_grid_cell *cell = vs_grid_at(grid, row, i);
            if (cell->paint != paint && paint != VS_PLAIN)
                fputs(vs_unpaint(style), style->out);
            if (cell->paint != paint)
                fputs(vs_paint(style, (enum vs_paint)cell->paint), style->out);
            paint = (enum vs_paint)cell->paint;
            fputs(*cell->text ? cell->text : " ", style->out);
        }
        if (paint != VS_PLAIN)
            fputs(vs_unpaint(style), style->out);
        fputc('\n', style->out);
    }
}
