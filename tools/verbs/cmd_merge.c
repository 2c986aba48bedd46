/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope merge: the traces of one job on one clock. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_text.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "tools/common/whole_file.h"
#include "viewer/common/gzip_stream.h"
#include "viewer/export/export.h"
#include "viewer/merge/merge_output.h"
#include "viewer/sqlite/sqlite_merge.h"

#define COUNTER_NS 10000 /* as of export */

static const char usage[] =
    "usage: vramscope merge [OPTIONS] TRACE|FOLDER...\n"
    "\n"
    "Compares the processes of one job, such as the ranks of a distributed training,\n"
    "and puts their traces on one clock: what each needed, which one differs from the\n"
    "others, which one the others wait for, and which ran out of memory first.\n"
    "\n"
    "  -f, --format FORMAT   also write all of them to a file, one of\n"
    "                        perfetto: timeline for ui.perfetto.dev (.pftrace)\n"
    "                        chrome: the same as JSON (.json)\n"
    "                        sqlite: their tables, with a column for the rank (.db)\n"
    "                        parquet: tables for DuckDB and Spark, in a folder\n"
    "                        html: page with the memory of each rank by step (.html)\n"
    "  -o, --output FILE     that file, required with -f (\"-\": standard output);\n"
    "                        compressed where it ends in .gz\n"
    "      --job NAME        parquet: the name of the job, if it was not recorded\n"
    "      --json            JSON (schema vramscope.merge/1)\n"
    "      --full            a row for each process, however many there are\n"
    "      --partial         use the readable events of traces that are cut off or\n"
    "                        damaged, and skip those that cannot be read\n"
    "      --color WHEN      auto (default), always or never; NO_COLOR is respected\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 printed and written; 2 a trace is unreadable, FILE cannot be\n"
    "written, or wrong usage (an existing FILE is unchanged then).\n";

enum { NO_FORMAT, PERFETTO, CHROME, SQLITE, HTML, PARQUET };

struct merge_arguments {
    unsigned format;
    const char *output, *job;
    bool json, full, partial;
    struct vs_tool_colour colour;
};

static int parse(int argc, char **argv, struct merge_arguments *args)
{
    static const char *const names[] = {"", "perfetto", "chrome", "sqlite", "html", "parquet"};
    const char *name = NULL;
    const struct vs_tool_option options[] = {{"format", 'f', .text = &name},
                                             {"output", 'o', .text = &args->output},
                                             {"job", .text = &args->job},
                                             {"json", .flag = &args->json},
                                             {"full", .flag = &args->full},
                                             {"partial", .flag = &args->partial},
                                             {"color", .colour = &args->colour},
                                             {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (code)
        return code;
    for (unsigned i = 1; name && i < sizeof names / sizeof *names; i++)
        args->format = strcmp(name, names[i]) ? args->format : i;
    if (name && !args->format)
        return vs_tool_usage(argv[0], "unknown format '%s'; available: perfetto chrome sqlite html parquet", name);
    if (name && !args->output)
        return vs_tool_usage(argv[0], "no file given for format %s (-o FILE)", name);
    if (args->output && !name)
        return vs_tool_usage(argv[0], "no format given for %s (-f)", args->output);
    if (args->format == PARQUET && strcmp(args->output, "-") == 0)
        return vs_tool_usage(argv[0], "format parquet writes a folder, not standard output");
    if (args->job && args->format != PARQUET)
        return vs_tool_usage(argv[0], "--job is for -f parquet");
    return argc == optind ? vs_tool_usage(argv[0], "no trace given") : VS_EXIT_OK;
}

/* The timeline: each trace after the one before, in their order. */
static enum vs_err write_timeline(const struct vs_merge *merge, const struct merge_arguments *args,
                                  FILE *out, const char **trace)
{
    const struct vs_export_format *format = vs_export_find(args->format == CHROME ? "chrome" : "perfetto");
    struct vs_export_result result = {0};
    for (unsigned i = 0; i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        const struct vs_export_member member = {i, (unsigned)merge->count, rank->name, &rank->clock, result.written};
        const struct vs_export_options options = {.counter_ns = COUNTER_NS, .member = &member};
        char why[VS_READER_WHY_MAX];
        struct vs_reader *reader;
        *trace = rank->path;
        enum vs_err err = vs_reader_open(rank->path, &reader, why);
        if (err)
            return err;
        err = vs_export(format, reader, out, &options, &result);
        vs_reader_close(reader);
        if (err)
            return err;
    }
    return VS_OK;
}

/* *out* is NULL for a folder. */
static int write_to(const char *who, const struct vs_merge *merge, const struct merge_arguments *args,
                    struct vs_whole_file *out)
{
    bool gzip = out && vs_text_ends(out->name, ".gz");
    FILE *to = gzip ? vs_gzip_stream(out->stream) : out ? out->stream : NULL;
    const char *trace = merge->ranks[0].path;
    enum vs_err err = VS_OK;
    if (!out)
        err = vs_merge_parquet(merge, args->output, args->job, &trace);
    else if (args->format == HTML)
        vs_merge_page(merge, to);
    else if (args->format == SQLITE)
        err = vs_merge_sqlite(merge, to);
    else
        err = write_timeline(merge, args, to, &trace);
    int saved_errno = errno;
    if (out && (ferror(to) || (gzip && fclose(to)))) {
        err = err ? err : VS_ERR_IO;
        saved_errno = errno;
    }
    if (err == VS_ERR_IO)
        return vs_tool_fail(who, "cannot write %s: %s", out ? out->name : args->output, strerror(saved_errno));
    if (err == VS_ERR_UNSUPPORTED)
        return vs_tool_fail(who, "sqlite and parquet need SQLite, which this vramscope was built without: "
                                 "install it and build again");
    return err ? vs_tool_fail(who, "%s: cannot read the trace: %s", trace, vs_err_text(err)) : VS_EXIT_OK;
}

static int write_file(const char *who, const struct vs_merge *merge, const struct merge_arguments *args)
{
    struct vs_whole_file file, *out = args->format == PARQUET ? NULL : &file;
    const char *output = strcmp(args->output, "-") ? args->output : NULL;
    if (!out)
        vs_tool_discard_on_signals();
    else if ((output && !vs_tool_may_overwrite(who, output)) || !vs_whole_file_open(who, output, false, out))
        return VS_EXIT_UNUSABLE;
    else
        vs_whole_file_like(out, merge->ranks[0].path);
    int code = write_to(who, merge, args, out);
    code = out ? vs_whole_file_end(who, out, code) : code;
    vs_symbol_tool_done();
    return code;
}

static int merge_main(int argc, char **argv)
{
    struct merge_arguments args = {0};
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    struct vs_trace_list list = {0};
    struct vs_merge *merge = NULL;
    char why[VS_READER_WHY_MAX] = "";
    bool good = true;
    for (int i = optind; i < argc && good; i++)
        good = vs_trace_list_add(argv[0], &list, argv[i]);
    if (good)
        vs_trace_list_single(argv[0], &list);
    good = good && vs_trace_list_readable(argv[0], &list, args.partial);
    enum vs_err err = VS_OK;
    if (good && (err = vs_merge_build((const char *const *)list.paths, list.count, &merge, why)) != VS_OK)
        good = vs_tool_fail(argv[0], "%s", *why ? why : vs_err_text(err)) == VS_EXIT_OK;
    for (size_t i = 0; good && i < merge->count; i++) {
        const struct vs_rank *rank = &merge->ranks[i];
        good = vs_tool_usable(argv[0], rank->path, rank->condition, rank->condition_text, args.partial, "--partial");
        if (good && rank->condition != VS_TRACE_COMPLETE)
            vs_tool_fail(argv[0], "%s: %s", rank->path, rank->condition_text);
    }
    code = VS_EXIT_UNUSABLE;
    if (good) {
        code = args.format ? write_file(argv[0], merge, &args) : VS_EXIT_OK;
        bool to_stdout = args.output && strcmp(args.output, "-") == 0;
        struct vs_style style = vs_tool_style_full(&args.colour, 0, args.full);
        if (to_stdout)
            ; /* the output itself */
        else if (args.json)
            vs_merge_json(merge, stdout);
        else
            vs_merge_text(merge, &style);
        code = vs_tool_finish(argv[0], stdout, code);
    }
    vs_merge_free(merge);
    vs_trace_list_free(&list);
    return code;
}

const struct vs_command vs_cmd_merge = {
    "merge", "compare the processes of one job on one clock", usage, merge_main, true};
