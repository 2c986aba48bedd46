/* SPDX-License-Identifier: Apache-2.0
 *
 * The device of a what-if: addresses without memory, and a count of the driver's pages, which
 * refuses what does not fit beside the memory that is not replayed. Serves the allocator through
 * vs_limited_device_ops, and single driver allocations. Not thread-safe. Internal to this
 * folder. */
#ifndef VS_LIMITED_DEVICE_H
#define VS_LIMITED_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"

struct vs_driver_slab;

struct vs_limited_device {
    uint64_t capacity, limit; /* VS_WHATIF_NONE: none */
    uint64_t total;           /* as the allocator sees it */
    /* bytes now: for the requests, in pages and as the report counts them */
    uint64_t pages, reserved;
    /* not replayed: enum vs_request_kind has the meaning of each */
    uint64_t other, limited, managed, outside, others, pool_live, pool_kept;
    uint64_t refused_need, refused_short; /* of the last refusal */
    uint64_t segments;        /* allocations so far */
    uint64_t next_addr, next_handle;
    struct vs_driver_slab *slabs; /* pages of small allocations */
    uint16_t *room; /* of each slab: at least its longest free run in units; 0 without users */
    size_t slab_count, slab_capacity, room_capacity;
};

void vs_limited_device_init(struct vs_limited_device *device, uint64_t capacity, uint64_t limit,
                            uint64_t total);
void vs_limited_device_free(struct vs_limited_device *device);
extern const struct vs_device_ops vs_limited_device_ops; /* ctx: struct vs_limited_device */

/* vs_limited_used: bytes of the device in use. vs_limited_counted: as the option limit counts them.
 * vs_limited_over: bytes by which they exceed the device or the limit. */
uint64_t vs_limited_used(const struct vs_limited_device *device);
uint64_t vs_limited_counted(const struct vs_limited_device *device);
uint64_t vs_limited_over(const struct vs_limited_device *device);

/* vs_limited_take, _give: one allocation by the driver: small ones share pages. The address is
 * unique while it is allocated. VS_ERR_DEVICE_OOM, VS_ERR_NOMEM. */
enum vs_err vs_limited_take(struct vs_limited_device *device, uint64_t bytes, uint64_t *addr)
    VS_MUST_CHECK;
void vs_limited_give(struct vs_limited_device *device, uint64_t addr, uint64_t bytes);

#endif
