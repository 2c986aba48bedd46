/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that is reserved but not in use at one point in time, by the call sites that requested its
 * segments. Private to analysis/report. */
#ifndef VS_RESERVED_NOW_H
#define VS_RESERVED_NOW_H

#include "analysis/report/report.h"
#include "analysis/report/summary.h"

/* vs_reserved_now_fill: fills in *cached* of each device of *report*, of which the state of *summary* is the
 * time. The stacks of segments are in no checkpoint: of a device with segments of the caching allocator
 * the trace is read from its start, by *reader*, whose position is lost. Without *far*, not of a time that
 * is far in the trace. */
enum vs_err vs_reserved_now_fill(struct vs_report *report, const struct vs_summary *summary,
                                 struct vs_reader *reader, bool far) VS_MUST_CHECK;

#endif
