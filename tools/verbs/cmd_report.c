/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope report: what happened, as text or JSON. */
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
    "Prints what a traced program did with device memory: peaks of allocated, requested\n"
    "and reserved bytes with their time and phase, utilisation and fragmentation,\n"
    "allocations by tree, the heaviest call sites at the peak, what was still live at\n"
    "the end or grew from step to step, kernels, copies, phases and failures; each\n"
    "device by itself.\n"
    "\n"
    "Of several traces, or a folder of them: which process comes from which, each one's\n"
    "peaks, and the most that all of them held together on each device.\n"
    "\n"
    "  --json          JSON (schema vramscope.report/1): bytes, and ns since the start;\n"
    "                  of several traces, schema vramscope.family/1\n"
    "  --top N         call sites and kernels per list (text: 5, JSON: 50)\n"
    "  --at T          the state at that moment: what was live, by call site and family, what\n"
    "                  was reserved; peaks so far\n"
    VS_PART_USAGE
    "  --full          whole call stacks, one frame per line\n"
    "  --partial       use what is readable of a trace that is cut off or damaged\n"
    "  --color WHEN    auto (default), always or never; NO_COLOR is respected\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Terms: allocated = bytes set aside for live allocations; requested = bytes asked for\n"
    "in them; reserved = bytes held from the device, cached ones included.\n"
    VS_PART_TIMES
    "Exit codes: 0 printed, 2 the trace is unusable or the usage wrong.\n";

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
                return vs_tool_usage(argv[0], "--top takes a number from 1 to 100000");
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
        return vs_tool_usage(argv[0], "which trace?");
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
        vs_tool_usage(argv[0], "--at, --from and --to are for one trace at a time");
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
    "report", "what happened: peaks, call sites, leaks, fragmentation, kernels", usage, report_main};
