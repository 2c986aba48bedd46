/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in use on each simulated device, and by which processes: this one, while it has a context,
 * and one more that stands for others=. The forms of a function differ in the layout of their
 * answer only. */
#include "simulator/nvml/vs_sim_nvml_device.h"

#include <string.h>
#include <unistd.h>

NVML(nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t *memory))
{
    unsigned physical, contexts;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, memory, &physical);
    if (r)
        return r;
    memory->total = vs_sim_nvml_spec.board_bytes;
    memory->used = memory->total - vs_sim_nvml_spec.capacity_bytes + vs_sim_nvml_spec.others_bytes +
                   vs_sim_nvml_held(physical, &contexts);
    memory->free = memory->total > memory->used ? memory->total - memory->used : 0;
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t device, nvmlMemory_v2_t *memory))
{
    nvmlMemory_t plain;
    if (memory && memory->version != NVML_MEMORY_V2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t r = nvmlDeviceGetMemoryInfo(device, memory ? &plain : NULL);
    if (r)
        return r;
    memory->total = plain.total;
    memory->reserved = plain.total - vs_sim_nvml_spec.capacity_bytes;
    memory->free = plain.free;
    memory->used = plain.used - memory->reserved;
    return NVML_SUCCESS;
}

/* The window through which the host maps device memory; nothing is mapped there. */
NVML_ANSWER(nvmlDeviceGetBAR1MemoryInfo, (nvmlDevice_t device, nvmlBAR1Memory_t *memory), memory,
            *memory = (nvmlBAR1Memory_t){.bar1Total = vs_sim_nvml_spec.preset->bar1_bytes,
                                         .bar1Free = vs_sim_nvml_spec.preset->bar1_bytes})

static nvmlProcessInfo_t process(unsigned pid, uint64_t bytes)
{
    bool known = vs_sim_nvml_spec.nvml != VS_SIM_NVML_NO_FIGURES;
    return (nvmlProcessInfo_t){.pid = pid,
                               .usedGpuMemory = known ? bytes : NVML_VALUE_NOT_AVAILABLE,
                               .gpuInstanceId = UINT32_MAX,
                               .computeInstanceId = UINT32_MAX};
}

/* *count*: in, the capacity; out, the number of processes, which are stored in *list*. If the
 * capacity is too small, it receives the needed one. */
static nvmlReturn_t processes(nvmlDevice_t device, unsigned *count, const void *out,
                              nvmlProcessInfo_t list[2])
{
    unsigned physical, contexts, n = 0;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, count, &physical);
    if (!r && *count && !out)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (r)
        return r;
    uint64_t own = vs_sim_nvml_held(physical, &contexts);
    bool foreign = vs_sim_nvml_spec.nvml == VS_SIM_NVML_PIDS;
    if (vs_sim_nvml_spec.others_bytes)
        list[n++] = process(VS_SIM_OTHERS_PID, vs_sim_nvml_spec.others_bytes);
    if (contexts)
        list[n++] = process(foreign ? VS_SIM_FOREIGN_PID : (unsigned)getpid(), own);
    unsigned room = *count;
    *count = n;
    return n > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

NVML(nvmlDeviceGetComputeRunningProcesses_v3,
     (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos))
{
    nvmlProcessInfo_t list[2];
    nvmlReturn_t r = processes(device, count, infos, list);
    if (!r && *count)
        memcpy(infos, list, *count * sizeof *list);
    return r;
}

NVML_AS(nvmlDeviceGetComputeRunningProcesses_v2,
        (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos),
        nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos))

/* The form that PyTorch uses. */
NVML(nvmlDeviceGetComputeRunningProcesses,
     (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *infos))
{
    nvmlProcessInfo_t list[2];
    nvmlReturn_t r = processes(device, count, infos, list);
    for (unsigned i = 0; !r && i < *count; i++)
        infos[i] = (nvmlProcessInfo_v1_t){list[i].pid, list[i].usedGpuMemory};
    return r;
}

/* Simulated devices run no graphics, and have no MPS server. */
static nvmlReturn_t no_processes(nvmlDevice_t device, unsigned *count, const void *infos)
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, count, &physical);
    if (!r && *count && !infos)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *count = 0;
    return r;
}

#define NO_PROCESSES(name)                                             \
    NVML_AS(name, (nvmlDevice_t device, unsigned *count, void *infos), \
            no_processes(device, count, infos))

NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
