/* SPDX-License-Identifier: Apache-2.0
 *
 * For every phase and device: the highest allocated, requested and reserved bytes while the phase was
 * open, with the time of each, and by how much the allocated bytes changed over it. Observes the
 * replay while a report is built. */
#ifndef VS_PHASE_PEAKS_H
#define VS_PHASE_PEAKS_H

#include <stddef.h>

#include "analysis/budget/budget_key.h"
#include "analysis/report/report.h"
#include "analysis/state/reading.h"

struct vs_phase_peak {
    uint64_t bytes, event, time_ns; /* time since the start */
    uint64_t allocated; /* at that time */
    struct vs_place place;
};

struct vs_phase_device {
    /* By enum vs_metric. Of all times at the highest reserved, the one with most allocated, as in
     * struct vs_account. */
    struct vs_phase_peak peak[3];
    struct vs_phase_peak *before; /* of 3: before the step that raised them last; NULL: none did */
    uint64_t raised_by;           /* when that began */
    uint64_t kept;      /* the largest increase over one of its ranges */
    uint64_t kept_event, kept_ns; /* when that range was closed */
    uint64_t kept_from_ns; /* when it was opened, by the trace's clock */
};

struct vs_phase_row {
    const char *path;   /* "step / forward" */
    const char *name;   /* "forward"; it may have " / " in itself */
    bool nested;        /* inside another phase */
    struct vs_phase_device *devices; /* by index of the replay */
    size_t count;
};

struct vs_phase_peaks; /* zero cost until the first range is opened */

struct vs_phase_peaks *vs_phase_peaks_open(void);

/* vs_phase_peaks_observer: an observer of a reading of the whole trace. */
struct vs_observer vs_phase_peaks_observer(struct vs_phase_peaks *peaks);

/* vs_phase_peaks_rows: all phases; *count* receives how many. */
const struct vs_phase_row *vs_phase_peaks_rows(const struct vs_phase_peaks *peaks,
                                                 size_t *count);

/* vs_phase_peaks_full: there are VS_PHASES_MAX phases, and the ranges of further ones count for the
 * phase around them. */
bool vs_phase_peaks_full(const struct vs_phase_peaks *peaks);

/* vs_phase_peaks_place: the text of the time's place; *out* has VS_PLACE_TEXT_MAX bytes. */
char *vs_phase_peaks_place(const struct vs_phase_peaks *peaks,
                             const struct vs_phase_peak *point, char *out);

void vs_phase_peaks_close(struct vs_phase_peaks *peaks); /* NULL does nothing */

#endif
