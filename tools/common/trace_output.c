/* SPDX-License-Identifier: Apache-2.0
 *
 * Rewriting a trace: which files may be replaced, and cleaning up after an interrupt. */
#include <signal.h>
#include <sys/stat.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "base/vs_output_file.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "trace/read/reader.h"

/* A mistyped path must not overwrite a file. Returns NULL when it may be written. */
static const char *refuse(const char *output, const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "is not a regular file";
    return st->st_size && !vs_reader_is_trace(output) ? "exists and is not a trace" : NULL;
}

/* The events of a trace that is being recorded, or whose program was killed, exist nowhere else. */
static bool is_spare(const char *who, const char *output)
{
    char text[VS_RECORDER_TEXT_MAX];
    uint64_t recorder = vs_reader_recorded_by(output);
    if (recorder)
        vs_tool_fail(who, "%s is being recorded by %s: not overwritten; give another name with -o", output,
                     vs_reader_recorder_text(text, recorder));
    else if (vs_reader_needs_live(output))
        vs_tool_fail(who, "%s has no end, and its last events are in %s.live: not overwritten; "
                          "run `vramscope recover` on it first, or give another name with -o", output, output);
    else
        return true;
    return false;
}

bool vs_tool_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool vs_tool_output(const char *who, const char *path, const char **output)
{
    struct stat to;
    if (!*output || stat(*output, &to))
        return true;
    if (vs_tool_is_same_file(path, *output)) {
        *output = NULL;
        return true;
    }
    const char *refusal = refuse(*output, &to);
    if (refusal)
        vs_tool_fail(who, "%s %s: not overwritten; give another name with -o", *output, refusal);
    return !refusal && is_spare(who, *output);
}

bool vs_tool_may_overwrite(const char *who, const char *output)
{
    struct stat st;
    if (stat(output, &st) || !S_ISREG(st.st_mode) || !vs_reader_is_part(output))
        return true;
    vs_tool_fail(who, "%s is a trace or its .live file: not overwritten; give another file with -o",
                 output);
    return false;
}

void vs_tool_over_limit(const char *who, const char *path)
{
    static const char format[] = "%s: %s now, more than the --max-trace-size of %s that it was recorded "
                                 "with: the limit applies to the recording only";
    char why[VS_READER_WHY_MAX];
    struct vs_reader *reader;
    if (vs_reader_open(path, &reader, why) != VS_OK)
        return;
    uint64_t bytes = vs_reader_bytes(reader), limit = vs_size_limit(reader);
    const char *size = vs_size_text(bytes), *limit_text = vs_size_text(limit);
    if (limit && bytes > limit && who)
        vs_tool_fail(who, format, path, size, limit_text);
    else if (limit && bytes > limit)
        vs_tool_print(format, path, size, limit_text);
    vs_reader_close(reader);
}

static void discard(int signal)
{
    vs_replacement_discard();
    raise(signal); /* default action: the handler was reset */
}

void vs_tool_discard_on_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = discard, .sa_flags = (int)SA_RESETHAND}, before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}
