/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds a PyTorch snapshot's events, as snapshot_to_stacks.py writes them, to the real recorder:
 * every function by name, every stack as nodes of the tree. */
#ifndef VS_SNAPSHOT_FEED_H
#define VS_SNAPSHOT_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/record/recorder.h"

struct vs_snapshot;

/* vs_snapshot_load: NULL when there is no such file or it is invalid. */
struct vs_snapshot *vs_snapshot_load(const char *path);
void vs_snapshot_free(struct vs_snapshot *snapshot);

/* vs_snapshot_events: how many events feeding it records (definitions of functions, which are
 * events too, are not counted). */
uint64_t vs_snapshot_events(const struct vs_snapshot *snapshot);

/* vs_snapshot_feed: records everything, once, into a new *recorder*. The snapshot's times are whole
 * microseconds; *digits* adds three random digits, as a clock would. */
void vs_snapshot_feed(struct vs_snapshot *snapshot, struct vs_recorder *recorder, bool digits);

#endif
