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
#define NVML_ERROR_NOT_SUPPORTED 3
#define NVML_ERROR_NOT_FOUND 6
#define NVML_ERROR_INSUFFICIENT_SIZE 7
#define NVML_ERROR_DRIVER_NOT_LOADED 9
#define NVML_ERROR_ARGUMENT_VERSION_MISMATCH 25
#define NVML_ERROR_UNKNOWN 999
#define NVML_VALUE_NOT_AVAILABLE UINT64_MAX

/* Arguments and answers of single functions. */
#define NVML_BRAND_TESLA 2
#define NVML_BRAND_GEFORCE 5
#define NVML_BRAND_NVIDIA 14
#define NVML_DEVICE_ARCH_TURING 6
#define NVML_DEVICE_ARCH_AMPERE 7
#define NVML_DEVICE_ARCH_ADA 8
#define NVML_DEVICE_ARCH_HOPPER 9
#define NVML_DEVICE_ARCH_BLACKWELL 10
#define NVML_CLOCK_MEM 2
#define NVML_CLOCK_COUNT 4
#define NVML_CLOCK_ID_COUNT 4
#define NVML_TEMPERATURE_GPU 0
#define NVML_TEMPERATURE_THRESHOLD_SHUTDOWN 0
#define NVML_TEMPERATURE_THRESHOLD_SLOWDOWN 1
#define NVML_TEMPERATURE_THRESHOLD_MEM_MAX 2
#define NVML_TEMPERATURE_THRESHOLD_GPU_MAX 3
#define NVML_PSTATE_0 0
#define NVML_COMPUTEMODE_DEFAULT 0
#define NVML_NVLINK_MAX_LINKS 36
#define NVML_P2P_CAPS_INDEX_READ 0
#define NVML_P2P_CAPS_INDEX_WRITE 1
#define NVML_P2P_CAPS_INDEX_PCI 4
#define NVML_P2P_CAPS_INDEX_UNKNOWN 5
#define NVML_P2P_STATUS_OK 0
#define NVML_P2P_STATUS_NOT_SUPPORTED 5
#define NVML_TOPOLOGY_INTERNAL 0
#define NVML_TOPOLOGY_SINGLE 10
#define NVML_GPU_FABRIC_STATE_NOT_SUPPORTED 0

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
    unsigned long long bar1Total, bar1Free, bar1Used;
} nvmlBAR1Memory_t;

typedef struct {
    unsigned pid;
    unsigned long long usedGpuMemory; /* or NVML_VALUE_NOT_AVAILABLE */
} nvmlProcessInfo_v1_t;

typedef struct { /* _v2 and _v3 */
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId; /* UINT32_MAX without MIG */
} nvmlProcessInfo_t;

typedef struct { /* _v1 and _v2 */
    char busId[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId, reserved[4];
} nvmlPciInfo_v2_t;

typedef struct { /* _v3 */
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

typedef struct {
    unsigned version; /* NVML_PCI_INFO_EXT_V1 */
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId, baseClass, subClass;
    char busId[32];
} nvmlPciInfoExt_v1_t;
#define NVML_PCI_INFO_EXT_V1 (unsigned)(sizeof(nvmlPciInfoExt_v1_t) | 1u << 24)

typedef struct {
    unsigned gpu, memory; /* per cent of the last sample period */
} nvmlUtilization_t;

typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    unsigned valueType;
    nvmlReturn_t nvmlReturn;
    unsigned long long value;
} nvmlFieldValue_t;

typedef struct {
    unsigned environment, ccFeature, devToolsMode;
} nvmlConfComputeSystemState_t;

typedef struct {
    unsigned version; /* NVML_TEMPERATURE_V1 */
    unsigned sensorType;
    int temperature;
} nvmlTemperature_t;
#define NVML_TEMPERATURE_V1 (unsigned)(sizeof(nvmlTemperature_t) | 1u << 24)

typedef struct {
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId, state;
} nvmlGpuFabricInfo_t;

typedef struct {
    unsigned version; /* NVML_GPU_FABRIC_V3; version 2 ends before healthSummary */
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId, state, healthMask;
    unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;
#define NVML_GPU_FABRIC_V2 (unsigned)(36u | 2u << 24)
#define NVML_GPU_FABRIC_V3 (unsigned)(sizeof(nvmlGpuFabricInfo_v3_t) | 3u << 24)

/* The process that stands for the spec's others=: no process can have this number, as Linux gives
 * none above 2^22. The next number is ours with nvml=pids. */
#define VS_SIM_OTHERS_PID 4194305u
#define VS_SIM_FOREIGN_PID 4194306u

/* Found by dlsym in the stand-in driver: bytes that this process holds on a physical device,
 * contexts included; 0 for a device that it does not use, or before cuInit. *contexts: number of
 * contexts there. */
typedef uint64_t vramscope_sim_held_fn(int physical, unsigned *contexts);

/* Found likewise: the simulated nanoseconds that a physical device has spent on kernels, and on
 * copies and memsets, of this process. */
typedef void vramscope_sim_worked_fn(int physical, uint64_t *kernel_ns, uint64_t *transfer_ns);

#endif
