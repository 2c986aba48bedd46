/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A doubt never stops the comparison: what still holds is compared. */
#include "analysis/compare/compare_notes.h"

#include <string.h>

#include "analysis/budget/budget_verdict.h"

const char *vs_compare_doubt_name(enum vs_compare_doubt doubt)
{
    static const char *const names[VS_DOUBT_KINDS] = {
        "program", "devices", "capacity", "level", "allocator", "selected", "partial", "out of memory",
        "exit status", "stacks"};
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
        if (x->total_bytes != y->total_bytes || strcmp(x->name ? x->name : "", y->name ? y->name : "") != 0)
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

static bool ran_out(const struct vs_report *report)
{
    return report->failure_total > report->failures_recovered;
}

static bool has_stacks(const struct vs_report *report)
{
    bool any = false, with = false;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_sites *sites = &report->devices[i].at_peak;
        for (size_t s = 0; s < sites->count; s++) {
            any = true;
            with |= sites->items[s].frame_count || sites->items[s].line;
        }
    }
    return with || !any;
}

static void one_run(struct vs_comparison *out, const struct vs_report *report, bool of_b)
{
    uint64_t status = 0;
    bool known = vs_exit_status(report, &status);
    if (cut(report))
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_PARTIAL, .of_b = of_b});
    if (vs_recording_partial(&report->recording) || report->recording.stage)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_SELECTED, .of_b = of_b});
    if (ran_out(report))
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_OOM, .of_b = of_b});
    else if (known && status)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_EXIT, .of_b = of_b, .status = status});
    if (!has_stacks(report))
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_STACKS, .of_b = of_b});
}

void vs_compare_notes(struct vs_comparison *out)
{
    const struct vs_report *a = out->a->report, *b = out->b->report;
    if (strcmp(out->a->process, out->b->process) != 0)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_PROGRAM});
    devices(out, a, b);
    if (strcmp(a->policy, b->policy) != 0)
        add(out, (struct vs_compare_note){.doubt = VS_DOUBT_POLICY});
    one_run(out, a, false);
    one_run(out, b, true);
}
