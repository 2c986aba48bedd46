/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of `vramscope advise`: the answer first, then a row for each set of changes, the lines to
 * change, and what was left out and why. */
#include "viewer/report/answer_text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"

#define WIDTH_MAX 79u
#define CELL_MAX 24
#define LABEL_MAX 21u
#define SAVED_WIDTH 92u /* terminals with room for that column */

enum advice_column { PEAK, SAVED, RESERVED, HEADROOM, FITS, COMPUTE, COPIES, COLUMNS };

struct advice_cells {
    char text[COLUMNS][CELL_MAX];
};

/* "-4.93 GiB"; *plus*: "+1.20 GiB" */
static void put_signed(char out[CELL_MAX], int64_t bytes, const char *plus)
{
    snprintf(out, CELL_MAX, "%s%s", bytes < 0 ? "-" : plus,
             vs_size_text((uint64_t)(bytes < 0 ? -bytes : bytes)));
}

static void fill_cells(const struct vs_advice_row *row, bool first, struct advice_cells *out)
{
    for (int c = 0; c < COLUMNS; c++)
        strcpy(out->text[c], "–");
    strcpy(out->text[FITS], row->fits ? row->if_assumed ? "if" : "yes" : row->no_answer ? "?" : "no");
    if (!row->known)
        return;
    vs_size_format(out->text[PEAK], row->peak);
    vs_size_format(out->text[RESERVED], row->reserved);
    put_signed(out->text[HEADROOM], row->headroom, "");
    if (!first)
        put_signed(out->text[SAVED], row->saved, "");
    if (!row->cost_known || first)
        return;
    double percent = 100 * row->compute;
    snprintf(out->text[COMPUTE], CELL_MAX, percent > -0.5 && percent < 0.5 ? "0 %%" : "%+.0f %%", percent);
    int64_t copies = row->copies > -1024 && row->copies < 1024 ? 0 : row->copies;
    put_signed(out->text[COPIES], copies, copies ? "+" : "");
}

/* A label that is wider than its column has a line of its own. */
static void print_row(const char *label, size_t label_width, const struct advice_cells *cells,
                      const size_t widths[COLUMNS], const struct vs_style *style, enum vs_paint paint)
{
    bool wide = vs_text_width(label) > label_width;
    struct vs_style narrow = *style;
    narrow.width = WIDTH_MAX;
    if (wide)
        vs_text_wrapped(&narrow, "", label);
    else
        fputs(label, style->out);
    fprintf(style->out, "%*s", (int)(label_width - (wide ? 0 : vs_text_width(label))), "");
    for (int c = 0; c < COLUMNS; c++) {
        int pad = (int)(widths[c] - vs_text_width(cells->text[c]));
        if (!widths[c])
            continue;
        fprintf(style->out, "  %*s%s%s%s", pad, "", c == FITS ? vs_paint(style, paint) : "", cells->text[c],
                c == FITS ? vs_unpaint(style) : "");
    }
    fputc('\n', style->out);
}

static void print_table(const struct vs_advice *advice, const struct vs_style *style)
{
    static const struct advice_cells header = {
        {"peak", "saved", "reserved", "headroom", "fits", "compute", "copies"}};
    struct advice_cells *cells = vs_xcalloc(advice->row_count, sizeof *cells);
    size_t widths[COLUMNS], label = 0, sum = 0;
    for (int c = 0; c < COLUMNS; c++)
        widths[c] = strlen(header.text[c]);
    for (size_t i = 0; i < advice->row_count; i++) {
        size_t width = vs_text_width(advice->rows[i].label);
        fill_cells(&advice->rows[i], i == 0, &cells[i]);
        label = width > label && width <= LABEL_MAX ? width : label;
        for (int c = 0; c < COLUMNS; c++)
            if (vs_text_width(cells[i].text[c]) > widths[c])
                widths[c] = vs_text_width(cells[i].text[c]);
    }
    bool costs = false;
    for (size_t i = 0; i < advice->row_count; i++)
        costs |= advice->rows[i].cost_known;
    if (style->width < SAVED_WIDTH)
        widths[SAVED] = 0;
    if (!costs)
        widths[COMPUTE] = widths[COPIES] = 0;
    for (int c = 0; c < COLUMNS; c++)
        sum += widths[c] ? widths[c] + 2 : 0;
    if (sum + label > WIDTH_MAX + 1 && style->width < SAVED_WIDTH)
        label = WIDTH_MAX + 1 - sum;
    print_row("", label, &header, widths, style, VS_PLAIN);
    for (size_t i = 0; i < advice->row_count; i++) {
        const struct vs_advice_row *row = &advice->rows[i];
        print_row(row->label, label, &cells[i], widths, style,
                  row->if_assumed ? VS_WARN : row->fits ? VS_GOOD : row->known ? VS_BAD : VS_WARN);
        struct vs_style narrow = *style;
        narrow.width = WIDTH_MAX;
        if (row->source != VS_ADVICE_RUN)
            vs_text_wrapped(&narrow, "    ", row->source == VS_ADVICE_REPLAYED
                                                 ? "replayed, not run" : "estimate, not run");
        if (row->why && (i || row->known))
            vs_text_wrapped(&narrow, "    ", row->why);
    }
    free(cells);
}

static void print_answer(const struct vs_advice *advice, const struct vs_style *style)
{
    const struct vs_fit_run *run = advice->as_it_is;
    const struct vs_advice_row *rows = advice->rows;
    if (run->answer == VS_FIT_YES && advice->plan == 0)
        vs_text_lines(style, "", "%s%sfits on %s as it is%s: %s left%s", vs_paint(style, VS_GOOD),
                      vs_unpaint(style), advice->gpu, run->if_assumed ? ", if the assumed sizes hold" : "",
                      vs_size_text((uint64_t)rows[0].headroom), run->if_assumed ? "" : "; nothing has to change");
    else if (run->answer == VS_FIT_YES)
        vs_text_lines(style, "", "fits on %s as it is, but with %s left, less than the margin of %s",
                      advice->gpu, vs_size_text((uint64_t)rows[0].headroom), vs_size_text(advice->margin_bytes));
    else if (run->answer == VS_FIT_NO && rows[0].known) {
        struct vs_size_pair two = vs_sizes_apart(rows[0].used, advice->total_bytes);
        const struct vs_fit_failure *failure = &run->worst_device->failure;
        vs_text_lines(style, "", "does not fit on %s: needs %s of %s, short by %s", advice->gpu, two.a, two.b,
                      vs_size_text(rows[0].used - advice->total_bytes));
        if (*failure->where || *failure->place)
            vs_text_lines(style, "  ", "first failure: %s%s%s", failure->place,
                          *failure->where && *failure->place ? ", " : "", failure->where);
    } else
        vs_text_lines(style, "", "%s: no answer: %s", advice->gpu, advice->why ? advice->why : "");
    const struct vs_advice_row *nearest = &rows[advice->nearest];
    if (advice->answer == VS_FIT_YES && advice->plan) {
        const struct vs_advice_row *plan = &rows[advice->plan];
        vs_text_lines(style, "", "fits with: %s; %s left in %llu steps%s", plan->label,
                      vs_size_text((uint64_t)plan->headroom), advice->steps_run, plan->if_assumed ? ", if the assumed sizes hold" : "");
        if (advice->margin_bytes)
            vs_text_lines(style, "", "margin asked for: %s", vs_size_text(advice->margin_bytes));
    } else if (advice->answer == VS_FIT_NO && advice->nearest)
        vs_text_lines(style, "", "nothing that was tried fits%s; nearest: %s, %s %s",
                      advice->margin_bytes ? " with the margin" : "", nearest->label,
                      nearest->headroom < 0 ? "short by" : "with headroom",
                      vs_size_text((uint64_t)llabs((long long)nearest->headroom)));
    else if (advice->answer == VS_FIT_NO)
        vs_text_lines(style, "", "nothing that was tried makes it smaller");
}

static void print_steps(const struct vs_advice *advice, const struct vs_style *style)
{
    if (!advice->step_count)
        return;
    fprintf(style->out, "\n%s\n", advice->answer == VS_FIT_YES ? "do this" : "what saves most");
    for (size_t i = 0; i < advice->step_count; i++) {
        const struct vs_advice_step *step = &advice->steps[i];
        char saves[64] = "";
        if (step->known)
            snprintf(saves, sizeof saves, ": %s %s", step->saved < 0 ? "takes" : "saves",
                     vs_size_text((uint64_t)llabs((long long)step->saved)));
        vs_text_lines(style, "  ", "%s%s", step->label, saves);
        for (size_t k = 0; k < step->line_count; k++) {
            const struct vs_advice_line *line = &step->lines[k];
            char lead[128];
            snprintf(lead, sizeof lead, "    %.100s  ", *line->place ? line->place
                     : strchr(line->code, '=') && strncmp(line->code, "PYTORCH", 7) == 0 ? "environment:"
                                                                                         : "command:");
            vs_text_wrapped(style, lead, line->code);
        }
    }
}

static void print_left(const struct vs_advice *advice, const struct vs_style *style)
{
    char *text;
    size_t bytes;
    if (advice->absent_count)
        fputs("\nleft out\n", style->out);
    for (size_t i = 0; i < advice->absent_count; i++)
        vs_text_lines(style, "  ", "%s: %s", advice->absent[i].label, advice->absent[i].why);
    if (!advice->spared_count)
        return;
    FILE *out = vs_xstream(&text, &bytes);
    for (size_t i = 0; i < advice->spared_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", advice->spared[i].label);
    vs_xstream_end(out);
    vs_text_lines(style, "", "%snot tried, a cheaper set was enough (--all tries them): %s",
                  advice->absent_count ? "" : "\n", text);
    free(text);
}

static void print_notes(const struct vs_advice *advice, const struct vs_style *style)
{
    bool cost = false;
    for (size_t i = 1; i < advice->row_count; i++)
        cost |= advice->rows[i].cost_known;
    fputc('\n', style->out);
    if (cost)
        vs_text_wrapped(style, "", "compute, copies: estimates, of a step compared with the program as it "
                        "is: time of kernels by the GPU's peak figures, bytes between host and GPU");
    fprintf(style->out, "%zu run%s of %llu steps\n", advice->runs, advice->runs == 1 ? "" : "s",
            advice->steps_run);
    if (advice->cached)
        fprintf(style->out, "%zu of them from the cache (--no-cache runs them again)\n", advice->cached);
}

void vs_advice_text(const struct vs_advice_set *set, const struct vs_style *style)
{
    for (size_t g = 0; g < set->count; g++) {
        const struct vs_advice *advice = &set->items[g];
        if (g)
            fputc('\n', style->out);
        print_answer(advice, style);
        if (advice->answer == VS_FIT_UNKNOWN) {
            if (advice->errors && *advice->errors) {
                fputs("\nthe end of its standard error:\n", style->out);
                vs_fit_errors_text(advice->errors, style);
            }
            continue;
        }
        fputc('\n', style->out);
        print_table(advice, style);
        print_steps(advice, style);
        print_left(advice, style);
        print_notes(advice, style);
    }
    if (set->kept)
        vs_text_path(style, "traces: ", set->kept, "");
}
