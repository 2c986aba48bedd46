/* SPDX-License-Identifier: Apache-2.0
 *
 * What the lists of call sites say about growth: from a growth tracker, or, where none followed the
 * replay (a point in time of the trace read from a checkpoint), from its marked steps. */
#ifndef VS_GROWTH_FILL_H
#define VS_GROWTH_FILL_H

#include "analysis/growth/growth.h"
#include "analysis/report/report_site.h"

/* Some found steps in a row; struct vs_report_steps says how many. */
struct vs_report_step {
    uint64_t number, start_ns; /* of the first of them */
    uint64_t duration_ns;      /* to the next row's begin; of the last one, to the trace's end */
};

struct vs_report_steps {
    bool found; /* by the repeating requests; otherwise marked by the program. Found steps have the
                 * numbers 1, 2, … */
    const struct vs_report_step *rows; /* of found steps, by time; the last one may not be
                                        * complete */
    size_t row_count;
    uint64_t row_steps; /* steps of a row */
    struct vs_growth_steps kept; /* the steps of either kind that the tracker kept, with times of the trace's clock */
    uint64_t begun, done;
    uint64_t device;             /* of the bytes in *kept* */
    uint64_t total_ns, shortest_ns, longest_ns; /* over completed steps */
    uint64_t longest_number, last_number;
};

/* vs_growth_listed: bytes of call site *index* in the list of growing sites, or in that of filled
 * ones; 0: it is not in the list. */
uint64_t vs_growth_listed(const struct vs_summary *summary, uint32_t index, bool filled);

/* vs_growth_fill: sets the growth of call site *index* in *out*. *weight*: allocations that a
 * recorded one represents. */
void vs_growth_fill(const struct vs_summary *summary, uint32_t index, uint64_t weight,
                    struct vs_report_site *out);

/* vs_growth_merge: adds the growth of *from* to *into*, a site with the same text. */
void vs_growth_merge(struct vs_report_site *into, const struct vs_report_site *from);

/* vs_growth_steps_fill: the steps that the program marked or, without any, that were found. */
void vs_growth_steps_fill(const struct vs_summary *summary, struct vs_report_steps *out);

#endif
