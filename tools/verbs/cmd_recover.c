/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope recover: turns a trace without an end into a finished file. Readers recover by
 * themselves; this is for traces that are copied or archived. */
#include <getopt.h>
#include <stdio.h>

#include "base/vs_size.h"
#include "tools/common/tool_options.h"
#include "trace/read/rewrite.h"

static const char usage[] =
    "usage: vramscope recover [OPTIONS] TRACE\n"
    "\n"
    "Completes a trace that has no end, because its program was killed or its disk\n"
    "was full: the events in TRACE.live are moved into TRACE, and TRACE.live is\n"
    "removed. Every verb reads such a trace without this, too; a finished trace is a\n"
    "single, smaller file that opens faster. Complete traces are left unchanged.\n"
    "\n"
    "  -o, --output FILE     write to FILE, and leave TRACE and TRACE.live unchanged\n"
    "\n"
    "Exit codes: 0 the trace is complete, 2 the trace is unreadable or is being\n"
    "recorded, FILE cannot be written, or wrong usage.\n";

static int recover_main(int argc, char **argv)
{
    const char *output = NULL;
    const struct vs_tool_option options[] = {{"output", 'o', .text = &output}, {0}};
    struct vs_rewrite *rewrite;
    enum vs_condition condition;
    char text[VS_READER_WHY_MAX] = "", why[VS_READER_WHY_MAX] = "";
    int code = vs_tool_options(argc, argv, usage, options);
    if (!code && argc - optind != 1)
        code = vs_tool_usage(argv[0], argc == optind ? "no trace given" : "takes one trace");
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    const char *path = argv[optind];
    if (!vs_tool_output(argv[0], path, &output))
        return VS_EXIT_UNUSABLE;
    code = vs_tool_condition(argv[0], path, &condition, text);
    if (code)
        return code;
    if (condition == VS_TRACE_COMPLETE && !output) {
        vs_tool_print("%s: %s; nothing to recover", path, text);
        return vs_tool_finish(argv[0], stdout, VS_EXIT_OK);
    }
    vs_tool_discard_on_signals();
    unsigned readable = condition == VS_TRACE_DAMAGED ? VS_REWRITE_READABLE : 0;
    if (vs_rewrite_open(path, output, readable, &rewrite, why))
        return vs_tool_fail(argv[0], "%s", *why ? why : "out of memory");
    uint64_t left_out = vs_rewrite_left_out(rewrite);
    if (vs_rewrite_commit(rewrite, why))
        return vs_tool_fail(argv[0], "%s", *why ? why : "out of memory");
    vs_tool_print("%s: %s", path, text);
    if (left_out)
        vs_tool_print("dropped: the last %s bytes of %s, which are not readable",
                      vs_count_text(left_out), path);
    vs_tool_print("%s is complete now; if its program was killed, vramscope check still needs --partial",
                  output ? output : path);
    return vs_tool_finish(argv[0], stdout, VS_EXIT_OK);
}

const struct vs_command vs_cmd_recover = {
    "recover", "complete the trace of a killed program", usage, recover_main, false};
