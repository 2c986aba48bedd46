/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope export: a trace in another tool's format. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "tools/common/trace_part.h"
#include "tools/common/whole_file.h"
#include "trace/read/seek.h"
#include "viewer/export/export.h"
#include "viewer/report/report_parts.h"

#define COUNTER_NS 10000 /* points of a counter closer than this are merged, maxima kept */

static const char usage[] =
    "usage: vramscope export [OPTIONS] -f FORMAT TRACE\n"
    "\n"
    "Writes a trace in another tool's format.\n"
    "\n"
    "Formats (man vramscope-export describes each):\n"
#define VS_EXPORT_FORMAT(id, name, extension, options, help) \
    "  " name ": " help " (." extension ")\n"
#include "viewer/export/export_table.h"
#undef VS_EXPORT_FORMAT
    "\n"
    "  -f, --format FORMAT   one of these formats\n"
    "  -o, --output FILE     default: standard output (also \"-\"); compressed where it\n"
    "                        ends in .gz; parquet: the folder of the tables, required\n"
    "      --at T            formats of stacks (flamegraph to pprof): the memory live\n"
    "                        at that time; also --at peak, oom (the failure) or end.\n"
    "                        Default: at the peak of each device\n"
    "      --by bytes|count  flamegraph, collapsed: by bytes (default) or number of\n"
    "                        blocks\n"
    "      --inverted        flamegraph, collapsed, speedscope: from the allocating\n"
    "                        function to its callers\n"
    "      --device N        only this device: formats of stacks, csv, sqlite,\n"
    "                        parquet, rmm-csv\n"
    "      --min-bytes SIZE  timeline: lives and instants of blocks of this size and\n"
    "                        larger (default 1 % of the device or 64 MiB, whichever\n"
    "                        is less)\n"
    "      --all-points      write every counter point; by default points closer than\n"
    "                        10 us are merged, and maxima are kept\n"
    "      --from T, --to T  only this span, both ends included: its kernels and\n"
    "                        copies, and counters and ranges as they were then;\n"
    "                        formats of stacks: the memory allocated in it, freed or\n"
    "                        not; csv, sqlite, parquet: allocations live in it;\n"
    "                        json: its events.\n"
    "                        T: 12.5s, 850ms, 3m20s, -10s (before the end), 80%,\n"
    "                        @1234 (event)\n"
    "      --steps N[-M]     only these steps, marked by the program or found\n"
    "      --max-size SIZE   timeline: at most this size, before compression; the\n"
    "                        shortest kernels, copies, calls, waits and lives of\n"
    "                        blocks are left out. Refused where the rest is larger\n"
    "      --job NAME        parquet: the name of the job, if it was not recorded\n"
    "      --partial         use the readable events of a trace that is cut off or\n"
    "                        damaged\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 written; 2 the trace is unreadable, FILE cannot be written, or\n"
    "wrong usage (an existing FILE is unchanged then).\n";

static const char names[] =
#define VS_EXPORT_FORMAT(id, name, extension, options, help) " " name
#include "viewer/export/export_table.h"
#undef VS_EXPORT_FORMAT
    ;

struct export_arguments {
    const struct vs_export_format *format;
    const char *output, *max_size; /* max_size: as given */
    unsigned given; /* enum vs_export_option */
    struct vs_part_args part;
    struct vs_time_window window;
    struct vs_export_options options;
};

static bool parse_by(const char *text, void *to)
{
    struct export_arguments *args = to;
    args->given |= VS_EXPORT_BY;
    args->options.by_count = strcmp(text, "count") == 0;
    return args->options.by_count || strcmp(text, "bytes") == 0;
}

static bool parse_size(const char *text, void *to)
{
    uint64_t *bytes = to;
    return !vs_size_parse(text, bytes) && *bytes;
}

static bool parse_max_size(const char *text, void *to)
{
    struct export_arguments *args = to;
    args->max_size = text;
    return parse_size(text, &args->options.max_bytes);
}

static bool parse_steps(const char *text, void *to)
{
    struct export_arguments *args = to;
    args->part.steps = vs_part_steps(text, &args->part.step_from, &args->part.step_to);
    return args->part.steps;
}

static int parse(int argc, char **argv, struct export_arguments *args)
{
    const char *name = NULL;
    bool all_points = false;
    const struct vs_tool_option options[] = {
        {"format", 'f', .text = &name},
        {"output", 'o', .text = &args->output},
        {"min-bytes", .parse = parse_size, .to = &args->options.min_bytes, .quoted = true,
         .takes = "a size such as 64MiB"},
        {"instant-min", .parse = parse_size, .to = &args->options.min_bytes, .quoted = true, /* its earlier name */
         .takes = "a size such as 64MiB"},
        {"max-size", .parse = parse_max_size, .to = args, .quoted = true,
         .takes = "a size such as 200MB"},
        {"steps", .parse = parse_steps, .to = args, .quoted = true,
         .takes = "a step's number such as 12, or a range such as 10-12"},
        {"all-points", .flag = &all_points},
        {"job", .text = &args->options.job},
        {"partial", .flag = &args->options.partial},
        {"from", .part = &args->part},
        {"to", .part = &args->part},
        {"at", .part = &args->part},
        {"by", .parse = parse_by, .to = args, .quoted = true, .takes = "bytes or count"},
        {"inverted", .flag = &args->options.inverted},
        {"device", .parse = vs_part_device, .to = &args->part, .quoted = true,
         .takes = "a device's number such as 0"},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (code)
        return code;
    if (args->output && strcmp(args->output, "-") == 0)
        args->output = NULL;
    args->options.gzip = args->output && vs_text_ends(args->output, ".gz");
    if (all_points)
        args->options.counter_ns = 0;
    args->options.point = args->part.at.kind;
    args->options.one_device = args->part.one_device;
    args->options.device = args->part.device;
    args->given |= (all_points ? VS_EXPORT_ALL_POINTS : 0) | (args->part.at.kind ? VS_EXPORT_AT : 0) |
                   (args->part.from.kind || args->part.to.kind || args->part.steps ? VS_EXPORT_SPAN : 0) |
                   (args->options.inverted ? VS_EXPORT_INVERTED : 0) |
                   (args->options.min_bytes ? VS_EXPORT_MIN_BYTES : 0) |
                   (args->options.max_bytes ? VS_EXPORT_MAX_SIZE : 0) |
                   (args->part.one_device ? VS_EXPORT_DEVICE : 0) | (args->options.job ? VS_EXPORT_JOB : 0);
    if (args->part.steps && (args->part.at.kind || args->part.from.kind || args->part.to.kind))
        return vs_tool_usage(argv[0], "--steps cannot be combined with --at, --from or --to");
    if (!name)
        return vs_tool_usage(argv[0], "no format given (-f); available:%s", names);
    args->format = vs_export_find(name);
    if (!args->format)
        return vs_tool_usage(argv[0], "unknown format '%s'; available:%s", name, names);
    const char *unused = vs_export_unused(args->format, args->given);
    if (unused)
        return vs_tool_usage(argv[0], "format %s does not use %s", name, unused);
    if (args->format->options & VS_EXPORT_FOLDER && !args->output)
        return vs_tool_usage(argv[0], "no folder given for format %s (-o FOLDER)", name);
    args->options.folder = args->format->options & VS_EXPORT_FOLDER ? args->output : NULL;
    if (argc - optind != 1)
        return vs_tool_usage(argv[0], argc == optind ? "no trace given" : "takes one trace");
    return VS_EXIT_OK;
}

/* *out* is NULL for a folder. */
static int write_to(const char *who, struct vs_reader *reader, const char *path,
                    struct vs_whole_file *out, const struct export_arguments *args)
{
    struct vs_export_result result = {0};
    enum vs_err err = vs_export(args->format, reader, out ? out->stream : NULL, &args->options, &result);
    int saved_errno = errno;
    vs_symbol_tool_done();
    if (err == VS_ERR_IO)
        return vs_tool_fail(who, "cannot write %s: %s", out ? out->name : args->output, strerror(saved_errno));
    if (err == VS_ERR_NOT_FOUND)
        return vs_tool_fail(who, "%s: --device %llu: the program did not use that device", path,
                            (unsigned long long)args->options.device);
    if (err == VS_ERR_LIMIT)
        return vs_tool_fail(who, "--max-size %s: counters, ranges and instants alone take %s (%llu bytes), before "
                            "compression; select a part with --steps or --from and --to%s, or give no --max-size and a "
                            "FILE that ends in .gz", args->max_size, vs_size_text(result.least_bytes),
                            (unsigned long long)result.least_bytes,
                            strcmp(args->format->name, "chrome") == 0 ? ", use -f perfetto, which is smaller" : "");
    if (err == VS_ERR_UNSUPPORTED)
        return vs_tool_fail(who, "format %s needs a library that this vramscope was built without "
                            "(man vramscope-export says which): install it and build again",
                            args->format->name);
    if (err)
        return vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    enum vs_condition condition = result.ended ? result.condition : VS_TRACE_COMPLETE;
    const char *why = result.why;
    if (!vs_tool_usable(who, path, condition, why, args->options.partial, "--partial"))
        return VS_EXIT_UNUSABLE;
    if (condition != VS_TRACE_COMPLETE)
        vs_tool_fail(who, "%s: %s", path, why); /* a warning; the readable part was exported */
    /* Warns that the output lacks events that were not recorded. */
    const struct vs_recording_state *state = &result.recording;
    char text[VS_RECORDING_TEXT_MAX];
    if (state->min_size || state->sample > 1)
        vs_tool_fail(who, "%s: %s; %s", path, vs_recording_partial_text(text, state),
                     args->format->options & VS_EXPORT_MIN_BYTES
                         ? "counters are exact, but only those allocations are drawn"
                     : args->format->options & VS_EXPORT_AT ? "the sums of single stacks are estimates"
                                                      : "only those allocations are in the output");
    if (*vs_recording_limit_text(text, state))
        vs_tool_fail(who, "%s: limited by the trace's size: %s", path, text);
    if (result.clipped)
        fprintf(stderr, "%s: %llu slices overlapped others on their stream and were cut short\n",
                who, (unsigned long long)result.clipped);
    if (result.left_out)
        fprintf(stderr, "%s: left out to stay below %s: %llu of %llu kernels, copies, calls, waits and lives of "
                "blocks, those shorter than %s\n", who, args->max_size,
                (unsigned long long)result.left_out, (unsigned long long)result.selectable,
                vs_time_text(result.shortest_ns));
    return VS_EXIT_OK;
}

static int export_main(int argc, char **argv)
{
    struct export_arguments args = {.options = {.counter_ns = COUNTER_NS}};
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    const char *path = argv[optind];
    struct vs_reader *reader;
    if (!vs_tool_open(argv[0], path, &reader))
        return VS_EXIT_UNUSABLE;
    if (vs_part_given(&args.part)) {
        if (!vs_part_resolve(argv[0], path, reader, &args.part, &args.window)) {
            vs_reader_close(reader);
            return VS_EXIT_UNUSABLE;
        }
        args.options.window = &args.window;
    }
    struct vs_whole_file out;
    if (args.options.folder) {
        vs_tool_discard_on_signals();
        code = write_to(argv[0], reader, path, NULL, &args);
    } else if (args.output && vs_tool_is_same_file(args.output, path))
        code = vs_tool_fail(argv[0], "%s is the trace itself; give another file with -o", args.output);
    else if ((args.output && !vs_tool_may_overwrite(argv[0], args.output)) ||
             !vs_whole_file_open(argv[0], args.output, false, &out))
        code = VS_EXIT_UNUSABLE;
    else {
        vs_whole_file_like(&out, path);
        code = vs_whole_file_end(argv[0], &out, write_to(argv[0], reader, path, &out, &args));
    }
    vs_reader_close(reader);
    return code;
}

const struct vs_command vs_cmd_export = {
    "export", "convert a trace to another tool's format", usage, export_main, true};
