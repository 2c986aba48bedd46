/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline's sums (analysis/timeline) with their call sites named: rows that read the same are one. */
#ifndef VS_TIMELINE_FILL_H
#define VS_TIMELINE_FILL_H

#include "analysis/report/report_site.h"
#include "analysis/timeline/timeline.h"

/* Kernels of a call site, copies, waits or gaps. */
struct vs_report_work {
    uint32_t kind, memory, size, cause, ended_by; /* as in struct vs_timeline_key */
    const char *name;                   /* of a kernel; NULL: none */
    const struct vs_report_site *site;  /* of the call; of a gap that of the wait; NULL: unknown */
    const struct vs_report_site *until; /* of a gap: of the call that ended it; NULL: unknown */
    const char *api;                    /* of waits: the call, which stacks that read the same need not share */
    const char *phase;                  /* "" outside any range */
    struct vs_timeline_sums sums;
};

struct vs_report_works {
    const struct vs_report_work *items; /* those that took longest first */
    size_t count, omitted_count;        /* omitted: not listed */
    uint64_t omitted_ns;
    struct vs_timeline_sums total;      /* of all, listed or not */
};

struct vs_report_timeline {
    const struct vs_timeline_device *device; /* its times are the trace's, but those at the peak since the start; NULL: it
                                              * had no work */
    uint64_t start_ns, end_ns; /* first and last work, since the start */
    uint64_t span_ns; /* between them, without times in which work was not recorded */
    uint64_t idle_ns; /* of these */
    bool later; /* gaps, copies, pageable, small, span_ns and idle_ns are those from the second step on */
    struct vs_timeline_steps steps; /* with records; 0: all */
    struct vs_report_works kernels; /* by name and call site */
    struct vs_report_works copies;  /* by kind, memory of the host and size */
    struct vs_report_works pageable, small; /* copies by kind and call site: of pageable memory, of at most
                                             * VS_SMALL_COPY_BYTES */
    struct vs_report_works waits;   /* by call site */
    struct vs_report_works gaps;    /* by cause, call sites and phase */
};

/* vs_timeline_fill: that of the device with *number*, in the summary's arena. Without *all* no kernels, and only a few
 * rows of the other lists but waits, for the paragraph of the report: names take time to look up. If two steps were
 * completed the paragraph is about the time after the first one, in which programs load and allocate. */
void vs_timeline_fill(const struct vs_summary *summary, const struct vs_timeline *timeline, uint64_t number, bool all,
                      struct vs_report_timeline *out);

/* vs_timeline_sites: the call sites of the copies of *kind* on *device*, most bytes first, if calls were recorded; or
 * of the reads of *kind* (VS_ROWS_READS), with *device* 0, in their order. None without a timeline. */
void vs_timeline_sites(const struct vs_summary *summary, const struct vs_timeline *timeline,
                       enum vs_timeline_what what, uint64_t device, uint32_t kind, struct vs_report_sites *out);

#endif
