/* SPDX-License-Identifier: Apache-2.0
 *
 * Which quantities of the second run are larger than accepted, and the call sites that make up the
 * difference. */
#ifndef VS_REGRESSION_H
#define VS_REGRESSION_H

#include "analysis/compare/comparison.h"

#define VS_REGRESSION_CULPRITS_MAX 5

struct vs_regression {
    const struct vs_compared_amount *amount;
    uint64_t allowed; /* the first run's value with the tolerance */
    struct vs_site_changes changes;
    struct vs_culprit culprits[VS_REGRESSION_CULPRITS_MAX]; /* new and grown ones, most first */
    const struct vs_named_site *culprit_sites[VS_REGRESSION_CULPRITS_MAX]; /* theirs, in changes.b */
    size_t culprit_count;
};

struct vs_regressions {
    struct vs_regression *items;
    size_t count, capacity;
    const struct vs_compare_note *ended; /* B failed, and A did not: its peaks prove nothing; or NULL */
    const struct vs_report_failure *failure; /* of *ended*: the request; NULL: B did not run out of memory */
    struct vs_named_site *failed_at; /* its call site; NULL: unknown */
};

/* vs_regressions_find: peaks (allocated and reserved, of the program, and of phases where that of the
 * program holds), growth per step and memory live at the end; reserved memory only of one allocator.
 * Tolerance: *bytes*, plus *millionths* of the first run's value.
 * Cost: for times that the reports have no list of, reads the traces up to there. */
void vs_regressions_find(struct vs_comparison *comparison, uint64_t bytes, uint64_t millionths,
                         struct vs_regressions *out);

void vs_regressions_free(struct vs_regressions *regressions);

#endif
