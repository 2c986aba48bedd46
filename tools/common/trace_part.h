/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a trace, as the verbs take it: --at, --from, --to. Long traces without
 * checkpoints get some made on the way, kept for the next time. */
#ifndef VS_TRACE_PART_H
#define VS_TRACE_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "analysis/checkpoint/trace_span.h"
#include "base/vs_time_spec.h"

struct vs_part_args {
    struct vs_time_spec at, from, to; /* kind VS_TIME_NONE: not given */
};

/* For a verb's usage text. */
#define VS_PART_USAGE \
    "  --from T, --to T  only this span, both ends included; memory that was live before it is\n" \
    "                  live at its start\n"
#define VS_PART_TIMES \
    "T: 12.5s, 850ms, 3m20s since the start; -10s before the end; 80% of the time; @1234, the\n" \
    "event with that number.\n"

/* vs_part_option: take *text*, the value of --*name*. false, and says so, when it is no
 * moment, or it is --at beside --from or --to. */
bool vs_part_option(const char *who, const char *name, const char *text,
                    struct vs_part_args *args);

/* vs_tool_index: put checkpoints into the trace at *path*, with progress. false, and says why,
 * when it cannot be. */
bool vs_tool_index(const char *who, const char *path, const struct vs_checkpoint_options *options,
                   struct vs_checkpoint_result *result);

/* vs_part_given: any of them. */
bool vs_part_given(const struct vs_part_args *args);

/* vs_part_resolve: the part of *reader*'s trace that *args* mean. false, and says so, when it
 * lies outside of the trace, is empty the wrong way round, or memory is out. Makes checkpoints
 * for a long trace without any, with progress on standard error. */
bool vs_part_resolve(const char *who, const char *path, struct vs_reader *reader,
                     const struct vs_part_args *args, struct vs_time_window *out);

/* Progress of making checkpoints on a terminal, from the second second on; an interrupt
 * stops it. Zero-initialise, set who and path; vs_part_progress_end wipes the line and gives
 * the signals back; it ends the process as the signal would have when there was one. */
struct vs_part_progress {
    const char *who, *path;
    uint64_t begun_ns, shown_ns;
    bool shown;
    bool go_on; /* an interrupt only ends the making of checkpoints */
};
void vs_part_progress_begin(struct vs_part_progress *progress);
bool vs_part_progress_step(void *progress, uint64_t bytes, uint64_t total);
void vs_part_progress_end(struct vs_part_progress *progress);

#endif
