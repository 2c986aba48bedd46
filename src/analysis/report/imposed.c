/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/report/imposed.h"

#include <string.h>

#include "base/vs_limit_spec.h"

void vs_imposed_fill(struct vs_report *report)
{
    struct vs_report_device *devices = (struct vs_report_device *)report->devices;
    struct vs_limit_spec spec;
    const char *text = "";
    for (size_t i = 0; i < report->option_count; i++) {
        if (strcmp(report->options[i].name, "limit") == 0)
            text = report->options[i].value;
    }
    if (!*text || vs_limit_parse(text, &spec))
        return;
    for (size_t i = 0; i < report->device_count; i++) {
        uint64_t device = devices[i].device;
        uint64_t bytes = device < VS_LIMIT_DEVICES_MAX
                             ? vs_limit_bytes(&spec, (uint32_t)device, devices[i].total_bytes)
                             : VS_LIMIT_NONE;
        devices[i].limit_bytes = bytes == VS_LIMIT_NONE ? 0 : bytes;
    }
}
