/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope symbolize: writes function names into a trace. */
#include <getopt.h>
#include <sys/stat.h>

#include "base/vs_size.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "trace/symbols/symbols.h"

#define MODULES_SHOWN 10

static const char usage[] =
    "usage: vramscope symbolize [OPTIONS] TRACE\n"
    "\n"
    "Looks up the function, file and line of every frame in the trace's call stacks\n"
    "and writes them into the trace, so that every verb shows them on a machine\n"
    "without the program. Run it again with better debug files to add names; names\n"
    "are never lost. The trace of a killed program is completed first.\n"
    "\n"
    "  -o, --output FILE     write to FILE, and leave TRACE unchanged\n"
    "  -q, --quiet           print errors only\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 written, even if some addresses have no name (they are listed);\n"
    "2 the trace is unreadable, FILE cannot be written, or wrong usage.\n";

static uint64_t bytes_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static int symbolize_main(int argc, char **argv)
{
    const char *output = NULL;
    bool quiet = false;
    const struct vs_tool_option options[] = {
        {"output", 'o', .text = &output}, {"quiet", 'q', .flag = &quiet}, {0}};
    char why[VS_READER_WHY_MAX] = "";
    struct vs_symbolize_result result;
    int code = vs_tool_options(argc, argv, usage, options);
    if (!code && argc - optind != 1)
        code = vs_tool_usage(argv[0], argc == optind ? "no trace given" : "takes one trace");
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    const char *path = argv[optind];
    if (!vs_tool_output(argv[0], path, &output))
        return VS_EXIT_UNUSABLE;
    const char *written = output ? output : path;
    uint64_t before = bytes_of(path);
    vs_tool_discard_on_signals();
    vs_symbol_tool_prefer_files();
    enum vs_err err = vs_symbolize(path, output, &result, why);
    vs_symbol_tool_done();
    if (err)
        code = vs_tool_fail(argv[0], "%s", *why ? why : vs_err_text(err));
    else if (!quiet) {
        vs_tool_print("%s: %s of %s addresses named, %s with file and line; file size %s, was %s",
                      written, vs_count_text(result.named), vs_count_text(result.places),
                      vs_count_text(result.with_lines), vs_size_text(bytes_of(written)),
                      vs_size_text(before));
        if (result.recovered)
            vs_tool_print("the program was killed: its last %s events were recovered",
                          vs_count_text(result.recovered));
        if (result.unnamed_count)
            vs_tool_print("without a name:");
        for (size_t i = 0; i < result.unnamed_count && i < MODULES_SHOWN; i++)
            vs_tool_print("  %s of %s addresses in %s",
                          vs_count_text(result.unnamed[i].places - result.unnamed[i].named),
                          vs_count_text(result.unnamed[i].places), result.unnamed[i].name);
        if (result.unnamed_count > MODULES_SHOWN)
            vs_tool_print("  and in %zu more modules", result.unnamed_count - MODULES_SHOWN);
        if (*result.note && result.named < result.places) /* the note has the reason */
            vs_tool_print("%s", result.note);
    }
    if (!err && !quiet)
        vs_tool_over_limit(NULL, written);
    vs_symbolize_free(&result);
    return vs_tool_finish(argv[0], stdout, code);
}

const struct vs_command vs_cmd_symbolize = {
    "symbolize", "write function names into a trace, for other machines", usage,
    symbolize_main, true};
