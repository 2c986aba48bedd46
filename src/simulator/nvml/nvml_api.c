/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for NVML (libnvidia-ml.so.1): memory in use on each simulated device, and by which
 * processes, for programs that query it as nvidia-smi does. Devices are those of
 * VRAMSCOPE_SIMULATE, regardless of CUDA_VISIBLE_DEVICES, as on a real machine. Processes: this
 * one, while it has a context, and one more that stands for others=. With the spec's nvml= it
 * answers as in a container, or as on devices without figures per process, or not at all. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "simulator/driver/vs_sim_nvml.h"

#define VS_NVML_EXPORT __attribute__((visibility("default")))
#define NVML(name, params) \
    VS_NVML_EXPORT nvmlReturn_t name params; \
    nvmlReturn_t name params

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;               /* guarded by mu: nvmlInit calls without nvmlShutdown */
static struct vs_sim_spec spec;      /* written by the first nvmlInit */
static vramscope_sim_held_fn *held;  /* likewise; NULL without a driver */
static char places[VS_SIM_DEVICES_MAX]; /* the handle of a device is the address of its element */

static void find_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = driver ? dlsym(driver, "vramscopeSimHeld") : NULL;
    memcpy(&held, &found, sizeof held);
}

NVML(nvmlInitWithFlags, (unsigned flags))
{
    (void)flags;
    char why[VS_SIM_WHY_MAX];
    nvmlReturn_t r = NVML_SUCCESS;
    pthread_mutex_lock(&mu);
    if (!users && vs_sim_spec_parse(getenv("VRAMSCOPE_SIMULATE"), &spec, why) != VS_OK)
        r = NVML_ERROR_UNKNOWN;
    else if (spec.nvml == VS_SIM_NVML_NONE)
        r = NVML_ERROR_DRIVER_NOT_LOADED;
    if (!r && !held)
        find_driver();
    users += !r;
    pthread_mutex_unlock(&mu);
    return r;
}

NVML(nvmlInit_v2, (void)) { return nvmlInitWithFlags(0); }
NVML(nvmlInit, (void)) { return nvmlInitWithFlags(0); }

static nvmlReturn_t enter(void)
{
    pthread_mutex_lock(&mu);
    bool open = users != 0;
    pthread_mutex_unlock(&mu);
    return open ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

NVML(nvmlShutdown, (void))
{
    nvmlReturn_t r = enter();
    pthread_mutex_lock(&mu);
    users -= !r;
    pthread_mutex_unlock(&mu);
    return r;
}

VS_NVML_EXPORT const char *nvmlErrorString(nvmlReturn_t result);
const char *nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Version Mismatch";
    default: return "Unknown Error";
    }
}

NVML(nvmlDeviceGetCount_v2, (unsigned *count))
{
    nvmlReturn_t r = enter();
    if (!r && !count)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *count = spec.devices;
    return r;
}

NVML(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice_t *device))
{
    nvmlReturn_t r = enter();
    if (!r && (!device || index >= spec.devices))
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *device = (nvmlDevice_t)(void *)&places[index];
    return r;
}

/* The UUID in the form of drv_visible.c. */
static void uuid_text(unsigned physical, char text[48])
{
    char bytes[24];
    snprintf(bytes, sizeof bytes, "vramscope-sim%02u", physical % 100);
    char *at = text + sprintf(text, "GPU-");
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += sprintf(at, "%02x", (unsigned char)bytes[i]);
    }
}

NVML(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device))
{
    nvmlReturn_t r = enter();
    if (r || !uuid || !device)
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < spec.devices; i++) {
        char text[48];
        uuid_text(i, text);
        if (!strcasecmp(text, uuid))
            return nvmlDeviceGetHandleByIndex_v2(i, device);
    }
    return NVML_ERROR_NOT_FOUND;
}

NVML(nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice_t *device))
{
    unsigned domain, bus, slot, function;
    nvmlReturn_t r = enter();
    if (r || !id || !device)
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (domain || slot || function || !bus || bus > spec.devices)
        return NVML_ERROR_NOT_FOUND;
    return nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
}

/* The number of a handle's device, or an error code for an invalid handle. */
static nvmlReturn_t enter_device(nvmlDevice_t device, unsigned *physical)
{
    nvmlReturn_t r = enter();
    const char *place = (const char *)device;
    if (!r && (place < places || place >= places + spec.devices))
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *physical = (unsigned)(place - places);
    return r;
}

NVML(nvmlDeviceGetUUID, (nvmlDevice_t device, char *uuid, unsigned length))
{
    unsigned physical;
    char text[48];
    nvmlReturn_t r = enter_device(device, &physical);
    if (r || !uuid)
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    uuid_text(physical, text);
    if (strlen(text) >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(uuid, text);
    return NVML_SUCCESS;
}

static uint64_t held_here(unsigned physical, unsigned *contexts)
{
    *contexts = 0;
    return held ? held((int)physical, contexts) : 0;
}

NVML(nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t *memory))
{
    unsigned physical, contexts;
    nvmlReturn_t r = enter_device(device, &physical);
    if (r || !memory)
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    memory->total = spec.capacity_bytes;
    memory->used = spec.others_bytes + held_here(physical, &contexts);
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
    memory->reserved = 0;
    memory->free = plain.free;
    memory->used = plain.used;
    return NVML_SUCCESS;
}

static nvmlProcessInfo_t process(unsigned pid, uint64_t bytes)
{
    bool known = spec.nvml != VS_SIM_NVML_NO_FIGURES;
    return (nvmlProcessInfo_t){.pid = pid,
                               .usedGpuMemory = known ? bytes : NVML_VALUE_NOT_AVAILABLE,
                               .gpuInstanceId = UINT32_MAX,
                               .computeInstanceId = UINT32_MAX};
}

/* *count*: in, the capacity; out, the number of processes. If the capacity is too small, it
 * receives the needed one. */
NVML(nvmlDeviceGetComputeRunningProcesses_v3,
     (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos))
{
    unsigned physical, contexts, n = 0;
    nvmlProcessInfo_t list[2];
    nvmlReturn_t r = enter_device(device, &physical);
    if (r || !count || (*count && !infos))
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    uint64_t own = held_here(physical, &contexts);
    bool foreign = spec.nvml == VS_SIM_NVML_PIDS;
    if (spec.others_bytes)
        list[n++] = process(VS_SIM_OTHERS_PID, spec.others_bytes);
    if (contexts)
        list[n++] = process(foreign ? VS_SIM_FOREIGN_PID : (unsigned)getpid(), own);
    unsigned room = *count;
    *count = n;
    if (n > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (n)
        memcpy(infos, list, n * sizeof *list);
    return NVML_SUCCESS;
}

/* Simulated devices run no graphics. */
NVML(nvmlDeviceGetGraphicsRunningProcesses_v3,
     (nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos))
{
    unsigned physical;
    nvmlReturn_t r = enter_device(device, &physical);
    if (r || !count || (*count && !infos))
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

NVML(nvmlSystemGetDriverVersion, (char *version, unsigned length))
{
    nvmlReturn_t r = enter();
    if (r || !version)
        return r ? r : NVML_ERROR_INVALID_ARGUMENT;
    if (length < sizeof "simulated")
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(version, "simulated");
    return NVML_SUCCESS;
}
