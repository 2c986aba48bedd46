/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/report/device_use.h"

const struct vs_device_use *vs_device_uses_find(const struct vs_device_uses *uses,
                                                uint64_t device)
{
    for (size_t i = 0; i < uses->count; i++)
        if (uses->items[i].device == device)
            return &uses->items[i];
    return NULL;
}

void vs_device_uses_event(struct vs_device_uses *uses, const struct vs_event *event)
{
    if (event->kind != VS_EVENT_kernel && event->kind != VS_EVENT_memcpy &&
        event->kind != VS_EVENT_memset)
        return;
    const struct vs_event_activity *a = &event->activity;
    struct vs_device_use *use = (struct vs_device_use *)vs_device_uses_find(uses, a->device);
    if (!use && uses->count == VS_DEVICES_MAX)
        return;
    if (!use) {
        use = &uses->items[uses->count++];
        *use = (struct vs_device_use){a->device, a->start_ns, a->end_ns};
    }
    if (a->start_ns < use->first_ns)
        use->first_ns = a->start_ns;
    if (a->end_ns > use->last_ns)
        use->last_ns = a->end_ns;
}
