/* SPDX-License-Identifier: Apache-2.0
 *
 * One CUPTI, three libraries. Records of CUDA 11.8 and 12.8 are those of CUDA 13 without the fields
 * added at their ends, so the older libraries use the same code with shorter records
 * (VS_SIM_CUPTI_MAJOR). */
#ifndef VS_SIM_CUPTI_MAJOR_H
#define VS_SIM_CUPTI_MAJOR_H

#include <cupti.h>
#include <stddef.h>

#ifndef VS_SIM_CUPTI_MAJOR
#define VS_SIM_CUPTI_MAJOR 13
#endif

/* The value of cuptiGetVersion; cupti_version.h lists the release of each. */
#if VS_SIM_CUPTI_MAJOR == 11
#define VS_SIM_CUPTI_VERSION 18
#elif VS_SIM_CUPTI_MAJOR == 12
#define VS_SIM_CUPTI_VERSION 26
#else
#define VS_SIM_CUPTI_VERSION CUPTI_API_VERSION
#endif

/* vs_cupti_major_bytes: size of a record of *kind* in this major version; *bytes* is its size in
 * CUDA 13. */
static inline size_t vs_cupti_major_bytes(CUpti_ActivityKind kind, size_t bytes)
{
    if (!bytes || VS_SIM_CUPTI_MAJOR >= 13)
        return bytes;
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return VS_SIM_CUPTI_MAJOR == 12
                   ? offsetof(CUpti_ActivityKernel10, isDeviceLaunched)
                   : offsetof(CUpti_ActivityKernel10, maxPotentialClusterSize);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return offsetof(CUpti_ActivityMemoryPool3, isManagedPool);
    default: break;
    }
    if (VS_SIM_CUPTI_MAJOR >= 12)
        return bytes;
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: return offsetof(CUpti_ActivityMemcpy6, copyCount);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return offsetof(CUpti_ActivityMemory4, source);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return offsetof(CUpti_ActivityOverhead3, correlationId);
    default: return bytes;
    }
}

#endif
