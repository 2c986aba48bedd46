/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope check: memory budgets for CI. An incomplete trace never passes without a message: the
 * missing part could exceed the budget. */
#include <getopt.h>
#include <string.h>

#include "analysis/report/budget.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/report_names.h"
#include "viewer/report/budget_text.h"
#include "viewer/report/recording_text.h"

static const char usage[] =
    "usage: vramscope check [OPTIONS] --max-peak SIZE TRACE...\n"
    "\n"
    "Compares the memory of each device in TRACE with a budget. For a budget that is exceeded,\n"
    "prints by how much and the call sites that hold the memory.\n"
    "\n"
    "  --max-peak SIZE         the highest allowed peak, such as 6GiB\n"
    "  --metric METRIC         what --max-peak limits: allocated (default), requested or reserved;\n"
    "                          under PyTorch allocated is that of its tensors, reserved that of\n"
    "                          the segments in which it keeps them\n"
    "  --max-live-at-end SIZE  the most memory still allocated at the end\n"
    "  --device N              only this device\n"
    "  --format FORMAT         text (default), json, github (workflow commands) or junit\n"
    "  --partial               use the readable events of a trace that is cut off or damaged, or\n"
    "                          whose program was killed\n"
    "  --color WHEN            auto (default), always or never\n"
    "\n"
    "Exit codes: 0 every budget was met; 1 a budget was exceeded; 2 a trace is unusable or\n"
    "incomplete, has no such device, or wrong usage (2 takes precedence over 1).\n";

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_GITHUB, FORMAT_JUNIT };

struct check_arguments {
    struct vs_budget budget;
    enum format format;
    bool partial, colour_given, colour;
};

static bool parse_format(const char *word, enum format *out)
{
    static const char *const names[] = {"text", "json", "github", "junit"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = (enum format)i;
            return true;
        }
    }
    return false;
}

static int parse_one(int c, char **argv, struct check_arguments *args)
{
    struct vs_budget *budget = &args->budget;
    unsigned long long device;
    switch (c) {
    case 'm':
        budget->has_peak = true;
        if (vs_size_parse(optarg, &budget->peak_max))
            return vs_tool_usage(argv[0], "--max-peak takes a size such as 6GiB, not '%s'", optarg);
        return 0;
    case 'l':
        budget->has_live = true;
        if (vs_size_parse(optarg, &budget->live_max))
            return vs_tool_usage(argv[0], "--max-live-at-end takes a size such as 0 or 64MiB, not "
                                 "'%s'", optarg);
        return 0;
    case 'M':
        if (vs_metric_parse(optarg, &budget->metric))
            return vs_tool_usage(argv[0], "--metric takes allocated, requested or reserved");
        return 0;
    case 'd':
        budget->one_device = true;
        if (!vs_tool_count(optarg, 0, 1 << 20, &device))
            return vs_tool_usage(argv[0], "--device takes a device number");
        budget->device = device;
        return 0;
    case 'f':
        if (!parse_format(optarg, &args->format))
            return vs_tool_usage(argv[0], "--format takes text, json, github or junit");
        return 0;
    case 'p': args->partial = true; return 0;
    case 'c':
        args->colour_given = strcmp(optarg, "auto") != 0;
        if (!vs_tool_colour(optarg, &args->colour))
            return vs_tool_usage(argv[0], "--color takes auto, always or never");
        return 0;
    case 'h': fputs(usage, stdout); return -1;
    default: return vs_tool_bad_option(argv, c);
    }
}

static int parse(int argc, char **argv, struct check_arguments *args)
{
    static const struct option options[] = {
        {"max-peak", required_argument, NULL, 'm'}, {"metric", required_argument, NULL, 'M'},
        {"max-live-at-end", required_argument, NULL, 'l'},
        {"device", required_argument, NULL, 'd'},   {"format", required_argument, NULL, 'f'},
        {"partial", no_argument, NULL, 'p'},        {"color", required_argument, NULL, 'c'},
        {"allow-partial", no_argument, NULL, 'p'}, /* its former name */
        {"help", no_argument, NULL, 'h'},           {0}};
    int c, code;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        code = parse_one(c, argv, args);
        if (code)
            return code;
    }
    if (argc == optind)
        return vs_tool_usage(argv[0], "no trace given");
    if (!args->budget.has_peak && !args->budget.has_live)
        return vs_tool_usage(argv[0], "give --max-peak SIZE or --max-live-at-end SIZE");
    return 0;
}

static void print(const struct check_arguments *args, const struct vs_budget_result *result,
                  struct vs_json *json)
{
    struct vs_style style;
    switch (args->format) {
    case FORMAT_JSON: vs_budget_json(result, json); break;
    case FORMAT_GITHUB: vs_budget_github(result, stdout); break;
    case FORMAT_JUNIT: vs_budget_junit(result, stdout); break;
    case FORMAT_TEXT:
        vs_style_init(&style, stdout);
        if (args->colour_given)
            style.colour = args->colour;
        vs_budget_text(result, &style);
        break;
    }
}

/* The exit code for one trace. */
static int check_one(const char *who, const char *path, const struct check_arguments *args,
                     struct vs_json *json)
{
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_budget_line lines[VS_BUDGET_LINES_MAX];
    if (!vs_tool_report(who, path, args->partial, "--partial", 0, &reader, &report))
        return VS_EXIT_UNUSABLE;
    int code = VS_EXIT_OK;
    char cut[VS_RECORDING_TEXT_MAX];
    struct vs_budget_result result = {.report = report, .lines = lines};
    result.count = vs_budget_check(report, &args->budget, lines);
    for (size_t i = 0; i < result.count; i++)
        result.exceeded += lines[i].exceeded;
    if ((report->condition == VS_TRACE_LIVE || vs_recording_cut_text(cut, report)) &&
        !args->partial)
        code = vs_tool_fail(who, "%s: %s; add --partial to check the events it contains", path,
                            report->condition == VS_TRACE_LIVE ? report->condition_text : cut);
    else if (result.count == 0 && args->budget.one_device)
        code = vs_report_no_device(who, path, report, args->budget.device);
    else if (result.count == 0)
        code = vs_tool_fail(who, "%s: the trace has no device, so there is nothing to check", path);
    else
        print(args, &result, json);
    for (size_t i = 0; !code && i < report->dropped_count; i++) {
        if (!vs_recording_left_out(&report->recording, report->dropped[i].name))
            code = vs_tool_fail(who, "%s: %s %s were not recorded, so the peak may be higher", path,
                                report->dropped[i].value,
                                vs_recording_what(report->dropped[i].name));
    }
    if (!code && vs_recording_sums_old(report))
        code = vs_tool_fail(who, "%s: the last totals were written before the program ended, so the "
                                "peak may be higher", path);
    if (!code && result.exceeded)
        code = VS_EXIT_NO;
    vs_report_free(report);
    vs_reader_close(reader);
    return code;
}

static int check_main(int argc, char **argv)
{
    struct check_arguments args = {0};
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    struct vs_json json = {.out = stdout, .pretty = true};
    if (args.format == FORMAT_JSON) {
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "schema", "vramscope.check/2");
        vs_json_begin_array(&json, "traces");
    } else if (args.format == FORMAT_JUNIT) {
        puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vramscope check\">");
    }
    for (int i = optind; i < argc; i++) {
        int one = check_one(argv[0], argv[i], &args, &json);
        code = one > code ? one : code;
    }
    if (args.format == FORMAT_JSON) {
        vs_json_end_array(&json);
        vs_json_uint(&json, "exit_code", (uint64_t)code);
        vs_json_end_object(&json);
    } else if (args.format == FORMAT_JUNIT) {
        puts("</testsuites>");
    }
    return vs_tool_finish(argv[0], stdout, code);
}

const struct vs_command vs_cmd_check = {
    "check", "check memory budgets in CI: exit 0 met, 1 exceeded, 2 unusable", usage, check_main};
