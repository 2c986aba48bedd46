/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages in which the driver allocates device memory, and what it can take back from
 * stream-ordered pools. No state. */
#ifndef VS_DRIVER_PAGES_H
#define VS_DRIVER_PAGES_H

#include <stdint.h>

#define VS_DRIVER_PAGE (UINT64_C(2) << 20)
#define VS_DRIVER_SMALL (UINT64_C(1) << 20) /* smaller allocations share their page with others */

/* vs_driver_pages: *bytes* in whole pages; sizes that no device has stay as they are. */
static inline uint64_t vs_driver_pages(uint64_t bytes)
{
    if (bytes > UINT64_MAX - VS_DRIVER_PAGE)
        return bytes;
    return (bytes + VS_DRIVER_PAGE - 1) / VS_DRIVER_PAGE * VS_DRIVER_PAGE;
}

/* vs_pool_releasable: of *unused* bytes of stream-ordered pools those that trimming returns to the
 * device. A pool returns only chunks without a live block, and the unused ends of the others
 * stay. Chunks became free in proportion to the bytes that were freed so far (*freed*, of which some
 * may be live again as part of *live*); without a free, none. */
static inline uint64_t vs_pool_releasable(uint64_t unused, uint64_t live, uint64_t freed)
{
    if (!live)
        return unused;
    double share = (double)freed / ((double)live + (double)freed);
    double most = ((double)unused + (double)live) * share;
    return most < (double)unused ? (uint64_t)most : unused;
}

#endif
