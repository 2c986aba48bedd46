/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry points of CUDA before 3.2, with addresses and sizes of 32 bits. A program that finds
 * them by dlsym gets memory below 4 GiB, if the driver has any; the cache never has, so all calls
 * go to the driver and are recorded like their successors. */
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"
#include "intercept/track/tracker.h"

static CUresult allocated(CUresult r, uint64_t addr, uint64_t requested, uint64_t size,
                          enum vs_family family, const char *driver_name)
{
    const char *api = vs_api(driver_name);
    const struct vs_context *context = vs_context_current();
    struct vs_tracked live = vs_live_in(context, addr, requested, size, family);
    if (r != CUDA_SUCCESS)
        vs_track_failed(context, requested, family, 0, api, r);
    else
        vs_track_alloc(&live, 0, api);
    vs_thread.inside--;
    return r;
}

CUresult cuMemAlloc(vs_deviceptr_v1 *ptr, unsigned bytes)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemAlloc, ptr, bytes);
    vs_thread.inside++;
    uint32_t device = vs_limit_device(vs_context_current());
    CUresult r;
    VS_WITH_ROOM(r, VS_LIMITED(device, bytes, VS_REAL(cuMemAlloc, ptr, bytes)));
    return allocated(r, r ? 0 : *ptr, bytes, bytes, VS_FAMILY_DEVICE, "cuMemAlloc");
}

CUresult cuMemAllocPitch(vs_deviceptr_v1 *ptr, unsigned *pitch, unsigned width, unsigned height,
                         unsigned element)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemAllocPitch, ptr, pitch, width, height, element);
    vs_thread.inside++;
    uint32_t device = vs_limit_device(vs_context_current());
    uint64_t bytes = (uint64_t)width * height;
    CUresult r;
    VS_WITH_ROOM(r, VS_LIMITED(device, bytes,
                               VS_REAL(cuMemAllocPitch, ptr, pitch, width, height, element)));
    uint64_t size = r ? 0 : (uint64_t)*pitch * height;
    if (!r && !vs_limit_take(device, size - bytes)) { /* known only afterwards */
        VS_REAL(cuMemFree, *ptr);
        vs_limit_give(device, bytes);
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return allocated(r, r ? 0 : *ptr, bytes, size, VS_FAMILY_DEVICE, "cuMemAllocPitch");
}

CUresult cuMemFree(vs_deviceptr_v1 ptr)
{
    struct vs_tracked live;
    if (!vs_hook_active())
        return VS_REAL(cuMemFree, ptr);
    vs_thread.inside++;
    const char *api = vs_api("cuMemFree");
    bool known = vs_track_leave(ptr, api, &live);
    CUresult r = VS_REAL(cuMemFree, ptr);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    if (known && r == CUDA_SUCCESS)
        vs_limit_gone(&live);
    vs_track_free_failed(ptr, api, r);
    vs_thread.inside--;
    return r;
}

CUresult cuMemAllocHost(void **ptr, unsigned bytes)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemAllocHost, ptr, bytes);
    vs_thread.inside++;
    CUresult r = VS_REAL(cuMemAllocHost, ptr, bytes);
    return allocated(r, r ? 0 : (uint64_t)(uintptr_t)*ptr, bytes, bytes, VS_FAMILY_PINNED,
                     "cuMemAllocHost");
}

CUresult cuMemHostRegister(void *ptr, size_t bytes, unsigned flags)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemHostRegister, ptr, bytes, flags);
    vs_thread.inside++;
    CUresult r = VS_REAL(cuMemHostRegister, ptr, bytes, flags);
    return allocated(r, (uint64_t)(uintptr_t)ptr, bytes, bytes, VS_FAMILY_REGISTERED,
                     "cuMemHostRegister");
}

static unsigned in_32_bits(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (unsigned)bytes : UINT32_MAX;
}

/* Must a result of the driver be changed for the program? */
static bool changed(void)
{
    uint64_t limit;
    vs_thread.inside++;
    const struct vs_context *current = vs_context_current();
    vs_thread.inside--;
    return vs_process_serving() || (current && vs_limit_of(current->device, &limit));
}

CUresult cuMemGetInfo(unsigned *free_bytes, unsigned *total_bytes)
{
    CUresult r = VS_REAL(cuMemGetInfo, free_bytes, total_bytes);
    size_t free_wide, total_wide;
    if (r != CUDA_SUCCESS || vs_thread.inside || vs_process_state() != VS_PROCESS_ACTIVE ||
        !changed() || cuMemGetInfo_v2(&free_wide, &total_wide))
        return r;
    if (free_bytes)
        *free_bytes = in_32_bits(free_wide);
    if (total_bytes)
        *total_bytes = in_32_bits(total_wide);
    return r;
}

CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device)
{
    size_t wide;
    uint64_t limit;
    CUresult r = VS_REAL(cuDeviceTotalMem, bytes, device);
    if (r == CUDA_SUCCESS && bytes && !vs_thread.inside && vs_limit_of((uint32_t)device, &limit) &&
        !cuDeviceTotalMem_v2(&wide, device))
        *bytes = in_32_bits(wide);
    return r;
}

/* None of our memory has a 32-bit address. */
CUresult cuMemGetAddressRange(vs_deviceptr_v1 *base, unsigned *bytes, vs_deviceptr_v1 ptr)
{
    return VS_REAL(cuMemGetAddressRange, base, bytes, ptr);
}
