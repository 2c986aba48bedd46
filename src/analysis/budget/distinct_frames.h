/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frame of each call site of a list names it: the innermost one of the user's, unless several
 * sites share it. No state. */
#ifndef VS_DISTINCT_FRAMES_H
#define VS_DISTINCT_FRAMES_H

#include "analysis/budget/culprits.h"

/* vs_user_frame: the next frame of the user's from *i* on; frame_count when there is none. */
size_t vs_user_frame(const struct vs_report_site *site, size_t i);

#define VS_SITE_FRAMES_MAX 24

/* vs_site_frames: the numbers of the frames that identify the site, innermost first: the user's,
 * without compiler's and libraries'. *out* has VS_SITE_FRAMES_MAX elements. Returns how many. */
size_t vs_site_frames(const struct vs_report_site *site, size_t *out);

/* vs_innermost_frame: the innermost one that reports show; frame_count when there is none. */
size_t vs_innermost_frame(const struct vs_report_site *site);

/* vs_file_is_header: of C or C++, by its name; *file* may be NULL. */
bool vs_file_is_header(const char *file);

/* vs_distinct_frames: sets the frame of each of *sites*, which all have a call site and say whether they have
 * changed. An allocation function of the program, which several sites reach on one line, is passed over. Not
 * so a function that calls itself, nor one that few call, all of whose sites have changed: a line of it was
 * changed, whoever calls it. *around*: NULL, or for a list of few sites, as of those that grow, the sites of
 * the run's peak, which count as well; both are ordered as vs_named_sites_of does. *alone*: the run is not
 * compared, so that no site says whether it has changed: a function that few call names its sites, unless it
 * is in a header, as the constructor of a class that owns memory. Cost: proportional to the frames that sites
 * share. */
void vs_distinct_frames(struct vs_named_sites *sites, const struct vs_named_sites *around, bool alone);

#endif
