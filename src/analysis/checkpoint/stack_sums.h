/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory by call stack, of each device, at the user's level (user_level.h): what is live at one
 * time, or what was allocated in a part of a trace. The sums are those of the report: a device's
 * rows add up to its peak, less imported memory. A list owns its rows; the reader is only read.
 * Not thread-safe. */
#ifndef VS_STACK_SUMS_H
#define VS_STACK_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/naming/stack_names.h"
#include "analysis/state/replay.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

struct vs_time_window; /* analysis/checkpoint/trace_state.h */

enum vs_stack_subject {
    VS_STACKS_AT_PEAK,   /* live at each device's own peak; within the window, if there is one */
    VS_STACKS_AT,        /* live after the last event of the window */
    VS_STACKS_ALLOCATED, /* allocated in the window, whether or not it was freed */
};

struct vs_stack_query {
    enum vs_stack_subject subject;
    const struct vs_time_window *window; /* NULL: the whole trace */
    bool one_device;
    uint64_t device; /* with one_device: the trace's number */
};

struct vs_stack_sum {
    struct vs_stack_of of;
    uint64_t bytes, count; /* blocks */
};

struct vs_stack_device {
    uint64_t device;          /* the trace's number */
    uint64_t event, time_ns;  /* the time, since the start; of a window its end */
    bool tensors;             /* a framework's tensors, and device memory that does not hold them */
    struct vs_stack_sum *rows; /* heaviest first */
    size_t count, capacity;
    uint64_t bytes, blocks;   /* over the rows */
    /* live at the time without an event of its own (docs/sampling.md), exact */
    uint64_t unrecorded_bytes, unrecorded_blocks;
};

struct vs_stack_sums {
    struct vs_stack_device *devices; /* by number; without those that have no rows */
    size_t count;
    uint64_t weight;          /* each recorded allocation stands for so many; rows are scaled */
    const char *program;      /* base name of the executable, "" when unknown; the reader's */
    struct vs_recording_state recording; /* since_ns from the start on */
    bool ended;               /* the trace was read to its end: condition and why are known */
    enum vs_condition condition;
    char why[VS_READER_WHY_MAX];
};

/* When the memory of each device is looked at: what vs_stack_sums_read finds first. */
struct vs_stack_points {
    struct vs_stack_point {
        uint64_t device;        /* the trace's number */
        uint64_t event;         /* the time: after this event; 0: nothing was ever live */
    } items[VS_DEVICES_MAX];
    size_t count;
    uint64_t first_event, last_event; /* of the window */
};

/* vs_stack_points_read: sets *points*, and of *sums* what does not need them: the recording, the
 * program, the condition. It has no devices. Errors and cost as below, less one pass at the peak. */
enum vs_err vs_stack_points_read(struct vs_reader *reader, const struct vs_stack_query *query,
                                  struct vs_stack_points *points, struct vs_stack_sums *sums)
    VS_MUST_CHECK;

/* vs_stack_unrecorded: the memory of account *index* that is live now without events of its own. */
void vs_stack_unrecorded(const struct vs_replay *replay, unsigned index, uint64_t *bytes,
                         uint64_t *blocks);

/* vs_stack_sums_read: reads the trace as far as it must. VS_ERR_NOMEM; VS_ERR_NOT_FOUND: the program
 * did not use the device. Ownership: vs_stack_sums_free. Cost: the events of the window; with checkpoints
 * those near it. */
enum vs_err vs_stack_sums_read(struct vs_reader *reader, const struct vs_stack_query *query,
                               struct vs_stack_sums *out) VS_MUST_CHECK;
void vs_stack_sums_free(struct vs_stack_sums *sums);

#endif
