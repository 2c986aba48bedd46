/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The limit counts what the recording counts as reserved, without
 * managed memory, which may leave the device. */
#include "analysis/imposed.h"

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

void vs_imposed_apply(struct vs_oom *oom, uint64_t limit)
{
    uint64_t managed = oom->family[VS_FAMILY_MANAGED];
    uint64_t held = oom->reserved > managed ? oom->reserved - managed : 0;
    uint64_t left = limit > held ? limit - held : 0;
    if (!limit || (oom->total && limit >= oom->total) || (oom->free_known && oom->free_bytes <= left))
        return;
    oom->limit = limit;
    oom->device_total = oom->total;
    oom->device_free = oom->free_known ? oom->free_bytes : 0;
    oom->total = limit;
    oom->free_bytes = left;
    oom->free_known = true;
    oom->outside = 0;
    oom->need = oom->failure.requested; /* bytes are counted, not the device's pages */
}
