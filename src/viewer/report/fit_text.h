/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers of `vramscope fit` for users, and for programs (schema "vramscope.fit/1"). */
#ifndef VS_FIT_TEXT_H
#define VS_FIT_TEXT_H

#include <stdio.h>

#include "analysis/fit/fit_answer.h"
#include "viewer/common/text_style.h"

/* vs_fit_text: prints a table with a row for each run, then the peaks, the sizes that were assumed
 * and the values that were not computed. */
void vs_fit_text(const struct vs_fit_set *set, const struct vs_style *style);

/* vs_fit_json: the same as JSON. */
void vs_fit_json(const struct vs_fit_set *set, FILE *out);

#endif
