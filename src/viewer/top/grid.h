/* SPDX-License-Identifier: Apache-2.0
 *
 * A screen in memory: cells of one character with a paint. Drawn by a terminal library, or printed
 * as lines. Text may come from a trace: control characters, and characters that terminals do not
 * show in one column, become '?'. Not thread-safe. */
#ifndef VS_GRID_H
#define VS_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "viewer/common/text_style.h"

struct vs_grid_cell {
    char text[5]; /* one character in UTF-8; "" is a space */
    uint8_t paint; /* enum vs_paint */
    bool reverse;
};

/* Zero-initialise. */
struct vs_grid {
    unsigned rows, columns;
    bool ascii; /* the terminal has no UTF-8 */
    struct vs_grid_cell *cells;
};

/* vs_grid_begin: an empty grid of that size. */
void vs_grid_begin(struct vs_grid *grid, unsigned rows, unsigned columns);

/* vs_grid_put: text from (*row*, *column*) on, up to before column *end*; what does not fit is cut,
 * with "…" as the last character. Returns the column after it. Cells outside are ignored. */
unsigned vs_grid_put(struct vs_grid *grid, unsigned row, unsigned column, unsigned end,
                     enum vs_paint paint, const char *format, ...) VS_PRINTF(6, 7);

/* vs_grid_right: likewise, so that it ends before column *end*, within *width* columns. */
void vs_grid_right(struct vs_grid *grid, unsigned row, unsigned end, unsigned width,
                   enum vs_paint paint, const char *format, ...) VS_PRINTF(6, 7);

/* vs_grid_reverse: the whole row in reverse. */
void vs_grid_reverse(struct vs_grid *grid, unsigned row);

const struct vs_grid_cell *vs_grid_at(const struct vs_grid *grid, unsigned row, unsigned column);

/* vs_grid_print: rows 0 to *rows* - 1 as lines, without spaces at their ends. */
void vs_grid_print(const struct vs_grid *grid, unsigned rows, const struct vs_style *style);

void vs_grid_free(struct vs_grid *grid);

#endif
