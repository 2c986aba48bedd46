/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain device memory for a victim, counted in its tally. Header-only, as victim.h is. */
#ifndef VS_VICTIM_MEMORY_H
#define VS_VICTIM_MEMORY_H

#include <cuda_runtime_api.h>

#include "victim.h"

static inline void *take(size_t bytes)
{
    void *p;
    ALLOCATES(VT_DEVICE, bytes, cudaMalloc(&p, bytes));
    return p;
}

static inline void give(void *p)
{
    FREES(VT_DEVICE, cudaFree(p));
}

#endif
