/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/state/between_readings.h"

#include "analysis/state/driver_pages.h"

static uint64_t fixed_bytes(const struct vs_levels *now, const struct vs_device_usage *usage)
{
    return now->reserved - now->family[VS_FAMILY_ASYNC] - now->family[VS_FAMILY_MANAGED] +
           usage->overhead;
}

/* Of managed memory, the part that no other memory explains. Without a figure of other processes it could
 * be theirs; the upper bound of a context includes them. */
static uint64_t managed_on_device(const struct vs_between_readings *since, const struct vs_levels *now,
                                  const struct vs_device_usage *usage)
{
    uint64_t managed = now->family[VS_FAMILY_MANAGED];
    uint64_t explained = since->fixed + since->pools + usage->others;
    if (!(usage->others_seen || usage->at_most) || since->used <= explained)
        return 0;
    return since->used - explained < managed ? since->used - explained : managed;
}

void vs_between_read(struct vs_between_readings *since, uint64_t used, const struct vs_levels *now,
                     const struct vs_device_usage *usage)
{
    uint64_t async = now->family[VS_FAMILY_ASYNC];
    since->read = true;
    since->used = used;
    since->fixed = fixed_bytes(now, usage);
    since->async = since->async_high = async;
    since->pools = usage->pools_known && usage->pools > async ? usage->pools : async;
    since->managed = managed_on_device(since, now, usage);
}

struct vs_between_use vs_between_now(struct vs_between_readings *since, const struct vs_levels *now,
                                     const struct vs_device_usage *usage, uint64_t graphs)
{
    uint64_t async = now->family[VS_FAMILY_ASYNC], managed = now->family[VS_FAMILY_MANAGED];
    if (!since->read)
        return (struct vs_between_use){0};
    since->async_high = async > since->async_high ? async : since->async_high;
    int64_t more = (int64_t)(fixed_bytes(now, usage) + graphs - since->fixed);
    more = more / (int64_t)VS_DRIVER_PAGE * (int64_t)VS_DRIVER_PAGE; /* less may be in a page that was read */
    uint64_t base = more > 0 || (uint64_t)-more < since->used ? since->used + (uint64_t)more : 0;
    return (struct vs_between_use){
        .known = base + (async > since->pools ? async - since->pools : 0),
        .possible = base + since->async_high - since->async +
                    (managed > since->managed ? managed - since->managed : 0)};
}
