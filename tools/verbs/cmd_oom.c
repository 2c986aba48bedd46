/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope oom: why an allocation failed and what would have helped. */
#include <getopt.h>
#include <string.h>

#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "viewer/report/oom_text.h"
#include "viewer/report/report_parts.h"

#define FIRSTS_NAMED 5 /* numbers in an error */

static const char usage[] =
    "usage: vramscope oom [OPTIONS] TRACE|FOLDER...\n"
    "\n"
    "Explains a failed allocation: the request with its call site, phase and step;\n"
    "the cause (man vramscope-oom lists them) with its evidence; what held the\n"
    "device's memory at that time, by call site too; and what would have helped, with\n"
    "figures from the trace. Without --nth: the last failure the program did not\n"
    "recover from, or else the last one; out of memory before other errors.\n"
    "\n"
    "Of several traces (a FOLDER stands for its .vst files): which process failed\n"
    "first, what each held on that device then, and the explanation of that failure.\n"
    "\n"
    "  --nth N         failure number N of the trace, from 1\n"
    "  --json          JSON (schema vramscope.oom/2; of several traces\n"
    "                  vramscope.oom.family/1)\n"
    "  --top N         call sites shown (default: 5, without those below 1 %)\n"
    "  --full          whole call stacks, one frame per line\n"
    "  --no-replay     estimate the remedies only, without running the requests again\n"
    "  --partial       use the readable events of a trace that is cut off or damaged\n"
    "  --color WHEN    auto (default), always or never\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 printed, also when no allocation failed (the lowest free memory is\n"
    "printed then); 2 the trace is unreadable, has no such failure, or wrong\n"
    "usage.\n";

struct oom_arguments {
    bool json, partial, full, estimated;
    struct vs_tool_colour colour;
    unsigned long long nth, top;
};

/* --nth is not the number of a failure that can be explained. */
static int bad_number(const char *who, const char *path, const struct vs_report *report)
{
    unsigned long long total = report->failure_total, first = total - report->failure_count + 1;
    char stored[64] = "", range[64], firsts[160] = "";
    if (!total)
        return vs_tool_fail(who, "%s: no allocation failed; --nth cannot be used", path);
    if (first > 1)
        snprintf(stored, sizeof stored, ", of which the last %zu are stored",
                 report->failure_count);
    for (size_t i = 0; i < report->first_count && i < FIRSTS_NAMED; i++)
        snprintf(firsts + strlen(firsts), sizeof firsts - strlen(firsts), "%s%llu",
                 i ? ", " : ", or the first of others: ",
                 (unsigned long long)report->firsts[i].number);
    if (first < total)
        snprintf(range, sizeof range, "%llu to %llu", first, total);
    else
        snprintf(range, sizeof range, "%llu", total);
    return vs_tool_fail(who, "%s: the trace has %llu failed allocation%s%s; --nth takes %s%s",
                        path, total, total == 1 ? "" : "s", stored, range, firsts);
}

static int explain(const char *who, const char *path, const struct oom_arguments *args)
{
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_trace_state *state = NULL;
    struct vs_oom_watch *watch = vs_oom_watch_open(args->nth);
    const struct vs_observer observer = vs_oom_watch_observer(watch);
    const struct vs_part_args whole = {0};
    const struct vs_report_options options = {.observers = &observer, .observer_count = 1, .state = &state,
                                              .chosen = vs_oom_watch_peaks(watch),
                                              .begin = vs_oom_watch_begin, .observed = watch};
    if (!vs_tool_report_part(who, path, args->partial, "--partial", &options, &whole, &reader, &report)) {
        vs_trace_state_close(state);
        vs_oom_watch_close(watch);
        return VS_EXIT_UNUSABLE;
    }
    int code = VS_EXIT_OK;
    struct vs_oom *oom = NULL;
    enum vs_err err =
        vs_oom_tool_build(reader, report, watch, args->nth, !args->estimated, &oom);
    if (err == VS_ERR_NOT_FOUND && args->nth)
        code = bad_number(who, path, report);
    else if (err == VS_ERR_STATE) {
        char text[160];
        code = vs_tool_fail(who,
                            "%s: a diagnosis needs every allocation, but %s; `vramscope report %s` "
                            "prints the failed requests, their call sites and the device's memory",
                            path, vs_recording_partial_text(text, &report->recording), path);
    } else if (err)
        code = vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    else {
        struct vs_style style = vs_tool_style_full(&args->colour, args->top, args->full);
        style.started_ns = report->start_realtime_ns;
        if (args->json)
            vs_oom_json(oom, report, false, stdout);
        else if (oom)
            vs_oom_text(oom, report, &style);
        else
            vs_oom_text_none(report, &style);
    }
    vs_oom_free(oom);
    vs_oom_watch_close(watch);
    vs_trace_state_close(state);
    vs_report_free(report);
    vs_reader_close(reader);
    return code;
}

/* Of the traces of a run: all of them together, then the one that failed first. */
static int explain_run(const char *who, struct vs_trace_list *list, const struct oom_arguments *args)
{
    struct vs_style style = vs_tool_style_full(&args->colour, args->top, args->full);
    const char *first;
    if (list->count == 1)
        return explain(who, list->paths[0], args);
    int code = vs_oom_processes(who, list, args->json, args->partial, &style, &first);
    if (code != VS_EXIT_OK || args->json || !first)
        return code;
    putchar('\n');
    return explain(who, first, args);
}

struct oom_runs {
    const char *who;
    const struct oom_arguments *args;
    int code;
};

static bool show_run(void *context, struct vs_trace_list *run)
{
    struct oom_runs *runs = context;
    runs->code = explain_run(runs->who, run, runs->args);
    return runs->code == VS_EXIT_OK;
}

static int oom_main(int argc, char **argv)
{
    struct oom_arguments args = {0};
    const struct vs_tool_option options[] = {
        {"json", .flag = &args.json},
        {"partial", .flag = &args.partial},
        {"full", .flag = &args.full},
        {"no-replay", .flag = &args.estimated},
        {"top", .count = &args.top, .min = 1, .max = 1000, .takes = "a number from 1 to 1000"},
        {"nth", .count = &args.nth, .min = 1, .max = ~0ull, .takes = "a number, from 1"},
        {"color", .colour = &args.colour},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (!code && argc == optind)
        code = vs_tool_usage(argv[0], "no trace given");
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    struct vs_trace_list list = {0};
    bool listed = true;
    for (int i = optind; listed && i < argc; i++)
        listed = vs_trace_list_add(argv[0], &list, argv[i]);
    if (listed)
        vs_trace_list_single(argv[0], &list);
    struct oom_runs runs = {.who = argv[0], .args = &args, .code = VS_EXIT_UNUSABLE};
    if (!listed)
        code = VS_EXIT_UNUSABLE;
    else if (list.count > 1 && args.nth)
        code = vs_tool_usage(argv[0], "--nth takes one trace");
    else if (list.count == 1 || args.json)
        code = explain_run(argv[0], &list, &args);
    else
        code = vs_trace_list_readable(argv[0], &list, args.partial) &&
                       vs_trace_list_runs(argv[0], &list, show_run, &runs)
                   ? VS_EXIT_OK : runs.code;
    vs_trace_list_free(&list);
    return vs_tool_finish(argv[0], stdout, code);
}

const struct vs_command vs_cmd_oom = {
    "oom", "explain a failed allocation, and what would have helped", usage, oom_main, true};
