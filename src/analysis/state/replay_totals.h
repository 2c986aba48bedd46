/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations without events of their own in a trace (docs/sampling.md): sums by level and reason,
 * exact at every event; and the recording settings over time. */
#ifndef VS_REPLAY_TOTALS_H
#define VS_REPLAY_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/format/event.h"

struct vs_unrecorded {
    uint64_t allocs, requested, size;
    /* the last reason includes frees of allocations with events */
    uint64_t frees, freed_requested, freed_size;
};

/* vs_unrecorded_live: live bytes without events; below 0 for the last reason when the frees of
 * memory with events exceed the live memory without. */
static inline int64_t vs_unrecorded_live(const struct vs_unrecorded *u)
{
    return (int64_t)(u->size - u->freed_size);
}

/* The recorded kinds of events, and until when. */
struct vs_recording_state {
    bool selects;      /* not everything has an event */
    /* no end was recorded, but the last sums were recovered from a killed program */
    bool summed_up;
    uint64_t min_size; /* 0: none */
    uint64_t sample;   /* one of so many; 1: all */
    uint64_t seed, limit_bytes;
    uint32_t stage;    /* enum vs_recording, the latest */
    uint64_t since_ns[4], since_bytes[4]; /* of each stage; 0: not reached */
    /* the program stopped the recording, so many times; the last time at *paused_ns*, 0: it runs */
    uint64_t pauses, paused_ns, paused_total_ns; /* total: of those that are over */
};

/* vs_recording_partial: allocations are missing: figures that need all of them are unavailable. */
static inline bool vs_recording_partial(const struct vs_recording_state *state)
{
    return state->min_size || state->sample > 1 || state->pauses ||
           state->stage == VS_RECORDING_TOTALS;
}

/* vs_recording_left_out: events of *kind*, `dropped` in a trace that reached its limit or was
 * stopped for a time, were left out, and they are in no exact figure. */
bool vs_recording_left_out(const struct vs_recording_state *state, const char *kind);

/* vs_recording_weight: the number of allocations that a recorded one represents. */
static inline uint64_t vs_recording_weight(const struct vs_recording_state *state)
{
    return state->sample > 1 ? state->sample : 1;
}

/* vs_recording_event: apply a `recording_changed`. */
void vs_recording_event(struct vs_recording_state *state, const struct vs_event *event);

struct vs_replay;

/* vs_replay_blocks_missing: blocks in segments of *account* are live, or were, without events of
 * their own: holes are unknown. */
bool vs_replay_blocks_missing(const struct vs_replay *replay, unsigned account);

/* vs_unrecorded_event: apply an `unrecorded` to *replay*. Called by vs_replay_event. */
void vs_unrecorded_event(struct vs_replay *replay, const struct vs_event *event);

#endif
