/* SPDX-License-Identifier: Apache-2.0
 *
 * Budgets; see the header. A limit holds when the value is at most the limit. */
#include "analysis/report/budget.h"

#include <string.h>

static const char *const names[] = {"allocated", "requested", "reserved", "live at end"};

const char *vs_metric_name(enum vs_metric metric)
{
    return names[metric];
}

enum vs_err vs_metric_parse(const char *text, enum vs_metric *out)
{
    for (int i = VS_METRIC_ALLOCATED; i <= VS_METRIC_RESERVED; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum vs_metric)i;
            return VS_OK;
        }
    }
    return VS_ERR_ARG;
}

static const struct vs_report_peak *peak_of(const struct vs_report_device *device,
                                            enum vs_metric metric)
{
    switch (metric) {
    case VS_METRIC_REQUESTED: return &device->peak_requested;
    case VS_METRIC_RESERVED: return &device->peak_reserved;
    default: return &device->peak_user;
    }
}

size_t vs_budget_check(const struct vs_report *report, const struct vs_budget *budget,
                       struct vs_budget_line lines[VS_BUDGET_LINES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < report->device_count && count + 2 <= VS_BUDGET_LINES_MAX; i++) {
        const struct vs_report_device *device = &report->devices[i];
        if (budget->one_device && device->device != budget->device)
            continue;
        bool tensors = device->level == VS_LEVEL_FRAMEWORK;
        if (budget->has_peak) {
            const struct vs_report_peak *peak = peak_of(device, budget->metric);
            lines[count++] = (struct vs_budget_line){
                .device = device, .metric = budget->metric, .value = peak->bytes,
                .limit = budget->peak_max, .exceeded = peak->bytes > budget->peak_max,
                .peak = peak, .tensors = tensors && budget->metric == VS_METRIC_ALLOCATED};
            lines[count - 1].sites = tensors && !lines[count - 1].tensors ? &device->device_at_peak
                                                                          : &device->at_peak;
        }
        if (budget->has_live) {
            uint64_t live = tensors ? device->user_allocated
                                    : device->allocated + device->lost_bytes;
            lines[count++] = (struct vs_budget_line){
                .device = device, .metric = VS_METRIC_LIVE_AT_END, .value = live,
                .limit = budget->live_max, .exceeded = live > budget->live_max,
                .tensors = tensors, .sites = &device->at_end};
        }
    }
    return count;
}
