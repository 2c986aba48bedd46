/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference as text: the answer, what keeps the runs from being compared, then tables of what
 * differs. A row is "label, A, B, change, percent". Rows below 1 % are counted, not printed. */
#include <inttypes.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/vs_size.h"
#include "viewer/diff/diff_words.h"

#define LABEL_COLUMNS 34
#define ROWS_MAX 12 /* of a list, without --all */

static void heading(const struct vs_style *style, const char *text)
{
    fprintf(style->out, "\n%s", vs_paint(style, VS_BOLD));
    vs_text_wrapped(style, "", text);
    fputs(vs_unpaint(style), style->out);
}

static void columns(const struct vs_style *style, const char *text)
{
    fprintf(style->out, "\n%s%-*s%11s %11s %12s%s\n", vs_paint(style, VS_BOLD), LABEL_COLUMNS, text, "A",
            "B", "change", vs_unpaint(style));
}

/* A label that is too long is on a line of its own. */
static void row(const struct vs_style *style, const char *label, const char *a, const char *b,
                const char *change, const char *percent)
{
    char cut[4 * 200 + 4];
    vs_text_clip(cut, label, 76);
    size_t width = vs_text_width(cut);
    if (width > LABEL_COLUMNS - 3)
        fprintf(style->out, "  %s\n%*s", cut, LABEL_COLUMNS, "");
    else
        fprintf(style->out, "  %s%*s", cut, (int)(LABEL_COLUMNS - 2 - width), "");
    fprintf(style->out, "%11s %11s %12s%s%s\n", a, b, change, *percent ? "  " : "", percent);
}

static void value_row(const struct vs_style *style, const char *label, uint64_t a, uint64_t b, bool counts)
{
    char change[VS_SIZE_TEXT_MAX + 4], percent[24];
    struct vs_size_pair sizes = vs_diff_sizes(a, b, counts);
    row(style, label, sizes.a, sizes.b, vs_diff_change(change, a, b, counts), vs_diff_percent(percent, a, b));
}

static void fold(const struct vs_style *style, size_t small, size_t more)
{
    if (more)
        fprintf(style->out, "  %zu more (--all lists them)\n", more);
    if (small)
        fprintf(style->out, "  %zu more below 1 %%\n", small);
}

static bool of_copies(const struct vs_quantity *quantity)
{
    return quantity->metric == VS_METRIC_TRANSFERRED || quantity->metric == VS_METRIC_COPIES;
}

/* Of the whole program, without copies; requested memory only in full. */
static void whole_amounts(const struct vs_diff_result *result, const struct vs_style *style,
                          const struct vs_report_device *device)
{
    char title[256], label[VS_DIFF_LINE_MAX];
    size_t small = 0;
    snprintf(title, sizeof title, "Memory of device %" PRIu64, device->device);
    columns(style, title);
    for (size_t i = 0; i < result->comparison->amount_count; i++) {
        const struct vs_compared_amount *amount = &result->comparison->amounts[i];
        const struct vs_quantity *any = amount->b ? amount->b : amount->a;
        if (any->device != device->device || any->phase || of_copies(any) ||
            ((any->metric == VS_METRIC_REQUESTED || any->metric == VS_METRIC_FREE) && !result->all))
            continue;
        uint64_t a = vs_compared_value(amount->a), b = vs_compared_value(amount->b);
        bool always = any->metric <= VS_METRIC_RESERVED || result->all;
        if (!always && vs_diff_small(a, b, a > b ? a : b)) {
            small += a != b;
            continue;
        }
        value_row(style, vs_diff_label(label, any, false), a, b, false);
    }
    fold(style, small, 0);
}

static bool phase_row_wanted(const struct vs_quantity *any, bool all)
{
    return any->phase && ((any->metric != VS_METRIC_REQUESTED && any->metric != VS_METRIC_RESERVED) || all);
}

/* A phase of one run only has one line, whatever its quantities. */
static void lone_phase(const struct vs_style *style, const struct vs_compared_amount *amount)
{
    char label[VS_DIFF_LINE_MAX], size[VS_SIZE_TEXT_MAX];
    const struct vs_quantity *any = amount->b ? amount->b : amount->a;
    if (any->metric != VS_METRIC_ALLOCATED)
        return;
    vs_size_format_gib(size, any->value, 2);
    row(style, vs_diff_label(label, any, true), amount->a ? size : "-", amount->b ? size : "-",
        amount->b ? "only in B" : "only in A", "");
}

static void phases(const struct vs_diff_result *result, const struct vs_style *style, uint64_t device)
{
    char label[VS_DIFF_LINE_MAX];
    size_t small = 0, shown = 0, more = 0;
    for (size_t i = 0; i < result->comparison->amount_count; i++) {
        const struct vs_compared_amount *amount = &result->comparison->amounts[i];
        const struct vs_quantity *any = amount->b ? amount->b : amount->a;
        uint64_t a = vs_compared_value(amount->a), b = vs_compared_value(amount->b);
        if (any->device != device || !phase_row_wanted(any, result->all) || (a == b && !result->all))
            continue;
        if (!result->all && vs_diff_small(a, b, a > b ? a : b)) {
            small++;
            continue;
        }
        if (shown >= ROWS_MAX && !result->all) {
            more++;
            continue;
        }
        if (!shown++)
            columns(style, "Phases");
        if (amount->a && amount->b)
            value_row(style, vs_diff_label(label, any, true), a, b, false);
        else
            lone_phase(style, amount);
    }
    if (shown)
        fold(style, small, more);
}

/* "grown   +120.0 MiB   +10 %  forward (net.py:12) < main". */
static void site_line(const struct vs_style *style, const struct vs_site_changes *changes,
                      const struct vs_site_pair *pair)
{
    char size[VS_SIZE_TEXT_MAX + 4], amount[VS_SIZE_TEXT_MAX + 4], percent[24] = "";
    char chain[VS_CHAIN_TEXT_MAX], cut[4 * 400 + 4];
    uint64_t a = pair->a ? pair->a->bytes : 0, b = pair->b ? pair->b->bytes : 0;
    if (pair->verdict == VS_SITE_MOVED) {
        vs_size_format_gib(amount, b, 2);
        vs_diff_moved(chain, pair);
    } else {
        vs_diff_change(amount, a, b, false);
        vs_diff_percent(percent, a, b);
        vs_diff_chain(chain, pair->b ? &changes->b : &changes->a, pair->b ? pair->b : pair->a);
    }
    if (pair->verdict == VS_SITE_GONE || pair->verdict == VS_SITE_NEW)
        *percent = 0;
    snprintf(size, sizeof size, "%s", amount);
    unsigned room = style->width > 60 ? style->width - 33 : 47;
    char *to = pair->verdict == VS_SITE_MOVED && vs_text_width(chain) > room ? strstr(chain, " -> ") : NULL;
    if (to)
        *to = 0;
    fprintf(style->out, "  %-6s %12s %9s  %s\n", vs_site_verdict_name(pair->verdict), size, percent,
            vs_text_clip(cut, chain, room < 400 ? room : 400));
    if (to)
        fprintf(style->out, "%30s-> %s\n", "", vs_text_clip(cut, to + 4, room < 400 ? room : 400));
}

static void site_heading(const struct vs_style *style, const struct vs_compared_sites *sites)
{
    static const enum vs_site_verdict order[] = {VS_SITE_NEW, VS_SITE_GONE, VS_SITE_GROWN, VS_SITE_SHRUNK,
                                                 VS_SITE_MOVED, VS_SITE_SAME};
    char text[256];
    const char *what = sites->metric == VS_METRIC_ALLOCATED ? "Call sites at the peak"
                       : sites->metric == VS_METRIC_GROWTH  ? "Growth per step by call site"
                                                            : "Live at the end by call site";
    int n = snprintf(text, sizeof text, "%s of device %" PRIu64 ":", what, sites->device);
    bool any = false;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t count = sites->changes.of[order[i]];
        if (!count)
            continue;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %zu %s%s", any ? "," : "", count,
                      order[i] == VS_SITE_SAME ? "the " : "", vs_site_verdict_name(order[i]));
        any = true;
    }
    heading(style, text);
}

static void site_list(const struct vs_diff_result *result, const struct vs_style *style,
                      const struct vs_compared_sites *sites)
{
    size_t small = 0, more = 0, shown = 0, lines = 0;
    const struct vs_site_changes *changes = &sites->changes;
    if (changes->of[VS_SITE_SAME] + changes->lines == changes->count && !result->all)
        return; /* line numbers alone are not worth a table */
    site_heading(style, sites);
    for (size_t i = 0; i < changes->count; i++) {
        const struct vs_site_pair *pair = &changes->items[i];
        uint64_t a = pair->a ? pair->a->bytes : 0, b = pair->b ? pair->b->bytes : 0;
        if (pair->verdict == VS_SITE_SAME)
            continue;
        if (result->all || (pair->verdict == VS_SITE_MOVED && pair->move != VS_MOVE_LINE && shown < ROWS_MAX)) {
            site_line(style, changes, pair);
            shown++;
        } else if (pair->verdict == VS_SITE_MOVED && pair->move == VS_MOVE_LINE) {
            lines++;
        } else if (vs_diff_small(a, b, sites->most)) {
            small++;
        } else if (shown < ROWS_MAX) {
            site_line(style, changes, pair);
            shown++;
        } else {
            more++;
        }
    }
    fold(style, small, more);
    if (lines)
        fprintf(style->out, "  %zu moved to other lines of the same function\n", lines);
}

/* Twice the steps make twice the kernels: that is not worth a row for each. */
static bool by_steps(const struct vs_comparison *comparison, uint64_t a, uint64_t b)
{
    uint64_t x = comparison->a->steps, y = comparison->b->steps;
    return x && y && x != y && a && (unsigned __int128)a * y == (unsigned __int128)b * x;
}

static void counts(const struct vs_diff_result *result, const struct vs_style *style)
{
    char label[VS_DIFF_LINE_MAX];
    const struct vs_comparison *comparison = result->comparison;
    size_t small = 0, more = 0, shown = 0, in_step = 0;
    for (size_t i = 0; i < comparison->amount_count + comparison->count_count; i++) {
        bool amount = i < comparison->amount_count;
        const struct vs_compared_amount *copied = amount ? &comparison->amounts[i] : NULL;
        const struct vs_compared_count *count = amount ? NULL : &comparison->counts[i - comparison->amount_count];
        if (amount && !of_copies(copied->a ? copied->a : copied->b))
            continue;
        uint64_t a = amount ? vs_compared_value(copied->a) : count->a;
        uint64_t b = amount ? vs_compared_value(copied->b) : count->b;
        if (a == b && (!result->all || !a))
            continue;
        if (!result->all && vs_diff_small(a, b, a > b ? a : b)) {
            small++;
        } else if (!result->all && by_steps(comparison, a, b) && (amount || count->kind != VS_COUNT_STEPS)) {
            in_step++;
        } else if (!result->all && shown >= 2 * ROWS_MAX) {
            more++;
        } else {
            if (!shown++)
                columns(style, "Counts, copies and kernels");
            if (amount)
                value_row(style, vs_diff_label(label, copied->b, false), a, b,
                          copied->b->metric == VS_METRIC_COPIES);
            else
                value_row(style, vs_diff_count_label(label, count), a, b, true);
        }
    }
    if (!shown && small + in_step)
        heading(style, "Counts, copies and kernels");
    fold(style, small, more);
    if (in_step)
        fprintf(style->out, "  %zu more changed as the number of steps did\n", in_step);
}

/* The guilty line as an editor reads it: "net.py:12". */
static void guilty_line(const struct vs_style *style, const struct vs_regression *item,
                        const struct vs_culprit *guilty)
{
    char size[VS_SIZE_TEXT_MAX], amount[VS_SIZE_TEXT_MAX + 8], chain[VS_CHAIN_TEXT_MAX];
    char line[VS_CHAIN_TEXT_MAX + 700], cut[4 * 400 + 4], place[600] = "";
    if (guilty->file && guilty->line)
        snprintf(place, sizeof place, "%.500s:%u", guilty->file, guilty->line);
    const char *slash = strrchr(place, '/');
    const char *base = slash ? slash + 1 : place;
    snprintf(amount, sizeof amount, "+%s", vs_size_format_gib(size, (uint64_t)guilty->delta, 2));
    struct vs_named_site named = {.site = guilty->site};
    vs_diff_chain(chain, &item->changes.b, &named);
    bool repeats = *base && strstr(chain, base);
    snprintf(line, sizeof line, "%-5s  %s%s%s", vs_change_name(guilty->change), repeats ? "" : base,
             repeats || !*base ? "" : "  ", chain);
    unsigned room = style->width > 60 ? style->width - 18 : 62;
    fprintf(style->out, "  %14s  %s\n", amount, vs_text_clip(cut, line, room < 400 ? room : 400));
}

static void regressions(const struct vs_diff_result *result, const struct vs_style *style)
{
    char text[VS_DIFF_LINE_MAX];
    size_t count = result->regressions->count;
    for (size_t i = 0; i < count && (i < ROWS_MAX || result->all); i++) {
        const struct vs_regression *item = &result->regressions->items[i];
        fprintf(style->out, "%s%s", i ? "" : "\n", vs_paint(style, VS_BAD));
        vs_text_wrapped(style, "FAIL  ", vs_diff_regression(text, item));
        fputs(vs_unpaint(style), style->out);
        for (size_t k = 0; k < item->guilty_count; k++)
            guilty_line(style, item, &item->guilty[k]);
    }
    if (count > ROWS_MAX && !result->all)
        fold(style, 0, count - ROWS_MAX);
    if (result->regressions->ended) {
        fprintf(style->out, "%s%s", count ? "" : "\n", vs_paint(style, VS_BAD));
        vs_text_wrapped(style, "FAIL  ", vs_diff_note(text, result->comparison, result->regressions->ended));
        fputs(vs_unpaint(style), style->out);
    }
    if (!count && !result->regressions->ended && result->comparison->different)
        vs_text_lines(style, "ok    ", "no peak, growth or leak is larger%s%s",
                      result->tolerance ? " by more than " : "", result->tolerance ? result->tolerance : "");
}

static void heads(const struct vs_diff_result *result, const struct vs_style *style)
{
    const struct vs_measured *runs[] = {result->comparison->a, result->comparison->b};
    for (size_t i = 0; i < 2; i++) {
        char steps[VS_SIZE_TEXT_MAX], text[VS_DIFF_LINE_MAX];
        const struct vs_report *report = runs[i]->report;
        snprintf(text, sizeof text, " (%.300s%s%s%s)", runs[i]->process, runs[i]->steps ? ", " : "",
                 runs[i]->steps ? vs_count_format(steps, runs[i]->steps) : "",
                 !runs[i]->steps ? "" : runs[i]->steps == 1 ? " step" : " steps");
        vs_text_path(style, i ? "  B  " : "  A  ", report->path, text);
    }
}

static void notes(const struct vs_diff_result *result, const struct vs_style *style)
{
    char text[VS_DIFF_LINE_MAX], lead[64];
    const struct vs_comparison *comparison = result->comparison;
    for (size_t i = 0; i < comparison->note_count; i++)
        vs_text_wrapped(style, vs_text_lead(lead, style, "caution"),
                        vs_diff_note(text, comparison, &comparison->notes[i]));
}

static bool common(const struct vs_comparison *comparison, uint64_t device)
{
    for (size_t i = 0; i < comparison->b->report->device_count; i++)
        if (comparison->b->report->devices[i].device == device)
            return true;
    return false;
}

void vs_diff_text(const struct vs_diff_result *result, const struct vs_style *style)
{
    char text[VS_DIFF_LINE_MAX];
    const struct vs_comparison *comparison = result->comparison;
    const struct vs_report *a = comparison->a->report;
    fputs(vs_paint(style, VS_BOLD), style->out);
    vs_text_wrapped(style, "", vs_diff_headline(text, comparison));
    fputs(vs_unpaint(style), style->out);
    bool moved = false;
    for (size_t i = 0; i < comparison->site_count; i++)
        moved |= comparison->sites[i].changes.of[VS_SITE_MOVED] != comparison->sites[i].changes.lines;
    if (comparison->different || comparison->note_count || moved || result->all)
        heads(result, style);
    notes(result, style);
    for (size_t i = 0; i < a->device_count && (comparison->different || result->all); i++) {
        if (!common(comparison, a->devices[i].device))
            continue;
        whole_amounts(result, style, &a->devices[i]);
        phases(result, style, a->devices[i].device);
    }
    for (size_t i = 0; i < comparison->site_count; i++)
        site_list(result, style, &comparison->sites[i]);
    counts(result, style);
    if (result->regressions)
        regressions(result, style);
}
