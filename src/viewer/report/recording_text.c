/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_parts.h"

#include <string.h>

#include "base/vs_posix_name.h"
#include "base/vs_size.h"

#define ULL(x) ((unsigned long long)(x))

char *vs_recording_partial_text(char *out, const struct vs_recording_state *state)
{
    if (state->sample > 1 && state->min_size)
        snprintf(out, VS_RECORDING_TEXT_MAX,
                 "only 1 in %llu allocations of at least %s was recorded", ULL(state->sample),
                 vs_size_text(state->min_size));
    else if (state->sample > 1)
        snprintf(out, VS_RECORDING_TEXT_MAX, "only 1 in %llu allocations was recorded", ULL(state->sample));
    else if (state->min_size)
        snprintf(out, VS_RECORDING_TEXT_MAX, "only allocations of at least %s were recorded",
                 vs_size_text(state->min_size));
    else if (state->pauses)
        snprintf(out, VS_RECORDING_TEXT_MAX, "the program stopped the recording for a time");
    else
        snprintf(out, VS_RECORDING_TEXT_MAX,
                 "recording of single allocations stopped at the trace's size limit of %s",
                 vs_size_text(state->limit_bytes));
    return out;
}

bool vs_recording_sums_old(const struct vs_report *report)
{
    bool killed = report->has_end && (report->end_reason == VS_END_KILLED ||
                                      report->end_reason == VS_END_SIGNAL);
    return report->recording.stage == VS_RECORDING_TOTALS && (!report->has_end || killed) &&
           !report->recording.summed_up;
}

/* A peak between two sums has an exact time only if it was the highest value of both. */
static const char *exactness(const struct vs_report *report, bool window)
{
    bool cut = report->condition == VS_TRACE_TRUNCATED || report->condition == VS_TRACE_DAMAGED;
    if (cut && !vs_recording_sums_old(report))
        return window ? "totals are exact, peaks only from the first totals in this span to where "
                        "the trace ends"
                      : "peaks and totals are exact up to where the trace ends";
    return window ? "totals are exact, peaks only from the first totals in this span on"
                  : "peaks and totals are exact";
}

char *vs_recording_limit_text(char *out, const struct vs_recording_state *state)
{
    static const char *const what[] = {
        [VS_RECORDING_NO_ACTIVITY] = "no kernels and copies",
        [VS_RECORDING_NO_STACKS] = "no new call stacks",
        [VS_RECORDING_TOTALS] = "only totals, peaks and failures",
    };
    size_t n = 0;
    *out = 0;
    for (int i = VS_RECORDING_NO_ACTIVITY; i <= VS_RECORDING_TOTALS; i++)
        if (state->since_ns[i] && n < VS_RECORDING_TEXT_MAX)
            n += (size_t)snprintf(out + n, VS_RECORDING_TEXT_MAX - n, "%s%s from %s on",
                                  n ? ", " : "", what[i], vs_time_text(state->since_ns[i]));
    return out;
}

void vs_recording_text(const struct vs_report *report, const struct vs_style *style)
{
    const struct vs_recording_state *state = &report->recording;
    char text[VS_RECORDING_TEXT_MAX];
    bool window = report->part.window && !report->part.point;
    if (state->min_size || state->sample > 1) {
        vs_text_lines(style, vs_text_mark(style, "sampled"), "%s; %s%s",
                      vs_recording_partial_text(text, state), exactness(report, window),
                      state->sample > 1 ? ", figures by call site are estimates" : "");
    }
    if (state->pauses && state->paused_ns)
        vs_text_lines(style, vs_text_mark(style, "stopped"), "by the program, last at %s: no call "
                      "sites, kernels or copies from there on; %s", vs_time_text(state->paused_ns),
                      exactness(report, window));
    else if (state->pauses)
        vs_text_lines(style, vs_text_mark(style, "stopped"), "by the program for %s: no call "
                      "sites, kernels or copies meanwhile; %s", vs_time_text(state->paused_total_ns),
                      exactness(report, window));
    if (!state->stage)
        return;
    bool old = vs_recording_sums_old(report);
    vs_recording_limit_text(text, state);
    vs_text_lines(style, vs_text_mark(style, "limited"), "to %s:%s%s; %s%s%s%s",
                  vs_size_text(state->limit_bytes), *text ? " " : "", text,
                  exactness(report, window), old ? " up to the last totals, at " : "",
                  old ? vs_time_text(report->totals_ns) : "",
                  old ? "; later changes are missing" : "");
}

const char *vs_recording_what(const char *kind)
{
    static const char *const words[][2] = {
        {"device_sample", "readings of free memory"},
        {"device_usage", "readings of memory used by processes"},
        {"overhead", "measurements of the driver's own memory"},
        {"context", "changes of contexts"},
        {"stream", "changes of streams"},
        {"kernel", "kernels"},
        {"memcpy", "copies"},
        {"memset", "memsets"},
        {"sync", "waits"},
        {"alloc", "allocations"},
        {"alloc_failed", "failed allocations"},
        {"overhead_failed", "failed contexts, modules and launches"},
        {"free", "frees"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(kind, words[i][0]) == 0)
            return words[i][1];
    }
    return kind;
}

bool vs_recording_cut_text(char *out, const struct vs_report *report)
{
    unsigned long long status = ULL(report->end_status);
    const char *why = vs_errno_text(status);
    const char *name = vs_signal_name(status);
    *out = 0;
    if (!report->has_end)
        return false;
    if (report->end_reason == VS_END_STOPPED)
        snprintf(out, VS_RECORDING_TEXT_MAX,
                 "recording stopped early%s%s; later events are missing", why ? ": " : "",
                 why ? why : "");
    else if (report->end_reason == VS_END_SIGNAL)
        snprintf(out, VS_RECORDING_TEXT_MAX, "the program was killed by signal %llu%s%s%s", status,
                 name ? " (SIG" : "", name ? name : "", name ? ")" : "");
    else if (report->end_reason == VS_END_KILLED)
        snprintf(out, VS_RECORDING_TEXT_MAX,
                 "the program was killed, or exited without ending its trace");
    return *out;
}

void vs_recording_cut_line(const struct vs_report *report, const struct vs_style *style)
{
    char text[VS_RECORDING_TEXT_MAX];
    if (report->condition == VS_TRACE_COMPLETE && report->end_reason == VS_END_STOPPED &&
        vs_recording_cut_text(text, report))
        vs_text_wrapped(style, vs_text_mark(style, "warning"), text);
}

void vs_recording_kernels_line(const struct vs_report *report, const struct vs_style *style)
{
    bool runs = !report->has_end && report->outcome.kind == VS_OUTCOME_RECORDING;
    static const char *const parts[][3] = {{"kernels_steps", "of steps", "--kernels-steps"},
                                           {"kernels_range", "inside ranges", "--kernels-range"},
                                           {"kernels_signal", "between signals", "--kernels-signal"}};
    bool none = report->has_end && !report->part.point;
    for (size_t i = 0; i < report->device_count; i++)
        none &= !report->devices[i].timeline.device;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *value = vs_report_option(report, parts[i][0]);
        if (value && *value && strcmp(value, "none"))
            vs_text_lines(style, none ? vs_text_mark(style, "warning") : "  kernels  ", "%s%s %s only (%s)%s",
                          none ? "kernels " : "", parts[i][1], value, parts[i][2],
                          none ? ": no work ran there" : ", like copies and waits");
    }
    if (report->kernels_until_ns)
        vs_text_lines(style, "  kernels  ", "recorded up to %s: later kernels and copies %s",
                      vs_time_text(report->kernels_until_ns),
                      runs ? "are not delivered yet" : "were not delivered before the end");
}

char *vs_recording_sites_note(char *out, const struct vs_report *report,
                              const struct vs_report_sites *sites)
{
    *out = 0;
    /* estimates have a line of their own below the sites */
    if (sites->whole_bytes && sites->weight <= 1 && vs_recording_partial(&report->recording))
        snprintf(out, VS_RECORDING_TEXT_MAX, ": %s of %s known by site",
                 vs_size_text(sites->total_bytes), vs_size_text(sites->whole_bytes));
    return out;
}

void vs_recording_json(struct vs_json *json, const struct vs_report *report)
{
    static const char *const stages[] = {"begun_ns", "activity_ended_ns", "stacks_ended_ns",
                                         "allocations_ended_ns"};
    const struct vs_recording_state *state = &report->recording;
    if (!state->selects && !state->pauses)
        return;
    vs_json_begin(json, "recording", VS_J_UINT("min_size", state->min_size),
                  VS_J_UINT("sample", state->sample), VS_J_UINT("sample_seed", state->seed),
                  VS_J_UINT("max_trace_size", state->limit_bytes));
    for (int i = VS_RECORDING_NO_ACTIVITY; i <= VS_RECORDING_TOTALS; i++) {
        if (state->since_ns[i])
            vs_json_uint(json, stages[i], state->since_ns[i]);
    }
    if (state->pauses)
        vs_json_members(json, VS_J_UINT("stops", state->pauses),
                        VS_J_UINT("stopped_ns", state->paused_total_ns));
    if (state->paused_ns)
        vs_json_uint(json, "stopped_since_ns", state->paused_ns);
    for (size_t i = 0; vs_json_next(json, "unrecorded", i, report->device_count); i++) {
        const struct vs_report_device *device = &report->devices[i];
        static const char *const levels[] = {"driver", "blocks", "framework", "segments"};
        static const char *const whys[] = {"small", "not_sampled", "after_limit"};
        for (int level = 0; level < VS_LEVEL_COUNT; level++) {
            for (int why = 0; why < VS_WHY_COUNT; why++) {
                const struct vs_unrecorded *u = &device->unrecorded[level][why];
                if (!u->allocs && !u->frees)
                    continue;
                vs_json_object(json, NULL, VS_J_UINT("device", device->device),
                               VS_J_TEXT("level", levels[level]), VS_J_TEXT("why", whys[why]),
                               VS_J_UINT("allocations", u->allocs), VS_J_UINT("bytes", u->size),
                               VS_J_UINT("frees", u->frees),
                               VS_J_UINT("freed_bytes", u->freed_size));
            }
        }
    }
    vs_json_end_object(json);
}
