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

/* vs_diff_regression: "peak allocated of device 0: 1.53 GiB, 120.0 MiB more than A's 1.41 GiB". */
char *vs_diff_regression(char *out, const struct vs_regression *regression);

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

/* vs_diff_chain: the call chain of *named*, one of *all*, from the line on that tells it from the
 * others. *out* has VS_CHAIN_TEXT_MAX bytes. */
char *vs_diff_chain(char *out, const struct vs_named_sites *all, const struct vs_named_site *named);

/* vs_diff_moved: "forward (net.py:12) -> forward (model.py:40)". */
char *vs_diff_moved(char *out, const struct vs_site_pair *pair);

#endif
