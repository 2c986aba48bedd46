/* SPDX-License-Identifier: Apache-2.0
 *
 * Page-locked host memory, and the program's own memory registered with the driver. Neither is
 * device memory; each is recorded as a family of its own. */
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"

static CUresult after_alloc(CUresult r, uint64_t addr, size_t bytes, enum vs_family family,
                            const char *api)
{
    const struct vs_context *context = vs_context_current();
    struct vs_tracked live = vs_live_in(context, addr, bytes, bytes, family);
    if (r == CUDA_SUCCESS)
        vs_track_alloc(&live, 0, api);
    else
        vs_track_failed(context, bytes, family, 0, api, r);
    return r;
}

CUresult vs_on_cuMemAllocHost_v2(void **ptr, size_t bytes)
{
    CUresult r = VS_REAL(cuMemAllocHost_v2, ptr, bytes);
    return after_alloc(r, r ? 0 : (uint64_t)(uintptr_t)*ptr, bytes, VS_FAMILY_PINNED,
                       vs_api("cuMemAllocHost"));
}

static CUresult registered(CUresult r, void *ptr, size_t bytes)
{
    return after_alloc(r, (uint64_t)(uintptr_t)ptr, bytes, VS_FAMILY_REGISTERED,
                       vs_api("cuMemHostRegister"));
}

CUresult vs_on_cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
    return registered(VS_REAL(cuMemHostRegister_v2, ptr, bytes, flags), ptr, bytes);
}

CUresult vs_on_cuMemHostRegister(void *ptr, size_t bytes, unsigned flags)
{
    return registered(VS_REAL(cuMemHostRegister, ptr, bytes, flags), ptr, bytes);
}

/* Left before the call: the driver refuses memory of another family, and nothing happened. */
static CUresult freed(bool pinned, void *ptr, const char *api)
{
    struct vs_tracked live;
    uint64_t addr = (uint64_t)(uintptr_t)ptr;
    bool known = vs_track_is(addr, pinned ? VS_FAMILY_PINNED : VS_FAMILY_REGISTERED) &&
                 vs_track_leave(addr, api, &live);
    CUresult r = pinned ? VS_REAL(cuMemFreeHost, ptr) : VS_REAL(cuMemHostUnregister, ptr);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    vs_track_free_failed(addr, api, r);
    return r;
}

CUresult vs_on_cuMemFreeHost(void *ptr)
{
    return freed(true, ptr, vs_api("cuMemFreeHost"));
}

CUresult vs_on_cuMemHostUnregister(void *ptr)
{
    return freed(false, ptr, vs_api("cuMemHostUnregister"));
}

CUresult vs_on_cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    CUresult r = VS_REAL(cuMemHostAlloc, ptr, bytes, flags);
    return after_alloc(r, r ? 0 : (uint64_t)(uintptr_t)*ptr, bytes, VS_FAMILY_PINNED,
                       vs_api("cuMemHostAlloc"));
}

