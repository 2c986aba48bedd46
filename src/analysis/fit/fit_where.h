/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of call sites as `vramscope fit` prints them. Internal to this folder. */
#ifndef VS_FIT_WHERE_H
#define VS_FIT_WHERE_H

#include "analysis/report/summary.h"

/* vs_fit_where: the user's Python line of *stack* with *mark*, as vs_user_line; *source*: with its
 * text. Without one, and with *native*: the chain of native functions, named as in the report, without
 * the program's own allocation functions. "" when nothing is known. In the summary's arena; NULL:
 * out of memory. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool source,
                         bool native);

#endif
