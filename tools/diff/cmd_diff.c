/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope diff: what changed between two runs. Both traces stay open until the output is written,
 * because call sites at other times are read from them. */
#include <getopt.h>

#include "analysis/budget/budget_key.h"
#include "analysis/budget/phase_peaks.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "tools/common/trace_part.h"
#include "tools/common/whole_file.h"
#include "viewer/diff/diff_output.h"
#include "viewer/flame/svg_graph.h"

static const char usage[] =
    "usage: vramscope diff [OPTIONS] A B\n"
    "\n"
    "What changed in the GPU memory from run A to run B: peaks of each device and\n"
    "phase, call sites that are new, gone, grown, shrunk or moved, growth per step,\n"
    "leaks, counts, copies and kernels. Sizes, counts and names are compared, never\n"
    "addresses or times: two runs of one program are equal. Where the runs cannot be\n"
    "compared, the output says why and compares the rest.\n"
    "\n"
    "  --all              small differences too (below 1 %), and every row\n"
    "  --fail-on-regression[=TOL]\n"
    "                     exit 1 if a peak, the growth per step or the memory live at\n"
    "                     the end is larger in B, by more than TOL (2% or 16MiB;\n"
    "                     default 0), and name the lines that allocate more; also if\n"
    "                     only B ran out of memory or failed\n"
    "  --flamegraph FILE  also write both peaks as one flame graph: red has grown,\n"
    "                     blue has shrunk\n"
    "  --json             as JSON (docs/schema/diff.schema.json)\n"
    "  --partial          use the readable events of a trace that is cut off or\n"
    "                     damaged, or whose program was killed\n"
    "  --color WHEN       auto (default), always or never\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 compared; 1 a regression, with --fail-on-regression; 2 a trace is\n"
    "unreadable, both have no device in common, or wrong usage.\n";

struct diff_command {
    const char *who;
    bool all, json, judge, partial;
    struct vs_tool_colour colour;
    const char *flamegraph; /* file; NULL: none */
    struct vs_budget tolerance; /* only its tolerance */
};

static int parse_tolerance(const char *who, const char *text, void *to)
{
    struct diff_command *command = to;
    static const char key[] = "tolerance";
    static const struct vs_budget_scope whole;
    char why[VS_BUDGET_WHY_MAX];
    command->judge = true;
    if (!text)
        return 0;
    enum vs_err err = vs_budget_set(&command->tolerance, vs_budget_key_find(key, sizeof key - 1), text, &whole,
                                    "--fail-on-regression", why);
    if (err)
        return err == VS_ERR_ARG ? vs_tool_usage(who, "--fail-on-regression %s", why)
                                 : vs_tool_fail(who, "%s", vs_err_text(err));
    return 0;
}

/* All kernels and call sites are listed: the longest or heaviest ones of two runs need not be the same. */
static bool read_run(const struct diff_command *command, const char *path, struct vs_measured *run)
{
    static const struct vs_part_args whole;
    struct vs_phase_peaks *peaks = vs_phase_peaks_open();
    const struct vs_observer observer = vs_phase_peaks_observer(peaks);
    struct vs_report_options options = {.sites_max = 1u << 20, .kernels_max = 1u << 20, .all_growth = true,
                                        .observers = &observer, .observer_count = 1};
    bool good = false;
    if (!vs_tool_report_part(command->who, path, command->partial, "--partial", &options, &whole,
                             &run->reader, &run->report)) {
        *run = (struct vs_measured){0}; /* nothing is open */
    } else {
        vs_measure(run, peaks);
        good = run->report->device_count;
        if (!good)
            vs_tool_fail(command->who, "%s: the trace has no device, so there is nothing to compare", path);
    }
    vs_phase_peaks_close(peaks);
    return good;
}

static int write_graph(const struct diff_command *command, struct vs_comparison *comparison)
{
    struct vs_whole_file file;
    if (!vs_tool_may_overwrite(command->who, command->flamegraph) ||
        !vs_whole_file_open(command->who, command->flamegraph, false, &file))
        return VS_EXIT_UNUSABLE;
    enum vs_err err = vs_diff_graph_write(comparison, file.stream);
    int code = VS_EXIT_OK;
    if (err && err != VS_ERR_IO) /* that one is reported at the end of the file */
        code = vs_tool_fail(command->who, "%s: %s", command->flamegraph, vs_err_text(err));
    return vs_whole_file_end(command->who, &file, code);
}

static int compare(const struct diff_command *command, struct vs_measured *a, struct vs_measured *b)
{
    struct vs_comparison comparison = {0};
    int code;
    vs_compare(&comparison, a, b);
    if (!comparison.common_devices)
        code = vs_tool_fail(command->who, "%s and %s have no device in common: device %llu in A, "
                            "device %llu in B; run both on the same device",
                            a->report->path, b->report->path, (unsigned long long)a->report->devices[0].device,
                            (unsigned long long)b->report->devices[0].device);
    else {
        struct vs_regressions regressions = {0};
        if (command->judge)
            vs_regressions_find(&comparison, command->tolerance.tolerance_bytes,
                                command->tolerance.tolerance_millionths, &regressions);
        struct vs_diff_result result = {
            .comparison = &comparison, .regressions = command->judge ? &regressions : NULL,
            .all = command->all, .tolerance = command->tolerance.tolerance,
            .exit_code = regressions.count || regressions.ended ? VS_EXIT_NO : VS_EXIT_OK};
        struct vs_style style = vs_tool_style(&command->colour, stdout);
        if (command->json)
            vs_diff_json(&result, stdout);
        else
            vs_diff_text(&result, &style);
        vs_regressions_free(&regressions);
        code = vs_tool_finish(command->who, stdout, result.exit_code);
    }
    if (command->flamegraph && comparison.common_devices && code != VS_EXIT_UNUSABLE &&
        write_graph(command, &comparison) != VS_EXIT_OK)
        code = VS_EXIT_UNUSABLE;
    vs_comparison_free(&comparison);
    return code;
}

static int diff_main(int argc, char **argv)
{
    struct diff_command command = {.who = argv[0]};
    struct vs_measured a = {0}, b = {0};
    const struct vs_tool_option options[] = {
        {"all", .flag = &command.all},
        {"fail-on-regression", .run = parse_tolerance, .to = &command, .optional = true},
        {"json", .flag = &command.json},
        {"partial", .flag = &command.partial},
        {"color", .colour = &command.colour},
        {"flamegraph", .text = &command.flamegraph},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (!code && argc - optind != 2)
        code = vs_tool_usage(argv[0], "takes two traces, A and B; %d given", argc - optind);
    if (!code) {
        bool good = read_run(&command, argv[optind], &a);
        good &= read_run(&command, argv[optind + 1], &b);
        code = good ? compare(&command, &a, &b) : VS_EXIT_UNUSABLE;
    }
    vs_measured_free(&a);
    vs_measured_free(&b);
    vs_budget_free(&command.tolerance);
    return code < 0 ? VS_EXIT_OK : code;
}

const struct vs_command vs_cmd_diff = {
    "diff", "what changed between two runs: peaks, call sites, counts", usage, diff_main, true};
