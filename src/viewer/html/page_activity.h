/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels, copies, memsets and waits as a section of the page, ordered by their start. CUPTI
 * delivers them in buffers, nearly in order: rows wait in a buffer of a fixed size until no earlier
 * one is expected. Not thread-safe. */
#ifndef VS_PAGE_ACTIVITY_H
#define VS_PAGE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "viewer/html/page_column.h"
#include "viewer/html/page_rows.h"

enum vs_page_activity_column {
    VS_ACTIVITY_START, VS_ACTIVITY_DURATION, VS_ACTIVITY_NAME, VS_ACTIVITY_STREAM,
    VS_ACTIVITY_DEVICE, VS_ACTIVITY_TYPE, VS_ACTIVITY_BYTES, VS_ACTIVITY_COLUMNS
};

struct vs_page_work {
    uint64_t start_ns, duration_ns, bytes;
    uint32_t name, stream;
    uint8_t device, type; /* type: 0 kernel, 1 copy, 2 memset, 3 wait */
};

/* Zero-initialise, then set the first five. */
struct vs_page_activity {
    uint64_t start_ns; /* of the trace's clock: time 0 */
    uint64_t from_ns, to_ns; /* activity that overlaps this span is added */
    struct vs_page_streams *streams; /* not owned */
    const uint8_t *numbers; /* of the devices on the page, by account; not owned */
    struct vs_column *columns; /* VS_ACTIVITY_COLUMNS; not owned */
    struct vs_page_work *waiting;
    size_t waiting_count, waiting_capacity;
    uint64_t last_ns;  /* start of the latest row */
    bool unordered;    /* a row came later than the buffer could wait */
    struct vs_map by_name; /* a kernel's string id, or a code of other work -> number + 1 */
    const char **names;    /* readable; owned by memory */
    size_t name_count, name_capacity;
    struct vs_arena memory;
};

/* vs_page_activity_event: adds *event* if it is activity of the span. */
void vs_page_activity_event(struct vs_page_activity *activity,
                            const struct vs_replay *replay, const struct vs_event *event);

/* vs_page_activity_finish: the rows that are still waiting. */
void vs_page_activity_finish(struct vs_page_activity *activity);

void vs_page_activity_free(struct vs_page_activity *activity);

#endif
