/* SPDX-License-Identifier: Apache-2.0
 *
 * The complete state of a traced process at one time: the replay, the device's activity so far, and
 * the earlier events that still matter. Checkpoints store it, so that the state at any time of a
 * trace is available without reading everything before it, and is the same as after reading all of
 * it. Not thread-safe. */
#ifndef VS_TRACE_STATE_H
#define VS_TRACE_STATE_H

#include "analysis/checkpoint/retained_events.h"
#include "analysis/state/activity.h"
#include "analysis/state/replay.h"
#include "trace/read/checkpoint.h"

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
void vs_trace_state_event(struct vs_trace_state *moment, const struct vs_event *event);

/* vs_trace_state_at: the state before the first event at or after *time_ns* of the trace's clock
 * (vs_trace_state_at_event: before event number *event*, from 0, of those of known kinds); moves
 * *reader* to that event. Starts from the nearest checkpoint if the reader has some (an invalid one
 * is skipped), otherwise from the start. VS_ERR_NOMEM. */
enum vs_err vs_trace_state_at(struct vs_reader *reader, uint64_t time_ns,
                              struct vs_trace_state **out)
    VS_MUST_CHECK;
enum vs_err vs_trace_state_at_event(struct vs_reader *reader, uint64_t event,
                                    struct vs_trace_state **out)
    VS_MUST_CHECK;

/* vs_trace_state_window: from now on sums, peaks and lists cover the time from *time_ns* on, as for
 * vs_replay_window; live allocations stay. */
void vs_trace_state_window(struct vs_trace_state *moment, uint64_t time_ns);

/* vs_trace_state_save: passes the state to *take* as payloads of frames. VS_ERR_NOMEM, or the error
 * of *take*. */
enum vs_err vs_trace_state_save(struct vs_trace_state *moment, vs_checkpoint_take *take,
                                void *context)
    VS_MUST_CHECK;

/* vs_trace_state_load: a vs_checkpoint_take for an empty state (*context*), called with the frames
 * of one state; then call vs_trace_state_loaded. VS_ERR_CORRUPT when they are inconsistent: the
 * state can then only be closed. VS_ERR_NOMEM. */
enum vs_err vs_trace_state_load(void *context, const unsigned char *bytes, size_t count)
    VS_MUST_CHECK;
enum vs_err vs_trace_state_loaded(struct vs_trace_state *moment) VS_MUST_CHECK;

void vs_trace_state_close(struct vs_trace_state *moment); /* NULL does nothing */

#endif
