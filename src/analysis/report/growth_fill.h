/* SPDX-License-Identifier: Apache-2.0
 *
 * What the lists of call sites say about growth: from a growth tracker, or, where none followed the
 * replay (a point in time of the trace read from a checkpoint), from its marked steps. */
#ifndef VS_GROWTH_FILL_H
#define VS_GROWTH_FILL_H

#include "analysis/report/summary.h"

/* vs_growth_listed: bytes of call site *index* in the list of growing sites, or in that of filled
 * ones; 0: it is not in the list. */
uint64_t vs_growth_listed(const struct vs_summary *summary, uint32_t index, bool filled);

/* vs_growth_fill: sets the growth of call site *index* in *out*. *weight*: allocations that a
 * recorded one represents. */
void vs_growth_fill(const struct vs_summary *summary, uint32_t index, uint64_t weight,
                    struct vs_report_site *out);

/* vs_growth_merge: adds the growth of *from* to *into*, a site with the same text. */
void vs_growth_merge(struct vs_report_site *into, const struct vs_report_site *from);

/* vs_growth_steps_fill: the steps of *summary*, if its tracker found some; otherwise *out* is
 * unchanged except for the bytes of marked ones. Rows are allocated in *memory*. */
void vs_growth_steps_fill(const struct vs_summary *summary, struct vs_arena *memory,
                          struct vs_report_steps *out);

#endif
