/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of call sites as `vramscope fit` prints them. Internal to this folder. */
#ifndef VS_FIT_WHERE_H
#define VS_FIT_WHERE_H

#include "analysis/report/summary.h"

/* vs_fit_where: the label of the call site of *stack* with *mark*, as in the report (vs_text_label).
 * *native*: also of stacks without a line of the user's Python, whose names take time to look up. "" when
 * nothing is known. In the summary's arena; NULL: out of memory. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native);

#endif
