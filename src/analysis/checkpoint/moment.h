/* SPDX-License-Identifier: Apache-2.0
 *
 * All that is known of a traced process at one moment: the replay, what the device did so
 * far, and the events of the past that still matter. Checkpoints hold it, so that it can be
 * had at any moment of a trace without reading all that came before; it is the same as after
 * reading all of it. Not thread-safe. */
#ifndef VS_MOMENT_H
#define VS_MOMENT_H

#include "analysis/checkpoint/retained_events.h"
#include "analysis/state/activity.h"
#include "analysis/state/replay.h"
#include "trace/read/checkpoint.h"

struct vs_moment {
    struct vs_reader *reader; /* not owned */
    struct vs_replay *replay;
    struct vs_activity activity;
    struct vs_retained retained;
};

/* vs_moment_open: before the first event. *reader* must outlive it. VS_ERR_NOMEM. */
enum vs_err vs_moment_open(struct vs_reader *reader, struct vs_moment **out) VS_MUST_CHECK;

/* vs_moment_event: apply the next event. VS_ERR_NOMEM. */
enum vs_err vs_moment_event(struct vs_moment *moment, const struct vs_event *event) VS_MUST_CHECK;

/* vs_moment_at: the state before the first event at or after *time_ns* of the trace's clock
 * (vs_moment_at_event: before event number *event*, from 0, of those that are shown), and
 * *reader* at that event. From the nearest checkpoint where the reader has some (one that
 * does not make sense is passed over), else from the start. VS_ERR_NOMEM. */
enum vs_err vs_moment_at(struct vs_reader *reader, uint64_t time_ns, struct vs_moment **out)
    VS_MUST_CHECK;
enum vs_err vs_moment_at_event(struct vs_reader *reader, uint64_t event, struct vs_moment **out)
    VS_MUST_CHECK;

/* vs_moment_window: sums, peaks and lists count what happens from *time_ns* on, as for
 * vs_replay_window; what is live stays. VS_ERR_NOMEM. */
enum vs_err vs_moment_window(struct vs_moment *moment, uint64_t time_ns) VS_MUST_CHECK;

/* vs_moment_save: hand the state to *take* as payloads of frames. VS_ERR_NOMEM, or what
 * *take* says. */
enum vs_err vs_moment_save(struct vs_moment *moment, vs_checkpoint_take *take, void *context)
    VS_MUST_CHECK;

/* vs_moment_load: a vs_checkpoint_take for an empty moment (*context*), to be given the
 * frames of one state; then vs_moment_loaded. VS_ERR_CORRUPT when they do not fit together:
 * the moment is only good for closing then. VS_ERR_NOMEM. */
enum vs_err vs_moment_load(void *context, const unsigned char *bytes, size_t count) VS_MUST_CHECK;
enum vs_err vs_moment_loaded(struct vs_moment *moment) VS_MUST_CHECK;

void vs_moment_close(struct vs_moment *moment); /* NULL does nothing */

#endif
