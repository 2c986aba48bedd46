/* SPDX-License-Identifier: Apache-2.0
 *
 * Device and managed memory: cuMemAlloc, cuMemAllocPitch, cuMemAllocManaged and their common free.
 * Plain cuMemAlloc may be served from the cache; the others always go to the driver. */
#include "base/vs_clock.h"
#include "intercept/cache/caching.h"
#include "intercept/track/capture.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/policy.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"
#include "intercept/track/wait.h"

static void record(struct vs_context *context, CUdeviceptr ptr, uint64_t requested, uint64_t size,
                   enum vs_family family, const char *api)
{
    struct vs_tracked live = vs_live_in(context, ptr, requested, size, family);
    uint64_t now_ns = vs_track_alloc(&live, 0, api);
    if (context)
        vs_device_sample(context, now_ns);
}

/* *bytes* are out of memory, but the cache had some: the caller tries once more. */
static bool room_made(const struct vs_context *context, uint64_t bytes, CUresult r)
{
    if (r != CUDA_ERROR_OUT_OF_MEMORY || !context)
        return false;
    vs_room_refused(context, bytes);
    return vs_room_make(context->device) > 0;
}

static CUresult allocate(const struct vs_context *context, CUdeviceptr *ptr, size_t bytes)
{
    uint32_t device = vs_limit_device(context);
    if (!vs_limit_take(device, bytes, vs_policy_most(context)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return vs_limit_settle(device, bytes, VS_REAL(cuMemAlloc_v2, ptr, bytes));
}

/* With an entry of its own: the hottest call saves one call (scripts/bench-instructions). */
CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
    if (!vs_hook_active())
        return VS_REAL(cuMemAlloc_v2, ptr, bytes);
    VS_OWN_WORK();
    const char *api = vs_api("cuMemAlloc");
    struct vs_context *context = vs_context_current();
    CUresult r;
    if (!context || !vs_caching_alloc(context, bytes, api, ptr, &r)) {
        r = allocate(context, ptr, bytes);
        if (room_made(context, bytes, r))
            r = allocate(context, ptr, bytes);
        if (r == CUDA_SUCCESS)
            record(context, *ptr, bytes, bytes, VS_FAMILY_DEVICE, api);
    }
    vs_room_served(r, api);
    if (r != CUDA_SUCCESS)
        vs_track_failed(context, bytes, VS_FAMILY_DEVICE, 0, api, r);
    return r;
}

/* The padding of rows is known afterwards, and counts against the limit too. */
static CUresult allocate_pitch(const struct vs_context *context, CUdeviceptr *ptr, size_t *pitch,
                               size_t width, size_t height, unsigned element)
{
    uint32_t device = vs_limit_device(context);
    CUresult r = VS_LIMITED(device, width * height,
                            VS_REAL(cuMemAllocPitch_v2, ptr, pitch, width, height, element));
    if (r != CUDA_SUCCESS || vs_limit_take(device, (*pitch - width) * height, VS_LIMIT_NONE))
        return r;
    VS_REAL(cuMemFree_v2, *ptr);
    vs_limit_give(device, width * height);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult vs_on_cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height,
                                  unsigned element)
{
    const char *api = vs_api("cuMemAllocPitch");
    struct vs_context *context = vs_context_current();
    CUresult r = allocate_pitch(context, ptr, pitch, width, height, element);
    uint64_t bytes;
    if (__builtin_mul_overflow(width, height, &bytes))
        bytes = UINT64_MAX;
    if (room_made(context, bytes, r))
        r = allocate_pitch(context, ptr, pitch, width, height, element);
    vs_room_served(r, api);
    if (r == CUDA_SUCCESS)
        record(context, *ptr, bytes, *pitch * height, VS_FAMILY_DEVICE, api);
    else
        vs_track_failed(context, bytes, VS_FAMILY_DEVICE, 0, api, r);
    return r;
}

CUresult vs_on_cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags)
{
    const char *api = vs_api("cuMemAllocManaged");
    struct vs_context *context = vs_context_current();
    enum { LARGE = 32 << 20 };
    uint64_t free_bytes, total_bytes;
    /* managed memory never fails for lack of device memory: it would be migrated back and forth
     * because of the cache's memory */
    if (bytes >= LARGE && context && vs_process_serving() && !vs_capture_any() &&
        vs_caching_cached_bytes(context->device) &&
        !vs_device_memory_info(context, &free_bytes, &total_bytes) && free_bytes < bytes)
        vs_room_make(context->device);
    CUresult r = VS_REAL(cuMemAllocManaged, ptr, bytes, flags);
    if (room_made(context, bytes, r))
        r = VS_REAL(cuMemAllocManaged, ptr, bytes, flags);
    vs_room_served(r, api);
    if (r == CUDA_SUCCESS)
        record(context, *ptr, bytes, bytes, VS_FAMILY_MANAGED, api);
    else
        vs_track_failed(context, bytes, VS_FAMILY_MANAGED, 0, api, r);
    return r;
}

static CUresult free_in_driver(CUdeviceptr ptr, const char *api)
{
    struct vs_tracked live;
    uint64_t began_ns = vs_wait_begins(__builtin_return_address(0));
    VS_OWN_WORK();
    bool known = vs_track_leave(ptr, api, &live);
    if (began_ns)
        began_ns = vs_clock_ns();
    CUresult r = VS_REAL(cuMemFree_v2, ptr);
    if (r == CUDA_SUCCESS)
        vs_wait_ended(began_ns, VS_WAIT_FREE, api, NULL, NULL, false);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    if (known && r == CUDA_SUCCESS) {
        vs_limit_gone(&live);
        vs_usage_freed(live.device);
    }
    vs_track_free_failed(ptr, api, r);
    return r;
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
    if (!vs_hook_active() || !ptr)
        return vs_caching_owns_ordered(ptr) ? CUDA_ERROR_INVALID_VALUE : VS_REAL(cuMemFree_v2, ptr);
    vs_thread.inside++;
    const char *api = vs_api("cuMemFree");
    CUresult r;
    bool decided = (vs_capture_any() && vs_caching_forbids_free(ptr, &r)) ||
                   vs_caching_free(ptr, api, &r);
    vs_thread.inside--;
    if (!decided && !vs_caching_owns_ordered(ptr))
        return free_in_driver(ptr, api);
    if (!decided)
        r = CUDA_ERROR_INVALID_VALUE;
    VS_OWN_WORK();
    vs_track_free_failed(ptr, api, r);
    return r;
}
