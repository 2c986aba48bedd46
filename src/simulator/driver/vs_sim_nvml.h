/* SPDX-License-Identifier: Apache-2.0
 *
 * The types and codes of NVML that the stand-in and its test use, from NVIDIA's public API
 * reference: layouts and values are those of the library's ABI. */
#ifndef VS_SIM_NVML_H
#define VS_SIM_NVML_H

#include <stdint.h>

#include "simulator/driver/vs_sim_spec.h"

#define NVML_SUCCESS 0
#define NVML_ERROR_UNINITIALIZED 1
#define NVML_ERROR_INVALID_ARGUMENT 2
#define NVML_ERROR_NOT_FOUND 6
#define NVML_ERROR_INSUFFICIENT_SIZE 7
#define NVML_ERROR_DRIVER_NOT_LOADED 9
#define NVML_ERROR_ARGUMENT_VERSION_MISMATCH 25
#define NVML_ERROR_UNKNOWN 999
#define NVML_VALUE_NOT_AVAILABLE UINT64_MAX

typedef int nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;

typedef struct {
    unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
    unsigned version; /* NVML_MEMORY_V2 */
    unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;
#define NVML_MEMORY_V2 (unsigned)(sizeof(nvmlMemory_v2_t) | 2u << 24)

typedef struct {
    unsigned pid;
    unsigned long long usedGpuMemory; /* or NVML_VALUE_NOT_AVAILABLE */
    unsigned gpuInstanceId, computeInstanceId; /* UINT32_MAX without MIG */
} nvmlProcessInfo_t;

/* The process that stands for the spec's others=: no process can have this number, as Linux gives
 * none above 2^22. The next number is ours with nvml=pids. */
#define VS_SIM_OTHERS_PID 4194305u
#define VS_SIM_FOREIGN_PID 4194306u

/* Found by dlsym in the stand-in driver: bytes that this process holds on a physical device,
 * contexts included; 0 for a device that it does not use, or before cuInit. *contexts: number of
 * contexts there. */
typedef uint64_t vramscope_sim_held_fn(int physical, unsigned *contexts);

#endif
