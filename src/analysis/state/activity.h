/* SPDX-License-Identifier: Apache-2.0
 *
 * Device activity: kernels by name, copies by kind, memsets, host waits; counts, bytes and time,
 * per device. Memory: one row per kernel name and device. Not thread-safe. */
#ifndef VS_ACTIVITY_H
#define VS_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/format/event.h"

struct vs_activity_tally {
    uint64_t count, bytes, time_ns;
};

struct vs_kernel_row {
    uint64_t name;   /* string id */
    uint64_t device; /* the trace's number */
    uint64_t count, time_ns, shortest_ns, longest_ns;
};

struct vs_device_activity {
    uint64_t device;
    struct vs_activity_tally kernels, copies[VS_COPY_KIND_COUNT], sets, syncs;
};

/* Zero-initialise. */
struct vs_activity {
    struct vs_kernel_row *kernels;
    size_t kernel_count, kernel_capacity;
    struct vs_map by_kernel;
    struct vs_device_activity *devices;
    size_t device_count, device_capacity;
    uint64_t last_ns; /* latest end inside the span, also of devices without a row */
    /* latest end of a kernel, copy or memset, counted or not; not stored in checkpoints */
    uint64_t known_ns;
};

/* vs_activity_event_within: count *event* if it is an activity between *from_ns* and *to_ns*, both included:
 * one that overlaps the span counts with its time inside it and that share of its bytes. The
 * shortest and longest run of a kernel are whole. An event is recorded after the activity it
 * describes. */
void vs_activity_event_within(struct vs_activity *activity, const struct vs_event *event,
                              uint64_t from_ns, uint64_t to_ns);

/* vs_activity_within: false unless *event* is an activity that vs_activity_event_within counts at least in part:
 * *inside*, if not NULL. */
struct vs_activity_part {
    uint64_t start_ns, end_ns, whole_ns; /* whole_ns: of the activity */
};
bool vs_activity_within(const struct vs_event *event, uint64_t from_ns, uint64_t to_ns,
                        struct vs_activity_part *inside);

/* vs_activity_share: of *bytes* of an activity, those of its part *inside*. */
uint64_t vs_activity_share(uint64_t bytes, const struct vs_activity_part *inside);

/* vs_activity_device: the totals of the trace's device number, or NULL. */
const struct vs_device_activity *vs_activity_device(const struct vs_activity *activity,
                                                    uint64_t device);

/* vs_activity_restore_kernel, _device: add one stored row. False when the row exists already. */
bool vs_activity_restore_kernel(struct vs_activity *activity, const struct vs_kernel_row *row);
bool vs_activity_restore_device(struct vs_activity *activity, const struct vs_device_activity *row);

void vs_activity_free(struct vs_activity *activity);

#endif
