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
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        for (int i = 0; c->device == device && i < VS_CONTEXT_ALLOCATORS; i++) {
            struct vs_allocator *allocator = vs_context_allocator_at(c, i);
            if (allocator)
                act(allocator);
        }
    }
}

/* vs_api_device: does *device* exist, or may it exist as long as the number of devices is unknown?
 * This query does not start CUDA. */
bool vs_api_device(int device);

#endif
