/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Whether a phase is the chosen one is decided once for each phase: they are never
 * removed from the replay. */
#include "analysis/report/chosen_peaks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/peak_states.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"

/* Whether *place* is in the chosen phase, and in the chosen steps. */
static void is_chosen(struct vs_chosen_peaks *peaks, const struct vs_replay *replay,
                      struct vs_place place, bool *chosen)
{
    size_t count = replay->phases.count;
    const struct vs_held_filter *filter = peaks->filter;
    *chosen = !filter->steps || (place.step_known && place.step >= filter->step_from &&
                                 place.step <= filter->step_to);
    if (!*chosen || place.phase >= count)
        return;
    if (peaks->answer_count < count) {
        vs_vec_room(&peaks->answers, &peaks->answer_capacity, count, 1);
        memset(peaks->answers + peaks->answer_count, 0, count - peaks->answer_count);
        peaks->answer_count = count;
    }
    unsigned char *answer = &peaks->answers[place.phase];
    if (!*answer)
        *answer = vs_held_phase_is(replay, place.phase, filter->phase) ? 2 : 1;
    *chosen = *answer == 2;
}

/* Until a framework reports its first block, the memory below its blocks counts in their place. */
static void follow_framework(struct vs_chosen_peaks *peaks, const struct vs_replay *replay)
{
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        const struct vs_user_account *user = &replay->accounts[a]->user;
        uint64_t *bytes = &peaks->devices[a].bytes;
        if (peaks->reports[a] || !user->reports)
            continue;
        peaks->reports[a] = true;
        *bytes = *bytes > user->backing ? *bytes - user->backing : 0;
    }
}

static void raise_peaks(struct vs_chosen_peaks *peaks, struct vs_replay *replay,
                        struct vs_place place)
{
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        const struct vs_ledger *sums = &replay->accounts[a]->sums;
        uint64_t bytes = vs_user_sums(replay, a).allocated;
        if (bytes <= peaks->devices[a].bytes)
            continue;
        peaks->devices[a] = (struct vs_peak){
            .bytes = bytes, .event = replay->events, .place = place,
            .time_ns = replay->now_ns, .allocated = sums->now.allocated,
            .requested = sums->now.requested, .reserved = sums->now.reserved};
        vs_peak_states_raised(replay);
    }
}

void vs_chosen_peaks_begin(struct vs_chosen_peaks *peaks, struct vs_replay *replay)
{
    follow_framework(peaks, replay);
    for (size_t i = 0; i < replay->phases.thread_count; i++) {
        struct vs_place place = vs_phases_place(&replay->phases, replay->phases.threads[i].tid);
        bool chosen;
        is_chosen(peaks, replay, place, &chosen);
        if (chosen)
            raise_peaks(peaks, replay, place);
    }
}

void vs_chosen_peaks_event(struct vs_chosen_peaks *peaks, struct vs_replay *replay,
                           const struct vs_event *event)
{
    bool chosen;
    if (event->kind != VS_EVENT_range_push && event->kind != VS_EVENT_unrecorded &&
        !vs_event_has(event, VS_PROPERTY_ALLOCATES))
        return;
    follow_framework(peaks, replay);
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    is_chosen(peaks, replay, place, &chosen);
    if (chosen)
        raise_peaks(peaks, replay, place);
}

void vs_chosen_peaks_free(struct vs_chosen_peaks *peaks)
{
    free(peaks->answers);
}
