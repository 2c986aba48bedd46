/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stacks of two call sites have in common. No state. */
#ifndef VS_SITE_SIMILAR_H
#define VS_SITE_SIMILAR_H

#include "analysis/report/report.h"
#include "base/vs_map.h"

#define VS_SIMILAR_FRAMES 24 /* of the user's, innermost first, that are compared */

/* vs_site_frames: the numbers of the frames that identify the site, innermost first: the user's,
 * without compiler's and libraries'. *out* has VS_SIMILAR_FRAMES elements. Returns how many. */
size_t vs_site_frames(const struct vs_report_site *site, size_t *out);

/* vs_same_function: whether both frames are of one function, whatever its file; the compiler's
 * suffixes of copies do not count. */
bool vs_same_function(const struct vs_report_frame *a, const struct vs_report_frame *b);

/* vs_same_file: whether the base names of both files, or modules, are the same. */
bool vs_same_file(const struct vs_report_frame *a, const struct vs_report_frame *b);

/* vs_same_functions: whether the sites have the same functions in the same order. */
bool vs_same_functions(const struct vs_report_site *a, const struct vs_report_site *b);

/* vs_function_hash: of the function's name, without the compiler's suffixes; never 0. */
uint64_t vs_function_hash(const struct vs_report_frame *frame);

/* vs_functions_hash: the same for sites of which vs_same_functions is true; 0 for those that it is never
 * true of. *renamed*: hashes of names, and of the names to take instead; NULL: none. */
uint64_t vs_functions_hash(const struct vs_report_site *site, const struct vs_map *renamed);

/* vs_same_lines: whether the sites, of one name, are on the same lines. */
bool vs_same_lines(const struct vs_report_site *a, const struct vs_report_site *b);

#endif
