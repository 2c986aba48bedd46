/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages in which the driver allocates device memory. No state. */
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

#endif
