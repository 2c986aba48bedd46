/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites that make up an exceeded quantity, or its difference to the baseline. Of memory held
 * from the device these are two lists: the live blocks, and the cached memory. Private to this folder. */
#ifndef VS_VERDICT_SITES_H
#define VS_VERDICT_SITES_H

#include "analysis/budget/budget_verdict.h"

/* vs_verdict_accuse: finds the call sites of all exceeded rows whose value is that of *run*, and their
 * culprits. Cost: reads the trace once. */
void vs_verdict_accuse(struct vs_budget_verdict *verdict, struct vs_measured *run,
                       const struct vs_baseline *baseline);

/* vs_verdict_accuse_failure: the call site of the request that ran out of memory. */
void vs_verdict_accuse_failure(struct vs_budget_row *row);

/* --- moved_peak.c: a peak at another time than that of the baseline --- */

/* The live blocks of a peak, now and in the baseline, where sites of less than *least* may be missing. */
struct vs_peak_lists {
    const struct vs_named_sites *now, *before;
    uint64_t least;
};

/* vs_moved_culprits: whether the peak of *row* may be at another time, in *moved*. Then in *out* at most *max* sites
 * of *lists* that hold more than at any peak of the baseline, if they explain the excess. *count*: how many. */
void vs_moved_culprits(const struct vs_budget_row *row, const struct vs_baseline *baseline,
                       const char *process, const struct vs_peak_lists *lists,
                       struct vs_culprit *out, size_t max, size_t *count, bool *moved);

/* --- copy_culprits.c: the call sites that copy more than in the baseline --- */

/* The copies of a baseline's run. */
struct vs_stored_copies {
    const struct vs_named_sites *before; /* of all directions */
    uint64_t least; /* sites of less may be missing in it; 0: sites that are not in it are new */
    uint64_t steps; /* 0: unknown */
};

/* vs_copy_culprits: sets the culprits of *row*. */
void vs_copy_culprits(struct vs_budget_row *row, const struct vs_stored_copies *stored);

#endif
