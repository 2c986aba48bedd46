/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory budgets for CI: compare a report with limits, device by device. */
#ifndef VS_BUDGET_H
#define VS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"

enum vs_metric { VS_METRIC_ALLOCATED, VS_METRIC_REQUESTED, VS_METRIC_RESERVED, VS_METRIC_LIVE_AT_END };

/* vs_metric_name: the metric's text, "allocated", "requested", "reserved", "live at end". */
const char *vs_metric_name(enum vs_metric metric);
/* vs_metric_parse: the first three by name; VS_ERR_ARG otherwise. */
enum vs_err vs_metric_parse(const char *text, enum vs_metric *out) VS_MUST_CHECK;

/* Where PyTorch reports its tensors, "allocated" and "live at end" are those of its tensors and of
 * memory that does not hold them; "requested" and "reserved" those of the memory that it has from
 * the device. */
struct vs_budget {
    bool has_peak, has_live;
    enum vs_metric metric;   /* of the peak */
    uint64_t peak_max, live_max;
    bool one_device;
    uint64_t device;         /* the driver's ordinal, when one_device */
};

struct vs_budget_line {
    const struct vs_report_device *device;
    enum vs_metric metric;
    uint64_t value, limit;
    bool exceeded;
    bool tensors; /* PyTorch's tensors instead of the memory that holds them */
    const struct vs_report_peak *peak;    /* NULL for live at the end */
    const struct vs_report_sites *sites;  /* the call sites that hold it */
};
#define VS_BUDGET_LINES_MAX 128 /* two per device */

/* vs_budget_check: writes one line per device and limit to *lines*; returns how many. 0 when the
 * report has no such device. *lines* point into *report*. */
size_t vs_budget_check(const struct vs_report *report, const struct vs_budget *budget,
                       struct vs_budget_line lines[VS_BUDGET_LINES_MAX]);

#endif
