/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites of a peak that is at another moment than that of the baseline. Private to this folder. */
#ifndef VS_MOVED_PEAK_H
#define VS_MOVED_PEAK_H

#include "analysis/budget/budget_verdict.h"

/* The live blocks of a peak, now and in the baseline, where sites of less than *least* may be missing. */
struct vs_peak_lists {
    const struct vs_named_sites *now, *before;
    uint64_t least;
};

/* vs_moved_culprits: whether the peak of *row* is at another moment, in *moved*. Then in *out* at most *max* sites
 * of *lists* that hold more than at any peak of the baseline, if they explain the excess. *count*: how many.
 * VS_ERR_NOMEM. */
enum vs_err vs_moved_culprits(const struct vs_budget_row *row, const struct vs_baseline *baseline, const char *process,
                              const struct vs_peak_lists *lists, struct vs_culprit *out, size_t max, size_t *count,
                              bool *moved) VS_MUST_CHECK;

#endif
