/* SPDX-License-Identifier: Apache-2.0
 *
 * What other settings, and other treatment of the call sites that hold most at the peak, would have done:
 * computed once for a trace, from the requests that the reading of its report collected. */
#include <string.h>

#include "analysis/growth/growth.h"
#include "analysis/whatif/whatif_changes.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "tools/view/view_trace.h"
#include "viewer/report/report_parts.h"

#define FRAMES_MAX 24 /* call sites to choose from */

/* The device that failed last, or the one with the largest peak; its index. */
static size_t choose_device(const struct vs_report *report)
{
    size_t chosen = 0;
    for (size_t i = report->failure_count; i-- > 0;) {
        const struct vs_report_failure *failure = &report->failures[i];
        const struct vs_report_device *of = vs_report_device_of(report, failure->device);
        if (of && !failure->host && !failure->recovered)
            return (size_t)(of - report->devices);
    }
    for (size_t i = 1; i < report->device_count; i++)
        if (report->devices[i].peak_allocated.bytes > report->devices[chosen].peak_allocated.bytes)
            chosen = i;
    return chosen;
}

/* The functions that name the call sites of *sites*: the first that the report shows of each. */
static size_t list_frames(const struct vs_report_sites *sites, struct vs_arena *memory,
                          const char *frames[FRAMES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; sites && i < sites->count && count < FRAMES_MAX; i++) {
        const struct vs_report_site *site = &sites->items[i];
        size_t at = vs_user_frame(site, site->wrappers);
        if (at >= site->frame_count || (site->line && !site->line_file))
            continue; /* an operation of the framework, or no stack */
        const struct vs_report_frame *frame = &site->frames[at];
        frames[count++] = frame->file ? vs_xarena_printf(memory, "%s (%s:%u)", frame->function,
                                                         vs_text_base_name(frame->file), frame->line)
                                      : frame->function;
    }
    return count;
}

void vs_view_whatif(struct vs_view_trace *trace, const struct vs_view_options *options)
{
    const struct vs_report *report = trace->report;
    static const struct vs_whatif_changes none;
    char text[VS_READER_WHY_MAX];
    if (!trace->watch || !report->device_count)
        return;
    struct vs_arena *memory = &trace->memory;
    size_t chosen = choose_device(report);
    const struct vs_report_device *device = &report->devices[chosen];
    struct vs_page_whatif *out = vs_xarena(memory, sizeof *out);
    struct vs_whatif_changes *changes = vs_xarena(memory, sizeof *changes);
    *out = (struct vs_page_whatif){.device = chosen, .changes = &none};
    enum vs_err err = vs_whatif_watch_log(trace->watch, trace->reader, device->device, &trace->log);
    const struct vs_whatif_recorded *recorded = err ? NULL : vs_whatif_recorded(trace->log);
    if (err == VS_ERR_NOT_FOUND || (recorded && !recorded->request_count && !recorded->failures))
        return; /* nothing to replay */
    trace->whatif = out;
    if (err) {
        out->why = vs_err_text(err);
        return;
    }
    if (vs_recording_partial(&recorded->recording)) {
        out->why = vs_xarena_printf(memory, "a replay needs every allocation, but %s",
                                    vs_recording_partial_text(text, &recorded->recording));
        return;
    }
    const struct vs_report_steps *steps = &report->steps;
    if (steps->found && !recorded->steps)
        vs_whatif_found_steps(trace->log, steps->kept.items, steps->kept.count, steps->done == steps->begun);
    const char *frames[FRAMES_MAX];
    const struct vs_changes_query query = {
        .frames = frames, .frame_count = list_frames(device->held.sites, memory, frames),
        .most = (size_t)options->whatif_max};
    err = vs_whatif_changes(trace->log, trace->reader, &query, memory, changes);
    if (err) {
        out->why = err == VS_ERR_LIMIT ? "it needs more memory than any device has" : vs_err_text(err);
        return;
    }
    out->changes = changes;
    const char *number = report->device_count > 1 ? vs_xarena_printf(memory, " --device %llu",
                                                                     (unsigned long long)device->device) : "";
    out->rest = vs_xarena_printf(memory, "%s%s", number, report->condition == VS_TRACE_COMPLETE ? "" : " --partial");
    out->path = trace->path;
}
