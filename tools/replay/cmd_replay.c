/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope replay: the requests of a trace under other settings of the allocator, on other
 * devices. */

#include "analysis/growth/growth.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "tools/common/symbol_tool.h"
#include "tools/replay/replay_command.h"
#include "viewer/report/report_parts.h"

static const char usage[] =
    "usage: vramscope replay [OPTIONS] TRACE\n"
    "\n"
    "Runs the requests of a trace through the allocator with other settings, or on\n"
    "another device, and prints for each the reserved memory, its fragmentation, its\n"
    "retries, and whether the program gets through or where it fails. No GPU is\n"
    "needed. The requests are PyTorch's tensors where the trace has them, otherwise\n"
    "cudaMalloc calls; all other memory is as recorded. docs/replay.md describes what\n"
    "is exact.\n"
    "\n"
    "  --set CONF         a setting as in PYTORCH_ALLOC_CONF:\n"
    "                     expandable_segments:True, max_split_size_mb:128;\n"
    "                     may be repeated\n"
    "  --sweep            ten settings of PYTORCH_ALLOC_CONF that often help\n"
    "  --policy NAME      observe (no cache), pytorch, expandable or compact; may be\n"
    "                     repeated. Without --set, --sweep and --policy: all policies\n"
    "  --capacity SIZE    on a device of this size, such as 24GiB; may be repeated\n"
    "  --gpu NAME         on this GPU, such as rtx4090-24g; may be repeated\n"
    "  --find-capacity    the smallest device on which each setting gets through, and\n"
    "                     the smallest GPU\n"
    "  --limit SIZE       with this limit on the program's memory, or none\n"
    "  --others SIZE      other processes hold at most this\n"
    "  --pool-keep SIZE   stream-ordered pools keep at most this much unused memory\n"
    "  --empty-cache      the cache is released at the end of each step\n"
    "  --free-site REGEX  blocks of call sites that match are freed at the end of\n"
    "                     their step\n"
    "  --without-site REGEX\n"
    "                     blocks of call sites that match are not allocated: no\n"
    "                     change there can bring more\n"
    "  --device N         requests of this device\n"
    "                     (default: the one with most memory in use)\n"
    "  --until EVENT      replay up to event number EVENT only\n"
    "  --json             JSON (schema vramscope.replay/1)\n"
    "  --partial          use the readable events of a trace that is cut off or\n"
    "                     damaged\n"
    "  --color WHEN       auto (default), always or never\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 at least one setting gets through; 1 none does; 2 the trace is\n"
    "unreadable or has no requests for device memory, or wrong usage.\n";

static int open_log(const struct vs_replay_job *job, struct vs_reader *reader,
                    struct vs_whatif_log **log)
{
    char text[VS_READER_WHY_MAX];
    struct vs_growth_steps steps = {0};
    struct vs_whatif_query query = {.device = job->device, .until_event = job->until};
    enum vs_err err = vs_whatif_open(reader, &query, log);
    if (!err && (job->free_site || job->empty_cache) && !vs_whatif_recorded(*log)->steps) {
        err = vs_found_steps_read(reader, &steps);
        if (!err && steps.source == VS_STEPS_FOUND)
            vs_whatif_found_steps(*log, steps.items, steps.count, steps.done == steps.begun);
        vs_found_steps_free(&steps);
    }
    if (err == VS_ERR_NOT_FOUND && !job->until)
        return vs_tool_fail(job->who, "%s: the trace has no requests for device memory%s, so there "
                            "is nothing to replay", job->trace,
                            job->device == VS_WHATIF_DEVICE_ANY ? "" : " on that device");
    if (err == VS_ERR_IO)
        return vs_tool_fail(job->who, "cannot write a temporary file in $TMPDIR or /var/tmp; set "
                            "TMPDIR to a folder with room");
    if (err && err != VS_ERR_NOT_FOUND)
        return vs_tool_fail(job->who, "%s: cannot replay: %s", job->trace, vs_err_text(err));
    const struct vs_whatif_recorded *recorded = err ? NULL : vs_whatif_recorded(*log);
    if (recorded && job->until > recorded->events)
        return vs_tool_fail(job->who, "%s: --until %llu: there is no such event: the trace has %llu "
                            "events", job->trace, job->until, (unsigned long long)recorded->events);
    if (!recorded || (!recorded->request_count && !recorded->failures)) /* --until leaves out all of them */
        return vs_tool_fail(job->who, "%s: no request for device memory up to event %llu, so there is "
                            "nothing to replay; give --until a later event", job->trace, job->until);
    if (vs_recording_partial(&recorded->recording))
        return vs_tool_fail(job->who, "%s: a replay needs every allocation, but %s; record it "
                            "again without --min-size, --sample and --max-trace-size", job->trace,
                            vs_recording_partial_text(text, &recorded->recording));
    return 0;
}

static int answer(const struct vs_replay_job *job, struct vs_reader *reader)
{
    char text[VS_READER_WHY_MAX];
    struct vs_whatif_log *log = NULL;
    struct vs_arena memory = {0};
    struct vs_replay_view view = {.path = job->trace};
    int code = open_log(job, reader, &log);
    if (!code && !job->until) {
        enum vs_condition condition = vs_reader_condition(reader, text);
        if (!vs_tool_usable(job->who, job->trace, condition, text, job->partial, "--partial"))
            code = VS_EXIT_UNUSABLE;
    }
    if (!code)
        code = vs_replay_rows(job, log, reader, &memory, &view);
    if (!code && vs_replay_places(reader, &memory, &view))
        code = vs_tool_fail(job->who, "%s: cannot read the trace again", job->trace);
    if (!code) {
        view.program = vs_text_base_name(vs_reader_string(reader, view.recorded->exe));
        view.device_name = vs_reader_string(reader, view.recorded->device_name);
    }
    vs_symbol_tool_done();
    if (!code) {
        struct vs_style style = vs_tool_style(&job->colour, stdout);
        bool any = false;
        for (size_t i = job->device_count > 0; i < view.count; i++)
            any |= !view.rows[i].outcome.err &&
                   (job->find ? view.rows[i].least_capacity > 0 : view.rows[i].outcome.survives);
        if (style.width > 80)
            style.width = 80;
        if (job->json)
            vs_replay_json(&view, stdout);
        else
            vs_replay_text(&view, &style);
        code = any ? VS_EXIT_OK : VS_EXIT_NO;
    }
    vs_whatif_close(log);
    vs_arena_free_all(&memory);
    return code;
}

static int replay_main(int argc, char **argv)
{
    struct vs_replay_job job = {.who = argv[0]};
    struct vs_reader *reader;
    int code = vs_replay_parse(&job, usage, argc, argv);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    if (!vs_tool_open(argv[0], job.trace, &reader))
        return VS_EXIT_UNUSABLE;
    code = answer(&job, reader);
    vs_reader_close(reader);
    return vs_tool_finish(argv[0], stdout, code);
}

const struct vs_command vs_cmd_replay = {
    "replay", "run the requests of a trace under other settings, on other devices", usage,
    replay_main, true};
