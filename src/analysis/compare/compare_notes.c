/* SPDX-License-Identifier: Apache-2.0
 *
 * A doubt never stops the comparison: what still holds is compared. */
#include "analysis/compare/compare_notes.h"

#include <string.h>

#include "analysis/budget/budget_verdict.h"
#include "analysis/budget/named_memory.h"

const char *vs_compare_doubt_name(enum vs_compare_doubt doubt)
{
    static const char *const names[VS_DOUBT_KINDS] = {
        "program", "devices", "capacity", "level", "allocator", "selected", "partial", "out of memory",
        "exit status", "stacks", "names", "imported"};
    return names[doubt];
}

static void add(struct vs_comparison *out, struct vs_compare_note note)
{
    if (out->note_count < VS_COMPARE_NOTES_MAX)
        out->notes[out->note_count++] = note;
}

static const struct vs_report_device *same_device(const struct vs_report *report,
                                                  const struct vs_report_device *like)
{
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].device == like->device)
            return &report->devices[i];
    return NULL;
}

static void devices(struct vs_comparison *out, const struct vs_report *a, const struct vs_report *b)
{
    for (size_t i = 0; i < a->device_count; i++) {
        const struct vs_report_device *x = &a->devices[i], *y = same_device(b, x);
        if (!y) {
            add(out, (struct vs_compare_note){.doubt = VS_DOUBT_DEVICES, .device = x->device});
            continue;
        }
        bool known = x->total_bytes && y->total_bytes; /* an imported trace does not have them */
        if (known && (x->total_bytes != y->total_bytes || strcmp(x->name ? x->name : "", y->name ? y->name : "") != 0))
            add(out, (struct vs_compare_note){.doubt = VS_DOUBT_CAPACITY, .device = x->device});
        if (x->level != y->level)
            add(out, (struct vs_compare_note){.doubt = VS_DOUBT_LEVEL, .device = x->device,
                                              .of_b = y->level == VS_LEVEL_FRAMEWORK});
    }
    for (size_t i = 0; i < b->device_count; i++)
        if (!same_device(a, &b->devices[i]))
            add(out, (struct vs_compare_note){.doubt = VS_DOUBT_DEVICES, .of_b = true,
                                              .device = b->devices[i].device});
}

static bool cut(const struct vs_report *report)
{
    return report->condition != VS_TRACE_COMPLETE ||
           (report->has_end && (report->end_reason == VS_END_STOPPED || report->end_reason == VS_END_COPY));
}

static const char *stacks_option(const struct vs_report *report)
{
    for (size_t i = 0; i < report->option_count; i++)
        if (strcmp(report->options[i].name, "stacks") == 0)
            return report->options[i].value;
    return NULL;
}

/* Whether call sites can be matched: with stacks in both runs, and names in both or in neither. */
static void stacks(struct vs_comparison *out, const struct vs_report *a, const struct vs_report *b)
{
    const struct vs_report *runs[] = {a, b};
    const char *options[] = {stacks_option(a), stacks_option(b)};
    bool none[2], unnamed[2];
    for (size_t i = 0; i < 2; i++) {
        struct vs_named_memory memory = vs_named_memory(runs[i]);
        none[i] = (options[i] && strcmp(options[i], "none") == 0) || (memory.all && !memory.with_stack);
        unnamed[i] = vs_without_names(runs[i]);
    }
    for (size_t i = 0; i < 2; i++)
        if (none[i])
            add(out, (struct vs_compare_note){.doubt = VS_DOUBT_STACKS, .of_b = i == 1, .none = true});
    if (!none[0] && !none[1] && options[0] && options[1] && strcmp(options[0], options[1]) != 0)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_STACKS});
    bool names = unnamed[0] == unnamed[1] || none[0] || none[1];
    if (!names)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_NAMES, .of_b = unnamed[1]});
    out->names_comparable = names && none[0] == none[1];
}

static void one_run(struct vs_comparison *out, const struct vs_report *report, bool of_b)
{
    uint64_t status = 0;
    bool known = vs_exit_status(report, &status);
    if (cut(report))
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_PARTIAL, .of_b = of_b});
    if (vs_recording_partial(&report->recording) || report->recording.stage)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_SELECTED, .of_b = of_b});
    if (vs_fatal_oom(report))
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_OOM, .of_b = of_b});
    else if (known && status)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_EXIT, .of_b = of_b, .status = status});
}

static bool imported(const struct vs_report *report)
{
    return report->has_end && report->end_reason == VS_END_IMPORTED;
}

void vs_compare_notes(struct vs_comparison *out)
{
    const struct vs_report *a = out->a->report, *b = out->b->report;
    bool recorded = !imported(a) && !imported(b); /* an imported trace has the name of a file */
    if (imported(a) != imported(b))
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_IMPORTED, .of_b = imported(b)});
    if (recorded && strcmp(out->a->process, out->b->process) != 0)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_PROGRAM});
    devices(out, a, b);
    if (*a->policy && *b->policy && strcmp(a->policy, b->policy) != 0)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_POLICY});
    one_run(out, a, false);
    one_run(out, b, true);
    stacks(out, a, b);
}
