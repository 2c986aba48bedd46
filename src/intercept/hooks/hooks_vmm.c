/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management by the program: physical memory is recorded when it is created
 * (physical.c counts its references), address ranges when memory is mapped into them. Reserved
 * addresses are not memory. Our own mappings (vmm_ops.c) call the real functions without passing
 * here. */
#include "intercept/cache/room.h"
#include "base/vs_text.h"
#include "intercept/cache/shareable.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/cache/caching.h"
#include "intercept/track/limit.h"
#include "intercept/track/physical.h"

CUresult vs_on_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                           const CUmemAllocationProp *prop, unsigned long long flags)
{
    if (!handle || !prop)
        return VS_REAL(cuMemCreate, handle, bytes, prop, flags);
    const char *api = vs_api("cuMemCreate");
    struct vs_context *context = vs_context_current();
    bool on_device = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    uint32_t device = on_device ? (uint32_t)prop->location.id : VS_DEVICES_MAX;
    CUresult r;
    VS_WITH_ROOM_ON(r, device,
                    VS_LIMITED(device, bytes, VS_REAL(cuMemCreate, handle, bytes, prop, flags)));
    if (r == CUDA_SUCCESS) {
        /* without a context: it outlives them all */
        struct vs_tracked live = vs_live_in(context, 0, bytes, bytes, VS_FAMILY_PINNED);
        live.context = 0;
        if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
            live.family = VS_FAMILY_VMM;
            live.device = (uint32_t)prop->location.id;
            vs_device_note(live.device);
        }
        uint64_t now_ns = vs_physical_made(*handle, VS_PHYSICAL_OWN, &live, api);
        if (context && now_ns)
            vs_device_sample(context, now_ns);
    } else {
        vs_track_failed(context, bytes, on_device ? VS_FAMILY_VMM : VS_FAMILY_PINNED, 0, api, r);
    }
    return r;
}

CUresult vs_on_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct vs_reference *reference = vs_physical_releasing(handle, "cuMemRelease");
    CUresult r = VS_REAL(cuMemRelease, handle);
    vs_physical_released(reference, r == CUDA_SUCCESS, "cuMemRelease");
    vs_track_free_failed(handle, "cuMemRelease", r);
    return r;
}

/* Cached memory may be mapped (by some policies), but not for programs, which have it from
 * cuMemAlloc: the driver gets an address without memory, so that it returns its own error. */
static CUdeviceptr programs_own(CUdeviceptr ptr)
{
    struct vs_cached_block block;
    return vs_known_cached(ptr, &block) ? 0 : ptr;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t bytes)
{
    return VS_REAL(cuMemAddressFree, programs_own(ptr), bytes);
}

CUresult cuMemMap(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CUresult r;
    ptr = programs_own(ptr);
    VS_WITH_ROOM(r, VS_REAL(cuMemMap, ptr, bytes, offset, handle, flags));
    if (r == CUDA_SUCCESS && vs_hook_active()) {
        VS_OWN_WORK();
        vs_physical_mapped(ptr, bytes, offset, handle, "cuMemMap");
    }
    return r;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t bytes)
{
    CUdeviceptr own = programs_own(ptr);
    if (!vs_hook_active())
        return VS_REAL(cuMemUnmap, own, bytes);
    VS_OWN_WORK();
    struct vs_reference *list = vs_physical_unmapping(own, bytes, "cuMemUnmap");
    CUresult r = VS_REAL(cuMemUnmap, own, bytes);
    vs_physical_unmapped(list, r == CUDA_SUCCESS, "cuMemUnmap");
    vs_track_free_failed(ptr, "cuMemUnmap", r);
    return r;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *desc, size_t count)
{
    CUresult r;
    ptr = programs_own(ptr);
    VS_WITH_ROOM(r, VS_REAL(cuMemSetAccess, ptr, bytes, desc, count));
    return r;
}

/* ---- the same memory, exported and imported ---- */

CUresult vs_on_cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    CUresult r = VS_REAL(cuMemExportToShareableHandle, shareable, handle, type, flags);
    if (r == CUDA_SUCCESS && shareable) {
        int fd = type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? *(const int *)shareable : -1;
        uint64_t identity = vs_shareable_identity(shareable, fd, (unsigned)type);
        if (identity)
            vs_physical_exported(handle, identity);
    }
    return r;
}

CUresult vs_on_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                              CUmemAllocationHandleType type)
{
    /* before the call: the driver may close the descriptor */
    uint64_t identity = vs_shareable_identity(shareable, (int)(intptr_t)shareable, (unsigned)type);
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMemImportFromShareableHandle, handle, shareable, type));
    if (r != CUDA_SUCCESS || !handle)
        return r;
    if (!identity || !vs_physical_imported(*handle, identity)) {
        const char *api = "cuMemImportFromShareableHandle";
        struct vs_tracked live = vs_live_in(vs_context_current(), 0, 0, 0, VS_FAMILY_IPC);
        live.context = 0;
        vs_physical_made(*handle, VS_PHYSICAL_IMPORTED, &live, api);
    }
    return r;
}

/* ---- tiles of arrays ---- */

/* Identifies the part of an array that a tile covers. */
static uint64_t place_of(const CUarrayMapInfo *info)
{
    uint64_t hash = vs_text_hash_bytes(1, &info->subresourceType, sizeof info->subresourceType);
    if (info->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL) {
        hash = vs_text_hash_bytes(hash, &info->subresource.miptail.layer, sizeof(unsigned));
        hash = vs_text_hash_bytes(hash, &info->subresource.miptail.offset, sizeof(unsigned long long));
    } else {
        const unsigned at[] = {
            info->subresource.sparseLevel.level, info->subresource.sparseLevel.layer,
            info->subresource.sparseLevel.offsetX, info->subresource.sparseLevel.offsetY,
            info->subresource.sparseLevel.offsetZ};
        hash = vs_text_hash_bytes(hash, at, sizeof at);
    }
    return hash >> 1; /* UINT64_MAX means all */
}

static CUresult tiles_mapped(CUresult r, const CUarrayMapInfo *list, unsigned count)
{
    if (r != CUDA_SUCCESS || !list)
        return r;
    for (unsigned i = 0; i < count; i++) {
        uint64_t owner = VS_ADDR_ARRAY | (uint64_t)(uintptr_t)list[i].resource.array;
        if (list[i].memOperationType == CU_MEM_OPERATION_TYPE_MAP)
            vs_physical_attach(owner, place_of(&list[i]), list[i].memHandle.memHandle, 0,
                               "cuMemMapArrayAsync");
        else
            vs_physical_detach(owner, place_of(&list[i]), "cuMemMapArrayAsync");
    }
    return r;
}

CUresult vs_on_cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned count, CUstream stream)
{
    return tiles_mapped(VS_REAL(cuMemMapArrayAsync, list, count, stream), list, count);
}

CUresult vs_on_cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned count, CUstream stream)
{
    return tiles_mapped(VS_REAL(cuMemMapArrayAsync_ptsz, list, count, stream), list, count);
}

/* ---- multicast objects: without memory of their own; they keep bound memory alive ---- */

CUresult vs_on_cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMulticastCreate, handle, prop));
    if (r == CUDA_SUCCESS && handle && prop) {
        struct vs_tracked live = vs_live_in(vs_context_current(), 0, prop->size, 0, VS_FAMILY_IPC);
        vs_physical_made(*handle, VS_PHYSICAL_MULTICAST, &live, "cuMulticastCreate");
    }
    return r;
}

#define OWN_DEVICE (-1) /* the device of the memory */

static CUresult bound(CUresult r, CUmemGenericAllocationHandle multicast, int device, size_t offset,
                      CUmemGenericAllocationHandle handle, CUdeviceptr ptr, const char *api)
{
    if (r != CUDA_SUCCESS)
        return r;
    uint64_t owner = vs_physical_key(multicast);
    uint64_t of = device < 0 ? vs_physical_device(handle, ptr) : (uint64_t)device;
    /* every device binds its own memory at the same offset, which is a multiple of pages */
    if (owner)
        vs_physical_attach(owner, offset | of, handle, ptr, api);
    return r;
}

CUresult vs_on_cuMulticastBindMem(CUmemGenericAllocationHandle multicast, size_t offset,
                                  CUmemGenericAllocationHandle handle, size_t from, size_t bytes,
                                  unsigned long long flags)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMulticastBindMem, multicast, offset, handle, from, bytes, flags));
    return bound(r, multicast, OWN_DEVICE, offset, handle, 0, "cuMulticastBindMem");
}

CUresult vs_on_cuMulticastBindAddr(CUmemGenericAllocationHandle multicast, size_t offset, CUdeviceptr ptr,
                                   size_t bytes, unsigned long long flags)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMulticastBindAddr, multicast, offset, ptr, bytes, flags));
    return bound(r, multicast, OWN_DEVICE, offset, 0, ptr, "cuMulticastBindAddr");
}

/* Since CUDA 13.1: for a device that may differ from the memory's. */
CUresult vs_on_cuMulticastBindMem_v2(CUmemGenericAllocationHandle multicast, CUdevice device,
                               size_t offset, CUmemGenericAllocationHandle handle, size_t from,
                                     size_t bytes, unsigned long long flags)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMulticastBindMem_v2, multicast, device, offset, handle, from, bytes,
                            flags));
    return bound(r, multicast, device, offset, handle, 0, "cuMulticastBindMem");
}

CUresult vs_on_cuMulticastBindAddr_v2(CUmemGenericAllocationHandle multicast, CUdevice device,
                                      size_t offset, CUdeviceptr ptr, size_t bytes,
                                      unsigned long long flags)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMulticastBindAddr_v2, multicast, device, offset, ptr, bytes, flags));
    return bound(r, multicast, device, offset, 0, ptr, "cuMulticastBindAddr");
}

CUresult vs_on_cuMulticastUnbind(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                                 size_t bytes)
{
    CUresult r = VS_REAL(cuMulticastUnbind, multicast, device, offset, bytes);
    if (r == CUDA_SUCCESS) {
        uint64_t owner = vs_physical_key(multicast);
        if (owner)
            vs_physical_detach(owner, offset | (uint64_t)device, "cuMulticastUnbind");
    }
    return r;
}
