/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtimes of CUDA 11 and 12: functions that these major versions have under another name, with
 * other arguments or with smaller structures than CUDA 13, implemented by the CUDA 13 form
 * (vs_sim_runtime_major.h explains how they are kept apart). Layouts and arguments are those of the
 * public headers of 11.8 and 12.9. The old structures are prefixes of the new ones except
 * cudaDeviceProp, which lost eight fields.
 *
 * Entry points added between 11.0 and 11.8, or 12.0 and 12.9, are all present, as in the last
 * release of the major version. */
#include "simulator/runtime/vs_sim_runtime.h"

#if VS_SIM_RT_MAJOR < 13
#include <string.h>

/* Begins the definition of the function that rt_api.c exports as *name*; in C that name is the CUDA
 * 13 form. */
#define OLD(name, ...)                                                \
    cudaError_t old_##name(__VA_ARGS__) __asm__("vs_rt_old_" #name); \
    cudaError_t old_##name(__VA_ARGS__)

/* ---- functions that only lack arguments: forwards.txt ---- */

#define VS_OLDER(symbol, newer, parameters, arguments)                \
    cudaError_t old_##symbol parameters __asm__("vs_rt_old_" #symbol); \
    cudaError_t old_##symbol parameters { return newer arguments; }
#include "generated/vs_sim_runtime_older_table.h"

/* ---- cudaDeviceProp ---- */

#define PROP_11_BYTES 728  /* ends after reservedSharedMemPerBlock */
#define PROP_12_BYTES 1032 /* with 63 reserved ints */
#define FIELD(field) offsetof(struct cudaDeviceProp, field)

/* Field ranges common to both layouts: their start and end in ours, and their start in the old one.
 * The removed fields are between them. */
static const struct {
    size_t from, end, to;
} stretches[] = {
    {0, FIELD(maxGridSize) + 12, 0},
    {FIELD(totalConstMem), FIELD(multiProcessorCount), 352},
    {FIELD(multiProcessorCount), FIELD(integrated), 388},
    {FIELD(integrated), FIELD(maxTexture1D), 396},
    {FIELD(maxTexture1D), FIELD(maxTexture2D), 408},
    {FIELD(maxTexture2D), FIELD(surfaceAlignment), 420},
    {FIELD(surfaceAlignment), FIELD(memoryBusWidth), 568},
    {FIELD(memoryBusWidth), FIELD(sharedMemPerMultiprocessor), 612},
    {FIELD(sharedMemPerMultiprocessor), FIELD(pageableMemoryAccess), 640},
    {FIELD(pageableMemoryAccess), FIELD(sharedMemPerBlockOptin), 672},
    {FIELD(sharedMemPerBlockOptin), FIELD(hostRegisterSupported), 696},
    {FIELD(hostRegisterSupported), FIELD(deviceNumaConfig), PROP_11_BYTES},
};

static const struct {
    size_t at;
    CUdevice_attribute attribute;
} gone[] = {
    {348, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {384, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP},
    {392, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT},
    {404, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
    {416, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH},
    {608, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {668, CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO},
    {692, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH},
};

static cudaError_t old_properties(char *prop, size_t bytes, int device)
{
    struct cudaDeviceProp ours;
    cudaError_t e = prop ? cudaGetDeviceProperties(&ours, device) : cudaErrorInvalidValue;
    if (e)
        return vs_rt_result(e);
    memset(prop, 0, bytes);
    for (size_t i = 0; i < sizeof stretches / sizeof stretches[0]; i++)
        if (stretches[i].to < bytes)
            memcpy(prop + stretches[i].to, (char *)&ours + stretches[i].from,
                   stretches[i].end - stretches[i].from);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0] && !e; i++) {
        int value = 0;
        e = vs_rt_error(vs_rt.DeviceGetAttribute(&value, gone[i].attribute, device));
        memcpy(prop + gone[i].at, &value, sizeof value);
    }
    return vs_rt_result(e);
}

/* CUDA 12 kept the name for programs of CUDA 11, whose structure is smaller. */
OLD(cudaGetDeviceProperties, void *prop, int device)
{
    return old_properties(prop, PROP_11_BYTES, device);
}

#if VS_SIM_RT_MAJOR == 12
OLD(cudaGetDeviceProperties_v2, void *prop, int device)
{
    return old_properties(prop, PROP_12_BYTES, device);
}
#endif

OLD(cudaChooseDevice, int *device, const void *prop)
{
    struct cudaDeviceProp any = {0}; /* all devices are equal, so its content is not used */
    return cudaChooseDevice(device, prop ? &any : NULL);
}

/* ---- structures that grew ---- */

#define RESOURCE_BYTES 64
#define VIEW_BYTES 48
#define TEXTURE_BYTES (VS_SIM_RT_MAJOR == 11 ? 68 : 72)

/* A query whose result is the first *bytes* of our structure. */
#define NARROWED(name, type, bytes, key)                       \
    OLD(name, void *out, key of)                               \
    {                                                          \
        struct type ours = {0};                                \
        cudaError_t e = name(out ? &ours : NULL, of);          \
        if (!e)                                                \
            memcpy(out, &ours, bytes);                         \
        return e;                                              \
    }
NARROWED(cudaPointerGetAttributes, cudaPointerAttributes, 24, const void *)
NARROWED(cudaGetTextureObjectResourceDesc, cudaResourceDesc, RESOURCE_BYTES, cudaTextureObject_t)
NARROWED(cudaGetSurfaceObjectResourceDesc, cudaResourceDesc, RESOURCE_BYTES, cudaTextureObject_t)
NARROWED(cudaGetTextureObjectResourceViewDesc, cudaResourceViewDesc, VIEW_BYTES,
         cudaTextureObject_t)
NARROWED(cudaGetTextureObjectTextureDesc, cudaTextureDesc, TEXTURE_BYTES, cudaTextureObject_t)
#if VS_SIM_RT_MAJOR == 11
NARROWED(cudaFuncGetAttributes, cudaFuncAttributes, 56, const void *)
#endif

/* *name*: our structure, filled from the *bytes* of the program's, or NULL. */
#define WIDEN(type, name, given, bytes)                 \
    struct type name##_wide = {0}, *name = NULL;        \
    if (given)                                          \
        name = memcpy(&name##_wide, given, bytes)

/* A function that makes something from a description. */
#define WIDENED(name, handle, type, bytes)   \
    OLD(name, handle *made, const void *desc) \
    {                                        \
        WIDEN(type, wide, desc, bytes);      \
        return name(made, wide);             \
    }
WIDENED(cudaImportExternalMemory, cudaExternalMemory_t, cudaExternalMemoryHandleDesc, 40)
WIDENED(cudaImportExternalSemaphore, cudaExternalSemaphore_t, cudaExternalSemaphoreHandleDesc, 32)
WIDENED(cudaCreateSurfaceObject, cudaSurfaceObject_t, cudaResourceDesc, RESOURCE_BYTES)

OLD(cudaExternalMemoryGetMappedBuffer, void **ptr, cudaExternalMemory_t memory, const void *desc)
{
    WIDEN(cudaExternalMemoryBufferDesc, wide, desc, 24);
    return cudaExternalMemoryGetMappedBuffer(ptr, memory, wide);
}

OLD(cudaExternalMemoryGetMappedMipmappedArray, cudaMipmappedArray_t *array,
    cudaExternalMemory_t memory, const void *desc)
{
    WIDEN(cudaExternalMemoryMipmappedArrayDesc, wide, desc, 64);
    return cudaExternalMemoryGetMappedMipmappedArray(array, memory, wide);
}

OLD(cudaCreateTextureObject, cudaTextureObject_t *object, const void *resource,
    const void *texture, const void *view)
{
    WIDEN(cudaResourceDesc, r, resource, RESOURCE_BYTES);
    WIDEN(cudaTextureDesc, t, texture, TEXTURE_BYTES);
    WIDEN(cudaResourceViewDesc, v, view, VIEW_BYTES);
    return cudaCreateTextureObject(object, r, t, v);
}

#if VS_SIM_RT_MAJOR == 11
/* 11.8's second forms, with the texture structure of CUDA 12. */
OLD(cudaCreateTextureObject_v2, cudaTextureObject_t *object, const void *resource,
    const struct cudaTextureDesc *texture, const void *view)
{
    WIDEN(cudaResourceDesc, r, resource, RESOURCE_BYTES);
    WIDEN(cudaResourceViewDesc, v, view, VIEW_BYTES);
    return cudaCreateTextureObject(object, r, texture, v);
}

OLD(cudaGetTextureObjectTextureDesc_v2, struct cudaTextureDesc *texture,
    cudaTextureObject_t object)
{
    return cudaGetTextureObjectTextureDesc(texture, object);
}
#endif

/* ---- managed memory: a device number instead of a location ---- */

static struct cudaMemLocation location_of(int device)
{
    struct cudaMemLocation location = {
        .type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
        .id = device == cudaCpuDeviceId ? 0 : device};
    return location;
}

OLD(cudaMemPrefetchAsync, const void *ptr, size_t count, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(ptr, count, location_of(device), 0, stream);
}

OLD(cudaMemPrefetchAsync_ptsz, const void *ptr, size_t count, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync_ptsz(ptr, count, location_of(device), 0, stream);
}

OLD(cudaMemAdvise, const void *ptr, size_t count, enum cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(ptr, count, advice, location_of(device));
}

/* ---- batched copies that report the failed one ---- */

#if VS_SIM_RT_MAJOR == 12
/* SIZE_MAX: the error does not belong to one copy. */
static cudaError_t not_this_copy(cudaError_t e, size_t *failed)
{
    if (e && failed)
        *failed = SIZE_MAX;
    return e;
}

#define BATCH(suffix)                                                                      \
    OLD(cudaMemcpyBatchAsync##suffix, void **to, void **from, size_t *sizes, size_t count, \
        struct cudaMemcpyAttributes *attributes, size_t *which, size_t attribute_count,    \
        size_t *failed, cudaStream_t stream)                                               \
    {                                                                                      \
        cudaError_t e =                                                                    \
            cudaMemcpyBatchAsync##suffix((void *)to, (void *)from, sizes, count,           \
                                         attributes, which, attribute_count, stream);      \
        return not_this_copy(e, failed);                                                   \
    }                                                                                      \
    OLD(cudaMemcpy3DBatchAsync##suffix, size_t count, struct cudaMemcpy3DBatchOp *ops,     \
        size_t *failed, unsigned long long flags, cudaStream_t stream)                     \
    {                                                                                      \
        return not_this_copy(cudaMemcpy3DBatchAsync##suffix(count, ops, flags, stream),    \
                             failed);                                                      \
    }
BATCH()
BATCH(_ptsz)
#endif

/* Conversions for devices without doubles, which are not simulated. */
OLD(cudaSetDoubleForDevice, double *d)
{
    return vs_rt_result(d ? cudaSuccess : cudaErrorInvalidValue);
}
OLD(cudaSetDoubleForHost, double *d)
{
    return vs_rt_result(d ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- CUDA 11 alone ---- */

#if VS_SIM_RT_MAJOR == 11
OLD(cudaGraphInstantiate, cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
    char *log, size_t log_bytes)
{
    if (error_node)
        *error_node = NULL;
    if (log && log_bytes)
        *log = '\0';
    return cudaGraphInstantiate(exec, graph, 0);
}

OLD(cudaGraphExecUpdate, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
    enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {0};
    if (!result)
        return vs_rt_result(cudaErrorInvalidValue);
    cudaError_t e = cudaGraphExecUpdate(exec, graph, &info);
    *result = info.result;
    if (error_node)
        *error_node = info.errorNode;
    return e;
}

/* Start-up code registers textures and surfaces; binding them is not supported. */
VS_SIM_RT_API void __cudaRegisterTexture(void **fatCubinHandle, const void *hostVar,
                                         const void **deviceAddress, const char *deviceName,
                                         int dim, int norm, int ext);
void __cudaRegisterTexture(void **fatCubinHandle, const void *hostVar, const void **deviceAddress,
                           const char *deviceName, int dim, int norm, int ext)
{
}

VS_SIM_RT_API void __cudaRegisterSurface(void **fatCubinHandle, const void *hostVar,
                                         const void **deviceAddress, const char *deviceName,
                                         int dim, int ext);
void __cudaRegisterSurface(void **fatCubinHandle, const void *hostVar, const void **deviceAddress,
                           const char *deviceName, int dim, int ext)
{
}
#endif
#endif
