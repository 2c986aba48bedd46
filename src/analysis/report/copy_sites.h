/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call sites copied how much: the calls of a trace with their stacks, matched with the
 * copies that they made; which read values that were not computed; and which waited for the device.
 * Calls of copies are in traces that were recorded with the option copy_stacks. */
#ifndef VS_COPY_SITES_H
#define VS_COPY_SITES_H

#include "analysis/report/report_site.h"
#include "base/reading/vs_intern.h"

/* The rows of waits: their "bytes" are ns. */
#define VS_COPY_WAITS (VS_COPY_KIND_COUNT + (int)VS_UNCOMPUTED_COUNT)

/* Zero-initialise. */
struct vs_copy_calls {
    struct vs_map waiting; /* number of the copy -> number of its call + 1 */
    struct vs_intern calls, rows; /* rows: by call, device and kind */
    struct copy_sum *sums; /* of each row */
    size_t sum_capacity;
};

/* vs_copy_calls_event: an observer's function (reading.h): follows the calls and copies of a trace,
 * in its order. *calls*: struct vs_copy_calls. */
enum vs_err vs_copy_calls_event(void *calls, struct vs_replay *replay,
                                const struct vs_event *event);

/* vs_copy_sites_fill: the sites of the copies of *kind* on *device*, or of the reads of *kind*
 * (enum vs_uncomputed) + VS_COPY_KIND_COUNT, with *device* 0, or the waits (VS_COPY_WAITS). */
void vs_copy_sites_fill(const struct vs_copy_calls *calls, const struct vs_summary *summary,
                        uint64_t device, int kind, struct vs_report_sites *out);

void vs_copy_calls_free(struct vs_copy_calls *calls);

#endif
