/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a trace: from one time to another, each given as a time or an event's number, both
 * inclusive. The state at its beginning includes everything before it. */
#ifndef VS_TRACE_SPAN_H
#define VS_TRACE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/state/reading.h"
#include "base/vs_err.h"
#include "base/vs_time_spec.h"
#include "trace/read/reader.h"

/* How far past a part its activity is searched: events of kernels are recorded after they have
 * ended, once per second. */
#define VS_SPAN_LATE_NS UINT64_C(10000000000)

/* The extent of a trace. Times shown to users count from start_ns. */
struct vs_span {
    uint64_t start_ns;
    struct vs_extent extent;
};

/* vs_span_of: reads the extent. VS_ERR_NOMEM. The reader's position is lost. */
enum vs_err vs_span_of(struct vs_reader *reader, struct vs_span *out) VS_MUST_CHECK;

/* vs_span_end: converts *spec* (which may be none) within *span*. Returns false when it is outside;
 * *why* (VS_READER_WHY_MAX bytes) then receives a sentence with the problem. */
bool vs_span_end(const struct vs_span *span, const struct vs_time_spec *spec,
                   struct vs_time_window_end *out, char *why);

/* vs_span_open: the time at which *window* begins (the state before its first event), counting
 * from there on; moves *reader* to that event. Without from, that is the beginning.
 * VS_ERR_NOMEM. */
enum vs_err vs_span_open(struct vs_reader *reader, const struct vs_time_window *window,
                           struct vs_trace_state **out) VS_MUST_CHECK;

/* vs_span_state: the state after the last event of *window*, including everything before it;
 * *reader* is then after it. VS_ERR_NOMEM. */
enum vs_err vs_span_state(struct vs_reader *reader, const struct vs_time_window *window,
                             struct vs_trace_state **out) VS_MUST_CHECK;

/* vs_span_late_ns: for a part that ends at *to_ns*, the latest time of events about its
 * activity. */
static inline uint64_t vs_span_late_ns(uint64_t to_ns)
{
    return to_ns < UINT64_MAX - VS_SPAN_LATE_NS ? to_ns + VS_SPAN_LATE_NS : UINT64_MAX;
}

#endif
