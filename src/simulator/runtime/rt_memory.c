/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation, free and memory queries in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

cudaError_t cudaMalloc_context(void **devPtr, size_t size)
{
    if (!devPtr)
        return cudaErrorInvalidValue;
    *devPtr = NULL;
    if (!size)
        return cudaSuccess;
    CUdeviceptr address = 0;
    cudaError_t e = vs_rt_error(vs_rt.MemAlloc(&address, size));
    if (!e)
        *devPtr = (void *)address;
    return e;
}

VS_RT_AS(cudaFree_context, (void *devPtr),
         devPtr ? vs_rt_error(vs_rt.MemFree((CUdeviceptr)devPtr)) : cudaSuccess)

cudaError_t cudaMallocPitch_context(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (!devPtr || !pitch)
        return cudaErrorInvalidValue;
    if (!width || !height) {
        *devPtr = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    CUdeviceptr address = 0;
    cudaError_t e = vs_rt_error(vs_rt.MemAllocPitch(&address, pitch, width, height, 4));
    if (!e)
        *devPtr = (void *)address;
    return e;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows;
    if (!pitchedDevPtr || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return vs_rt_result(cudaErrorInvalidValue);
    cudaError_t e = cudaMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
    if (!e) {
        pitchedDevPtr->xsize = extent.width;
        pitchedDevPtr->ysize = extent.height;
    }
    return e;
}

cudaError_t cudaMallocManaged_context(void **devPtr, size_t size, unsigned int flags)
{
    if (size || !devPtr)
        return vs_rt_error(vs_rt.MemAllocManaged((CUdeviceptr *)devPtr, size, flags));
    *devPtr = NULL;
    return cudaSuccess;
}

/* ---- host memory; flags have the driver's values ---- */

cudaError_t cudaHostAlloc_context(void **pHost, size_t size, unsigned int flags)
{
    if (!pHost)
        return cudaErrorInvalidValue;
    *pHost = NULL;
    return size ? vs_rt_error(vs_rt.MemHostAlloc(pHost, size, flags)) : cudaSuccess;
}

VS_RT_AS(cudaMallocHost, (void **ptr, size_t size), cudaHostAlloc(ptr, size, cudaHostAllocDefault))
VS_RT_AS(cudaFreeHost_context, (void *ptr), ptr ? vs_rt_error(vs_rt.MemFreeHost(ptr)) : cudaSuccess)

/* ---- attributes ---- */

cudaError_t cudaPointerGetAttributes_context(struct cudaPointerAttributes attributes[static 1],
                                             const void *ptr)
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
    cudaError_t e = vs_rt_error(vs_rt.PointerGetAttributes(5, wanted, out, (CUdeviceptr)ptr));
    if (e)
        return e;
    memset(attributes, 0, sizeof *attributes);
    attributes->type = managed                                ? cudaMemoryTypeManaged
                       : memory_type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                       : memory_type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                                             : cudaMemoryTypeUnregistered;
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

/* ---- external memory: the structures differ from the driver's in their reserved fields ---- */

cudaError_t cudaImportExternalMemory_context(
    cudaExternalMemory_t *extMem_out, const struct cudaExternalMemoryHandleDesc *memHandleDesc)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {0};
    if (!memHandleDesc)
        return cudaErrorInvalidValue;
    desc.type = (CUexternalMemoryHandleType)memHandleDesc->type;
    desc.handle.fd = memHandleDesc->handle.fd;
    desc.size = memHandleDesc->size;
    desc.flags = memHandleDesc->flags;
    return vs_rt_error(vs_rt.ImportExternalMemory((CUexternalMemory *)extMem_out, &desc));
}

cudaError_t cudaExternalMemoryGetMappedBuffer_context(
    void **devPtr, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryBufferDesc *bufferDesc)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {0};
    if (!bufferDesc)
        return cudaErrorInvalidValue;
    desc.offset = bufferDesc->offset;
    desc.size = bufferDesc->size;
    desc.flags = bufferDesc->flags;
    return vs_rt_error(vs_rt.ExternalMemoryGetMappedBuffer((CUdeviceptr *)devPtr,
                                                           (CUexternalMemory)extMem, &desc));
}
