/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a trace from events that are known already, such as those of another tool's file. There is
 * no live window and no background thread: the recorder (trace/record) has these for the events of
 * a running process. Frames are rows compressed with zstd. The first failure is kept; nothing is
 * written after it, so that a caller may go on and check once, at the end. Not thread-safe. */
#ifndef VS_COMPOSER_H
#define VS_COMPOSER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vs_err.h"
#include "trace/format/event.h"
#include "trace/format/format.h"

struct vs_composer;

/* The same instant on the clock of the trace's events and since 1970, and the trace's identity. */
struct vs_composer_start {
    uint64_t time_ns, realtime_ns;
    uint8_t uuid[16];
};

/* vs_composer_open: begins a trace in *out*, a file, which stays the caller's: not used until
 * vs_composer_close. VS_ERR_IO (errno). */
enum vs_err vs_composer_open(FILE *out, const struct vs_composer_start *start,
                             struct vs_composer **composer) VS_MUST_CHECK;

/* vs_composer_string: the id of a text, defined in the trace on first use; at most 64 KiB are kept.
 * 0 for no bytes. */
uint64_t vs_composer_string(struct vs_composer *composer, const char *text, size_t length);

/* vs_composer_module: defines the next module and returns its index. *function* (string id) not 0:
 * a Python function of the file *path* (docs/internals/trace-format.md, "Python functions"). */
uint32_t vs_composer_module(struct vs_composer *composer, uint64_t path, uint64_t function);

/* vs_composer_node: the id of the stack that calls *offset* in *module* from the stack *parent* (0:
 * outermost). Of a Python function, *offset* is the line. */
uint64_t vs_composer_node(struct vs_composer *composer, uint64_t parent, uint32_t module,
                          uint64_t offset);

/* vs_composer_more: the stack that replaces omitted outer frames. */
uint64_t vs_composer_more(struct vs_composer *composer);

/* vs_composer_event: appends one event; time_ns and tid are set by the caller. A time before that
 * of the previous event becomes the same. */
void vs_composer_event(struct vs_composer *composer, const struct vs_event *event);

/* vs_composer_add: appends a frame after the events (symbols, checkpoints), at most
 * VS_FRAME_RAW_MAX bytes. No event follows it. */
void vs_composer_add(struct vs_composer *composer, enum vs_frame_type type, const void *payload,
                     size_t bytes);

/* vs_composer_events: number of events so far. */
uint64_t vs_composer_events(const struct vs_composer *composer);

/* vs_composer_close: writes index and trailer, which complete the file, and frees *composer*.
 * Returns the first failure: VS_ERR_IO (errno). NULL: VS_OK. */
enum vs_err vs_composer_close(struct vs_composer *composer) VS_MUST_CHECK;

#endif
