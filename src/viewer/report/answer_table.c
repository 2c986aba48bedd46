/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/answer_text.h"

#include "analysis/report/site_text.h"

size_t vs_answer_table_width(const struct vs_answer_table *table, size_t widths[VS_ANSWER_COLUMNS])
{
    size_t sum = 0;
    for (size_t c = 0; c < table->columns; c++) {
        widths[c] = 0;
        for (size_t i = 0; i < table->count; i++) {
            const char *cell = table->rows[i].cells[c];
            size_t width = cell ? vs_text_width(cell) : 0;
            widths[c] = width > widths[c] && (c || width <= table->first_most) ? width : widths[c];
        }
        sum += widths[c] + (c && widths[c] ? 2 : 0);
    }
    return sum;
}

void vs_answer_table(const struct vs_answer_table *table, const struct vs_style *style)
{
    size_t widths[VS_ANSWER_COLUMNS];
    struct vs_style narrow = *style;
    narrow.width = VS_ANSWER_WIDTH;
    vs_answer_table_width(table, widths);
    for (size_t i = 0; i < table->count; i++) {
        const struct vs_answer_row *row = &table->rows[i];
        for (size_t c = 0; c < table->columns; c++) {
            const char *cell = row->cells[c] ? row->cells[c] : "";
            bool last = c + 1 == table->columns, paints = i && c == table->painted;
            if (c == 0 && vs_text_width(cell) > table->first_most) {
                vs_text_wrapped(&narrow, "", cell);
                cell = "";
            }
            int pad = (int)(widths[c] - vs_text_width(cell)), right = table->right >> c & 1;
            if (!widths[c] || (last && !*cell))
                continue;
            fprintf(style->out, "%s%*s%s", c ? "  " : "", right ? pad : 0, "", paints ? vs_paint(style, row->paint) : "");
            vs_text_put(style->out, cell);
            fprintf(style->out, "%s%*s", paints ? vs_unpaint(style) : "", right || last ? 0 : pad, "");
        }
        fputc('\n', style->out);
        for (size_t k = 0; k < 2; k++)
            if (row->below[k])
                vs_text_wrapped(&narrow, "    ", row->below[k]);
    }
}
