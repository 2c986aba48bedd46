/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the public C API share. */
#ifndef VS_API_H
#define VS_API_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "intercept/process/process.h"
#include "intercept/track/context.h"

/* vs_api_each_allocator: call *act* on every allocator of *device*. */
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

/* vs_api_device: is there a *device*, or may there be one as long as CUDA, which is not
 * started for the question, does not say how many there are? */
bool vs_api_device(int device);

#endif
