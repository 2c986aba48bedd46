/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces of `vramscope estimate`: each argument is "NAME=VALUE[,NAME=VALUE]:FILE", the run of a
 * program with these arguments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/command.h"
#include "tools/estimate/estimate_internal.h"

/* The index of the name; with *first* it is added. VS_SCALING_NAMES_MAX: there is none. */
static size_t name_index(struct vs_estimate_job *job, const char *name, size_t length, bool first)
{
    struct vs_estimate_answer *a = &job->answer;
    for (size_t i = 0; i < a->scaling.names; i++)
        if (strlen(a->names[i]) == length && memcmp(a->names[i], name, length) == 0)
            return i;
    if (!first || a->scaling.names == VS_SCALING_NAMES_MAX || !length)
        return VS_SCALING_NAMES_MAX;
    a->names[a->scaling.names] = vs_estimate_keep(job, name, length);
    return a->names[a->scaling.names] ? a->scaling.names++ : VS_SCALING_NAMES_MAX;
}

int vs_estimate_parse_values(struct vs_estimate_job *job, const char *what, const char *text,
                             size_t length, bool first, double x[VS_SCALING_NAMES_MAX])
{
    const char *p = text, *limit = text + length;
    bool given[VS_SCALING_NAMES_MAX] = {false};
    size_t count = 0;
    while (p < limit) {
        size_t part = strcspn(p, ",");
        if (part > (size_t)(limit - p))
            part = (size_t)(limit - p);
        const char *equals = memchr(p, '=', part);
        size_t at = equals ? name_index(job, p, (size_t)(equals - p), first) : VS_SCALING_NAMES_MAX;
        char *end = NULL;
        double value = at < VS_SCALING_NAMES_MAX ? strtod(equals + 1, &end) : 0;
        if (!end || end != p + part || !(value > 0) || !isfinite(value) || given[at])
            return vs_tool_usage(job->who, "%s: %.*s is not NAME=VALUE with a value above 0 and a name "
                                 "that every trace has (at most two)", what, (int)part, p);
        given[at] = true;
        x[at] = value;
        count++;
        p += part + (p + part < limit);
    }
    if (count != job->answer.scaling.names || !count)
        return vs_tool_usage(job->who, "%s: every trace needs the same arguments", what);
    return 0;
}

/* The name of the phase without the step's number: "step 3 / backward" and "step 4 / backward" are
 * the same. */
static const char *phase_of(struct vs_estimate_job *job, const char *place)
{
    const char *slash = strstr(place, " / ");
    if (slash)
        return vs_estimate_keep(job, slash + 3, strlen(slash + 3));
    size_t length = strlen(place);
    while (length && strchr("0123456789 #", place[length - 1]))
        length--;
    return vs_estimate_keep(job, place, length);
}

static int read_trace(struct vs_estimate_job *job, const char *path, struct vs_scaling_run *run)
{
    struct vs_reader *reader;
    struct vs_report *report;
    if (!vs_tool_report(job->who, path, job->partial, "--partial", 1, &reader, &report))
        return VS_EXIT_UNUSABLE;
    const char *place = "";
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *d = &report->devices[i];
        double allocated = (double)(d->has_framework ? d->framework_peak_allocated : d->peak_allocated.bytes);
        double reserved = (double)(d->has_framework && d->framework_peak_reserved > d->peak_reserved.bytes
                                       ? d->framework_peak_reserved : d->peak_reserved.bytes);
        if (reserved <= run->reserved)
            continue;
        run->reserved = reserved;
        run->allocated = allocated;
        const char *at = d->has_framework ? d->peak_user.place : d->peak_allocated.place;
        place = at ? at : "";
    }
    run->place = phase_of(job, place);
    bool failed = report->failure_count > 0 && !report->failures[report->failure_count - 1].recovered;
    vs_report_free(report);
    vs_reader_close(reader);
    if (!run->place)
        return vs_tool_fail(job->who, "out of memory");
    if (!(run->reserved > 0))
        return vs_tool_fail(job->who, "%s: the trace has no device memory", path);
    if (failed)
        return vs_tool_fail(job->who, "%s: this run ran out of memory, so its peak is unknown; use runs "
                            "that fit", path);
    return 0;
}

int vs_estimate_traces(struct vs_estimate_job *job, char **arguments, size_t count)
{
    struct vs_estimate_answer *a = &job->answer;
    if (count > VS_ESTIMATE_RUNS_MAX)
        return vs_tool_usage(job->who, "at most %d traces", VS_ESTIMATE_RUNS_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *colon = strchr(arguments[i], ':');
        struct vs_scaling_run *run = &a->runs[i];
        if (!colon || !colon[1] || !memchr(arguments[i], '=', (size_t)(colon - arguments[i])))
            return vs_tool_usage(job->who, "%s: give each trace with the arguments of its run: "
                                 "batch=4:%s", arguments[i], arguments[i]);
        run->x[0] = run->x[1] = 1;
        int status = vs_estimate_parse_values(job, arguments[i], arguments[i],
                                              (size_t)(colon - arguments[i]), i == 0, run->x);
        a->paths[i] = colon + 1;
        if (!status)
            status = read_trace(job, colon + 1, run);
        if (status)
            return status;
        if (run->x[0] * run->x[1] >= a->at[0] * a->at[1])
            memcpy(a->at, run->x, sizeof a->at);
    }
    a->run_count = count;
    if (vs_scaling_fit(a->runs, count, a->scaling.names, &a->scaling))
        return vs_tool_usage(job->who, "at least two traces with different arguments are needed");
    return 0;
}
