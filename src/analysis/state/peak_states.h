/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a replay at the peaks of its devices, without a second reading. Which event is a peak is
 * known only when the trace has been read, so that each event may be one. What the state at the latest
 * peak had is therefore kept when it changes for the first time afterwards: a call site's figures, a block
 * when it ends, the list of segments. What has not changed since is in the replay at the end. A new peak
 * makes all of it void in O(1). The result is equal to the replay of a reading that stopped at the peak.
 *
 * Memory: at most the live blocks of each of the peaks below; cost: a comparison for each change, and one
 * copy for each block that a peak outlives. Part of a replay, and not thread-safe like it. */
#ifndef VS_PEAK_STATES_H
#define VS_PEAK_STATES_H

#include "analysis/state/replay.h"

/* The events of an account at which its state is asked for. */
enum vs_peak_kind {
    VS_PEAK_CHOSEN,    /* of a caller's own rule (vs_peak_states_begin) */
    VS_PEAK_USER,      /* vs_user_sums.peak of an account with a framework */
    VS_PEAK_ALLOCATED, /* the other kinds keep no tensors */
    VS_PEAK_USED, VS_LAST_READING, /* readings: no figures of call sites */
    VS_PEAK_REQUESTED, VS_PEAK_RESERVED, /* only blocks in segments */
    VS_PEAK_KINDS
};

/* What decides quickly that a change concerns no peak. */
struct vs_peak_marks {
    uint64_t latest;  /* of the account's peaks, before the present event */
    uint64_t version; /* rises with the peaks that keep figures of call sites; 0: there are none */
};

struct vs_peak_states {
    struct vs_peak_marks marks[VS_DEVICES_MAX];
    uint64_t *site_versions; /* of the account when the figures of a site were kept */
    size_t site_capacity;
    const struct vs_peak *chosen;
    struct vs_account_states *accounts[VS_DEVICES_MAX];
    struct vs_site_states {
        struct vs_site *items; /* before their first change after the peak */
        uint64_t *of;          /* the event of that peak */
        size_t capacity, of_capacity;
    } sites[VS_PEAK_ALLOCATED + 1];
};

/* vs_peak_states_begin: from the next event on, the states at peaks are kept. *chosen*: NULL, or for each
 * account of the replay the caller's peak; it sets vs_peak_states_raised when it changes one, after the
 * event. The array must outlive the replay. */
void vs_peak_states_begin(struct vs_replay *replay, const struct vs_peak *chosen);

/* vs_peak_states_raised: some peak is at the event that was just applied, or is being applied. */
static inline void vs_peak_states_raised(struct vs_replay *replay)
{
    replay->peak_raised = true;
}

/* vs_peak_states_at: the state after *event*, which is a peak of some account, for the accounts of which it
 * is one; after vs_replay_finish. It shares memory with *replay*, which must outlive it. NULL if *event* is
 * no peak. Ownership: vs_peak_state_close. Cost: the live set. */
struct vs_replay *vs_peak_states_at(const struct vs_replay *replay, uint64_t event);
void vs_peak_state_close(struct vs_replay *state); /* NULL does nothing */

void vs_peak_states_free(struct vs_replay *replay);

/* For the files of the replay, before a change: of the figures of a site, … */
void vs_peak_states_copy_site(struct vs_replay *replay, uint32_t site);
static inline void vs_peak_states_keep_site(struct vs_replay *replay, uint32_t site)
{
    const struct vs_peak_states *states = replay->peak_states;
    unsigned account = replay->sites.items[site].device;
    if (!states || account == VS_HOST_INDEX)
        return;
    uint64_t version = states->marks[account].version;
    if (version && (site >= states->site_capacity || states->site_versions[site] != version))
        vs_peak_states_copy_site(replay, site);
}

/* … of the segments, … */
void vs_peak_states_keep_segments(struct vs_replay *replay);

/* … the end of a block or of a mapping. */
void vs_peak_states_copy_live(struct vs_replay *replay, const struct vs_live *live);
static inline void vs_peak_states_keep_live(struct vs_replay *replay, const struct vs_live *live)
{
    const struct vs_peak_states *states = replay->peak_states;
    if (states && live->device != VS_HOST_INDEX && live->event <= states->marks[live->device].latest)
        vs_peak_states_copy_live(replay, live);
}
void vs_peak_states_keep_mapping(struct vs_replay *replay, const struct vs_replay_segment *mapping);
/* The account begins to keep the user's level: its peak is that of the device until then. */
void vs_peak_states_split(struct vs_replay *replay, unsigned account);
/* Called before an event and at the end: keeps the sums at new peaks. */
void vs_peak_states_settle(struct vs_replay *replay);

#endif
