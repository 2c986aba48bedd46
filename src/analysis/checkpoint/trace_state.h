/* SPDX-License-Identifier: Apache-2.0
 *
 * The complete state of a traced process at one time: the replay, the device's activity so far, and
 * the earlier events that still matter. Checkpoints store it, so that the state at any time of a
 * trace is available without reading everything before it, and is the same as after reading all of
 * it. Not thread-safe. */
#ifndef VS_TRACE_STATE_H
#define VS_TRACE_STATE_H

#include "analysis/state/activity.h"
#include "analysis/state/reading.h"
#include "base/vs_time_spec.h"
#include "trace/read/checkpoint.h"

/* Earlier events that are still needed when reading begins in the middle of a trace: the process,
 * options, devices, names of contexts, streams and threads, open ranges, notes of the recorder. In
 * the order of the trace. Memory: the events still valid, at most VS_RETAINED_MAX. */
#define VS_RETAINED_MAX ((size_t)1 << 18)
#define VS_RETAINED_LINES 100 /* of each kind without an identity: options, notes, dropped */

/* Zero-initialise. */
struct vs_retained {
    struct vs_event *items; /* kind 0: removed */
    size_t count, capacity, gone;
    struct vs_map by_key;   /* events that can be replaced or removed -> index */
    size_t lines[VS_EVENT_CODE_MAX + 1]; /* of each kind */
};

/* vs_retained_event: stores *event* if it is of those kinds. */
void vs_retained_event(struct vs_retained *retained, const struct vs_event *event);

/* vs_retained_find: the one of a kind with an identity, or the open range that a range_pop closes; NULL: none. Valid
 * until the next event. */
struct vs_event *vs_retained_find(const struct vs_retained *retained, uint32_t kind, uint64_t id);
struct vs_event *vs_retained_closed(const struct vs_retained *retained, const struct vs_event *pop);

struct vs_trace_state {
    struct vs_reader *reader; /* not owned */
    struct vs_replay *replay;
    struct vs_activity activity;
    struct vs_retained retained;
    /* false in a state that an earlier version stored: what is known of the device alone is
     * not enough to go on from it */
    bool has_user_level;
    size_t births, framework_births; /* while loading: rows of live memory that are complete */
};

/* vs_trace_state_open: creates the state before the first event. *reader* must outlive it. */
struct vs_trace_state *vs_trace_state_open(struct vs_reader *reader);

/* vs_trace_state_event: applies the next event. */
void vs_trace_state_event(struct vs_trace_state *point, const struct vs_event *event);

/* vs_trace_state_at: the state before the first event at or after *time_ns* of the trace's clock
 * (vs_trace_state_at_event: before event number *event*, from 0, of those of known kinds); moves
 * *reader* to that event. Starts from the nearest checkpoint if the reader has some (an invalid one
 * is skipped), otherwise from the start. */
enum vs_err vs_trace_state_at(struct vs_reader *reader, uint64_t time_ns,
                              struct vs_trace_state **out)
    VS_MUST_CHECK;
enum vs_err vs_trace_state_at_event(struct vs_reader *reader, uint64_t event,
                                    struct vs_trace_state **out)
    VS_MUST_CHECK;

/* vs_trace_state_window: from now on sums, peaks and lists cover the time from *time_ns* on, as for
 * vs_replay_window; live allocations stay. */
void vs_trace_state_window(struct vs_trace_state *point, uint64_t time_ns);

/* vs_trace_state_save: passes the state to *take* as payloads of frames. VS_ERR_NOMEM, or the error
 * of *take*. */
enum vs_err vs_trace_state_save(struct vs_trace_state *point, vs_checkpoint_take *take,
                                void *context)
    VS_MUST_CHECK;

/* vs_trace_state_load: a vs_checkpoint_take for an empty state (*context*), called with the frames
 * of one state; then call vs_trace_state_loaded. VS_ERR_CORRUPT when they are inconsistent: the
 * state can then only be closed. */
enum vs_err vs_trace_state_load(void *context, const unsigned char *bytes, size_t count)
    VS_MUST_CHECK;
enum vs_err vs_trace_state_loaded(struct vs_trace_state *point) VS_MUST_CHECK;

void vs_trace_state_close(struct vs_trace_state *point); /* NULL does nothing */

/* --- a part of a trace: from one time to another, each given as a time or an event's number, both
 * inclusive; the state at its beginning includes everything before it --- */

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
 * from there on; moves *reader* to that event. Without from, that is the beginning. */
enum vs_err vs_span_open(struct vs_reader *reader, const struct vs_time_window *window,
                           struct vs_trace_state **out) VS_MUST_CHECK;

/* vs_span_state: the state after the last event of *window*, including everything before it;
 * *reader* is then after it. */
enum vs_err vs_span_state(struct vs_reader *reader, const struct vs_time_window *window,
                             struct vs_trace_state **out) VS_MUST_CHECK;

/* vs_span_late_ns: for a part that ends at *to_ns*, the latest time of events about its
 * activity. */
static inline uint64_t vs_span_late_ns(uint64_t to_ns)
{
    return to_ns < UINT64_MAX - VS_SPAN_LATE_NS ? to_ns + VS_SPAN_LATE_NS : UINT64_MAX;
}

#endif
