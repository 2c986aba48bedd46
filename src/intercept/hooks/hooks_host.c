/* SPDX-License-Identifier: Apache-2.0
 *
 * Page-locked host memory, and the program's own memory registered with the driver. Neither is
 * device memory; each is recorded as a family of its own. */
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"

static void after_alloc(CUresult r, uint64_t addr, size_t bytes, enum vs_family family,
                        const char *api)
{
    const struct vs_context *context = vs_context_current();
    if (r != CUDA_SUCCESS) {
        vs_track_failed(context, bytes, family, 0, api, r);
        return;
    }
    struct vs_tracked live = {.addr = addr,
                           .requested = bytes,
                           .size = bytes,
                           .device = context ? context->device : 0,
                           .context = context ? context->id : 0,
                           .family = family};
    vs_track_alloc(&live, 0, api);
}

CUresult cuMemAllocHost_v2(void **ptr, size_t bytes)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemAllocHost_v2, ptr, bytes);
    vs_thread.inside++;
    CUresult r = VS_REAL(cuMemAllocHost_v2, ptr, bytes);
    after_alloc(r, r ? 0 : (uint64_t)(uintptr_t)*ptr, bytes, VS_FAMILY_PINNED,
                vs_api("cuMemAllocHost"));
    vs_thread.inside--;
    return r;
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemHostAlloc, ptr, bytes, flags);
    vs_thread.inside++;
    CUresult r = VS_REAL(cuMemHostAlloc, ptr, bytes, flags);
    after_alloc(r, r ? 0 : (uint64_t)(uintptr_t)*ptr, bytes, VS_FAMILY_PINNED,
                vs_api("cuMemHostAlloc"));
    vs_thread.inside--;
    return r;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemHostRegister_v2, ptr, bytes, flags);
    vs_thread.inside++;
    CUresult r = VS_REAL(cuMemHostRegister_v2, ptr, bytes, flags);
    after_alloc(r, (uint64_t)(uintptr_t)ptr, bytes, VS_FAMILY_REGISTERED,
                vs_api("cuMemHostRegister"));
    vs_thread.inside--;
    return r;
}

CUresult cuMemHostRegister(void *ptr, size_t bytes, unsigned flags)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemHostRegister, ptr, bytes, flags);
    vs_thread.inside++;
    CUresult r = VS_REAL(cuMemHostRegister, ptr, bytes, flags);
    after_alloc(r, (uint64_t)(uintptr_t)ptr, bytes, VS_FAMILY_REGISTERED,
                vs_api("cuMemHostRegister"));
    vs_thread.inside--;
    return r;
}

CUresult cuMemFreeHost(void *ptr)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemFreeHost, ptr);
    vs_thread.inside++;
    struct vs_tracked live;
    const char *api = vs_api("cuMemFreeHost");
    /* the driver refuses other memory, and nothing happened */
    bool known = vs_track_is((uint64_t)(uintptr_t)ptr, VS_FAMILY_PINNED) &&
                 vs_track_leave((uint64_t)(uintptr_t)ptr, api, &live);
    CUresult r = VS_REAL(cuMemFreeHost, ptr);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    vs_track_free_failed((uint64_t)(uintptr_t)ptr, api, r);
    vs_thread.inside--;
    return r;
}

CUresult cuMemHostUnregister(void *ptr)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemHostUnregister, ptr);
    vs_thread.inside++;
    struct vs_tracked live;
    const char *api = vs_api("cuMemHostUnregister");
    bool known = vs_track_is((uint64_t)(uintptr_t)ptr, VS_FAMILY_REGISTERED) &&
                 vs_track_leave((uint64_t)(uintptr_t)ptr, api, &live);
    CUresult r = VS_REAL(cuMemHostUnregister, ptr);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    vs_track_free_failed((uint64_t)(uintptr_t)ptr, api, r);
    vs_thread.inside--;
    return r;
}
