/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope report: summarises a trace as text or JSON. */
#include <getopt.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/report_names.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "tools/common/trace_part.h"
#include "viewer/report/report_parts.h"
#include "viewer/report/report_text.h"

static const char usage[] =
    "usage: vramscope report [OPTIONS] TRACE|FOLDER...\n"
    "\n"
    "Prints how a program used GPU memory, for each device: peaks of allocated,\n"
    "requested and reserved bytes with their time and phase, how much of the reserved\n"
    "memory was in use, allocations by type of memory, memory by call site at the\n"
    "peak, memory still live at the end or growing from step to step, kernels,\n"
    "copies, phases and failed allocations.\n"
    "\n"
    "For several traces, or a folder of traces: which process started which, the\n"
    "peaks of each, and the peak of all of them together on each device.\n"
    "\n"
    "  --json            JSON (schema vramscope.report/1): bytes, and ns since the\n"
    "                    start; for several traces, schema vramscope.family/1\n"
    "  --by LIST         only the live memory at the peak by these: site, kind,\n"
    "                    phase, step, library, size, age, op (operations of PyTorch:\n"
    "                    beside it, all that they allocated in the whole run), module\n"
    "                    (of PyTorch, recorded with --modules) or all; several with\n"
    "                    commas\n"
    "  --map             only a map of the segments at the peak, with their holes\n"
    "  --kernels         only the kernels and their call sites, and what ran at the\n"
    "                    peak,\n"
    "  --transfers       the copies: bandwidth, what pinned memory would save,\n"
    "  --syncs           where the program waited, and why the device was idle\n"
    "  --torch-summary   only the table of torch.cuda.memory_summary(), at the end or\n"
    "                    with --at\n"
    "  --at T            at that time instead of the peak; also --at peak, oom (the\n"
    "                    failure) or end. Without --by and --map: the whole state\n"
    "                    then, peaks so far\n"
    "  --phase NAME      count only blocks allocated in this phase (without --at:\n"
    "                    at its own peak),\n"
    "  --step N[-M]      in these steps,\n"
    "  --site REGEX      at a call site with a frame like this: function (file:line),\n"
    "  --min-bytes SIZE  of at least this size\n"
    "  --device N        only this device\n"
    "  --top N           rows per list (text: 5 call sites and kernels, JSON: 50)\n"
    VS_PART_USAGE
    "  --windows FILE    with --json: the peak of each of many time windows, and the\n"
    "                    call sites that made the difference; FILE has their begins\n"
    "                    and ends\n"
    "  --full            whole call stacks, one frame per line, with the source lines\n"
    "                    of your code\n"
    "  --partial         use the readable events of a trace that is cut off or\n"
    "                    damaged\n"
    "  --color WHEN      auto (default), always or never; NO_COLOR is respected\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Terms: allocated = bytes of live blocks; requested = bytes the program asked\n"
    "for; reserved = bytes held from the device, cached ones included.\n"
    VS_PART_TIMES
    "\n"
    "Exit codes: 0 printed, 2 the trace is unreadable or lacks what a filter names,\n"
    "or wrong usage.\n";

struct report_arguments {
    bool json, partial, full, torch_summary;
    struct vs_tool_colour colour;
    unsigned long long top;
    struct vs_part_args part;
    struct vs_report_wish wish;
    const char *windows; /* the file, or NULL */
    regex_t site; /* compiled if wish.filter.site is set */
};

/* --by: names separated by commas. */
static int parse_by(const char *who, const char *text, void *to)
{
    unsigned *by = to;
    char word[16];
    while (*text) {
        size_t length = strcspn(text, ",");
        enum vs_by one = VS_BY_COUNT;
        if (length < sizeof word) {
            memcpy(word, text, length);
            word[length] = 0;
            one = vs_by_parse(word);
        }
        if (length == 3 && memcmp(text, "all", 3) == 0)
            *by |= (1u << VS_BY_COUNT) - 1;
        else if (one == VS_BY_COUNT)
            break;
        else
            *by |= 1u << one;
        text += length;
        text += *text == ',' && text[1] ? 1 : 0;
    }
    if (*by && !*text)
        return 0;
    return vs_tool_usage(who, "--by takes site, kind, phase, step, library, size, age, op, module or all, with commas "
                              "between them, not '%s'", text);
}

/* --step: "12" or "3-12". */
static bool parse_steps(const char *text, void *filled)
{
    struct vs_held_filter *filter = filled;
    filter->steps = vs_part_steps(text, &filter->step_from, &filter->step_to);
    return filter->steps;
}

static int parse_site(const char *who, const char *text, void *to)
{
    struct report_arguments *args = to;
    char why[160];
    if (args->wish.filter.site)
        regfree(&args->site);
    args->wish.filter.site = NULL;
    int error = regcomp(&args->site, text, REG_EXTENDED | REG_NOSUB);
    if (error) {
        regerror(error, &args->site, why, sizeof why);
        return vs_tool_usage(who, "--site takes an extended regular expression; '%s' is none: %s", text, why);
    }
    args->wish.filter.site = &args->site;
    args->wish.filter.site_text = text;
    return 0;
}

static bool parse_least(const char *text, void *to)
{
    uint64_t *bytes = to;
    return vs_size_parse(text, bytes) == VS_OK && *bytes;
}

static int parse(int argc, char **argv, struct report_arguments *args)
{
    struct vs_held_filter *filter = &args->wish.filter;
    const struct vs_tool_option options[] = {
        {"json", .flag = &args->json},
        {"partial", .flag = &args->partial},
        {"full", .flag = &args->full},
        {"top", .count = &args->top, .min = 1, .max = 100000, .quoted = true,
         .takes = "a number from 1 to 100000"},
        {"color", .colour = &args->colour},
        {"at", .part = &args->part},
        {"from", .part = &args->part},
        {"to", .part = &args->part},
        {"by", .run = parse_by, .to = &args->wish.by},
        {"map", .flag = &args->wish.map},
        {"kernels", .flag = &args->wish.kernels},
        {"transfers", .flag = &args->wish.transfers},
        {"syncs", .flag = &args->wish.syncs},
        {"torch-summary", .flag = &args->torch_summary},
        {"phase", .text = &filter->phase},
        {"step", .parse = parse_steps, .to = filter, .quoted = true,
         .takes = "a step's number such as 12, or a range such as 3-12"},
        {"site", .run = parse_site, .to = args},
        {"min-bytes", .parse = parse_least, .to = &filter->min_bytes, .quoted = true,
         .takes = "a size such as 64KiB or 1MiB"},
        {"device", .parse = vs_part_device, .to = &args->part, .quoted = true,
         .takes = "a device's number such as 0"},
        {"windows", .text = &args->windows},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (code)
        return code;
    args->wish.one_device = args->part.one_device;
    args->wish.device = args->part.device;
    if (argc == optind)
        return vs_tool_usage(argv[0], "no trace given");
    if (vs_report_wish_time(&args->wish)) {
        if (filter->phase || filter->site || filter->min_bytes)
            return vs_tool_usage(argv[0], "--phase, --site and --min-bytes choose memory: with --kernels, --transfers and "
                                 "--syncs use --step, or --from and --to");
        if (filter->steps && vs_part_given(&args->part))
            return vs_tool_usage(argv[0], "--step cannot be combined with --at, --from or --to here");
        args->part.steps = filter->steps; /* the time of these steps, not the memory allocated in them */
        args->part.step_from = filter->step_from;
        args->part.step_to = filter->step_to;
        filter->steps = false;
    }
    if (args->torch_summary && (args->json || args->windows || args->part.from.kind || args->part.to.kind ||
                                vs_report_wish_memory(&args->wish) || vs_report_wish_time(&args->wish)))
        return vs_tool_usage(argv[0], "--torch-summary can be combined with --at, --device and --partial only");
    if (args->windows && !args->json)
        return vs_tool_usage(argv[0], "--windows needs --json");
    if (args->windows && vs_part_given(&args->part))
        return vs_tool_usage(argv[0], "--windows reads the whole trace, so it cannot be combined with --at, --from "
                             "or --to");
    return VS_EXIT_OK;
}

static bool report_one(const char *who, const char *path, const struct report_arguments *args)
{
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_report_wish wish = args->wish;
    wish.everything = args->json;
    struct vs_report_options options = {.sites_max = args->top, .wish = &wish, .timeline = true, .all_growth = args->full};
    if (!vs_tool_report_part(who, path, args->partial, "--partial", &options, &args->part, &reader,
                             &report))
        return false;
    struct vs_report_window *windows = NULL;
    size_t count = 0;
    bool good = vs_report_wish_known(who, path, report) &&
                (!args->windows || vs_window_file_read(who, args->windows, &windows, &count));
    if (good && args->windows) {
        vs_window_peaks(reader, &report->memory, report->start_ns, windows, count, args->top);
        report->windows = windows;
        report->window_count = count;
    }
    struct vs_style style = vs_tool_style_full(&args->colour, args->top, args->full);
    style.started_ns = report->start_realtime_ns;
    if (good && args->json)
        vs_report_json(report, false, stdout);
    else if (good)
        vs_report_text(report, 0, &style);
    free(windows);
    vs_report_free(report);
    vs_reader_close(reader);
    return good;
}

static bool print_torch_summary(const char *who, const char *path, const struct report_arguments *args)
{
    struct vs_reader *reader;
    char why[VS_READER_WHY_MAX];
    struct vs_time_window window = {0};
    if (!vs_tool_open(who, path, &reader))
        return false;
    if (vs_part_given(&args->part) && !vs_part_resolve(who, path, reader, &args->part, &window)) {
        vs_reader_close(reader);
        return false;
    }
    char *table;
    size_t bytes;
    FILE *out = vs_xstream(&table, &bytes); /* not printed of a damaged trace */
    enum vs_err err = vs_torch_summary(reader, &window, args->wish.one_device, args->wish.device, out);
    enum vs_condition condition = vs_reader_condition(reader, why);
    vs_reader_close(reader);
    vs_xstream_end(out);
    if (err == VS_ERR_UNSUPPORTED)
        vs_tool_fail(who, "%s: --torch-summary needs every allocation, and some are not in the trace; record without "
                     "--sample, --min-size and --max-trace-size, and do not pause", path);
    else if (err == VS_ERR_NOT_FOUND || (err == VS_ERR_STATE && !vs_part_given(&args->part)))
        vs_tool_fail(who, "%s: no memory of PyTorch was recorded%s; vramscope report %s prints what was", path,
                     args->wish.one_device ? " on that device" : "", path);
    else if (err == VS_ERR_STATE)
        vs_tool_fail(who, "%s: PyTorch had allocated no memory by then; give a later time", path);
    else if (err)
        vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    bool good = !err && vs_tool_usable(who, path, condition, why, args->partial, "--partial");
    if (good)
        fputs(table, stdout);
    free(table);
    return good;
}

static int report_main(int argc, char **argv)
{
    struct report_arguments args = {0};
    struct vs_trace_list list = {0};
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    bool good = true;
    for (int i = optind; good && i < argc; i++)
        good = vs_trace_list_add(argv[0], &list, argv[i]);
    if (good && list.count > 1)
        vs_trace_list_single(argv[0], &list);
    const struct vs_report_wish *wish = &args.wish;
    bool part = args.windows || vs_part_given(&args.part) || wish->one_device || vs_report_wish_memory(wish) ||
                vs_report_wish_time(wish) || args.torch_summary;
    if (good && list.count > 1 && part) {
        vs_tool_usage(argv[0], "options that choose a part of a trace take one trace");
        good = false;
    } else if (good && list.count == 1) {
        good = args.torch_summary ? print_torch_summary(argv[0], list.paths[0], &args)
                                  : report_one(argv[0], list.paths[0], &args);
    } else if (good) {
        struct vs_style style = vs_tool_style_full(&args.colour, args.top, args.full);
        good = vs_tool_tree(argv[0], &list, &style, args.json, args.partial);
    }
    vs_trace_list_free(&list);
    if (args.wish.filter.site)
        regfree(&args.site);
    return good ? vs_tool_finish(argv[0], stdout, VS_EXIT_OK) : VS_EXIT_UNUSABLE;
}

const struct vs_command vs_cmd_report = {
    "report", "print peaks, call sites, leaks, fragmentation, kernels", usage, report_main, true};
