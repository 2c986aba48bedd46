/* SPDX-License-Identifier: Apache-2.0
 *
 * The sentences and figures that the text and the JSON of a difference share. Private to this
 * folder. */
#ifndef VS_DIFF_WORDS_H
#define VS_DIFF_WORDS_H

#include "viewer/diff/diff_output.h"

#define VS_DIFF_LINE_MAX 2048

/* Each writes to *out* (VS_DIFF_LINE_MAX bytes) and returns it. */

/* vs_diff_headline: "peak allocated 1.41 GiB -> 1.53 GiB (+8.5 %) on device 0, at step 4 /
 * backward". */
char *vs_diff_headline(char *out, const struct vs_comparison *comparison);

/* vs_diff_note: what keeps the runs from being compared, as a sentence. */
char *vs_diff_note(char *out, const struct vs_comparison *comparison, const struct vs_compare_note *note);

/* vs_diff_regression: "device 0: peak allocated 1.53 GiB is 120.0 MiB more than 1.41 GiB (+8.3 %), at
 * step 4 / backward". */
char *vs_diff_regression(char *out, const struct vs_regression *regression);

/* vs_diff_ended: how B ended, which failed: "B ran out of memory on device 0: 40.0 MiB requested". */
char *vs_diff_ended(char *out, const struct vs_comparison *comparison, const struct vs_regressions *regressions);

/* vs_diff_label: "peak allocated", "reserved" (*brief*), with the phase before it. */
char *vs_diff_label(char *out, const struct vs_quantity *quantity, bool brief);

/* vs_diff_sizes: both values with enough digits to differ if they do. */
struct vs_size_pair vs_diff_sizes(uint64_t a, uint64_t b, bool counts);

/* vs_diff_change: "+120.0 MiB", "-3"; "=" when equal. *out* has VS_SIZE_TEXT_MAX + 4 bytes. */
char *vs_diff_change(char *out, uint64_t a, uint64_t b, bool counts);

/* vs_diff_percent: "+8.5 %", "" from 0. *out* has 24 bytes. */
char *vs_diff_percent(char *out, uint64_t a, uint64_t b);

/* vs_diff_small: whether the difference is below 1 % of *whole*. */
bool vs_diff_small(uint64_t a, uint64_t b, uint64_t whole);

/* vs_diff_count_label: "allocations of device memory", "kernel matmul". */
char *vs_diff_count_label(char *out, const struct vs_compared_count *count);

/* vs_diff_moved: how the source of a pair differs: "forward (net.py:12)" and "forward (model.py:40)",
 * only the frames that differ; both whole labels with *full*. Both have VS_CHAIN_TEXT_MAX bytes. */
void vs_diff_moved(char *was, char *is, const struct vs_site_pair *pair, bool full);

/* vs_diff_more: the options of vramscope report that show more of a quantity of *report*. *out* has
 * VS_DIFF_LINE_MAX bytes. */
char *vs_diff_more(char *out, const struct vs_report *report, const struct vs_quantity *quantity);

#endif
