/* SPDX-License-Identifier: Apache-2.0
 *
 * Registrations by a program's start-up code: fat binaries, kernels, variables. It runs before
 * main, so nothing here touches the driver until a kernel or variable is used; then the fat binary
 * is passed to the driver as a library. Only the address of a fat binary is used. An unregistered
 * image's entries are removed; its memory is kept, since other static destructors may still launch
 * from it. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* crt/host_runtime.h declares these for C++ only. */
VS_SIM_RT_API void **__cudaRegisterFatBinary(void *fatCubin);
VS_SIM_RT_API void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
VS_SIM_RT_API void __cudaUnregisterFatBinary(void **fatCubinHandle);
VS_SIM_RT_API void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun,
                                          char *deviceFun, const char *deviceName, int thread_limit,
                                          uint3 *tid, uint3 *bid, dim3 *bDim, dim3 *gDim,
                                          int *wSize);
VS_SIM_RT_API void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                                     const char *deviceName, int ext, size_t size, int constant,
                                     int global);
VS_SIM_RT_API void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
                                            char *deviceAddress, const char *deviceName, int ext,
                                            size_t size, int constant, int global);
VS_SIM_RT_API char __cudaInitModule(void **fatCubinHandle);
VS_SIM_RT_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entryFuncAddr);

struct kernel {
    struct kernel *next;  /* in the hash bucket */
    const void *function; /* host stub, or the handle itself */
    const char *name;     /* in the program's image */
    struct register_image *image;  /* NULL for a handle */
    CUkernel handle;      /* NULL before its first use; guarded by images_mu */
};

struct variable {
    struct variable *next; /* of the image */
    const void *symbol;    /* host shadow, or for managed variables the location of their pointer */
    const char *name;
    size_t bytes;
    bool managed, declared;
    CUdeviceptr address; /* managed: once created */
};

struct register_image {
    void *self; /* the target of handles; the real ones also point to a pointer */
    const void *fat_binary;
    CUlibrary library; /* NULL before its first use */
    struct variable *variables;
    struct register_image *next;
    bool gone;
};

#define BUCKETS 1024

static pthread_mutex_t images_mu = PTHREAD_MUTEX_INITIALIZER; /* guards everything below */
static struct register_image *images;
static struct kernel *buckets[BUCKETS];

static struct kernel **bucket(const void *function)
{
    uint64_t x = (uintptr_t)function * UINT64_C(0x9E3779B97F4A7C15);
    return &buckets[x >> 54];
}

/* The child of a fork unregisters its images at exit, so the lock must be free there. */
static void before_fork(void) { pthread_mutex_lock(&images_mu); }
static void after_fork(void) { pthread_mutex_unlock(&images_mu); }
static void guard_fork(void) { pthread_atfork(before_fork, after_fork, after_fork); }

void **__cudaRegisterFatBinary(void *fatCubin)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct register_image *image = vs_sim_need(calloc(1, sizeof *image));
    pthread_once(&once, guard_fork);
    image->self = image;
    image->fat_binary = fatCubin ? fatCubin : image;
    pthread_mutex_lock(&images_mu);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&images_mu);
    return &image->self;
}

void __cudaRegisterFatBinaryEnd(void **fatCubinHandle) {} /* its content is never read */

void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct register_image *image = (struct register_image *)fatCubinHandle;
    if (!image)
        return;
    pthread_mutex_lock(&images_mu);
    image->gone = true;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct kernel **p = &buckets[i]; *p;) {
            struct kernel *k = *p;
            if (k->image != image) {
                p = &k->next;
                continue;
            }
            *p = k->next;
            free(k);
        }
    pthread_mutex_unlock(&images_mu);
}

void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize)
{
    if (!fatCubinHandle)
        return;
    struct kernel *k = vs_sim_need(calloc(1, sizeof *k));
    k->function = hostFun;
    k->name = deviceName ? deviceName : deviceFun;
    k->image = (struct register_image *)fatCubinHandle;
    pthread_mutex_lock(&images_mu);
    k->next = *bucket(hostFun);
    *bucket(hostFun) = k;
    pthread_mutex_unlock(&images_mu);
}

static void add_variable(void **handle, const void *symbol, const char *name, size_t bytes,
                         bool managed)
{
    struct register_image *image = (struct register_image *)handle;
    if (!image)
        return;
    struct variable *v = vs_sim_need(calloc(1, sizeof *v));
    v->symbol = symbol;
    v->name = name;
    v->bytes = bytes;
    v->managed = managed;
    pthread_mutex_lock(&images_mu);
    v->next = image->variables;
    image->variables = v;
    pthread_mutex_unlock(&images_mu);
}

void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                       const char *deviceName, int ext, size_t size, int constant, int global)
{
    add_variable(fatCubinHandle, hostVar, deviceName ? deviceName : deviceAddress, size, false);
}

void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant,
                              int global)
{
    add_variable(fatCubinHandle, hostVarPtrAddress, deviceName ? deviceName : deviceAddress, size,
                 true);
}

/* ---- use ---- */

static CUresult declare(struct register_image *image, struct variable *v)
{
    if (v->declared)
        return CUDA_SUCCESS;
    if (!vs_rt.DeclareGlobal)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult r = vs_rt.DeclareGlobal(image->library, v->name, v->bytes, v->managed);
    v->declared = r == CUDA_SUCCESS;
    return r;
}

/* Declares all variables to the driver at once: host functions use them without a query. */
static CUresult load_locked(struct register_image *image)
{
    if (image->library)
        return CUDA_SUCCESS;
    CUresult r =
        vs_rt.LibraryLoadData(&image->library, image->fat_binary, NULL, NULL, 0, NULL, NULL, 0);
    if (r || !vs_rt.DeclareGlobal)
        return r;
    for (struct variable *v = image->variables; v && !r; v = v->next)
        r = declare(image, v);
    return r ? r : vs_rt.DeclareGlobal(image->library, NULL, 0, 0);
}

static CUresult declare_locked(struct register_image *image, struct variable *v)
{
    CUresult r = load_locked(image);
    return r ? r : declare(image, v);
}

cudaError_t vs_rt_kernel_of(const void *function, CUkernel *kernel)
{
    cudaError_t e = vs_rt_enter();
    if (e)
        return e;
    pthread_mutex_lock(&images_mu);
    struct kernel *k = *bucket(function);
    while (k && k->function != function)
        k = k->next;
    if (!k)
        e = cudaErrorInvalidDeviceFunction;
    if (!e && !k->handle && !(e = vs_rt_error(load_locked(k->image))))
        e = vs_rt_error(vs_rt.LibraryGetKernel(&k->handle, k->image->library, k->name));
    if (!e)
        *kernel = k->handle;
    pthread_mutex_unlock(&images_mu);
    return e;
}

void *vs_rt_stub_of(CUfunction handle)
{
    const void *found = handle;
    pthread_mutex_lock(&images_mu);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct kernel *k = buckets[i]; k; k = k->next)
            if (k->image && (void *)k->handle == (void *)handle)
                found = k->function;
    pthread_mutex_unlock(&images_mu);
    return (void *)found;
}

void vs_rt_kernel_remember(CUkernel handle)
{
    pthread_mutex_lock(&images_mu);
    struct kernel *k = *bucket(handle);
    while (k && k->function != (const void *)handle)
        k = k->next;
    if (!k) {
        k = vs_sim_need(calloc(1, sizeof *k));
        k->function = handle;
        k->handle = handle;
        k->next = *bucket(handle);
        *bucket(handle) = k;
    }
    pthread_mutex_unlock(&images_mu);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entryFuncAddr)
{
    return vs_rt_result(vs_rt_kernel_of(entryFuncAddr, (CUkernel *)kernel));
}

cudaError_t cudaGetKernel_result(cudaKernel_t kernelPtr[static 1], const void *entryFuncAddr)
{
    cudaError_t e = vs_rt_kernel_of(entryFuncAddr, (CUkernel *)kernelPtr);
    if (!e)
        vs_rt_kernel_remember((CUkernel)*kernelPtr);
    return e;
}

cudaError_t cudaGetFuncBySymbol_context(cudaFunction_t functionPtr[static 1], const void *symbolPtr)
{
    CUkernel kernel;
    cudaError_t e = vs_rt_kernel_of(symbolPtr, &kernel);
    return e ? e : vs_rt_error(vs_rt.KernelGetFunction((CUfunction *)functionPtr, kernel));
}

static CUresult managed_locked(struct register_image *image, struct variable *v)
{
    CUresult r = declare_locked(image, v);
    if (r == CUDA_SUCCESS)
        r = vs_rt.LibraryGetManaged(&v->address, NULL, image->library, v->name);
    if (r == CUDA_SUCCESS)
        *(void **)v->symbol = (void *)v->address; /* host code goes through this pointer */
    return r;
}

/* Called by host code before its first access to a managed variable. */
char __cudaInitModule(void **fatCubinHandle)
{
    struct register_image *image = (struct register_image *)fatCubinHandle;
    cudaError_t e = image ? vs_rt_enter_context() : cudaErrorInvalidValue;
    pthread_mutex_lock(&images_mu);
    for (struct variable *v = e ? NULL : image->variables; v; v = v->next)
        if (v->managed && !v->address)
            e = vs_rt_error(managed_locked(image, v));
    pthread_mutex_unlock(&images_mu);
    vs_rt_result(e);
    return e == cudaSuccess;
}

cudaError_t vs_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    e = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&images_mu);
    for (struct register_image *image = images; image; image = image->next)
        for (struct variable *v = image->gone ? NULL : image->variables; v; v = v->next) {
            if (v->symbol != symbol &&
                !(v->managed && v->address && v->address == (CUdeviceptr)symbol))
                continue;
            CUdeviceptr at = v->address;
            if (v->managed)
                e = at ? cudaSuccess : vs_rt_error(managed_locked(image, v));
            else if (!(e = vs_rt_error(declare_locked(image, v))))
                e = vs_rt_error(vs_rt.LibraryGetGlobal(&at, NULL, image->library, v->name));
            if (!e && address)
                *address = v->managed ? v->address : at;
            if (!e && bytes)
                *bytes = v->bytes;
            goto out;
        }
out:
    pthread_mutex_unlock(&images_mu);
    return e;
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address = 0;
    cudaError_t e = devPtr ? vs_rt_symbol(symbol, &address, NULL) : cudaErrorInvalidValue;
    if (!e)
        *devPtr = (void *)address;
    return vs_rt_result(e);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    return vs_rt_result(size ? vs_rt_symbol(symbol, NULL, size) : cudaErrorInvalidValue);
}
