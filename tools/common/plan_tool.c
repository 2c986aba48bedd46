/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A plan is written beside its target and renamed, so that a program that maps the
 * old plan keeps it. */
#include "tools/common/plan_tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "allocator/plan/plan_format.h"
#include "tools/common/command.h"
#include "tools/common/whole_file.h"
#include "viewer/report/recording_text.h"

/* `run` has no --partial: a plan of an incomplete trace must be requested explicitly. */
static bool usable_trace(const char *who, const struct vs_plan_request *request,
                         struct vs_reader *reader)
{
    char text[VS_READER_WHY_MAX];
    enum vs_condition condition = vs_reader_condition(reader, text);
    if (!request->for_run)
        return vs_tool_usable(who, request->trace, condition, text, request->partial, "--partial");
    if (condition == VS_TRACE_COMPLETE || condition == VS_TRACE_LIVE)
        return true;
    vs_tool_fail(who, "%s: %s; `vramscope plan --partial %s -o FILE` plans the readable events",
                 request->trace, text, request->trace);
    return false;
}

/* A plan has no places for requests that are not in the trace. */
static bool whole_trace(const char *who, const struct vs_plan_request *request,
                        const struct vs_recording_state *recording)
{
    char text[160];
    if (!vs_recording_partial(recording))
        return true;
    vs_tool_fail(who, "%s: a plan needs every allocation, but %s; record it again without "
                 "--min-size, --sample and --max-trace-size",
                 request->trace, vs_recording_partial_text(text, recording));
    return false;
}

/* Memory needed by the policies without a plan; the planner has to improve on the one that uses
 * it. */
static void find_needs(const struct vs_plan_request *request, const struct vs_plan_trace *trace,
                       struct vs_policy_need needs[VS_POLICY_COUNT])
{
    enum vs_policy_id own = vs_policy_plannable();
    struct vs_whatif_setting settings[VS_POLICY_COUNT];
    struct vs_whatif_outcome outcomes[VS_POLICY_COUNT];
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        vs_whatif_setting_init(&settings[i]);
        vs_whatif_setting_policy(&settings[i], (enum vs_policy_id)i);
        settings[i].capacity = settings[i].limit = VS_WHATIF_NONE;
        settings[i].never_empty_cache = true;
    }
    if (request->needs)
        vs_whatif_run_all(trace->log, settings, VS_POLICY_COUNT, outcomes);
    else
        vs_whatif_run(trace->log, &settings[own], &outcomes[own]);
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        if (request->needs || i == (int)own)
            needs[i] = (struct vs_policy_need){outcomes[i].reserved_peak, outcomes[i].err};
    }
    if (!needs[own].err)
        vs_planner_set_unplanned(trace->planner, needs[own].reserved_bytes);
}

/* From an open trace; *err*: why there is no plan, if no message was printed. */
static bool plan_open(const char *who, const struct vs_plan_request *request,
                      struct vs_reader *reader, const struct vs_plan_trace *trace,
                      struct vs_plan_result *out, enum vs_err *err)
{
    const struct vs_whatif_recorded *recorded = vs_whatif_recorded(trace->log);
    if (!whole_trace(who, request, &recorded->recording) || !usable_trace(who, request, reader))
        return false;
    out->identity = trace->identity;
    out->identity.program = out->program;
    memcpy(out->program, recorded->program, sizeof out->program);
    out->framework = recorded->requests == VS_WHATIF_FRAMEWORK;
    out->unmatched = recorded->unmatched;
    find_needs(request, trace, out->needs);
    *err = vs_planner_build(trace->planner, &trace->identity, request->whole, &out->bytes,
                            &out->size, &out->summary);
    return true;
}

static bool build(const char *who, const struct vs_plan_request *request, struct vs_reader *reader,
                  struct vs_plan_result *out)
{
    struct vs_plan_trace trace;
    enum vs_err err = vs_plan_trace_read(reader, request->device, &trace);
    bool opened = !err, usable = true;
    if (opened)
        usable = plan_open(who, request, reader, &trace, out, &err);
    if (opened) {
        vs_planner_close(trace.planner);
        vs_whatif_close(trace.log);
    }
    if (!usable)
        return false;
    if (err == VS_ERR_NOT_FOUND)
        vs_tool_fail(who, "%s: the trace has no device allocations%s, so there is nothing to plan",
                     request->trace, request->device == VS_PLAN_DEVICE_ANY ? "" : " on that device");
    else if (err)
        vs_tool_fail(who, "%s: cannot plan: %s", request->trace, vs_err_text(err));
    return !err;
}

bool vs_tool_plan(const char *who, const struct vs_plan_request *request,
                  struct vs_plan_result *out)
{
    struct vs_reader *reader;
    memset(out, 0, sizeof *out);
    if (!vs_tool_open(who, request->trace, &reader))
        return false;
    bool built = build(who, request, reader, out);
    vs_reader_close(reader);
    return built;
}

/* A mistyped path must not overwrite a file: only plans are replaced. */
static bool may_replace(const char *path)
{
    struct stat st;
    uint64_t magic = 0;
    if (stat(path, &st))
        return errno == ENOENT;
    FILE *file = S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    size_t n = fread(&magic, sizeof magic, 1, file);
    fclose(file);
    return st.st_size == 0 || (n == 1 && magic == VS_PLAN_MAGIC);
}

bool vs_tool_plan_write(const char *who, const char *path, const struct vs_plan_result *plan)
{
    struct vs_whole_file file;
    if (!may_replace(path)) {
        vs_tool_fail(who, "%s exists and is not a plan: not overwritten; give another file with -o", path);
        return false;
    }
    if (!vs_whole_file_open(who, path, true, &file))
        return false;
    int code = VS_EXIT_OK;
    if (fwrite(plan->bytes, 1, plan->size, file.stream) != plan->size)
        code = vs_tool_fail(who, "cannot write %s: %s", path, strerror(errno));
    return vs_whole_file_end(who, &file, code) == VS_EXIT_OK;
}
