/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the driver, and keeps the state of a thread: its device, its last error. A device's primary
 * context is retained the first time a thread needs it and kept until cudaDeviceReset. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct vs_rt_driver vs_rt;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static cudaError_t load_result; /* written once under load_once */

static pthread_mutex_t devices_mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    CUcontext ctx; /* the primary context's handle, once retained; guarded by devices_mu */
    _Atomic(CUcontext) retained; /* the same while we hold it, else NULL */
} devices[VS_RT_DEVICES_MAX];

static _Thread_local int thread_device;
static _Thread_local cudaError_t thread_error;

/* ---- the driver ---- */

/* Looks up functions newer than the driver's version: the stand-in driver returns them to an older
 * stand-in runtime; the real runtime of that major version did without. */
static CUresult (*look_up_newer)(const char *, void **, int, cuuint64_t);

static bool look_up(void *out, const char *name, int version, cuuint64_t flags)
{
    void *found = NULL;
    CUdriverProcAddressQueryResult status;
    CUresult e = vs_rt.GetProcAddress(name, &found, version, flags, &status);
    if ((e || !found) && version > VS_SIM_RT_MAJOR * 1000 && look_up_newer)
        e = look_up_newer(name, &found, version, flags);
    if (e || !found)
        return false;
    memcpy(out, &found, sizeof found);
    return true;
}

static bool look_up_all(void)
{
    bool ok = true;
#define VS_RT_FN(field, name, version, flags, type) \
    ok &= look_up(&vs_rt.field, name, version, flags);
#include "generated/vs_sim_runtime_table.h"
#undef VS_RT_FN
    /* A driver other than the stand-in lacks this; variables then fail when used. */
    look_up(&vs_rt.DeclareGlobal, "vramscopeSimDeclareGlobal", CUDA_VERSION, 0);
    vs_rt_calls_fn calls = NULL;
    look_up(&calls, "vramscopeSimCalls", CUDA_VERSION, 0);
    vs_rt_watch_by(calls);
    return ok;
}

static void before_fork(void) { pthread_mutex_lock(&devices_mu); }
static void after_fork(void) { pthread_mutex_unlock(&devices_mu); }

static void load(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
    load_result = cudaErrorInsufficientDriver;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return;
    void *get = dlsym(driver, "cuGetProcAddress_v2");
    if (!get)
        return;
    memcpy(&vs_rt.GetProcAddress, &get, sizeof get);
    get = dlsym(driver, "vramscopeSimLookUp");
    memcpy(&look_up_newer, &get, sizeof get);
    void *nothing = NULL;
    CUdriverProcAddressQueryResult status;
    vs_rt.GetProcAddress("", &nothing, 0, 0, &status); /* the real runtime's first lookup */
    int version = 0;
    if (!look_up_all() || vs_rt.DriverGetVersion(&version) != CUDA_SUCCESS ||
        version / 1000 < VS_SIM_RT_MAJOR) /* any driver of the same major version is sufficient */
        return;
    load_result = vs_rt_error(vs_rt.Init(0));
}

cudaError_t vs_rt_enter(void)
{
    pthread_once(&load_once, load);
    return load_result;
}

/* ---- last error ---- */

cudaError_t vs_rt_result(cudaError_t error)
{
    if (error != cudaSuccess)
        thread_error = error;
    return error;
}

/* Errors that leave the context unusable persist after being read. */
static bool is_sticky(cudaError_t error)
{
    return (error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchTimeout &&
            error != cudaErrorLaunchOutOfResources) ||
           error == cudaErrorAssert ||
           (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = thread_error;
    if (!is_sticky(error))
        thread_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return thread_error; }

/* ---- contexts ---- */

static cudaError_t retain(int device, CUcontext *ctx)
{
    if (device < 0 || device >= VS_RT_DEVICES_MAX)
        return cudaErrorInvalidDevice;
    *ctx = atomic_load(&devices[device].retained);
    if (*ctx)
        return cudaSuccess;
    pthread_mutex_lock(&devices_mu);
    CUresult e = CUDA_SUCCESS;
    if (!atomic_load(&devices[device].retained)) {
        e = vs_rt.DevicePrimaryCtxRetain(&devices[device].ctx, device);
        if (e == CUDA_SUCCESS)
            atomic_store(&devices[device].retained, devices[device].ctx);
    }
    *ctx = devices[device].ctx;
    pthread_mutex_unlock(&devices_mu);
    return vs_rt_error(e);
}

cudaError_t vs_rt_context_of(int device, CUcontext *ctx)
{
    cudaError_t e = vs_rt_enter();
    return e ? e : retain(device, ctx);
}

/* The current context is the primary one of a device that was reset. */
static bool is_stale(CUcontext current)
{
    bool stale = false;
    pthread_mutex_lock(&devices_mu);
    for (int i = 0; i < VS_RT_DEVICES_MAX; i++)
        if (devices[i].ctx == current)
            stale = !atomic_load(&devices[i].retained);
    pthread_mutex_unlock(&devices_mu);
    return stale;
}

cudaError_t vs_rt_enter_context(void)
{
    CUcontext current = NULL, ctx;
    cudaError_t e = vs_rt_enter();
    if (e)
        return e;
    if ((e = vs_rt_error(vs_rt.CtxGetCurrent(&current))))
        return e;
    if (current && (current == atomic_load(&devices[thread_device].retained) || !is_stale(current)))
        return cudaSuccess;
    if ((e = retain(thread_device, &ctx)))
        return e;
    return vs_rt_error(vs_rt.CtxSetCurrent(ctx));
}

/* ---- choosing a device ---- */

cudaError_t cudaSetDevice_driver(int device)
{
    int count;
    CUcontext ctx;
    cudaError_t e = vs_rt_error(vs_rt.DeviceGetCount(&count));
    if (e)
        return e;
    if (device < 0 || device >= count || device >= VS_RT_DEVICES_MAX)
        return cudaErrorInvalidDevice;
    if (VS_SIM_RT_MAJOR < 12) { /* since CUDA 12 this starts the device's context */
        CUcontext current = NULL;
        thread_device = device;
        ctx = atomic_load(&devices[device].retained); /* NULL: none until one is needed */
        CUresult r = ctx ? CUDA_SUCCESS : vs_rt.CtxGetCurrent(&current);
        return vs_rt_error(!r && (ctx || current) ? vs_rt.CtxSetCurrent(ctx) : r);
    }
    if ((e = retain(device, &ctx)))
        return e;
    thread_device = device;
    return vs_rt_error(vs_rt.CtxSetCurrent(ctx));
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext ctx;
    cudaError_t e =
        flags & ~(unsigned)cudaInitDeviceFlagsAreValid ? cudaErrorInvalidValue : vs_rt_enter();
    if (!e && (flags & cudaInitDeviceFlagsAreValid))
        e = vs_rt_error(vs_rt.DevicePrimaryCtxSetFlags(device, deviceFlags));
    return vs_rt_result(e ? e : retain(device, &ctx));
}

cudaError_t cudaGetDevice_driver(int device[static 1])
{
    CUcontext current = NULL;
    CUdevice ordinal;
    *device = thread_device;
    if (vs_rt.CtxGetCurrent(&current) == CUDA_SUCCESS && current &&
        vs_rt.CtxGetDevice(&ordinal) == CUDA_SUCCESS)
        *device = ordinal; /* may have been set through the driver */
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    cudaError_t e = flags & ~(unsigned)cudaDeviceMask ? cudaErrorInvalidValue : vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.DevicePrimaryCtxSetFlags(thread_device, flags)));
}

cudaError_t cudaGetDeviceFlags_driver(unsigned int flags[static 1])
{
    int active;
    return vs_rt_error(vs_rt.DevicePrimaryCtxGetState(thread_device, flags, &active));
}

cudaError_t cudaDeviceReset(void)
{
    int device;
    cudaError_t e = cudaGetDevice(&device);
    if (e)
        return e;
    pthread_mutex_lock(&devices_mu);
    e = vs_rt_error(vs_rt.DevicePrimaryCtxReset(device));
    if (!e && atomic_exchange(&devices[device].retained, NULL))
        e = vs_rt_error(vs_rt.DevicePrimaryCtxRelease(device));
    pthread_mutex_unlock(&devices_mu);
    if (!e && is_sticky(thread_error))
        thread_error = cudaSuccess;
    return vs_rt_result(e);
}
