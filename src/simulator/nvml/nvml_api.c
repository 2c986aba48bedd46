/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for NVML (libnvidia-ml.so.1), for programs that query devices as nvidia-smi does, and
 * for PyTorch, which asks it before it raises torch.OutOfMemoryError. This file: initialisation,
 * versions, and the handles of devices, which are those of VRAMSCOPE_SIMULATE, regardless of
 * CUDA_VISIBLE_DEVICES, as on a real machine. With the spec's nvml= it answers as in a container, or
 * as on devices without figures per process, or not at all. A function that is not here does not
 * exist, which programs see as an older NVML. */
#include "simulator/nvml/vs_sim_nvml_device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct vs_sim_spec vs_sim_nvml_spec;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;               /* guarded by mu: nvmlInit calls without nvmlShutdown */
static vramscope_sim_held_fn *held;  /* written by the first nvmlInit; NULL without a driver */
static vramscope_sim_worked_fn *worked; /* likewise */
static char places[VS_SIM_DEVICES_MAX]; /* the handle of a device is the address of its element */

NVML(nvmlInitWithFlags, (unsigned flags))
{
    char why[VS_SIM_WHY_MAX];
    nvmlReturn_t r = NVML_SUCCESS;
    pthread_mutex_lock(&mu);
    if (!users && vs_sim_spec_parse(getenv("VRAMSCOPE_SIMULATE"), &vs_sim_nvml_spec, why) != VS_OK)
        r = NVML_ERROR_UNKNOWN;
    else if (vs_sim_nvml_spec.nvml == VS_SIM_NVML_NONE)
        r = NVML_ERROR_DRIVER_NOT_LOADED;
    if (!r && !held) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        void *found = driver ? dlsym(driver, "vramscopeSimHeld") : NULL;
        memcpy(&held, &found, sizeof held);
        found = driver ? dlsym(driver, "vramscopeSimWorked") : NULL;
        memcpy(&worked, &found, sizeof worked);
    }
    users += !r;
    pthread_mutex_unlock(&mu);
    return r;
}

NVML_AS(nvmlInit_v2, (void), nvmlInitWithFlags(0))
NVML_AS(nvmlInit, (void), nvmlInitWithFlags(0))

/* For an answer that goes to *out*. */
static nvmlReturn_t enter(const void *out)
{
    pthread_mutex_lock(&mu);
    bool open = users != 0;
    pthread_mutex_unlock(&mu);
    return !open ? NVML_ERROR_UNINITIALIZED : out ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

NVML(nvmlShutdown, (void))
{
    nvmlReturn_t r = enter(&users);
    pthread_mutex_lock(&mu);
    users -= !r;
    pthread_mutex_unlock(&mu);
    return r;
}

VS_SIM_NVML_EXPORT const char *nvmlErrorString(nvmlReturn_t result);
const char *nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Version Mismatch";
    default: return "Unknown Error";
    }
}

NVML(nvmlDeviceGetCount_v2, (unsigned *count))
{
    nvmlReturn_t r = enter(count);
    if (!r)
        *count = vs_sim_nvml_spec.devices;
    return r;
}

/* Without a suffix: before _v2 there were devices that a process could not use. */
NVML_AS(nvmlDeviceGetCount, (unsigned *count), nvmlDeviceGetCount_v2(count))

NVML(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice_t *device))
{
    nvmlReturn_t r = enter(device);
    if (!r && index >= vs_sim_nvml_spec.devices)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *device = (nvmlDevice_t)(void *)&places[index];
    return r;
}

NVML_AS(nvmlDeviceGetHandleByIndex, (unsigned index, nvmlDevice_t *device),
        nvmlDeviceGetHandleByIndex_v2(index, device))

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
    nvmlReturn_t r = enter(uuid ? device : NULL);
    if (r)
        return r;
    for (unsigned i = 0; i < vs_sim_nvml_spec.devices; i++) {
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
    nvmlReturn_t r = enter(id ? device : NULL);
    if (r)
        return r;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (domain || slot || function || !bus || bus > vs_sim_nvml_spec.devices)
        return NVML_ERROR_NOT_FOUND;
    return nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
}

NVML_AS(nvmlDeviceGetHandleByPciBusId, (const char *id, nvmlDevice_t *device),
        nvmlDeviceGetHandleByPciBusId_v2(id, device))

nvmlReturn_t vs_sim_nvml_enter_device(nvmlDevice_t device, const void *out, unsigned *physical)
{
    nvmlReturn_t r = enter(out);
    const char *place = (const char *)device;
    if (!r && (place < places || place >= places + vs_sim_nvml_spec.devices))
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *physical = (unsigned)(place - places);
    return r;
}

nvmlReturn_t vs_sim_nvml_text(const char *value, char *out, unsigned length)
{
    if (strlen(value) >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(out, value);
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetUUID, (nvmlDevice_t device, char *uuid, unsigned length))
{
    unsigned physical;
    char text[48];
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, uuid, &physical);
    if (r)
        return r;
    uuid_text(physical, text);
    return vs_sim_nvml_text(text, uuid, length);
}

NVML_NUMBER(nvmlDeviceGetIndex, physical)

/* Each field has a code of its own. */
NVML(nvmlDeviceGetFieldValues, (nvmlDevice_t device, int count, nvmlFieldValue_t *values))
{
    unsigned physical;
    nvmlReturn_t r = count > 0 ? vs_sim_nvml_enter_device(device, values, &physical) : NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count && !r; i++)
        values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    return r;
}

uint64_t vs_sim_nvml_held(unsigned physical, unsigned *contexts)
{
    *contexts = 0;
    return held ? held((int)physical, contexts) : 0;
}

void vs_sim_nvml_worked(unsigned physical, uint64_t *kernel_ns, uint64_t *transfer_ns)
{
    *kernel_ns = *transfer_ns = 0;
    if (worked)
        worked((int)physical, kernel_ns, transfer_ns);
}

/* ---- the whole system ---- */

/* The branch of drivers that came with each release of CUDA (its release notes). Frameworks want numbers. */
static const struct {
    unsigned cuda, driver;
} branches[] = {{13000, 580}, {12090, 575}, {12080, 570}, {12060, 560}, {12050, 555}, {12040, 550},
                {12030, 545}, {12020, 535}, {12010, 530}, {12000, 525}, {0, 520}};

static unsigned branch(void)
{
    unsigned i = 0;
    while (branches[i].cuda > vs_sim_nvml_spec.driver_version)
        i++;
    return branches[i].driver;
}

NVML(nvmlSystemGetDriverVersion, (char *version, unsigned length))
{
    char text[32];
    nvmlReturn_t r = enter(version);
    snprintf(text, sizeof text, "%u.0.0", branch());
    return r ? r : vs_sim_nvml_text(text, version, length);
}

NVML(nvmlSystemGetCudaDriverVersion_v2, (int *version))
{
    nvmlReturn_t r = enter(version);
    if (!r)
        *version = (int)vs_sim_nvml_spec.driver_version;
    return r;
}

NVML_AS(nvmlSystemGetCudaDriverVersion, (int *version), nvmlSystemGetCudaDriverVersion_v2(version))

/* NVML's own version is that of CUDA, a point, and that of the driver. */
NVML(nvmlSystemGetNVMLVersion, (char *version, unsigned length))
{
    char text[32];
    nvmlReturn_t r = enter(version);
    snprintf(text, sizeof text, "%u.%u.0.0", vs_sim_nvml_spec.driver_version / 1000, branch());
    return r ? r : vs_sim_nvml_text(text, version, length);
}

NVML(nvmlSystemGetConfComputeState, (nvmlConfComputeSystemState_t *state))
{
    nvmlReturn_t r = enter(state);
    if (!r)
        *state = (nvmlConfComputeSystemState_t){0}; /* off */
    return r;
}

NVML(nvmlSystemGetProcessName, (unsigned pid, char *name, unsigned length))
{
    char path[48], text[1024];
    nvmlReturn_t r = enter(length ? name : NULL);
    if (r)
        return r;
    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0)
        return NVML_ERROR_NOT_FOUND;
    text[n] = 0;
    return vs_sim_nvml_text(text, name, length);
}
