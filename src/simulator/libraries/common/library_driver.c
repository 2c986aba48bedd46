/* SPDX-License-Identifier: Apache-2.0
 *
 * The way from a stand-in library to the simulated driver: functions found by name, and work with a
 * cost. Nothing here is linked against the driver, as NVIDIA's libraries are not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"

static struct vs_library_driver driver;
static bool usable; /* immutable after the first vs_library_driver */

static bool look_up(void *library, const char *name, void *pointer)
{
    void *found = dlsym(library, name);
    memcpy(pointer, &found, sizeof found);
    return found != NULL;
}

static void find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    usable = library && look_up(library, "vramscopeSimLibraryWork", &driver.work) &&
             look_up(library, "vramscopeSimRegisterKernel", &driver.register_kernel);
#define FIND(name) usable = usable && look_up(library, #name, &driver.name);
    VS_LIBRARY_DRIVER(FIND)
#undef FIND
    if (!usable)
        vs_sim_say("vramscope: the stand-in for %s works on the simulated GPU only, and the driver of this process "
                   "is another one; run the program with `vramscope run --simulate`\n", vs_library.name);
}

const struct vs_library_driver *vs_library_driver(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_driver);
    return usable ? &driver : NULL;
}

int vs_library_cuda_major(void)
{
    void *older = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
    if (older)
        dlclose(older);
    return older ? 12 : 13;
}

int vs_library_attribute(CUdevice_attribute attribute)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUdevice device;
    int value = 0;
    if (!d || d->cuCtxGetDevice(&device) || d->cuDeviceGetAttribute(&value, attribute, device))
        return 0;
    return value;
}

bool vs_library_use_device(void)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUcontext context = NULL;
    if (!d || d->cuInit(0))
        return false;
    if (!d->cuCtxGetCurrent(&context) && context)
        return true;
    return !d->cuDevicePrimaryCtxRetain(&context, 0) && !d->cuCtxSetCurrent(context);
}

CUresult vs_library_submit(CUstream stream, const struct vs_sim_work *work)
{
    const struct vs_library_driver *d = vs_library_driver();
    return d ? d->work(stream, work) : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult vs_library_zero(CUstream stream, void *address, size_t bytes)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!d)
        return CUDA_ERROR_NOT_INITIALIZED;
    return d->cuMemsetD8Async((CUdeviceptr)(uintptr_t)address, 0, bytes, stream);
}
