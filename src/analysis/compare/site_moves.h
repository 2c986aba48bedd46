/* SPDX-License-Identifier: Apache-2.0
 *
 * How the source of a call site that both runs have differs: another name, file or line. No state. */
#ifndef VS_SITE_MOVES_H
#define VS_SITE_MOVES_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/site_changes.h"

/* vs_site_move_name: "line", "file", "function", NULL for none. */
const char *vs_site_move_name(enum vs_site_move move);

/* vs_site_move_of: both have a site. */
enum vs_site_move vs_site_move_of(const struct vs_named_site *a, const struct vs_named_site *b);

struct vs_frame_range {
    size_t from, to; /* numbers of frames, both included */
};

/* vs_site_moved_frames: the part of both stacks of *pair*, which moved, that shows how: functions of
 * other names, with their common caller if one stack has none of its own there; if all functions have
 * the same names, the frame that tells the site from others, or the first in another file or on another
 * line. False if the stacks are the same, or empty. */
bool vs_site_moved_frames(const struct vs_site_pair *pair, struct vs_frame_range *a,
                          struct vs_frame_range *b);

/* The functions that have another name or file in the second run, by the call sites that moved. No
 * state. */

struct vs_renamed_frame {
    const char *was, *is; /* "forward (net.c)", "forward_pass (layers.c)" */
};

/* vs_renamed_frames: those of the call sites at the peaks, heaviest site first; one may occur again.
 * *comparison* owns the result. */
void vs_renamed_frames(struct vs_comparison *comparison, const struct vs_renamed_frame **out,
                       size_t *count);

#endif
