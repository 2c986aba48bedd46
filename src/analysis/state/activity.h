/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device did: kernels by name, copies by kind, memsets, host waits;
 * counts, bytes and time, per device. Memory: one row per kernel name and device.
 * Not thread-safe. */
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
    uint64_t last_ns; /* latest end of anything on a device that was counted */
    uint64_t known_ns; /* latest end of a kernel, copy or memset, counted or not; no checkpoint
                        * holds it */
};

/* vs_activity_event: count *event* when it is an activity; others are ignored.
 * VS_ERR_NOMEM. */
enum vs_err vs_activity_event(struct vs_activity *activity, const struct vs_event *event)
    VS_MUST_CHECK;

/* vs_activity_event_within: likewise of what ran between *from_ns* and *to_ns*, both included:
 * what overlaps them counts, with its time in them and that share of its bytes. The shortest
 * and longest run of a kernel are whole. Events come after what they tell of. */
enum vs_err vs_activity_event_within(struct vs_activity *activity, const struct vs_event *event,
                                     uint64_t from_ns, uint64_t to_ns) VS_MUST_CHECK;

/* vs_activity_within: is *event* an activity of which vs_activity_event_within counts something? */
bool vs_activity_within(const struct vs_event *event, uint64_t from_ns, uint64_t to_ns);

/* vs_activity_device: the totals of the trace's device number, or NULL. */
const struct vs_device_activity *vs_activity_device(const struct vs_activity *activity,
                                                    uint64_t device);

/* vs_activity_restore_kernel, _device: one more row, as it was. VS_ERR_CORRUPT when there is
 * one like it, VS_ERR_NOMEM. */
enum vs_err vs_activity_restore_kernel(struct vs_activity *activity,
                                       const struct vs_kernel_row *row) VS_MUST_CHECK;
enum vs_err vs_activity_restore_device(struct vs_activity *activity,
                                       const struct vs_device_activity *row) VS_MUST_CHECK;

void vs_activity_free(struct vs_activity *activity);

#endif
