/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference as text: the answer, what keeps the runs from being compared, then tables of what
 * differs. A row is "label, A, B, change, percent". Rows below 1 % are counted, not printed. */
#include <inttypes.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/vs_size.h"
#include "viewer/diff/diff_rows.h"
#include "viewer/diff/diff_words.h"

#define LABEL_COLUMNS 34

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
    if (result->comparison->other_device != VS_NO_DEVICE)
        snprintf(title, sizeof title, "Memory of device %" PRIu64 " (B: %" PRIu64 ")", device->device,
                 result->comparison->other_device);
    else
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
            small += a != b && !amount->reading; /* readings differ with the machine */
            continue;
        }
        value_row(style, vs_diff_label(label, any, false), a, b, false);
    }
    vs_diff_fold(style, small, 0);
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
    vs_size_format(size, any->value);
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
        if (shown >= VS_DIFF_ROWS_MAX && !result->all) {
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
        vs_diff_fold(style, small, more);
}

/* Twice the steps make twice the kernels: that is not worth a row for each. */
static bool by_steps(const struct vs_comparison *comparison, uint64_t a, uint64_t b)
{
    uint64_t x = comparison->a->steps, y = comparison->b->steps;
    return x && y && x != y && a && (unsigned __int128)a * y == (unsigned __int128)b * x;
}

/* With several devices: "device 1: kernels". */
static void add_device(char *label, const struct vs_comparison *comparison, uint64_t device)
{
    char text[40];
    size_t n = strlen(label);
    if (comparison->common_devices < 2 || device == VS_NO_DEVICE)
        return;
    size_t bytes = (size_t)snprintf(text, sizeof text, "device %" PRIu64 ": ", device);
    if (n + bytes >= VS_DIFF_LINE_MAX)
        return;
    memmove(label + bytes, label, n + 1);
    memcpy(label, text, bytes);
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
        } else if (!result->all && shown >= 2 * VS_DIFF_ROWS_MAX) {
            more++;
        } else {
            if (!shown++)
                columns(style, "Counts, copies and kernels");
            if (amount)
                vs_diff_label(label, copied->b, false);
            else
                vs_diff_count_label(label, count);
            add_device(label, comparison, amount ? copied->b->device : count->device);
            value_row(style, label, a, b, !amount || copied->b->metric == VS_METRIC_COPIES);
        }
    }
    if (!shown && small + in_step)
        vs_diff_heading(style, "Counts, copies and kernels");
    vs_diff_fold(style, small, more);
    if (in_step)
        fprintf(style->out, "  %zu more changed as the number of steps did\n", in_step);
}

/* How B ended, which failed. */
static void ended(const struct vs_diff_result *result, const struct vs_style *style)
{
    char text[VS_DIFF_LINE_MAX], time[VS_SIZE_TEXT_MAX];
    const struct vs_report_failure *failure = result->regressions->failure;
    fprintf(style->out, "%s%s", result->regressions->count ? "" : "\n", vs_paint(style, VS_BAD));
    vs_text_wrapped(style, "FAIL  ", vs_diff_ended(text, result->comparison, result->regressions));
    fputs(vs_unpaint(style), style->out);
    if (failure)
        vs_text_lines(style, "      ", "at %s%s%s", vs_time_format(time, failure->time_ns),
                      failure->place && *failure->place ? ", " : "", failure->place ? failure->place : "");
    if (result->regressions->failed_at) {
        vs_text_wrapped(style, "      ", "requested by:");
        vs_diff_request_row(style, result->regressions);
    }
    vs_text_command(style, "      more: ", failure ? "vramscope oom" : "vramscope report",
                    result->comparison->b->report->path, "");
}

static void regressions(const struct vs_diff_result *result, const struct vs_style *style)
{
    char text[VS_DIFF_LINE_MAX];
    size_t count = result->regressions->count;
    for (size_t i = 0; i < count && (i < VS_DIFF_ROWS_MAX || result->all); i++) {
        const struct vs_regression *item = &result->regressions->items[i];
        fprintf(style->out, "%s%s", i ? "" : "\n", vs_paint(style, VS_BAD));
        vs_text_wrapped(style, "FAIL  ", vs_diff_regression(text, item));
        fputs(vs_unpaint(style), style->out);
        vs_diff_culprit_rows(style, item);
        /* The command that shows more about a regression. */
        char options[VS_DIFF_LINE_MAX];
        const struct vs_comparison *comparison = result->comparison;
        const struct vs_report *b = comparison->b->report;
        if (!comparison->sites_comparable || !comparison->names_comparable)
            vs_text_wrapped(style, "      ",
                            "the call sites are not compared: see above for the cause");
        vs_diff_more(options, b, item->amount->b);
        vs_text_command(style, "      more: ", "vramscope report", b->path, options);
    }
    if (count > VS_DIFF_ROWS_MAX && !result->all)
        vs_diff_fold(style, 0, count - VS_DIFF_ROWS_MAX);
    if (result->regressions->ended)
        ended(result, style);
    if (!count && !result->regressions->ended && result->comparison->different)
        vs_text_lines(style, "ok    ", "no peak, growth or leak is larger%s%s",
                      result->tolerance ? " by more than " : "", result->tolerance ? result->tolerance : "");
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
    if (comparison->different || comparison->note_count || moved || result->all) {
        const struct vs_measured *runs[] = {result->comparison->a, result->comparison->b};
        for (size_t i = 0; i < 2; i++) {
            char steps[VS_SIZE_TEXT_MAX];
            const struct vs_report *report = runs[i]->report;
            snprintf(text, sizeof text, " (%.300s%s%s%s)", runs[i]->process,
                     runs[i]->steps ? ", " : "",
                     runs[i]->steps ? vs_count_format(steps, runs[i]->steps) : "",
                     !runs[i]->steps ? "" : runs[i]->steps == 1 ? " step" : " steps");
            vs_text_path(style, i ? "  B  " : "  A  ", report->path, text);
        }
    }
    notes(result, style);
    for (size_t i = 0; i < a->device_count && (comparison->different || result->all); i++) {
        if (!common(comparison, a->devices[i].device))
            continue;
        whole_amounts(result, style, &a->devices[i]);
        phases(result, style, a->devices[i].device);
    }
    for (size_t i = 0; i < comparison->site_count; i++)
        vs_diff_site_list(result, style, &comparison->sites[i]);
    counts(result, style);
    if (result->regressions)
        regressions(result, style);
}
