/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for why a trace has no end. It claims only facts that could be observed: the recorder of a
 * trace on a network file system may run on another machine. */
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/vs_posix_name.h"
#include "base/vs_size.h"
#include "trace/read/reader_internal.h"

struct vs_reader_outcome vs_reader_outcome(const struct vs_reader *r)
{
    return r->outcome;
}

bool vs_ending_status(const struct vs_event_end *end, struct vs_reader_outcome outcome, uint64_t *status)
{
    bool signalled = end && (end->reason == VS_END_SIGNAL || end->reason == VS_END_KILLED);
    if (end && (signalled || end->reason == VS_END_EXIT))
        *status = end->status + (signalled ? 128 : 0);
    else if (!end && (outcome.kind == VS_OUTCOME_EXITED || outcome.kind == VS_OUTCOME_KILLED))
        *status = outcome.status + (outcome.kind == VS_OUTCOME_KILLED ? 128 : 0);
    else
        return false;
    return true;
}

void vs_reader_find_outcome(struct vs_reader *r)
{
    struct statfs fs;
    uint64_t recorder = vs_reader_recorded_by(r->path);
    r->outcome = r->recovery.outcome;
    if (recorder)
        r->outcome = (struct vs_reader_outcome){VS_OUTCOME_RECORDING, recorder};
    r->alone = r->file.fd >= 0 && !fstatfs(r->file.fd, &fs) && fs.f_type != NFS_SUPER_MAGIC;
}

static void killed_text(char *out, uint64_t number)
{
    const char *name = vs_signal_name(number);
    if (name)
        snprintf(out, VS_ENDING_TEXT_MAX, "the program was killed by signal %d (SIG%s)", (int)number, name);
    else
        snprintf(out, VS_ENDING_TEXT_MAX, "the program was killed by signal %" PRIu64, number);
}

const char *vs_reader_recorder_text(char *out, uint64_t recorder)
{
    if (recorder == VS_RECORDED_ELSEWHERE)
        snprintf(out, VS_RECORDER_TEXT_MAX, "a process in another container");
    else
        snprintf(out, VS_RECORDER_TEXT_MAX, "process %" PRIu64, recorder);
    return out;
}

const char *vs_reader_readable_text(const struct vs_reader *r, char *out)
{
    if (!r->events)
        snprintf(out, VS_ENDING_TEXT_MAX, VS_NOTHING_READABLE);
    else
        snprintf(out, VS_ENDING_TEXT_MAX, "the %s before it %s readable",
                 vs_number_text(r->events, "event"), r->events == 1 ? "is" : "are");
    return out;
}

const char *vs_reader_ending_text(const struct vs_reader *r, char *out)
{
    struct vs_reader_outcome outcome = r->outcome;
    char who[VS_RECORDER_TEXT_MAX];
    const char *error = r->stopped_error == ETIMEDOUT ? "the disk did not respond"
                                                      : vs_errno_text(r->stopped_error);
    if (r->stopped)
        snprintf(out, VS_ENDING_TEXT_MAX, "recording stopped early (%s)",
                 error ? error : "the trace could not be written");
    else if (outcome.kind == VS_OUTCOME_RECORDING)
        snprintf(out, VS_ENDING_TEXT_MAX, "the trace is still being recorded, by %s",
                 vs_reader_recorder_text(who, outcome.status));
    else if (outcome.kind == VS_OUTCOME_KILLED)
        killed_text(out, outcome.status);
    else if (outcome.kind == VS_OUTCOME_EXITED)
        snprintf(out, VS_ENDING_TEXT_MAX,
                 "the program exited with status %" PRIu64 " without ending its trace",
                 outcome.status);
    else
        snprintf(out, VS_ENDING_TEXT_MAX, "the trace has no end (the program was killed%s)",
                 r->alone ? "" : " or is still running");
    return out;
}
