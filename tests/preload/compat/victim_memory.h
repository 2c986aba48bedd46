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
    OK(cudaMalloc(&p, bytes));
    tally_alloc(VT_DEVICE, (int64_t)bytes);
    return p;
}

static inline void give(void *p)
{
    OK(cudaFree(p));
    tally_free(VT_DEVICE);
}

#endif
