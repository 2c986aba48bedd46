/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a trace, selected by a verb's --at, --from, --to, or by a file of windows. For long
 * traces without checkpoints some are made on the way and cached. */
#ifndef VS_TRACE_PART_H
#define VS_TRACE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "analysis/checkpoint/trace_state.h"
#include "analysis/report/window_peaks.h"
#include "base/vs_time_spec.h"

/* Times that have a name: values of --at. */
enum vs_part_named { VS_PART_NOT_NAMED, VS_PART_PEAK, VS_PART_OOM, VS_PART_END };

struct vs_part_args {
    struct vs_time_spec at, from, to; /* kind VS_TIME_NONE: not given */
    const char *at_text, *from_text, *to_text; /* as the user wrote them */
    enum vs_part_named named; /* --at peak, oom or end */
    bool steps;               /* --steps: */
    uint64_t step_from, step_to;
    bool one_device;          /* of this device's peak or failure */
    uint64_t device;
};

/* For a verb's usage text. */
#define VS_PART_USAGE \
    "  --from T, --to T  only this span, both ends included; memory that was live\n" \
    "                    before it is live at its start\n"
#define VS_PART_TIMES \
    "T: 12.5s, 850ms, 3m20s since the start; -10s before the end; 80% of the time;\n" \
    "@1234, the event with that number.\n"

/* vs_part_option: parses *text*, the value of --*name*. Returns false, with a message, when it is
 * not a time or event number, or --at is combined with --from or --to. */
bool vs_part_option(const char *who, const char *name, const char *text,
                    struct vs_part_args *args);

/* vs_part_device: parses the number of a device, of --device, into a struct vs_part_args. */
bool vs_part_device(const char *text, void *to);

/* vs_part_steps: parses "12" or "3-12", the value of an option that takes steps. */
bool vs_part_steps(const char *text, uint64_t *from, uint64_t *to);

/* vs_part_given: whether any of the options was given. */
bool vs_part_given(const struct vs_part_args *args);

/* vs_part_checkpoints: makes *reader* use checkpoints, if the trace is long; with progress. Returns
 * false, with a message, when it fails. The position is lost. */
bool vs_part_checkpoints(const char *who, const char *path, struct vs_reader *reader);

/* vs_part_resolve: the part of *reader*'s trace that *args* select. Returns false, with a message,
 * when it lies outside the trace, its end is before its start, or memory is out. Makes checkpoints
 * for a long trace without any, with progress on standard error. */
bool vs_part_resolve(const char *who, const char *path, struct vs_reader *reader,
                     const struct vs_part_args *args, struct vs_time_window *out);

/* A line on a terminal about work that takes more than a second: "WHO: DOING PATH:  42 %". Set the
 * first three, and begun_ns to the present time. */
struct vs_tool_progress {
    const char *who, *doing, *path;
    uint64_t begun_ns, shown_ns;
    bool shown;
};
void vs_tool_progress_show(void *progress, uint64_t bytes, uint64_t total);
void vs_tool_progress_end(struct vs_tool_progress *progress); /* clears the line */

/* vs_part_progress_begin: *options* show the progress of making checkpoints for *path*; an interrupt
 * stops the work. vs_part_progress_end: restores the signal handlers, and ends the process as the
 * interrupt would have, unless the caller is to *go_on* without checkpoints. One at a time. */
void vs_part_progress_begin(const char *who, const char *path,
                            struct vs_checkpoint_options *options);
void vs_part_progress_end(bool go_on);

/* --- window_file.c: `report --windows FILE`, one window on each line --- */

/* vs_window_file_read: the windows of the file at *path*, "FROM TO" in ns since the start, in *out*; the
 * caller frees it. Empty lines and comments ("# ...") are skipped. Returns false, with a message, when
 * the file cannot be read, a line is not a window, or there is none. */
bool vs_window_file_read(const char *who, const char *path, struct vs_report_window **out, size_t *count);

#endif
