/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope report: summarises a trace as text or JSON. */
#include <getopt.h>
#include <string.h>

#include "tools/common/command.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/trace_part.h"
#include "viewer/report/report_json.h"
#include "viewer/report/report_text.h"

static const char usage[] =
    "usage: vramscope report [OPTIONS] TRACE|FOLDER...\n"
    "\n"
    "Prints how a program used GPU memory, for each device: peaks of allocated, requested and\n"
    "reserved bytes with their time and phase, how much of the reserved memory was in use,\n"
    "allocations by family, memory by call site at the peak, memory still live at the end or\n"
    "growing from step to step, kernels, copies, phases and failed allocations.\n"
    "\n"
    "For several traces, or a folder of traces: which process started which, the peaks of\n"
    "each, and the peak of all of them together on each device.\n"
    "\n"
    "  --json          JSON (schema vramscope.report/1): bytes, and ns since the start;\n"
    "                  for several traces, schema vramscope.family/1\n"
    "  --top N         call sites and kernels per list (text: 5, JSON: 50)\n"
    "  --at T          the state at that time: live memory by call site and family, reserved\n"
    "                  memory, peaks so far\n"
    VS_PART_USAGE
    "  --full          whole call stacks, one frame per line\n"
    "  --partial       use the readable events of a trace that is cut off or damaged\n"
    "  --color WHEN    auto (default), always or never; NO_COLOR is respected\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Terms: allocated = bytes of live blocks; requested = bytes the program asked for;\n"
    "reserved = bytes held from the device, cached ones included.\n"
    VS_PART_TIMES
    "Exit codes: 0 printed, 2 the trace is unusable, or wrong usage.\n";

struct report_arguments {
    bool json, partial, full, colour_given, colour;
    size_t top;
    struct vs_part_args part;
};

static int parse(int argc, char **argv, struct report_arguments *args)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},       {"partial", no_argument, NULL, 'p'},
        {"full", no_argument, NULL, 'f'},       {"top", required_argument, NULL, 't'},
        {"color", required_argument, NULL, 'c'}, {"at", required_argument, NULL, 'A'},
        {"from", required_argument, NULL, 'F'},  {"to", required_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},        {0}};
    unsigned long long top;
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (c) {
        case 'A':
        case 'F':
        case 'T':
            if (!vs_part_option(argv[0], c == 'A' ? "at" : c == 'F' ? "from" : "to", optarg,
                                &args->part))
                return VS_EXIT_UNUSABLE;
            break;
        case 'j': args->json = true; break;
        case 'p': args->partial = true; break;
        case 'f': args->full = true; break;
        case 't':
            if (!vs_tool_count(optarg, 1, 100000, &top))
                return vs_tool_usage(argv[0], "--top takes a number from 1 to 100000, not '%s'",
                                     optarg);
            args->top = (size_t)top;
            break;
        case 'c':
            args->colour_given = strcmp(optarg, "auto") != 0;
            if (!vs_tool_colour(optarg, &args->colour))
                return vs_tool_usage(argv[0], "--color takes auto, always or never");
            break;
        case 'h': fputs(usage, stdout); return -1;
        default: return vs_tool_bad_option(argv, c);
        }
    }
    if (argc == optind)
        return vs_tool_usage(argv[0], "no trace given");
    return VS_EXIT_OK;
}

static struct vs_style style_of(const struct report_arguments *args)
{
    struct vs_style style;
    vs_style_init(&style, stdout);
    if (args->colour_given)
        style.colour = args->colour;
    if (args->top)
        style.sites = style.kernels = args->top;
    style.small_sites = args->top;
    style.full = args->full;
    return style;
}

static bool report_one(const char *who, const char *path, const struct report_arguments *args)
{
    struct vs_reader *reader;
    struct vs_report *report;
    if (!vs_tool_report_part(who, path, args->partial, "--partial", args->top, &args->part, &reader,
                             &report))
        return false;
    struct vs_style style = style_of(args);
    if (args->json)
        vs_report_json(report, stdout);
    else
        vs_report_text(report, &style);
    vs_report_free(report);
    vs_reader_close(reader);
    return true;
}

static int report_main(int argc, char **argv)
{
    struct report_arguments args = {0};
    struct vs_trace_list list = {0};
    if (!vs_symbol_tool_flags(&argc, argv))
        return VS_EXIT_UNUSABLE;
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    bool good = true;
    for (int i = optind; good && i < argc; i++)
        good = vs_trace_list_add(argv[0], &list, argv[i]);
    if (good && list.count > 1)
        vs_trace_list_single(argv[0], &list);
    if (good && list.count > 1 && vs_part_given(&args.part)) {
        vs_tool_usage(argv[0], "--at, --from and --to take one trace");
        good = false;
    } else if (good && list.count == 1) {
        good = report_one(argv[0], list.paths[0], &args);
    } else if (good) {
        struct vs_style style = style_of(&args);
        good = vs_tool_tree(argv[0], &list, &style, args.json, args.partial);
    }
    vs_trace_list_free(&list);
    return good ? vs_tool_finish(argv[0], stdout, VS_EXIT_OK) : VS_EXIT_UNUSABLE;
}

const struct vs_command vs_cmd_report = {
    "report", "print peaks, call sites, leaks, fragmentation, kernels", usage, report_main};
