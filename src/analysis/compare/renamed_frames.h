/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that have another name or file in the second run, by the call sites that moved. No
 * state. */
#ifndef VS_RENAMED_FRAMES_H
#define VS_RENAMED_FRAMES_H

#include "analysis/compare/comparison.h"

struct vs_renamed_frame {
    const char *was, *is; /* "forward (net.c)", "forward_pass (layers.c)" */
};

/* vs_renamed_frames: those of the call sites at the peaks, heaviest site first; one may occur again.
 * *comparison* owns the result. */
void vs_renamed_frames(struct vs_comparison *comparison, const struct vs_renamed_frame **out,
                       size_t *count);

#endif
