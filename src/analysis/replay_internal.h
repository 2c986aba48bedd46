/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the replay share. */
#ifndef VS_REPLAY_INTERNAL_H
#define VS_REPLAY_INTERNAL_H

#include "analysis/replay.h"

/* vs_replay_family_is_host: its bytes are the host's. */
bool vs_replay_family_is_host(uint64_t family);

/* vs_replay_account_for: the index of *device*, added when new; VS_ACCOUNT_NONE beyond the
 * bound. VS_ERR_NOMEM. */
enum vs_err vs_replay_account_for(struct vs_replay *replay, uint64_t device, unsigned *out)
    VS_MUST_CHECK;

/* vs_replay_raise_peaks: *account* stood at *now* (its allocated, requested, reserved and
 * time_ns; the rest is not looked at). */
void vs_replay_raise_peaks(struct vs_replay *replay, struct vs_account *account,
                           struct vs_place place, const struct vs_peak *now);

/* vs_replay_settle: a window began between two groups of `unrecorded`: what all of the
 * second one lead to is a level of the window. Called before the next other event, and at
 * the end. */
void vs_replay_settle(struct vs_replay *replay);

#endif
