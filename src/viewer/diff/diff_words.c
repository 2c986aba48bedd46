/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/diff/diff_words.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/budget/budget_verdict.h"
#include "analysis/compare/comparison.h"
#include "base/vs_posix_name.h"
#include "base/vs_size.h"
#include "viewer/report/report_parts.h"

struct vs_size_pair vs_diff_sizes(uint64_t a, uint64_t b, bool counts)
{
    struct vs_size_pair pair;
    if (counts) {
        vs_count_format(pair.a, a);
        vs_count_format(pair.b, b);
        return pair;
    }
    vs_size_format(pair.a, a);
    vs_size_format(pair.b, b);
    return a != b && strcmp(pair.a, pair.b) == 0 ? vs_sizes_apart(a, b) : pair;
}

char *vs_diff_change(char *out, uint64_t a, uint64_t b, bool counts)
{
    char text[VS_SIZE_TEXT_MAX];
    uint64_t apart = a > b ? a - b : b - a;
    if (counts)
        vs_count_format(text, apart);
    else
        vs_size_format(text, apart);
    snprintf(out, VS_SIZE_TEXT_MAX + 4, "%s%s", a == b ? "" : b > a ? "+" : "-", a == b ? "=" : text);
    return out;
}

char *vs_diff_percent(char *out, uint64_t a, uint64_t b)
{
    double share = a ? 100.0 * ((double)b - (double)a) / (double)a : 0;
    *out = 0;
    if (!a || a == b)
        return out;
    double size = share < 0 ? -share : share;
    if (size >= 1000)
        snprintf(out, 24, "x %.1f", (double)b / (double)a);
    else if (size < 0.05)
        snprintf(out, 24, "%+.1g %%", share);
    else
        snprintf(out, 24, "%+.1f %%", share);
    return out;
}

bool vs_diff_small(uint64_t a, uint64_t b, uint64_t whole)
{
    uint64_t apart = a > b ? a - b : b - a;
    return !apart || apart < whole / 100 + (whole % 100 != 0);
}

char *vs_diff_label(char *out, const struct vs_quantity *quantity, bool brief)
{
    static const char *const labels[VS_METRIC_COUNT] = {
        "peak allocated", "peak requested", "peak reserved", "live at the end", "memory in use",
        "lowest free memory", "growth per step", "copied", "copies", "tensors alone"};
    static const char *const where[] = {"", " to the device", " to the host", " on the device"};
    const char *text = labels[quantity->metric];
    bool copies = vs_metric_of_copies(quantity->metric);
    if (quantity->tensors && quantity->metric == VS_METRIC_ALLOCATED)
        text = quantity->with_others ? "peak of tensors and others" : "peak of tensors";
    else if (quantity->phase && quantity->metric == VS_METRIC_LIVE_AT_END)
        text = quantity->tensors && !quantity->with_others ? "tensors live at its end" : "live at its end";
    else if (quantity->tensors && !quantity->with_others && quantity->metric == VS_METRIC_LIVE_AT_END)
        text = "tensors live at the end";
    if (brief && quantity->with_others && quantity->metric == VS_METRIC_ALLOCATED)
        text = "peak live"; /* as in the phases of a report */
    else if (brief && strncmp(text, "peak ", 5) == 0)
        text += strncmp(text, "peak of ", 8) == 0 ? 8 : 5;
    snprintf(out, VS_DIFF_LINE_MAX, "%.1500s%s%s%s", quantity->phase ? quantity->phase : "",
             quantity->phase ? ": " : "", text, copies ? where[quantity->way] : "");
    return vs_text_clean(out);
}

static uint64_t apart_of(const struct vs_compared_amount *amount)
{
    uint64_t a = vs_compared_value(amount->a), b = vs_compared_value(amount->b);
    return a > b ? a - b : b - a;
}

char *vs_diff_headline(char *out, const struct vs_comparison *comparison)
{
    char label[VS_DIFF_LINE_MAX], percent[24];
    /* The largest difference of the first metric that differs; NULL when none does. */
    static const enum vs_metric order[] = {VS_METRIC_ALLOCATED, VS_METRIC_RESERVED,
                                           VS_METRIC_GROWTH, VS_METRIC_LIVE_AT_END};
    const struct vs_compared_amount *amount = NULL;
    for (size_t m = 0; m < sizeof order / sizeof *order && !amount; m++) {
        for (size_t i = 0; i < comparison->amount_count; i++) {
            const struct vs_compared_amount *one = &comparison->amounts[i];
            if (one->a && one->b && one->a->metric == order[m] && !one->a->phase && apart_of(one) &&
                (!amount || apart_of(one) > apart_of(amount)))
                amount = one;
        }
    }
    if (!amount) {
        /* The amounts are equal. */
        const struct vs_compared_amount *peak = NULL; /* the highest of all devices */
        for (size_t i = 0; i < comparison->amount_count; i++) {
            const struct vs_compared_amount *one = &comparison->amounts[i];
            if (one->a && one->b && one->a->metric == VS_METRIC_ALLOCATED && !one->a->phase &&
                (!peak || one->b->value > peak->b->value))
                peak = one;
        }
        /* Of the list with most; other line numbers alone are not worth the first line. */
        size_t moved = 0;
        for (size_t i = 0; i < comparison->site_count; i++) {
            const struct vs_site_changes *changes = &comparison->sites[i].changes;
            size_t of_list = changes->of[VS_SITE_MOVED] - changes->lines;
            moved = of_list > moved ? of_list : moved;
        }
        bool sites = comparison->sites_comparable && comparison->names_comparable;
        int n = snprintf(out, VS_DIFF_LINE_MAX, "%s",
                         comparison->different ? "same peaks, other differences"
                                                      : sites ? "no difference"
                                                              : "no difference, call sites not compared");
        if (moved && !comparison->different)
            n += snprintf(out + n, VS_DIFF_LINE_MAX - (size_t)n,
                          " in memory, %zu call site%s moved", moved, moved == 1 ? "" : "s");
        if (peak)
            snprintf(out + n, VS_DIFF_LINE_MAX - (size_t)n,
                     ": %.100s %s on device %" PRIu64 " in both",
                     vs_diff_label(label, peak->b, false), vs_size_text(peak->b->value),
                     peak->b->device);
        return out;
    }
    struct vs_size_pair sizes = vs_diff_sizes(amount->a->value, amount->b->value, false);
    vs_diff_percent(percent, amount->a->value, amount->b->value);
    bool peak = amount->b->metric <= VS_METRIC_RESERVED;
    const char *place = peak ? amount->b->place : "", *before = peak ? amount->a->place : "";
    bool other = strcmp(place, before) != 0 && *before;
    snprintf(out, VS_DIFF_LINE_MAX, "%.600s %s -> %s%s%s%s on device %" PRIu64 "%s%.400s%s%.400s%s",
             vs_diff_label(label, amount->b, false), sizes.a, sizes.b, *percent ? " (" : "", percent,
             *percent ? ")" : "", amount->b->device, *place ? ", at " : "", place,
             other ? " (A: at " : "", other ? before : "", other ? ")" : "");
    return out;
}

char *vs_diff_regression(char *out, const struct vs_regression *regression)
{
    char label[VS_DIFF_LINE_MAX], more[VS_SIZE_TEXT_MAX], percent[24], allowed[VS_SIZE_TEXT_MAX + 16] = "";
    const struct vs_quantity *a = regression->amount->a, *b = regression->amount->b;
    struct vs_size_pair sizes = vs_diff_sizes(a->value, b->value, false);
    bool peak = b->metric <= VS_METRIC_RESERVED && *b->place;
    vs_size_format(more, b->value - a->value);
    vs_diff_percent(percent, a->value, b->value);
    if (regression->allowed > a->value)
        snprintf(allowed, sizeof allowed, "%s%s allowed", *percent ? "; " : "",
                 vs_diff_sizes(b->value, regression->allowed, false).b);
    bool figures = *percent || *allowed;
    snprintf(out, VS_DIFF_LINE_MAX, "device %" PRIu64 ": %.1200s %s is %s more than %s%s%s%s%s%s%.400s", b->device,
             vs_diff_label(label, b, false), sizes.b, more, sizes.a, figures ? " (" : "", percent, allowed,
             figures ? ")" : "", peak ? ", at " : "", peak ? b->place : "");
    return out;
}

char *vs_diff_more(char *out, const struct vs_report *report, const struct vs_quantity *quantity)
{
    char device[40] = "";
    if (report->device_count > 1)
        snprintf(device, sizeof device, " --device %" PRIu64, quantity->device);
    return vs_quantity_options(out, VS_DIFF_LINE_MAX, quantity, device);
}

char *vs_diff_count_label(char *out, const struct vs_compared_count *count)
{
    static const char *const labels[VS_COUNT_KINDS] = {
        "steps", "failed allocations", "allocations", "allocations of tensors",
        "retries after emptying the cache", "segments allocated", "memsets", "kernels", "kernel"};
    const char *label = labels[count->kind];
    if (count->kind == VS_COUNT_ALLOCATIONS)
        snprintf(out, VS_DIFF_LINE_MAX, "%s (%s)", label, count->name);
    else
        snprintf(out, VS_DIFF_LINE_MAX, "%s%s%.1500s", label, count->name ? " " : "",
                 count->name ? count->name : "");
    return vs_text_clean(out);
}

/* Only the frames of *range*. */
static void part_text(char *out, const struct vs_named_site *named, struct vs_frame_range range)
{
    struct vs_report_site site = *named->site;
    site.wrappers = range.from;
    site.frame_count = range.to + 1;
    vs_text_label(out, &site);
}

/* The innermost frame of *range* with its whole name. */
static void whole_name(char *out, const struct vs_named_site *named, struct vs_frame_range range)
{
    const struct vs_report_frame *frame = &named->site->frames[range.from];
    const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
    char place[300] = "";
    if (frame->file && frame->line)
        snprintf(place, sizeof place, " (%.250s:%u)", slash ? slash + 1 : frame->file, frame->line);
    snprintf(out, VS_CHAIN_TEXT_MAX, "%.3500s%s", frame->function, place);
    vs_text_clean(out);
}

void vs_diff_moved(char *was, char *is, const struct vs_site_pair *pair, bool full)
{
    struct vs_frame_range a, b;
    if (!full && !pair->a->site->line && !pair->b->site->line && vs_site_moved_frames(pair, &a, &b)) {
        part_text(was, pair->a, a);
        part_text(is, pair->b, b);
        /* The same first name, whose rest is left out, such as the arguments of a template. */
        if (pair->move == VS_MOVE_FUNCTION && strncmp(was, "…", strlen("…")) == 0 &&
            strncmp(was, is, strcspn(was, " ") + 1) == 0) {
            whole_name(was, pair->a, a);
            whole_name(is, pair->b, b);
        }
    } else {
        vs_change_label_text(was, pair->a);
        vs_change_label_text(is, pair->b);
    }
}

char *vs_diff_ended(char *out, const struct vs_comparison *comparison, const struct vs_regressions *regressions)
{
    const struct vs_report_failure *failure = regressions->failure;
    if (!failure)
        return vs_diff_note(out, comparison, regressions->ended);
    snprintf(out, VS_DIFF_LINE_MAX, "B ran out of memory on device %" PRIu64 ": %s requested", failure->device,
             vs_size_text(failure->requested));
    return vs_text_clean(out);
}

char *vs_diff_note(char *out, const struct vs_comparison *comparison, const struct vs_compare_note *note)
{
    char why[VS_RECORDING_TEXT_MAX];
    const struct vs_report *a = comparison->a->report, *b = comparison->b->report;
    const struct vs_report *report = note->of_b ? b : a;
    const char *whose = note->of_b ? "B" : "A";
    const char *signal = note->status > 128 ? vs_signal_name(note->status - 128) : NULL;
    *out = 0;
    switch (note->doubt) {
    case VS_DOUBT_PROGRAM:
        snprintf(out, VS_DIFF_LINE_MAX, "different %s: %.300s in A, %.300s in B; if that is not "
                 "intended, check the names of the traces",
                 strcmp(comparison->a->program, comparison->b->program) == 0 ? "ranks" : "programs",
                 comparison->a->process, comparison->b->process);
        break;
    case VS_DOUBT_DEVICES:
        snprintf(out, VS_DIFF_LINE_MAX, "only %s used device %" PRIu64 ": it is not compared%s; run "
                 "both on the same devices to compare it", whose, note->device,
                 note->of_b ? ", but --fail-on-regression takes its peak for a regression" : "");
        break;
    case VS_DOUBT_CAPACITY: {
        const struct vs_report_device *x = vs_report_device_of(a, note->device);
        const struct vs_report_device *y = vs_report_device_of(b, note->device);
        struct vs_size_pair sizes = vs_diff_sizes(x->total_bytes, y->total_bytes, false);
        snprintf(out, VS_DIFF_LINE_MAX, "device %" PRIu64 " differs: %.100s with %s in A, %.100s "
                 "with %s in B; libraries may choose other algorithms and workspaces; compare runs "
                 "on one kind of device", x->device, x->name ? x->name : "a GPU", sizes.a,
                 y->name ? y->name : "a GPU", sizes.b);
        break;
    }
    case VS_DOUBT_LEVEL:
        snprintf(out, VS_DIFF_LINE_MAX, "only %s has PyTorch's tensors on device %" PRIu64 ": allocated memory "
                 "and call sites are not compared, reserved memory is; record both with the same options",
                 whose, note->device);
        break;
    case VS_DOUBT_POLICY:
        snprintf(out, VS_DIFF_LINE_MAX, "different allocators: %.60s in A, %.60s in B; reserved memory and "
                 "counts are not comparable; record both with the same --allocator", a->policy, b->policy);
        break;
    case VS_DOUBT_SELECTED:
        snprintf(out, VS_DIFF_LINE_MAX, "%s: %s; peaks are exact, call sites are %s", whose,
                 vs_recording_partial(&report->recording)
                     ? vs_recording_partial_text(why, &report->recording)
                     : vs_recording_limit_text(why, &report->recording),
                 comparison->sites_comparable ? "estimates or not complete"
                                              : "not compared; record both with the same options");
        break;
    case VS_DOUBT_PARTIAL:
        if (report->condition == VS_TRACE_COMPLETE && vs_recording_cut_text(why, report))
            snprintf(out, VS_DIFF_LINE_MAX, "%s: %s", whose, why);
        else if (report->has_end && report->end_reason == VS_END_COPY)
            snprintf(out, VS_DIFF_LINE_MAX, "%s is a copy made while the program ran: its figures "
                     "are those up to then; compare the finished trace", whose);
        else
            snprintf(out, VS_DIFF_LINE_MAX, "%s is not complete (%.600s): its figures are those up "
                     "to there; run the program to its end to compare the whole", whose,
                     report->condition_text);
        break;
    case VS_DOUBT_OOM: {
        const struct vs_report_failure *last = vs_fatal_oom(report);
        snprintf(out, VS_DIFF_LINE_MAX, "%s ran out of memory%s%s%s%.300s: its figures are those "
                 "up to there", whose, last ? ", requesting " : "",
                 last ? vs_size_text(last->requested) : "", last && *last->place ? " at " : "",
                 last ? last->place : "");
        break;
    }
    case VS_DOUBT_EXIT:
        if (note->status > 128)
            snprintf(out, VS_DIFF_LINE_MAX,
                     "%s was killed by signal %" PRIu64 "%s%s%s: its figures are "
                     "those up to there", whose, note->status - 128, signal ? " (SIG" : "",
                     signal ? signal : "", signal ? ")" : "");
        else
            snprintf(out, VS_DIFF_LINE_MAX,
                     "%s exited with status %" PRIu64 ": it may not have done "
                     "all its work", whose, note->status);
        break;
    case VS_DOUBT_STACKS:
        if (note->none)
            snprintf(out, VS_DIFF_LINE_MAX, "%s was recorded without call stacks, so call sites "
                     "are not compared; record it without --stacks=none", whose);
        else
            snprintf(out, VS_DIFF_LINE_MAX, "other frames of call stacks were recorded in A than "
                     "in B: call sites may not match; record both with the same --stacks");
        break;
    case VS_DOUBT_NAMES:
        snprintf(out, VS_DIFF_LINE_MAX, "the call stacks of %s have no function names, so call sites are not "
                 "compared; run vramscope symbolize %.400s on a machine with the program's files", whose,
                 report->path);
        break;
    case VS_DOUBT_IMPORTED:
        snprintf(out, VS_DIFF_LINE_MAX, "%s was imported: it has no kernels, copies and phases, and ends where the "
                 "other tool wrote its file; record both with vramscope run to compare these", whose);
        break;
    default: break;
    }
    return vs_text_clean(out);
}
