/* SPDX-License-Identifier: Apache-2.0
 *
 * Earlier events that are still needed when reading begins in the middle of a trace: the process,
 * options, devices, names of contexts, streams and threads, open ranges, notes of the recorder. In
 * the order of the trace. Memory: the events still valid, at most VS_RETAINED_MAX. Not thread-safe.
 */
#ifndef VS_RETAINED_H
#define VS_RETAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/format/event.h"

#define VS_RETAINED_MAX ((size_t)1 << 18)
#define VS_RETAINED_LINES 100 /* of each kind without an identity: options, notes, dropped */

/* Zero-initialise. */
struct vs_retained {
    struct vs_event *items; /* kind 0: removed */
    size_t count, capacity, gone;
    struct vs_map by_key;   /* events that can be replaced or removed -> index */
    size_t lines[VS_EVENT_CODE_MAX + 1]; /* of each kind */
};

/* vs_retained_event: stores *event* if it is of those kinds. VS_ERR_NOMEM. */
void vs_retained_event(struct vs_retained *retained, const struct vs_event *event);

void vs_retained_free(struct vs_retained *retained);

#endif
