/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the public C API. */
#ifndef VS_API_H
#define VS_API_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "intercept/process/process.h"
#include "intercept/track/context.h"

/* vs_api_each_allocator: calls *act* with every allocator of *device*. */
static inline void vs_api_each_allocator(uint32_t device, void (*act)(struct vs_allocator *))
{
    if (vs_process_forked())
        return;
    struct vs_context *c = NULL;
    int i = 0;
    for (struct vs_allocator *a; (a = vs_allocator_next(device, &c, &i));)
        act(a);
}

/* vs_api_device: does *device* exist, or may it exist as long as the number of devices is unknown?
 * This query does not start CUDA. */
bool vs_api_device(int device);

#endif
