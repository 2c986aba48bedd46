/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds a PyTorch snapshot's events, as written by snapshot_to_stacks.py, to the real recorder:
 * every function by name, every stack as nodes of the tree. */
#ifndef VS_SNAPSHOT_FEED_H
#define VS_SNAPSHOT_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/record/recorder.h"

struct vs_snapshot;

/* vs_snapshot_load: NULL if the file does not exist or is invalid. */
struct vs_snapshot *vs_snapshot_load(const char *path);
void vs_snapshot_free(struct vs_snapshot *snapshot);

/* vs_snapshot_events: number of events that feeding it records (without definitions of functions,
 * which are events too). */
uint64_t vs_snapshot_events(const struct vs_snapshot *snapshot);

/* vs_snapshot_feed: records everything, once, into a new *recorder*. The snapshot's times are whole
 * microseconds; *digits* adds three random digits, like a clock's. */
void vs_snapshot_feed(struct vs_snapshot *snapshot, struct vs_recorder *recorder, bool digits);

#endif
