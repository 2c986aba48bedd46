/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation and free of device, pitched, pinned and registered host memory, and the amount of free
 * memory. Each call creates one range in the registry (drv_range.c); storage comes from drv_space.c
 * or, for host memory, from mmap. A free waits for the owner's work first, as the real driver does.
 */
#include "simulator/memory/vs_sim_array.h"
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_managed.h"
#include "simulator/memory/vs_sim_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PITCH_ALIGN 512

void vs_sim_memory_release(const struct vs_sim_range *range)
{
    switch (range->kind) {
    case VS_SIM_RANGE_DEVICE:
        vs_sim_ipc_discard(range);
        vs_sim_space_free(range->device, range->base, range->bytes);
        break;
    case VS_SIM_RANGE_OPENED: vs_sim_ipc_unmap(range); break;
    case VS_SIM_RANGE_EXTERNAL: vs_sim_external_release(range); break;
    case VS_SIM_RANGE_GLOBAL: vs_sim_space_free(range->device, range->base, range->bytes); break;
    case VS_SIM_RANGE_POOL: vs_sim_pool_block_free(range, NULL, 0); break;
    case VS_SIM_RANGE_MANAGED: vs_sim_managed_release(range); break;
    case VS_SIM_RANGE_HOST: vs_sim_host_unmap((void *)range->base, range->bytes); break;
    case VS_SIM_RANGE_ARRAY: vs_sim_array_release(range); break;
    case VS_SIM_RANGE_REGISTERED:
    case VS_SIM_RANGE_MAPPED: break; /* not freed by this function */
    case VS_SIM_RANGE_GRAPH: vs_sim_block_drop(range->base); break;
    }
}

CUresult vs_sim_device_storage(struct vs_sim_context *ctx, enum vs_sim_family family, size_t bytes,
                               uintptr_t *base)
{
    int device = ctx->device->ordinal;
    vs_sim_delay_us(vs_sim_spec.malloc_us);
    CUresult e = vs_sim_fault_alloc(family);
    if (e)
        return e;
    e = vs_sim_space_alloc(device, bytes, base);
    if (e == CUDA_ERROR_OUT_OF_MEMORY) { /* release unused pool memory before failing */
        vs_sim_context_sync(ctx);
        vs_sim_pools_release_idle();
        e = vs_sim_space_alloc(device, bytes, base);
    }
    return e;
}

CUresult cuMemAlloc_v2_safe(struct vs_sim_context *ctx, CUdeviceptr *dptr, size_t bytes)
{
    if (!dptr || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_range range = {.bytes = bytes,
                                 .kind = VS_SIM_RANGE_DEVICE,
                                 .ctx = ctx,
                                 .device = ctx->device->ordinal};
    CUresult e = vs_sim_device_storage(ctx, VS_SIM_FAMILY_DEVICE, bytes, &range.base);
    if (e)
        return e;
    e = vs_sim_range_add(&range);
    if (e)
        vs_sim_space_free(range.device, range.base, bytes);
    else
        *dptr = range.base;
    return e;
}

CUresult cuMemAllocPitch_v2_safe(struct vs_sim_context *ctx, CUdeviceptr *dptr, size_t *pPitch,
                                 size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes)
{
    size_t bytes;
    if (!dptr || !pPitch || !WidthInBytes || !Height || WidthInBytes > SIZE_MAX - PITCH_ALIGN ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = (WidthInBytes + PITCH_ALIGN - 1) & ~(size_t)(PITCH_ALIGN - 1);
    if (__builtin_mul_overflow(pitch, Height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult e = cuMemAlloc_v2_safe(ctx, dptr, bytes);
    if (e == CUDA_SUCCESS)
        *pPitch = pitch;
    return e;
}

CUresult cuMemFree_v2_safe(struct vs_sim_context *ctx, CUdeviceptr dptr)
{
    struct vs_sim_range range;
    if (!dptr)
        return CUDA_SUCCESS;
    if (!vs_sim_range_find(dptr, &range) || range.base != dptr ||
        (range.kind != VS_SIM_RANGE_DEVICE && range.kind != VS_SIM_RANGE_GRAPH &&
         range.kind != VS_SIM_RANGE_POOL && range.kind != VS_SIM_RANGE_MANAGED &&
         range.kind != VS_SIM_RANGE_EXTERNAL)) {
        if (vs_sim_checking)
            vs_sim_check_bad_free(dptr);
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult e = vs_sim_context_sync(range.ctx);
    if (range.ctx != ctx && e == CUDA_SUCCESS)
        e = vs_sim_context_sync(ctx);
    if (e == CUDA_SUCCESS)
        e = vs_sim_peers_sync(range.ctx);
    vs_sim_delay_us(vs_sim_spec.free_us);
    if (range.kind == VS_SIM_RANGE_GRAPH) {
        CUresult freed = vs_sim_block_free(dptr, NULL);
        if (vs_sim_checking && freed)
            vs_sim_check_bad_free(dptr);
        else if (vs_sim_checking)
            vs_sim_check_range_removed(&range);
        return freed ? freed : e;
    }
    if (!vs_sim_range_remove(dptr, range.id, &range))
        return CUDA_ERROR_INVALID_VALUE; /* another thread was faster */
    vs_sim_memory_release(&range);
    vs_sim_pools_release_idle();
    return e;
}

CUresult cuMemGetInfo_v2_in(struct vs_sim_context *ctx, size_t *free, size_t *total)
{
    if (free)
        *free = vs_sim_space_free_bytes(ctx->device->ordinal);
    if (total)
        *total = vs_sim_spec.capacity_bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2_in(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct vs_sim_range range;
    if (!vs_sim_range_find(dptr, &range) || range.kind == VS_SIM_RANGE_REGISTERED ||
        range.kind == VS_SIM_RANGE_ARRAY)
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = range.base;
    if (psize)
        *psize = range.bytes;
    return CUDA_SUCCESS;
}

/* ---- pinned host memory ---- */

CUresult cuMemHostAlloc_safe(struct vs_sim_context *ctx, void **pp, size_t bytesize,
                             unsigned int Flags)
{
    CUresult e;
    if (!pp || !bytesize ||
        (Flags &
         ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)))
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = vs_sim_fault_alloc(VS_SIM_FAMILY_HOST)))
        return e;
    void *pages = vs_sim_host_map(bytesize);
    if (!pages)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct vs_sim_range range = {.base = (uintptr_t)pages,
                                 .bytes = bytesize,
                                 .kind = VS_SIM_RANGE_HOST,
                                 .ctx = ctx,
                                 .flags = Flags,
                                 .device = -1};
    e = vs_sim_range_add(&range);
    if (e)
        vs_sim_host_unmap(pages, bytesize);
    else
        *pp = pages;
    return e;
}

VS_SIM_AS(cuMemAllocHost_v2, (void **pp, size_t bytesize),
          cuMemHostAlloc(pp, bytesize, CU_MEMHOSTALLOC_DEVICEMAP))

/* Ends the memory of *kind* that starts at *p*, else *missing*. Work may still use it, so the call
 * waits for it; but no document promises that, so the checker does not let a program rely on it. */
static CUresult host_remove(void *p, enum vs_sim_range_kind kind, CUresult missing)
{
    struct vs_sim_range range;
    if (!p || !vs_sim_range_at((uintptr_t)p, kind, &range)) {
        if (p && vs_sim_checking)
            vs_sim_check_bad_free((uintptr_t)p);
        return missing;
    }
    if (vs_sim_checking)
        vs_sim_check_unsynced(true);
    CUresult e = vs_sim_context_sync(range.ctx);
    bool removed = vs_sim_range_remove(range.base, range.id, &range);
    if (vs_sim_checking)
        vs_sim_check_unsynced(false);
    if (removed)
        vs_sim_memory_release(&range);
    return removed ? e : missing;
}

VS_SIM_AS(cuMemFreeHost_safe, (void *p),
          host_remove(p, VS_SIM_RANGE_HOST, CUDA_ERROR_INVALID_VALUE))

CUresult cuMemHostRegister_v2_safe(struct vs_sim_context *ctx, void *p, size_t bytesize,
                                   unsigned int Flags)
{
    if (!p || !bytesize ||
        (Flags & ~(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                   CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)))
        return CUDA_ERROR_INVALID_VALUE;
    if (Flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct vs_sim_range range = {.base = (uintptr_t)p,
                                 .bytes = bytesize,
                                 .kind = VS_SIM_RANGE_REGISTERED,
                                 .ctx = ctx,
                                 .flags = Flags,
                                 .device = -1};
    CUresult e = vs_sim_range_add(&range);
    return e == CUDA_ERROR_ALREADY_MAPPED ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : e;
}

VS_SIM_AS(cuMemHostUnregister_safe, (void *p),
          host_remove(p, VS_SIM_RANGE_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED))

CUresult cuMemHostGetDevicePointer_v2_in(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct vs_sim_range range;
    if (!pdptr || Flags || !vs_sim_range_find((uintptr_t)p, &range) ||
        (range.kind != VS_SIM_RANGE_HOST && range.kind != VS_SIM_RANGE_REGISTERED))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)(uintptr_t)p; /* one address space, as with unified addressing */
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags_in(unsigned int *pFlags, void *p)
{
    struct vs_sim_range range;
    if (!pFlags || !vs_sim_range_find((uintptr_t)p, &range) || range.kind != VS_SIM_RANGE_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    /* Under unified addressing all is portable, which is not passed back, and mapped. */
    *pFlags = (range.flags & ~(unsigned)CU_MEMHOSTALLOC_PORTABLE) | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

/* ---- memory for devices of others (GPUDirect RDMA) ---- */

/* A descriptor of an address range: read() and write() act as a network device would, from its
 * start on. Unlike a real one, it does not keep the memory alive: freed memory reads as zeros, or
 * as the content of a later allocation. */
CUresult cuMemGetHandleForAddressRange_in(void *handle, CUdeviceptr dptr, size_t size,
                                          CUmemRangeHandleType handleType, unsigned long long flags)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset;
    struct vs_sim_range range;
    char path[32];
    int store;
    if (!handle || !size || dptr % page || size % page ||
        handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || !vs_sim_range_find(dptr, &range) ||
        size > range.bytes - (dptr - range.base))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags || range.kind != VS_SIM_RANGE_DEVICE ||
        !vs_sim_space_place(range.device, dptr, &store, &offset))
        return CUDA_ERROR_NOT_SUPPORTED;
    snprintf(path, sizeof path, "/proc/self/fd/%d", store);
    int fd = open(path, O_RDWR | O_CLOEXEC); /* with its own file position */
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0) {
        close(fd);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *(int *)handle = fd;
    return CUDA_SUCCESS;
}
