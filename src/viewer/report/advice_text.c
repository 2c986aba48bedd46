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

#define LABEL_MAX 21u
#define SAVED_WIDTH 92u /* terminals with room for that column */

enum advice_column { LABEL, PEAK, SAVED, RESERVED, HEADROOM, FITS, COMPUTE, COPIES, COLUMNS };

/* "-4.93 GiB"; *plus*: "+1.20 GiB" */
static const char *signed_size(struct vs_arena *memory, int64_t bytes, const char *plus)
{
    return vs_xarena_printf(memory, "%s%s", bytes < 0 ? "-" : plus, vs_size_text((uint64_t)(bytes < 0 ? -bytes : bytes)));
}

static void fill_row(const struct vs_advice_row *row, bool first, struct vs_arena *memory, struct vs_answer_row *out)
{
    const char **cells = out->cells;
    *out = (struct vs_answer_row){
        .cells = {row->label, "–", "–", "–", "–", row->fits ? row->if_assumed ? "if" : "yes" : row->no_answer ? "?" : "no",
                  "–", "–"},
        .paint = row->if_assumed ? VS_WARN : row->fits ? VS_GOOD : row->known ? VS_BAD : VS_WARN};
    size_t below = 0;
    if (row->source != VS_ADVICE_RUN)
        out->below[below++] = row->source == VS_ADVICE_REPLAYED ? "replayed, not run" : "estimate, not run";
    if (row->why && (!first || row->known))
        out->below[below++] = row->why;
    if (!row->known)
        return;
    cells[PEAK] = vs_xarena_text(memory, vs_size_text(row->peak));
    cells[RESERVED] = vs_xarena_text(memory, vs_size_text(row->reserved));
    cells[HEADROOM] = signed_size(memory, row->headroom, "");
    if (!first)
        cells[SAVED] = signed_size(memory, row->saved, "");
    if (!row->cost_known || first)
        return;
    double percent = 100 * row->compute;
    cells[COMPUTE] = percent > -0.5 && percent < 0.5 ? "0 %" : vs_xarena_printf(memory, "%+.0f %%", percent);
    int64_t copies = row->copies > -1024 && row->copies < 1024 ? 0 : row->copies;
    cells[COPIES] = signed_size(memory, copies, copies ? "+" : "");
}

static bool has_costs(const struct vs_advice *advice)
{
    bool costs = false;
    for (size_t i = 0; i < advice->row_count; i++)
        costs |= advice->rows[i].cost_known;
    return costs;
}

static void print_table(const struct vs_advice *advice, const struct vs_style *style)
{
    struct vs_arena memory = {0};
    struct vs_answer_row *rows = vs_xarena(&memory, (advice->row_count + 1) * sizeof *rows);
    struct vs_answer_table table = {.rows = rows, .count = advice->row_count + 1, .columns = COLUMNS, .painted = FITS,
                                    .right = ~(1u << LABEL), .first_most = LABEL_MAX};
    bool costs = has_costs(advice), wide = style->width >= SAVED_WIDTH;
    rows[0] = (struct vs_answer_row){
        .cells = {"", "peak", "saved", "reserved", "headroom", "fits", "compute", "copies"}};
    for (size_t i = 0; i < advice->row_count; i++)
        fill_row(&advice->rows[i], i == 0, &memory, &rows[i + 1]);
    for (size_t i = 0; i <= advice->row_count; i++) {
        if (!wide)
            rows[i].cells[SAVED] = NULL;
        if (!costs)
            rows[i].cells[COMPUTE] = rows[i].cells[COPIES] = NULL;
    }
    size_t widths[VS_ANSWER_COLUMNS], sum = vs_answer_table_width(&table, widths);
    if (sum > VS_ANSWER_WIDTH + 1 && !wide) {
        table.first_most = widths[LABEL] - (sum - VS_ANSWER_WIDTH - 1);
        rows[0].cells[LABEL] = vs_xarena_printf(&memory, "%*s", (int)table.first_most, "");
    }
    vs_answer_table(&table, style);
    vs_arena_free_all(&memory);
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
        vs_text_lines(style, "", "fits with: %s; %s left in %llu step%s%s", plan->label,
                      vs_size_text((uint64_t)plan->headroom), advice->steps_run,
                      advice->steps_run == 1 ? "" : "s", plan->if_assumed ? ", if the assumed sizes hold" : "");
        if (advice->margin_bytes)
            vs_text_lines(style, "", "margin asked for: %s", vs_size_text(advice->margin_bytes));
    } else if (advice->answer != VS_FIT_YES && advice->nearest)
        vs_text_lines(style, "", "nothing that was tried fits%s; nearest: %s, %s %s",
                      advice->margin_bytes ? " with the margin" : "", nearest->label,
                      nearest->headroom < 0 ? "short by" : "with headroom",
                      vs_size_text((uint64_t)llabs((long long)nearest->headroom)));
    else if (advice->answer == VS_FIT_NO)
        vs_text_lines(style, "", "nothing that was tried makes it smaller");
    if (advice->interrupted)
        vs_text_lines(style, "", "interrupted: only the changes below were tried");
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
    vs_text_lines(style, "", "%snot tried, %s: %s", advice->absent_count ? "" : "\n",
                  advice->interrupted ? "because of the interrupt"
                                      : "a cheaper set was enough (--all tries them)", text);
    free(text);
}

static void print_notes(const struct vs_advice *advice, const struct vs_style *style)
{
    fputc('\n', style->out);
    if (has_costs(advice))
        vs_text_wrapped(style, "", "compute, copies: estimates, of a step compared with the program as it "
                        "is: time of kernels by the GPU's peak figures, bytes between host and GPU");
    fprintf(style->out, "%zu run%s of %llu step%s\n", advice->runs, advice->runs == 1 ? "" : "s",
            advice->steps_run, advice->steps_run == 1 ? "" : "s");
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
        if (advice->answer == VS_FIT_UNKNOWN && !advice->interrupted) {
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
