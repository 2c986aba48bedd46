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

/* vs_verdict_fold: one cause often raises many quantities of a baseline: sets *follows* of the rows that
 * follow from another one, whose culprits are known, and counts them. Cost: a few hash look-ups for each row. */
void vs_verdict_fold(struct vs_budget_verdict *verdict);

#endif
