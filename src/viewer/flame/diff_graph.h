/* SPDX-License-Identifier: Apache-2.0
 *
 * The flame graph of two runs. */
#ifndef VS_DIFF_GRAPH_H
#define VS_DIFF_GRAPH_H

#include <stdio.h>

#include "analysis/compare/comparison.h"
#include "base/vs_err.h"

/* vs_diff_graph_write: memory live at the peak of each device in both runs, by stack, as one SVG file.
 * Frames are the same by function and file, without lines; functions that were renamed by the
 * comparison. VS_ERR_IO if a write fails (errno has the reason), VS_ERR_NOMEM. Cost: reads each trace
 * twice. */
enum vs_err vs_diff_graph_write(struct vs_comparison *comparison, FILE *out) VS_MUST_CHECK;

#endif
