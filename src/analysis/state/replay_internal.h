/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the replay share: replay.c hands each event on to replay_live.c,
 * replay_segment.c or replay_failure.c, and replay_totals.c (what was not recorded one by
 * one), or applies it itself. Private to these. */
#ifndef VS_REPLAY_INTERNAL_H
#define VS_REPLAY_INTERNAL_H

#include "analysis/state/replay.h"

/* vs_replay_account_for: the index of *device*, added when new; VS_ACCOUNT_NONE beyond the
 * bound. VS_ERR_NOMEM. */
enum vs_err vs_replay_account_for(struct vs_replay *replay, uint64_t device, unsigned *out)
    VS_MUST_CHECK;

/* vs_replay_note_peaks: the sums of *account* stood at *now*, at *time_ns*, which for those in
 * *rose* (enum vs_rise) is their highest: where and when. */
void vs_replay_note_peaks(struct vs_replay *replay, struct vs_account *account,
                          struct vs_place place, const struct vs_levels *now, uint64_t time_ns,
                          unsigned rose);

/* vs_replay_change: apply *change*, of segments or graphs, to the account *index*. */
void vs_replay_change(struct vs_replay *replay, unsigned index, const struct vs_change *change,
                      uint32_t tid);

/* vs_replay_alloc, …_free (replay_live.c): apply such an event. VS_ERR_NOMEM; VS_ERR_LIMIT
 * when more is live than can be numbered. */
enum vs_err vs_replay_alloc(struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;
enum vs_err vs_replay_free(struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;

/* vs_replay_lose_live: what *context* of the account *device* had went away with it, but not
 * the memory of pools, which is the device's. VS_ERR_NOMEM. */
enum vs_err vs_replay_lose_live(struct vs_replay *replay, uint64_t context, unsigned device)
    VS_MUST_CHECK;

/* vs_replay_segment, …_map, …_unmap (replay_segment.c): apply such an event. VS_ERR_NOMEM. */
enum vs_err vs_replay_segment(struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;
enum vs_err vs_replay_map(struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;
enum vs_err vs_replay_unmap(struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;

/* vs_replay_lose_segments: as vs_replay_lose_live, of segments. */
void vs_replay_lose_segments(struct vs_replay *replay, uint64_t context, unsigned device);

/* vs_replay_failure (replay_failure.c): apply a refused allocation, of the device or of a
 * framework. VS_ERR_NOMEM. */
enum vs_err vs_replay_failure(struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;

/* vs_replay_served: *requested* bytes were served: where as little failed before, the program
 * got over it. vs_replay_step_served: likewise a step ended that began later. */
void vs_replay_served(struct vs_replay *replay, unsigned account, uint64_t requested);
void vs_replay_step_served(struct vs_replay *replay);

/* vs_replay_settle: a window began between two groups of `unrecorded`: what all of the
 * second one lead to is a level of the window. Called before the next other event, and at
 * the end. */
void vs_replay_settle(struct vs_replay *replay);

#endif
