/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of call sites in the text of a difference. Private to this folder. */
#ifndef VS_DIFF_ROWS_H
#define VS_DIFF_ROWS_H

#include "viewer/diff/diff_output.h"

#define VS_DIFF_ROWS_MAX 12 /* of a list, without --all */

/* vs_diff_heading: an empty line, and *text* in bold. */
void vs_diff_heading(const struct vs_style *style, const char *text);

/* vs_diff_fold: how many rows were not printed: *small* ones, and *more*. Prints nothing for none. */
void vs_diff_fold(const struct vs_style *style, size_t small, size_t more);

/* vs_diff_site_list: the call sites that differ, the largest difference first. No two rows have the
 * same text. */
void vs_diff_site_list(const struct vs_diff_result *result, const struct vs_style *style,
                       const struct vs_compared_sites *sites);

/* vs_diff_culprit_rows: the lines that allocate more, below the sentence of a regression. */
void vs_diff_culprit_rows(const struct vs_style *style, const struct vs_regression *item);

/* vs_diff_request_row: the line that requested the memory that B did not get, which is known. */
void vs_diff_request_row(const struct vs_style *style, const struct vs_regressions *regressions);

#endif
