/* SPDX-License-Identifier: Apache-2.0
 *
 * Call sites that allocate and free blocks of the same size again and again: a buffer that the
 * program keeps would save these calls. */
#ifndef VS_CHURN_H
#define VS_CHURN_H

#include "analysis/report/summary.h"

/* vs_churn_fill: the sites of *account* with at least 16 such blocks, those with most bytes first,
 * at most *max*. *steps*: done by the program, 0: none known. */
void vs_churn_fill(const struct vs_summary *summary, unsigned account, size_t max,
                   uint64_t steps, struct vs_report_device *out);

#endif
