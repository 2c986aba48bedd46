/* SPDX-License-Identifier: Apache-2.0
 *
 * The highest use of each device while a chosen phase was open, and in it while chosen steps were:
 * what `vramscope report --phase NAME --step N` shows the memory of. The rules are those of the
 * peaks of phases: an allocation, or the begin of a range, counts for the phases of its thread. */
#ifndef VS_CHOSEN_PEAKS_H
#define VS_CHOSEN_PEAKS_H

#include "analysis/report/held.h"
#include "analysis/state/replay.h"

struct vs_chosen_peaks {
    const struct vs_held_filter *filter; /* its phase and steps choose */
    struct vs_peak devices[VS_DEVICES_MAX]; /* at the user's level, by index of the replay */
    bool reports[VS_DEVICES_MAX]; /* a framework reports its memory */
    unsigned char *answers; /* of each phase: 0 not asked yet, 1 no, 2 yes */
    size_t answer_count, answer_capacity;
};

/* vs_chosen_peaks_begin: the state before the first event of a part of the trace, in which ranges may
 * be open. *peaks* has its filter. */
void vs_chosen_peaks_begin(struct vs_chosen_peaks *peaks, struct vs_replay *replay);

/* vs_chosen_peaks_event: *replay* has applied *event*. Cost: none for events that
 * neither allocate nor open a range. */
void vs_chosen_peaks_event(struct vs_chosen_peaks *peaks, struct vs_replay *replay,
                           const struct vs_event *event);

void vs_chosen_peaks_free(struct vs_chosen_peaks *peaks);

#endif
