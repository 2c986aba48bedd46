/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference as text: the answer, what keeps the runs from being compared, then tables of what
 * differs. A row is "label, A, B, change, percent". Rows below 1 % are counted, not printed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "analysis/compare/comparison.h"
#include "analysis/naming/name_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "viewer/diff/diff_output.h"
#include "viewer/diff/diff_words.h"

/* Rows of call sites in the text of a difference. A row is cut off at the width of the terminal.
 * Rows that would be the same then, such as those of a template whose arguments are long, are
 * printed in full on further lines. */
#define ROWS_SHOWN 12 /* of a list, without --all */
#define COLUMNS_MAX 400
#define CUT_MAX (4 * COLUMNS_MAX + 4)
#define FIRST_COLUMN 33 /* of the text of a row */

/* An empty line, and *text* in bold. */
static void diff_heading(const struct vs_style *style, const char *text)
{
    fprintf(style->out, "\n%s", vs_paint(style, VS_BOLD));
    vs_text_wrapped(style, "", text);
    fputs(vs_unpaint(style), style->out);
}

/* How many rows were not printed: *small* ones, and *more*. Prints nothing for none. */
static void diff_fold(const struct vs_style *style, size_t small, size_t more)
{
    if (more)
        fprintf(style->out, "  %zu more (--all lists them)\n", more);
    if (small)
        fprintf(style->out, "  %zu more below 1 %%\n", small);
}

static unsigned room_of(const struct vs_style *style, unsigned before)
{
    unsigned room = style->width > 60 ? style->width - before : 80 - before;
    return room < COLUMNS_MAX ? room : COLUMNS_MAX;
}

/* The text of a row: of one that moved, where it was and where it is; otherwise only *is*. */
struct row_text {
    char was[VS_CHAIN_TEXT_MAX + 2], is[VS_CHAIN_TEXT_MAX];
};

static void text_of(struct row_text *out, const struct vs_site_pair *pair, bool full)
{
    if (pair->verdict == VS_SITE_MOVED) {
        vs_diff_moved(out->was, out->is, pair, full);
        return;
    }
    *out->was = 0;
    vs_change_label_text(out->is, pair->b ? pair->b : pair->a);
}

/* Of what a row shows of *text*, never 0. */
static uint64_t hash_of(const struct row_text *text, unsigned room, bool moved)
{
    char cut[CUT_MAX];
    uint64_t hash = vs_text_hash(moved ? 2 : 1, vs_text_clip(cut, text->was, room));
    hash = vs_text_hash(hash ? hash : 1, vs_text_clip(cut, text->is, room));
    return hash ? hash : 1;
}

/* Whether a row that moved shows the same on both sides when it is cut off. */
static bool same_sides(const struct row_text *text, unsigned room)
{
    char was[CUT_MAX], is[CUT_MAX];
    return strcmp(vs_text_clip(was, text->was, room), vs_text_clip(is, text->is, room)) == 0;
}

/* Whether the site's own line is in a header, so that its callers are the lines that a user looks for. */
static bool in_header(const struct vs_named_site *named)
{
    const struct vs_report_site *site = named->site;
    return !site->line && named->frame < site->frame_count && vs_file_is_header(site->frames[named->frame].file);
}

/* "grown   +120.0 MiB   +10 %  forward (net.py:12) < main". */
static void put_row(const struct vs_style *style, const struct vs_site_pair *pair, const struct vs_map *same)
{
    char amount[VS_SIZE_TEXT_MAX + 4], percent[24] = "", cut[CUT_MAX];
    char lead[FIRST_COLUMN + VS_SIZE_TEXT_MAX + 32];
    struct row_text text;
    uint64_t a = pair->a ? pair->a->bytes : 0, b = pair->b ? pair->b->bytes : 0;
    bool moved = pair->verdict == VS_SITE_MOVED, both = pair->a && pair->b;
    if (moved)
        vs_size_format(amount, b);
    else
        vs_diff_change(amount, a, b, false);
    if (both && !moved)
        vs_diff_percent(percent, a, b);
    snprintf(lead, sizeof lead, "  %-6s %12s %9s  ", vs_site_verdict_name(pair->verdict), amount, percent);
    text_of(&text, pair, false);
    unsigned room = room_of(style, FIRST_COLUMN);
    const uint64_t *rows = vs_map_get(same, hash_of(&text, room, moved));
    bool repeated = rows && *rows > 1;
    if (repeated)
        text_of(&text, pair, true);
    if (repeated || (moved ? same_sides(&text, room) : in_header(pair->b ? pair->b : pair->a))) {
        /* in full, on as many lines as it needs */
        if (*text.was)
            vs_text_wrapped(style, lead, text.was);
        snprintf(cut, sizeof cut, "%*s-> ", FIRST_COLUMN - 3, "");
        vs_text_wrapped(style, *text.was ? cut : lead, text.is);
    } else if (*text.was) {
        bool wide = vs_text_width(text.is) + vs_text_width(text.was) + 4 > room;
        fprintf(style->out, "%s%s", lead, vs_text_clip(cut, text.was, room));
        fprintf(style->out, wide ? "\n%*s-> " : " -> ", FIRST_COLUMN - 3, "");
        fprintf(style->out, "%s\n", vs_text_clip(cut, text.is, room));
    } else {
        fprintf(style->out, "%s%s\n", lead, vs_text_clip(cut, text.is, room));
    }
    if (!both || moved || pair->move <= VS_MOVE_LINE)
        return;
    /* Where a site was that has also grown or shrunk. */
    vs_diff_moved(text.was, text.is, pair, false);
    room = room_of(style, FIRST_COLUMN + 6);
    if (same_sides(&text, room)) {
        snprintf(cut, sizeof cut, "%*s(was ", FIRST_COLUMN, "");
        strcat(text.was, ")");
        vs_text_wrapped(style, cut, text.was);
    } else {
        fprintf(style->out, "%*s(was %s)\n", FIRST_COLUMN, "", vs_text_clip(cut, text.was, room));
    }
}

/* Whether *sites*, live at the end, has the rows of the list of the peak. */
static bool repeats_peak(const struct vs_comparison *comparison,
                         const struct vs_compared_sites *sites)
{
    const struct vs_compared_sites *peak = sites - (sites > comparison->sites);
    bool same = sites->metric == VS_METRIC_LIVE_AT_END && peak->metric == VS_METRIC_ALLOCATED &&
                peak->device == sites->device && peak->changes.count == sites->changes.count;
    for (size_t i = 0; same && i < sites->changes.count; i++) {
        const struct vs_site_pair *p = &peak->changes.items[i], *q = &sites->changes.items[i];
        same = p->verdict == q->verdict && p->delta == q->delta && !p->a == !q->a && !p->b == !q->b &&
               (!p->a || strcmp(p->a->name, q->a->name) == 0) && (!p->b || strcmp(p->b->name, q->b->name) == 0);
    }
    return same;
}

/* The call sites that differ, the largest difference first. No two rows have the
 * same text. */
static void diff_site_list(const struct vs_diff_result *result, const struct vs_style *style,
                           const struct vs_compared_sites *sites)
{
    size_t count = 0, small = 0, more = 0, lines = 0;
    const struct vs_site_changes *changes = &sites->changes;
    if (changes->of[VS_SITE_SAME] + changes->lines == changes->count && (!result->all || !changes->count))
        return; /* line numbers alone are not worth a table */
    static const enum vs_site_verdict order[] = {VS_SITE_NEW,    VS_SITE_GONE,  VS_SITE_GROWN,
                                                 VS_SITE_SHRUNK, VS_SITE_MOVED, VS_SITE_SAME};
    char title[256];
    const char *what = sites->metric == VS_METRIC_ALLOCATED ? "Call sites at the peak"
                       : sites->metric == VS_METRIC_GROWTH  ? "Growth per step by call site"
                                                            : "Live at the end by call site";
    int n = snprintf(title, sizeof title, "%s of device %" PRIu64, what, sites->device);
    const char *sign = ":";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (changes->of[order[i]]) {
            n += snprintf(title + n, sizeof title - (size_t)n, "%s %zu %s%s", sign,
                          changes->of[order[i]], order[i] == VS_SITE_SAME ? "the " : "",
                          vs_site_verdict_name(order[i]));
            sign = ",";
        }
    diff_heading(style, *sign == ':' ? strcat(title, ":") : title);
    if (!result->all && repeats_peak(result->comparison, sites)) {
        fputs("  the same as at the peak\n", style->out);
        return;
    }
    const struct vs_site_pair **rows = vs_xcalloc(changes->count + 1, sizeof *rows);
    struct vs_map same = {0};
    for (size_t i = 0; i < sites->changes.count; i++) {
        const struct vs_site_pair *pair = &sites->changes.items[i];
        uint64_t a = pair->a ? pair->a->bytes : 0, b = pair->b ? pair->b->bytes : 0;
        bool moved = pair->verdict == VS_SITE_MOVED;
        if (pair->verdict == VS_SITE_SAME)
            continue;
        if (result->all)
            rows[count++] = pair;
        else if (moved && pair->move == VS_MOVE_LINE)
            lines++;
        else if (vs_diff_small(moved ? 0 : a, b, sites->most))
            small++;
        else if (count < ROWS_SHOWN)
            rows[count++] = pair;
        else
            more++;
    }
    /* How many of the rows show the same, by hash. */
    struct row_text text;
    for (size_t i = 0; i < count; i++) {
        text_of(&text, rows[i], false);
        ++*vs_xmap_value(&same, hash_of(&text, room_of(style, FIRST_COLUMN), rows[i]->verdict == VS_SITE_MOVED), 0);
    }
    for (size_t i = 0; i < count; i++)
        put_row(style, rows[i], &same);
    diff_fold(style, small, more);
    if (lines)
        fprintf(style->out, "  %zu moved to other lines of the same function\n", lines);
    vs_map_free(&same);
    free(rows);
}

/* The responsible line as an editor reads it, "net.py:12", and its callers. */
static void culprit_text(char *out, size_t bytes, const struct vs_culprit *culprit, const char *chain)
{
    char place[600] = "";
    if (culprit->file && culprit->line)
        snprintf(place, sizeof place, "%.500s:%u", culprit->file, culprit->line);
    const char *base = vs_text_base_name(place);
    bool repeats = *base && strstr(chain, base);
    snprintf(out, bytes, "%s%s%s", repeats ? "" : base, repeats || !*base ? "" : "  ", chain);
}

/* The lines that allocate more, below the sentence of a regression. */
static void diff_culprit_rows(const struct vs_style *style, const struct vs_regression *item)
{
    char lines[VS_REGRESSION_CULPRITS_MAX][CUT_MAX], line[VS_CHAIN_TEXT_MAX + 700];
    char chain[VS_CHAIN_TEXT_MAX], amount[VS_SIZE_TEXT_MAX + 8], lead[64];
    unsigned room = room_of(style, 25);
    for (size_t i = 0; i < item->culprit_count; i++) {
        culprit_text(line, sizeof line, &item->culprits[i], vs_change_label_text(chain, item->culprit_sites[i]));
        vs_text_clip(lines[i], line, room);
    }
    for (size_t i = 0; i < item->culprit_count; i++) {
        bool again = in_header(item->culprit_sites[i]);
        for (size_t k = 0; k < item->culprit_count; k++)
            again |= k != i && strcmp(lines[i], lines[k]) == 0;
        culprit_text(line, sizeof line, &item->culprits[i], vs_change_label_text(chain, item->culprit_sites[i]));
        snprintf(amount, sizeof amount, "+%s", vs_size_text((uint64_t)item->culprits[i].delta));
        snprintf(lead, sizeof lead, "  %14s  %-5s  ", amount, vs_change_name(item->culprits[i].change));
        if (again)
            vs_text_wrapped(style, lead, line);
        else
            fprintf(style->out, "%s%s\n", lead, lines[i]);
    }
}

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
        if (any->device != device->device || any->phase || vs_metric_of_copies(any->metric) ||
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
    diff_fold(style, small, 0);
}

static void phases(const struct vs_diff_result *result, const struct vs_style *style, uint64_t device)
{
    char label[VS_DIFF_LINE_MAX];
    size_t small = 0, shown = 0, more = 0;
    for (size_t i = 0; i < result->comparison->amount_count; i++) {
        const struct vs_compared_amount *amount = &result->comparison->amounts[i];
        const struct vs_quantity *any = amount->b ? amount->b : amount->a;
        uint64_t a = vs_compared_value(amount->a), b = vs_compared_value(amount->b);
        bool rare = any->metric == VS_METRIC_REQUESTED || any->metric == VS_METRIC_RESERVED;
        if (any->device != device || !any->phase || (!result->all && (rare || a == b)))
            continue;
        if (!result->all && vs_diff_small(a, b, a > b ? a : b)) {
            small++;
            continue;
        }
        if (shown >= ROWS_SHOWN && !result->all) {
            more++;
            continue;
        }
        if (!shown++)
            columns(style, "Phases");
        if (amount->a && amount->b)
            value_row(style, vs_diff_label(label, any, true), a, b, false);
        else if (any->metric == VS_METRIC_ALLOCATED) { /* one line, whatever its quantities */
            const char *size = vs_size_text(any->value);
            row(style, vs_diff_label(label, any, true), amount->a ? size : "-",
                amount->b ? size : "-", amount->b ? "only in B" : "only in A", "");
        }
    }
    if (shown)
        diff_fold(style, small, more);
}

static void counts(const struct vs_diff_result *result, const struct vs_style *style)
{
    char label[VS_DIFF_LINE_MAX + 40];
    const struct vs_comparison *comparison = result->comparison;
    size_t small = 0, more = 0, shown = 0, in_step = 0;
    uint64_t x = comparison->a->steps, y = comparison->b->steps;
    for (size_t i = 0; i < comparison->amount_count + comparison->count_count; i++) {
        bool amount = i < comparison->amount_count;
        const struct vs_compared_amount *copied = amount ? &comparison->amounts[i] : NULL;
        const struct vs_compared_count *count = amount ? NULL : &comparison->counts[i - comparison->amount_count];
        if (amount && !vs_metric_of_copies((copied->a ? copied->a : copied->b)->metric))
            continue;
        uint64_t a = amount ? vs_compared_value(copied->a) : count->a;
        uint64_t b = amount ? vs_compared_value(copied->b) : count->b;
        /* Twice the steps make twice the kernels: that is not worth a row for each. */
        bool by_steps = x && y && x != y && a &&
            (unsigned __int128)a * y == (unsigned __int128)b * x;
        if (a == b && (!result->all || !a))
            continue;
        if (!result->all && vs_diff_small(a, b, a > b ? a : b)) {
            small++;
        } else if (!result->all && by_steps && (amount || count->kind != VS_COUNT_STEPS)) {
            in_step++;
        } else if (!result->all && shown >= 2 * ROWS_SHOWN) {
            more++;
        } else {
            if (!shown++)
                columns(style, "Counts, copies and kernels");
            uint64_t device = amount ? copied->b->device : count->device;
            int n = 0; /* with several devices: "device 1: kernels" */
            if (comparison->common_devices > 1 && device != VS_NO_DEVICE)
                n = snprintf(label, sizeof label, "device %" PRIu64 ": ", device);
            if (amount)
                vs_diff_label(label + n, copied->b, false);
            else
                vs_diff_count_label(label + n, count);
            value_row(style, label, a, b, !amount || copied->b->metric == VS_METRIC_COPIES);
        }
    }
    if (!shown && small + in_step)
        diff_heading(style, "Counts, copies and kernels");
    diff_fold(style, small, more);
    if (in_step)
        fprintf(style->out, "  %zu more changed as the number of steps did\n", in_step);
}

static void regressions(const struct vs_diff_result *result, const struct vs_style *style)
{
    static const char lead[] = "      ", more[] = "      more: ";
    char text[VS_DIFF_LINE_MAX], options[VS_DIFF_LINE_MAX];
    const struct vs_regressions *all = result->regressions;
    const struct vs_comparison *comparison = result->comparison;
    const struct vs_report *b = comparison->b->report;
    size_t count = all->count;
    for (size_t i = 0; i < count && (i < ROWS_SHOWN || result->all); i++) {
        const struct vs_regression *item = &all->items[i];
        fprintf(style->out, "%s%s", i ? "" : "\n", vs_paint(style, VS_BAD));
        vs_text_wrapped(style, "FAIL  ", vs_diff_regression(text, item));
        fputs(vs_unpaint(style), style->out);
        diff_culprit_rows(style, item);
        if (!comparison->sites_comparable || !comparison->names_comparable)
            vs_text_wrapped(style, lead,
                            "the call sites are not compared: see above for the cause");
        vs_diff_more(options, b, item->amount->b);
        vs_text_command(style, more, "vramscope report", b->path, options);
    }
    if (count > ROWS_SHOWN && !result->all)
        diff_fold(style, 0, count - ROWS_SHOWN);
    if (all->ended) { /* how B ended, which failed */
        const struct vs_report_failure *failure = all->failure;
        fprintf(style->out, "%s%s", count ? "" : "\n", vs_paint(style, VS_BAD));
        vs_text_wrapped(style, "FAIL  ", vs_diff_ended(text, comparison, all));
        fputs(vs_unpaint(style), style->out);
        if (failure)
            vs_text_lines(style, lead, "at %s%s%s", vs_time_text(failure->time_ns),
                          failure->place && *failure->place ? ", " : "",
                          failure->place ? failure->place : "");
        if (all->failed_at) { /* the line that requested the memory that B did not get */
            const struct vs_culprit culprit = vs_culprit_of(all->failed_at);
            char line[VS_CHAIN_TEXT_MAX + 700], chain[VS_CHAIN_TEXT_MAX], cut[CUT_MAX], amount[64];
            vs_text_wrapped(style, lead, "requested by:");
            culprit_text(line, sizeof line, &culprit, vs_change_label_text(chain, all->failed_at));
            snprintf(amount, sizeof amount, "  %14s  ", vs_size_text(failure->requested));
            if (in_header(all->failed_at))
                vs_text_wrapped(style, amount, line);
            else
                fprintf(style->out, "%s%s\n", amount, vs_text_clip(cut, line, room_of(style, 18)));
        }
        vs_text_command(style, more, failure ? "vramscope oom" : "vramscope report", b->path, "");
    }
    if (!count && !all->ended && comparison->different)
        vs_text_lines(style, "ok    ", "no peak, growth or leak is larger%s%s",
                      result->tolerance ? " by more than " : "", result->tolerance ? result->tolerance : "");
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
                     !runs[i]->steps              ? ""
                     : runs[i]->report->steps.found ? " steps found in repeating requests"
                     : runs[i]->steps == 1        ? " step"
                                                  : " steps");
            vs_text_path(style, i ? "  B  " : "  A  ", report->path, text);
        }
    }
    for (size_t i = 0; i < comparison->note_count; i++)
        vs_text_wrapped(style, vs_text_mark(style, "caution"),
                        vs_diff_note(text, comparison, &comparison->notes[i]));
    for (size_t i = 0; i < a->device_count && (comparison->different || result->all); i++) {
        if (!vs_report_device_of(comparison->b->report, a->devices[i].device))
            continue;
        whole_amounts(result, style, &a->devices[i]);
        phases(result, style, a->devices[i].device);
    }
    for (size_t i = 0; i < comparison->site_count; i++)
        diff_site_list(result, style, &comparison->sites[i]);
    counts(result, style);
    if (result->regressions)
        regressions(result, style);
}
