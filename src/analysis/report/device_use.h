/* SPDX-License-Identifier: Apache-2.0
 *
 * When each device last ran a kernel, a copy or a memset. The trace does not say which memory an
 * activity touched, and numbers the streams of activities differently from those of allocations:
 * memory is surely unused only if the whole device ran nothing since. Not thread-safe. */
#ifndef VS_DEVICE_USE_H
#define VS_DEVICE_USE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"
#include "trace/format/event.h"

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

/* vs_device_uses_find: NULL if no activity of *device* was recorded. */
const struct vs_device_use *vs_device_uses_find(const struct vs_device_uses *uses,
                                                uint64_t device);

#endif
