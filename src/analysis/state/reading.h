/* SPDX-License-Identifier: Apache-2.0
 *
 * The reading of a trace: events go from the reader to the replay, and to the observers that asked for
 * events of their kind. An analysis that needs history is an observer; a command with several of them
 * reads the trace once. Not thread-safe. */
#ifndef VS_READING_H
#define VS_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"

struct vs_time_window_end {
    bool given;
    bool by_event;  /* otherwise by time */
    uint64_t value; /* number of the event, from 1; or ns of the trace's clock */
};

/* A part of a trace, both ends included. */
struct vs_time_window {
    struct vs_time_window_end from, to;
};

/* vs_span_holds: false when *event*, number *number* (from 1), comes after *window*. */
static inline bool vs_span_holds(const struct vs_time_window *window, const struct vs_event *event,
                                 uint64_t number)
{
    const struct vs_time_window_end *to = &window->to;
    return !to->given || (to->by_event ? number <= to->value : event->time_ns <= to->value);
}

/* The bit of one kind of event, as vs_event_kinds gives those of a property. */
#define VS_KIND_BIT(kind) (UINT64_C(1) << (kind))
#define VS_KINDS_EVERY UINT64_MAX

/* Called before or after the replay applies an event of *kinds* (bits 1 << enum vs_event_kind). An error
 * ends the reading and is its result; VS_ERR_END ends it as the end of the trace would. */
typedef enum vs_err vs_observe(void *context, struct vs_replay *replay, const struct vs_event *event);
struct vs_observer {
    uint64_t kinds;
    vs_observe *before, *after; /* NULL: none */
    void *context;
};

/* vs_reading_run: reads from the position of *reader* to its end, or to the last event of *window* (NULL:
 * all), and applies every event to *replay*. Each event goes to the observers in their order. The event
 * after the window is unread. VS_OK at the end; VS_ERR_NOMEM; what an observer returned. */
enum vs_err vs_reading_run(struct vs_reader *reader, struct vs_replay *replay,
                           const struct vs_time_window *window, const struct vs_observer *observers,
                           size_t count) VS_MUST_CHECK;

#endif
