/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of the past that one who begins in the middle of a trace still wants to see: who
 * the process is, options, devices, what contexts, streams and threads are called, ranges
 * that are open, what the recorder had to say. In the order in which they came. Memory: what
 * is alive, at most VS_RETAINED_MAX of it. Not thread-safe. */
#ifndef VS_RETAINED_H
#define VS_RETAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/format/event.h"

#define VS_RETAINED_MAX ((size_t)1 << 18)
#define VS_RETAINED_LINES 100 /* of each kind without a number: options, notes, dropped */

/* Zero-initialise. */
struct vs_retained {
    struct vs_event *items; /* kind 0: gone */
    size_t count, capacity, gone;
    struct vs_map by_key;   /* what can be replaced or go -> index */
    size_t lines[VS_EVENT_CODE_MAX + 1]; /* of each kind */
};

/* vs_retained_event: take note of *event*, if it is of those. VS_ERR_NOMEM. */
enum vs_err vs_retained_event(struct vs_retained *retained, const struct vs_event *event)
    VS_MUST_CHECK;

void vs_retained_free(struct vs_retained *retained);

#endif
