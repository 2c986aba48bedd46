/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope index: adds checkpoints to traces. */
#include <getopt.h>

#include "base/vs_clock.h"
#include "base/vs_size.h"
#include "tools/common/tool_options.h"
#include "tools/common/trace_part.h"
#include "trace/read/seek.h"

#define EVERY_DEFAULT (UINT64_C(1) << 20) /* the default interval, for 0 */

static const char usage[] =
    "usage: vramscope index [OPTIONS] TRACE...\n"
    "\n"
    "Adds checkpoints to traces, so that any part of a long trace opens at once\n"
    "(report --at, --from, --to). `vramscope run` adds them to long traces already.\n"
    "The trace of a killed program is completed on the way. A new file is written\n"
    "beside the trace and replaces it at the end; when this is interrupted, the trace\n"
    "is unchanged.\n"
    "\n"
    "  --every N       at least N events between two checkpoints (1,048,576)\n"
    "  --share N       at most N percent of the trace for checkpoints (10)\n"
    "  --again         replace the checkpoints of a trace that has some\n"
    "\n"
    "Exit codes: 0 done; 2 a trace is unreadable or being recorded, or wrong usage.\n";

/* The number of its checkpoints; -1, with a message, when it cannot be opened. */
static long present(const char *who, const char *path)
{
    struct vs_reader *reader;
    if (!vs_tool_open(who, path, &reader))
        return -1;
    long count = 0;
    if (vs_reader_attach(reader) == VS_OK)
        count = (long)vs_checkpoints_table(vs_reader_checkpoints(reader))->count;
    vs_reader_close(reader);
    return count;
}

static int index_one(const char *who, const char *path, bool again,
                     const struct vs_checkpoint_options *options)
{
    struct vs_checkpoint_result result;
    uint64_t begun = vs_clock_ns();
    long count = present(who, path);
    if (count < 0)
        return VS_EXIT_UNUSABLE;
    if (count && !again) {
        vs_tool_print("%s: already has %ld checkpoint%s; --again replaces %s", path, count,
                      count == 1 ? "" : "s", count == 1 ? "it" : "them");
        return VS_EXIT_OK;
    }
    bool killed = vs_reader_needs_live(path);
    char why[VS_READER_WHY_MAX];
    struct vs_checkpoint_options with = *options;
    vs_part_progress_begin(who, path, &with);
    enum vs_err err = vs_checkpoint_into_trace(path, &with, &result, why);
    vs_part_progress_end(false);
    if (err)
        return vs_tool_fail(who, "%s", *why ? why : "interrupted; the trace is unchanged");
    if (killed)
        vs_tool_print("%s is complete now: the events of its FILE.live were added", path);
    uint64_t every = options->interval ? options->interval : EVERY_DEFAULT;
    if (!result.count && result.events <= every)
        vs_tool_print("%s: %s events, not more than --every %s: no checkpoints are needed", path,
                      vs_count_text(result.events), vs_count_text(every));
    else
        vs_tool_print("%s: %s (%s) for %s events, in %s", path,
                      vs_number_text(result.count, "checkpoint"), vs_size_text(result.bytes),
                      vs_count_text(result.events), vs_time_text(vs_clock_ns() - begun));
    vs_tool_over_limit(NULL, path);
    return VS_EXIT_OK;
}

static int index_main(int argc, char **argv)
{
    bool again = false;
    unsigned long long every = 0, share = 0;
    const struct vs_tool_option options[] = {
        {"every", .count = &every, .min = 1, .max = UINT64_MAX / 2, .quoted = true,
         .takes = "a number of events, from 1"},
        {"share", .count = &share, .min = 1, .max = 100, .quoted = true,
         .takes = "a percentage from 1 to 100"},
        {"again", .flag = &again},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (!code && argc == optind)
        code = vs_tool_usage(argv[0], "no trace given");
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    struct vs_checkpoint_options with = {.interval = every, .share = (unsigned)share};
    for (int i = optind; i < argc; i++) {
        int one = index_one(argv[0], argv[i], again, &with);
        code = one ? one : code;
    }
    return vs_tool_finish(argv[0], stdout, code);
}

const struct vs_command vs_cmd_index = {
    "index", "add checkpoints, so that any part of a long trace opens at once", usage, index_main, false};
