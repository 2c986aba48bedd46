/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign memory mapped into this process: of another process (IPC, pointers of imported pools) or
 * another API (external memory). It is recorded as family ipc at its address here, and never
 * counted as this process's own. */
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/array_bytes.h"
#include "intercept/track/ipc_import.h"
#include "intercept/track/tracker.h"

static CUresult mapped(CUresult r, const CUdeviceptr *ptr, uint64_t bytes, const char *driver_name)
{
    if (r != CUDA_SUCCESS || !ptr)
        return r;
    struct vs_ipc_opened opened;
    CUdeviceptr base;
    size_t all;
    if (!bytes && vs_ipc_find(*ptr, &opened))
        bytes = opened.bytes;
    else if (!bytes && VS_REAL(cuMemGetAddressRange_v2, &base, &all, *ptr) == CUDA_SUCCESS)
        bytes = all - (*ptr - base); /* to the end; 0 if the driver does not return it */
    struct vs_tracked live = vs_live_in(vs_context_current(), *ptr, bytes, bytes, VS_FAMILY_IPC);
    vs_opened(&live, vs_api(driver_name));
    return r;
}

static CUresult ipc_open(bool v2, CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    CUresult r = vs_ipc_open(v2, ptr, handle, flags);
    if (vs_room_made(r)) {
        r = vs_ipc_open(v2, ptr, handle, flags);
        vs_room_served(r, vs_api(v2 ? "cuIpcOpenMemHandle_v2" : "cuIpcOpenMemHandle"));
    }
    if (r == CUDA_SUCCESS && vs_hook_active()) {
        VS_OWN_WORK();
        mapped(r, ptr, 0, "cuIpcOpenMemHandle");
    }
    return r;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    return ipc_open(true, ptr, handle, flags);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    return ipc_open(false, ptr, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
    struct vs_tracked live;
    if (!vs_hook_active())
        return vs_ipc_close(ptr);
    VS_OWN_WORK();
    const char *api = vs_api("cuIpcCloseMemHandle");
    bool open_still = vs_opened_close(ptr);
    bool known = !open_still && vs_track_leave(ptr, api, &live);
    CUresult r = vs_ipc_close(ptr);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    vs_track_free_failed(ptr, api, r);
    return r;
}

/* Freed by cuMemFreeAsync or cuMemFree, like memory of a pool. */
CUresult vs_on_cuMemPoolImportPointer(CUdeviceptr *ptr, CUmemoryPool pool,
                                      CUmemPoolPtrExportData *data)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuMemPoolImportPointer, ptr, pool, data));
    return mapped(r, ptr, 0, "cuMemPoolImportPointer");
}

/* Freed by cuMemFree; it may outlive the object. */
CUresult vs_on_cuExternalMemoryGetMappedBuffer(CUdeviceptr *ptr, CUexternalMemory memory,
                                               const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuExternalMemoryGetMappedBuffer, ptr, memory, desc));
    return mapped(r, ptr, desc ? desc->size : 0, "cuExternalMemoryGetMappedBuffer");
}

/* Freed by cuMipmappedArrayDestroy. */
CUresult vs_on_cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray *array, CUexternalMemory memory,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    CUresult r;
    VS_WITH_ROOM(r, VS_REAL(cuExternalMemoryGetMappedMipmappedArray, array, memory, desc));
    if (r != CUDA_SUCCESS || !array || !desc)
        return r;
    CUdeviceptr key = VS_ADDR_ARRAY | (uint64_t)(uintptr_t)*array;
    return mapped(r, &key, vs_array_bytes(&desc->arrayDesc, desc->numLevels),
                  "cuExternalMemoryGetMappedMipmappedArray");
}
