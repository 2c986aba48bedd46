/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of vs_report_build: the results at the end of the reading, and at each peak. Internal to analysis. */
#ifndef VS_REPORT_FILL_H
#define VS_REPORT_FILL_H

#include "analysis/kinds/kinds.h"
#include "analysis/report/held.h"
#include "analysis/report/report.h"
#include "analysis/report/summary.h"
#include "analysis/state/activity.h"
#include "analysis/state/replay.h"
#include "base/reading/vs_intern.h"

/* --- Shared by the files that sum up live memory (held.c gathers the blocks, held_rows.c sums them
 * up, segment_picture.c maps them). Private to analysis/report. --- */

struct vs_held_block {
    uint64_t addr, size, requested, time_ns, epoch;
    struct vs_place place;
    uint32_t site;
    bool tensor; /* a block of the framework */
};

struct vs_held_blocks {
    struct vs_held_block *items;
    size_t count, capacity;
    uint64_t all_bytes, all_blocks, largest;
};

/* When each device last ran a kernel, a copy or a memset. The trace does not say which memory an
 * activity touched, and numbers the streams of activities differently from those of allocations:
 * memory is surely unused only if the whole device ran nothing since. */
struct vs_device_use {
    uint64_t device;
    uint64_t first_ns, last_ns; /* start of the first and end of the last activity, trace's clock */
};

/* Zero-initialise. Further devices than VS_DEVICES_MAX are left out, as everywhere. */
struct vs_device_uses {
    struct vs_device_use items[VS_DEVICES_MAX];
    size_t count;
};

/* vs_device_uses_event: counts *event* if it is a kernel, copy or memset. Cost: a compare for
 * other events. */
void vs_device_uses_event(struct vs_device_uses *uses, const struct vs_event *event);

struct vs_held_request {
    const struct vs_held_filter *filter;
    const struct vs_kinds_table *kinds; /* of the device at the time; NULL: not known */
    const struct vs_device_uses *uses; /* of the whole trace; NULL: not known */
    const struct vs_growth_steps *steps; /* that were found; NULL: not known */
    bool picture;
    bool others; /* the call sites of blocks that the filter does not let pass */
};

/* vs_held_build: the memory of *account* live now. Cost: the live set. */
void vs_held_build(const struct vs_summary *summary, unsigned account,
                   const struct vs_held_request *request, struct vs_held *out);

/* vs_held_site_seen: whether a call site of any allocation so far matches *wanted*. Cost: looks up the
 * symbols of every site. */
bool vs_held_site_seen(const struct vs_summary *summary, const regex_t *wanted);

/* vs_held_sum: sums up *blocks* by *by*; by kind only with *kinds*. */
void vs_held_sum(const struct vs_summary *summary, const struct vs_held_blocks *blocks,
                 const struct vs_kinds_table *kinds, enum vs_by by,
                 struct vs_held_table *out);

/* vs_held_picture: the segments of *account*, with *blocks*, all of its live blocks. Sorts them by
 * address. */
void vs_held_picture(const struct vs_summary *summary, unsigned account,
                     struct vs_held_blocks *blocks, struct vs_held *out);

/* vs_report_fill: fills in everything except the lists at the peaks, from the state at the end of
 * the trace. */
void vs_report_fill(struct vs_report *report, const struct vs_summary *summary,
                    const struct vs_activity *activity, size_t kernels_max);

/* vs_report_fill_peaks: *summary* has the state after *event*, a peak of some device. *kinds*: a table for each of the report's devices,
 * or NULL. */
void vs_report_fill_peaks(struct vs_report *report, const struct vs_summary *summary,
                          const struct vs_held_request *request,
                          const struct vs_kinds_table *kinds, uint64_t event);

/* vs_report_held_event: the event at which the live memory of *device* is listed: the chosen time,
 * or its peak, that of the chosen phase if there is one; 0: none. */
uint64_t vs_report_held_event(const struct vs_report *report,
                              const struct vs_report_device *device);

/* vs_report_fill_chosen: the devices' peaks of the chosen phase, by index of the replay; after
 * vs_report_fill. */
void vs_report_fill_chosen(struct vs_report *report, const struct vs_summary *summary,
                           const struct vs_peak *peaks);

/* vs_report_fill_firsts: names the first of the failures that are no longer kept, and counts those that
 * the program recovered from. */
void vs_report_fill_firsts(struct vs_report *report, const struct vs_summary *summary);

/* vs_report_fill_groups: names the failures of each group. */
void vs_report_fill_groups(struct vs_report *report, const struct vs_summary *summary,
                           const struct vs_failure_groups *groups);

/* vs_report_fill_findings: names the calls of each group. */
void vs_report_fill_findings(struct vs_report *report, const struct vs_summary *summary,
                             const struct vs_finding_groups *groups);

/* vs_report_next_peak: the index of the first event after *after* (0: of all) needed by
 * vs_report_fill_peaks; 0 when there is none. */
uint64_t vs_report_next_peak(const struct vs_report *report, uint64_t after);

/* --- Which call sites copied how much: the calls of a trace with their stacks, matched with the
 * copies that they made; and which read values that were not computed. Calls are in traces that
 * were recorded with the option copy_stacks. --- */

/* Zero-initialise. */
struct vs_copy_calls {
    struct vs_map waiting; /* number of the copy -> number of its call + 1 */
    struct vs_intern calls, rows; /* rows: by call, device and kind */
    struct copy_sum *sums; /* of each row */
    size_t sum_capacity;
};

/* vs_copy_calls_event: an observer's function (reading.h): follows the calls and copies of a trace, in its
 * order. *calls*: struct vs_copy_calls. */
enum vs_err vs_copy_calls_event(void *calls, struct vs_replay *replay, const struct vs_event *event);

/* vs_copy_sites_fill: fills the devices' copy_sites, and the report's uncomputed. The report has its options and devices. */
void vs_copy_sites_fill(struct vs_report *report, const struct vs_copy_calls *calls,
                        const struct vs_summary *summary);

void vs_copy_calls_free(struct vs_copy_calls *calls);

#endif
