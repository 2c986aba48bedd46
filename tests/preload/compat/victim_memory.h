/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts and plain device memory for a victim, counted in its tally: take and give by the runtime,
 * allocate and release by the driver. Header-only, as victim.h is. */
#ifndef VS_VICTIM_MEMORY_H
#define VS_VICTIM_MEMORY_H

#include <cuda.h>
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

static inline CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p;
    ALLOCATES(VT_DEVICE, bytes, cuMemAlloc(&p, bytes));
    return p;
}

static inline void release(CUdeviceptr p)
{
    FREES(VT_DEVICE, cuMemFree(p));
}

/* The primary context of device 0 becomes current. */
static inline void start(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
}

static inline CUcontext new_context(int device)
{
    CUcontext context;
#if CUDA_VERSION >= 13000
    OK(cuCtxCreate(&context, NULL, 0, device));
#else
    OK(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

static inline size_t free_now(void)
{
    size_t free_bytes, total_bytes;
    OK(cuMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes;
}

#endif
