/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call sites copied how much: the calls of a trace with their stacks, matched with the
 * copies that they made; and which read values that were not computed.
 * Calls of copies are in traces that were recorded with the option copy_stacks, or kernels=api. */
#ifndef VS_COPY_SITES_H
#define VS_COPY_SITES_H

#include "analysis/report/report_site.h"
#include "analysis/timeline/timeline.h"
#include "base/reading/vs_intern.h"

/* Zero-initialise. */
struct vs_copy_calls {
    struct vs_intern rows; /* by call, device and kind */
    struct copy_sum *sums; /* of each row */
    size_t sum_capacity;
};

/* vs_copy_calls_event: an observer's function (reading.h): counts reads of values that were not computed.
 * *calls*: struct vs_copy_calls. */
enum vs_err vs_copy_calls_event(void *calls, struct vs_replay *replay,
                                const struct vs_event *event);

/* vs_copy_calls_of: counts the copies of *timeline* whose calls are recorded. */
void vs_copy_calls_of(struct vs_copy_calls *calls, const struct vs_timeline *timeline);

/* vs_copy_sites_fill: the sites of the copies of *kind* on *device*, or of the reads of *kind*
 * (enum vs_uncomputed) + VS_COPY_KIND_COUNT, with *device* 0. */
void vs_copy_sites_fill(const struct vs_copy_calls *calls, const struct vs_summary *summary,
                        uint64_t device, int kind, struct vs_report_sites *out);

void vs_copy_calls_free(struct vs_copy_calls *calls);

#endif
