/* SPDX-License-Identifier: Apache-2.0
 *
 * The details of all rows as lines of text: the same lines as on the screen. */
#include "viewer/top/top_internal.h"

#define ROWS_BESIDE_SITES 14u

void vs_top_once(const struct vs_top_model *model, const struct vs_style *style)
{
    struct vs_grid grid = {.ascii = style->ascii};
    unsigned sites = (unsigned)style->sites;
    for (size_t i = 0; i < model->row_count; i++) {
        unsigned rows = ROWS_BESIDE_SITES + sites * (style->full ? 4 : 1);
        vs_grid_begin(&grid, rows, style->width);
        unsigned end = vs_top_details(model, &model->rows[i], &grid, 0, rows, sites, style->full);
        vs_grid_print(&grid, end, style);
        if (i + 1 < model->row_count)
            fputc('\n', style->out);
    }
    vs_grid_free(&grid);
}
