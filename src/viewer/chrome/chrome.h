/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline as Chrome trace JSON (chrome://tracing, ui.perfetto.dev), written
 * while the trace is read: one pass, memory bounded by what is live and by the
 * records held back for ordering.
 *
 * Tracks: the process with one track per host thread (NVTX ranges as B/E,
 * start/end ranges as async b/e, marks, large allocations and failures as
 * instants, allocations and failures with their call stacks); one more "process"
 * per device with a track per stream (kernels, copies, memsets as X) and the
 * counters "allocated" and "reserved", in bytes, whose maxima are the report's
 * peaks exactly. Time 0 is the process's start. */
#ifndef VS_CHROME_H
#define VS_CHROME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/state/replay_totals.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

struct vs_time_window; /* analysis/checkpoint/trace_span.h */

struct vs_chrome_options {
    uint64_t instant_min; /* allocations of at least this get an instant; 0 = 1 % of the device or
                             64 MiB, whichever is less */
    uint64_t counter_ns;  /* counter points closer than this are merged, maxima kept; 0 = all */
    const struct vs_time_window *window; /* NULL: everything */
};

struct vs_chrome_stats {
    uint64_t written; /* trace events written */
    uint64_t clipped; /* slices that overlapped another on their track */
    struct vs_recording_state recording; /* what the trace lacks; since_ns from the start on */
    bool ended;       /* the trace was read to its end, not only the window to its own */
};

/* vs_chrome_write: read *reader* from its start, or from where the window begins, and write to
 * *out*. A window begins with the counters as they stand and the ranges that are open; of kernels
 * and copies it has what ran in it, as the report counts them, whenever that was told. *stats* may
 * be NULL. VS_ERR_IO when *out* takes no more (errno says why), VS_ERR_NOMEM. The
 * trace's condition is the caller's to look at. */
enum vs_err vs_chrome_write(struct vs_reader *reader, FILE *out,
                            const struct vs_chrome_options *options,
                            struct vs_chrome_stats *stats) VS_MUST_CHECK;

#endif
