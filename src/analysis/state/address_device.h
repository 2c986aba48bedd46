/* SPDX-License-Identifier: Apache-2.0
 *
 * A device of addresses for the allocator: no memory, no limit, no failure before addresses run
 * out. Each address is used once. The user sets its time: enqueued work is done a fixed number of
 * ticks later. Not thread-safe. */
#ifndef VS_ADDRESS_DEVICE_H
#define VS_ADDRESS_DEVICE_H

#include <stdint.h>

#include "allocator/core/allocator.h"

struct vs_address_device {
    uint64_t total; /* bytes it reports as its size; ranges are as large */
    uint64_t lag;   /* ticks from an event's recording to its completion */
    uint64_t now;   /* current tick, set by the user */
    uint64_t next, next_handle;
};

void vs_address_device_init(struct vs_address_device *device, uint64_t total, uint64_t lag);
extern const struct vs_device_ops vs_address_device_ops; /* ctx: struct vs_address_device */

#endif
