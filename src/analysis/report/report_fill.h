/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of vs_report_build: the results at the end of the reading, and at each peak. Internal to analysis. */
#ifndef VS_REPORT_FILL_H
#define VS_REPORT_FILL_H

#include "analysis/report/held_internal.h"
#include "analysis/report/report.h"
#include "analysis/report/summary.h"
#include "analysis/state/activity.h"
#include "analysis/state/replay.h"

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

#endif
