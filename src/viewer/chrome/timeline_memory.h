/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in the timeline: counters by device, the lives of blocks, and instants: kineto's "[memory]" and
 * "[OutOfMemory]", retries, segments. Follows a replay; lives are written when they end. Blocks are those of the
 * user's level: tensors, and memory that does not hold them. Memory: what the kinds of tensors need.
 * Not thread-safe. */
#ifndef VS_TIMELINE_MEMORY_H
#define VS_TIMELINE_MEMORY_H

#include "analysis/kinds/kinds.h"
#include "analysis/state/replay.h"
#include "viewer/chrome/chrome_emit.h"
#include "viewer/export/site_labels.h"

/* Zero-initialise, then set the first members and vs_timeline_memory_follow. */
struct vs_timeline_memory {
    struct vs_emit *emit;
    struct vs_chrome_stacks *stacks;
    struct vs_site_labels labels; /* opened with the symbols of *stacks* */
    uint64_t min_bytes;  /* of blocks; 0: 1 % of the device or 64 MiB, whichever is less */
    uint64_t counter_ns; /* as in struct vs_export_options */
    uint64_t from_ns;    /* lives are drawn from here on */
    bool peaks;          /* peaks between events of the counters are drawn */
    struct vs_timeline_device {
        uint64_t pid;
        bool named;
        struct vs_chrome_counter counters[4]; /* allocated, reserved, tensors, device in use */
        uint64_t retries;
    } devices[VS_HOST_INDEX + 1]; /* by account; the host's is that of the program */
    struct vs_replay *replay;
    struct vs_kinds *kinds;
    size_t failures_open;
    struct vs_place place; /* and its text */
    char place_text[VS_PLACE_TEXT_MAX];
};

/* vs_timeline_memory_follow: *replay* is at its beginning if *whole*: then tensors get their kinds. */
void vs_timeline_memory_follow(struct vs_timeline_memory *memory, struct vs_replay *replay, bool whole);

/* vs_timeline_memory_event: the replay has applied *event*. */
void vs_timeline_memory_event(struct vs_timeline_memory *memory, const struct vs_event *event);

/* vs_timeline_memory_counters: the counters of *account* at *time_ns*. */
void vs_timeline_memory_counters(struct vs_timeline_memory *memory, unsigned account, uint64_t time_ns);

/* vs_timeline_memory_end: what is left: blocks that are live, the last points of counters. */
void vs_timeline_memory_end(struct vs_timeline_memory *memory);

void vs_timeline_memory_free(struct vs_timeline_memory *memory);

#endif
