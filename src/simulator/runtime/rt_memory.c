/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation, free and memory queries in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    cudaError_t e = vs_rt_enter_context();
    if (!e && !devPtr)
        e = cudaErrorInvalidValue;
    if (e)
        return vs_rt_result(e);
    *devPtr = NULL;
    if (!size)
        return cudaSuccess;
    CUdeviceptr address = 0;
    e = vs_rt_error(vs_rt.MemAlloc(&address, size));
    if (!e)
        *devPtr = (void *)address;
    return vs_rt_result(e);
}

cudaError_t cudaFree(void *devPtr)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e || !devPtr ? e : vs_rt_error(vs_rt.MemFree((CUdeviceptr)devPtr)));
}

static cudaError_t malloc_pitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    cudaError_t e = vs_rt_enter_context();
    if (!e && (!devPtr || !pitch))
        e = cudaErrorInvalidValue;
    if (e)
        return e;
    if (!width || !height) {
        *devPtr = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    CUdeviceptr address = 0;
    e = vs_rt_error(vs_rt.MemAllocPitch(&address, pitch, width, height, 4));
    if (!e)
        *devPtr = (void *)address;
    return e;
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    return vs_rt_result(malloc_pitch(devPtr, pitch, width, height));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows;
    if (!pitchedDevPtr || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return vs_rt_result(cudaErrorInvalidValue);
    cudaError_t e = malloc_pitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
    if (!e) {
        pitchedDevPtr->xsize = extent.width;
        pitchedDevPtr->ysize = extent.height;
    }
    return vs_rt_result(e);
}

/* ---- host memory; flags have the driver's values ---- */

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    cudaError_t e = vs_rt_enter_context();
    if (!e && !pHost)
        e = cudaErrorInvalidValue;
    if (e)
        return vs_rt_result(e);
    *pHost = NULL;
    return vs_rt_result(size ? vs_rt_error(vs_rt.MemHostAlloc(pHost, size, flags)) : cudaSuccess);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *ptr)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e || !ptr ? e : vs_rt_error(vs_rt.MemFreeHost(ptr)));
}

/* ---- attributes ---- */

static enum cudaMemoryType type_of(unsigned memory_type, unsigned managed)
{
    if (managed)
        return cudaMemoryTypeManaged;
    if (memory_type == CU_MEMORYTYPE_DEVICE)
        return cudaMemoryTypeDevice;
    return memory_type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    unsigned memory_type = 0, managed = 0;
    int device = cudaInvalidDeviceId;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    CUpointer_attribute wanted[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *out[] = {&memory_type, &managed, &device, &device_pointer, &host_pointer};
    cudaError_t e = attributes ? vs_rt_enter_context() : cudaErrorInvalidValue;
    if (!e)
        e = vs_rt_error(vs_rt.PointerGetAttributes(5, wanted, out, (CUdeviceptr)ptr));
    if (e)
        return vs_rt_result(e);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = type_of(memory_type, managed);
    attributes->device = device;
    attributes->devicePointer = (void *)device_pointer;
    attributes->hostPointer = host_pointer;
    if (attributes->type == cudaMemoryTypeUnregistered) {
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = (void *)ptr; /* plain host memory */
    }
    return cudaSuccess;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
