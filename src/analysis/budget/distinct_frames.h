/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frame of each call site of a list names it: the innermost one of the user's, unless several
 * sites share it. No state. */
#ifndef VS_DISTINCT_FRAMES_H
#define VS_DISTINCT_FRAMES_H

#include "analysis/budget/culprits.h"

/* vs_user_frame: the next frame of the user's from *i* on; frame_count when there is none. */
size_t vs_user_frame(const struct vs_report_site *site, size_t i);

/* vs_innermost_frame: the innermost one that reports show; frame_count when there is none. */
size_t vs_innermost_frame(const struct vs_report_site *site);

/* vs_distinct_frames: sets the frame of each of *sites*, which all have a call site and say whether they have
 * changed. An allocation function of the program, which several sites reach on one line, is passed over. Not
 * so a function that calls itself, nor one that few call, all of whose sites have changed: a line of it was
 * changed, whoever calls it. VS_ERR_NOMEM. Cost: proportional to the frames that sites share. */
enum vs_err vs_distinct_frames(struct vs_named_sites *sites) VS_MUST_CHECK;

#endif
