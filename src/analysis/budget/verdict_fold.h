/* SPDX-License-Identifier: Apache-2.0
 *
 * One cause often raises many quantities of a baseline: these rows follow from the one that is shown.
 * Private to this folder. */
#ifndef VS_VERDICT_FOLD_H
#define VS_VERDICT_FOLD_H

#include "analysis/budget/budget_verdict.h"

/* vs_verdict_fold: sets *follows* of the rows, whose culprits are known, and counts them.
 * Cost: a few hash look-ups for each row. */
void vs_verdict_fold(struct vs_budget_verdict *verdict);

#endif
