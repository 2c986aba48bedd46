/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation and pools in the runtime. Structures and attribute numbers are the
 * driver's. The per-thread forms call the driver's own. */
#include "simulator/runtime/vs_sim_runtime.h"

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "passed through");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "passed through");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "passed through");

static cudaError_t alloc_async(void **devPtr, size_t size, cudaMemPool_t pool, bool given,
                               cudaStream_t stream, bool per_thread)
{
    CUdeviceptr address = 0;
    CUresult r;
    cudaError_t e = vs_rt_enter_context();
    if (!e && !devPtr)
        e = cudaErrorInvalidValue;
    if (e)
        return e;
    if (given)
        r = (per_thread ? vs_rt.MemAllocFromPoolAsync_ptsz
                        : vs_rt.MemAllocFromPoolAsync)(&address, size, (CUmemoryPool)pool, stream);
    else
        r = (per_thread ? vs_rt.MemAllocAsync_ptsz : vs_rt.MemAllocAsync)(&address, size, stream);
    if (r == CUDA_SUCCESS)
        *devPtr = (void *)address;
    return vs_rt_error(r);
}

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    return vs_rt_result(alloc_async(devPtr, size, NULL, false, hStream, false));
}

cudaError_t cudaMallocAsync_ptsz(void **devPtr, size_t size, cudaStream_t hStream)
{
    return vs_rt_result(alloc_async(devPtr, size, NULL, false, hStream, true));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream)
{
    return vs_rt_result(alloc_async(ptr, size, memPool, true, stream, false));
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, cudaMemPool_t memPool,
                                         cudaStream_t stream)
{
    return vs_rt_result(alloc_async(ptr, size, memPool, true, stream, true));
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    VS_RT_CALL(vs_rt.MemFreeAsync((CUdeviceptr)devPtr, hStream));
}

cudaError_t cudaFreeAsync_ptsz(void *devPtr, cudaStream_t hStream)
{
    VS_RT_CALL(vs_rt.MemFreeAsync_ptsz((CUdeviceptr)devPtr, hStream));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolCreate((CUmemoryPool *)memPool,
                                                            (const CUmemPoolProps *)poolProps)));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.MemPoolDestroy((CUmemoryPool)memPool)));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.MemPoolTrimTo((CUmemoryPool)memPool, minBytesToKeep)));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolGetAttribute(
                                (CUmemoryPool)memPool, (CUmemPool_attribute)attr, value)));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolSetAttribute(
                                (CUmemoryPool)memPool, (CUmemPool_attribute)attr, value)));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                 size_t count)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolSetAccess(
                                (CUmemoryPool)memPool, (const CUmemAccessDesc *)descList, count)));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation *location)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e
          : vs_rt_error(vs_rt.MemPoolGetAccess((CUmemAccess_flags *)flags, (CUmemoryPool)memPool,
                                               (CUmemLocation *)location)));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.DeviceGetDefaultMemPool((CUmemoryPool *)memPool, device)));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.DeviceGetMemPool((CUmemoryPool *)memPool, device)));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.DeviceSetMemPool(device, (CUmemoryPool)memPool)));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemGetDefaultMemPool((CUmemoryPool *)memPool,
                                                                   (CUmemLocation *)location,
                                                                   (CUmemAllocationType)type)));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                              enum cudaMemAllocationType type)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e
          : vs_rt_error(vs_rt.MemGetMemPool((CUmemoryPool *)memPool, (CUmemLocation *)location,
                                            (CUmemAllocationType)type)));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                              cudaMemPool_t memPool)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e
          : vs_rt_error(vs_rt.MemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type,
                                            (CUmemoryPool)memPool)));
}

/* ---- pools of other processes ---- */

_Static_assert(sizeof(struct cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData),
               "passed through");

cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                               enum cudaMemAllocationHandleType handleType,
                                               unsigned int flags)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolExportToShareableHandle(
                                shareableHandle, (CUmemoryPool)memPool,
                                (CUmemAllocationHandleType)handleType, flags)));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                 enum cudaMemAllocationHandleType handleType,
                                                 unsigned int flags)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolImportFromShareableHandle(
                                (CUmemoryPool *)memPool, shareableHandle,
                                (CUmemAllocationHandleType)handleType, flags)));
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.MemPoolExportPointer(
                                (CUmemPoolPtrExportData *)exportData, (CUdeviceptr)ptr)));
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool,
                                     struct cudaMemPoolPtrExportData *exportData)
{
    VS_RT_CALL(vs_rt.MemPoolImportPointer((CUdeviceptr *)ptr, (CUmemoryPool)memPool,
                                          (CUmemPoolPtrExportData *)exportData));
}
