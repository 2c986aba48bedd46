/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments by the call site that requested them. */
#ifndef VS_SEGMENT_SITES_H
#define VS_SEGMENT_SITES_H

#include "analysis/report/held_segments.h"
#include "analysis/report/summary.h"

/* vs_segment_sites: adds the segments of *device*, the driver's ordinal, to *out*: those whose sites read the
 * same together, the heaviest first. Memory of the summary's arena. */
void vs_segment_sites(const struct vs_summary *summary, const struct vs_held_segment *held,
                      size_t held_count, uint64_t device, struct vs_report_sites *out);

#endif
