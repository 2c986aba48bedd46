/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference of two runs as text and as JSON. No state. */
#ifndef VS_DIFF_OUTPUT_H
#define VS_DIFF_OUTPUT_H

#include "analysis/compare/comparison.h"
#include "viewer/common/text_style.h"

struct vs_diff_result {
    const struct vs_comparison *comparison;
    const struct vs_regressions *regressions; /* NULL: not asked for */
    const char *tolerance;                    /* as given: "2%"; NULL: none */
    bool all;                                 /* small differences, and every row */
    int exit_code;
};

/* vs_diff_text: first the largest difference of a peak in one line, then what differs, the largest
 * first; differences below 1 % are counted in one line. Equal runs: one line. */
void vs_diff_text(const struct vs_diff_result *result, const struct vs_style *style);

/* vs_diff_json: schema "vramscope.diff/1". */
void vs_diff_json(const struct vs_diff_result *result, FILE *out);

#endif
