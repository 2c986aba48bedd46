/* SPDX-License-Identifier: Apache-2.0
 *
 * How busy a device is, from NVML, the library behind nvidia-smi. Its types are declared here after
 * NVIDIA's public reference, so that no header is needed. A device is matched by the UUID in the trace,
 * because NVML also counts devices that CUDA hides. */
#include <dlfcn.h>

#include "tools/top/top_command.h"

#define NVML_NO_ATTACH 2u /* nvmlInitWithFlags: attach to a device at the first query */

struct nvml_rates {
    unsigned gpu, memory;
};

static struct {
    bool tried, there;
    int (*by_uuid)(const char *, void **);
    int (*rates)(void *, struct nvml_rates *);
} nvml;

static void load(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = NULL;
    nvml.tried = true;
    if (!library)
        return;
    *(void **)&init = dlsym(library, "nvmlInitWithFlags");
    *(void **)&nvml.by_uuid = dlsym(library, "nvmlDeviceGetHandleByUUID");
    *(void **)&nvml.rates = dlsym(library, "nvmlDeviceGetUtilizationRates");
    nvml.there = init && nvml.by_uuid && nvml.rates && init(NVML_NO_ATTACH) == 0;
}

void vs_top_utilisation(struct vs_watch_device *device)
{
    void *handle;
    struct nvml_rates rates;
    if (!nvml.tried)
        load();
    device->busy_known = nvml.there && *device->uuid && !nvml.by_uuid(device->uuid, &handle) &&
                         !nvml.rates(handle, &rates);
    device->busy_percent = device->busy_known ? rates.gpu : 0;
}
