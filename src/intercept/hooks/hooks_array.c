/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays and mipmapped arrays: device memory without an address, tracked by its handle. Arrays
 * whose memory is mapped later have none themselves. */
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/array_bytes.h"
#include "intercept/track/limit.h"
#include "intercept/track/physical.h"
#include "intercept/track/tracker.h"

static uint64_t key_of(const void *array)
{
    return VS_ADDR_ARRAY | (uint64_t)(uintptr_t)array;
}

/* An array being created. */
struct making {
    const CUDA_ARRAY3D_DESCRIPTOR *desc;
    struct vs_context *context;
    uint64_t bytes;
    const char *api;
};

static struct making begin(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                           const char *driver_name)
{
    vs_thread.inside++;
    return (struct making){.desc = desc,
                           .context = vs_context_current(),
                           .bytes = vs_array_bytes(desc, levels),
                           .api = vs_api(driver_name)};
}

static CUresult end(const struct making *making, CUresult r, const void *array)
{
    if (r != CUDA_SUCCESS) {
        vs_track_failed(making->context, making->bytes, VS_FAMILY_ARRAY, 0, making->api, r);
    } else if (!vs_array_mapped_later(making->desc)) {
        struct vs_tracked live = vs_live_in(making->context, key_of(array), making->bytes,
                                         making->bytes, VS_FAMILY_ARRAY);
        uint64_t now_ns = vs_track_alloc(&live, 0, making->api);
        if (making->context)
            vs_device_sample(making->context, now_ns);
    }
    vs_thread.inside--;
    return r;
}

/* The create functions differ in the real function and its description. */
#define MAKE(full, levels, driver_name, call)                                                     \
    struct making making = begin(full, levels, driver_name);                                      \
    /* memory that is mapped later is counted where it is created */                              \
    uint64_t now = vs_array_mapped_later(making.desc) ? 0 : making.bytes;                         \
    CUresult r;                                                                                   \
    VS_WITH_ROOM(r, VS_LIMITED(vs_limit_device(making.context), now, call));                      \
    return end(&making, r, r ? NULL : *array);

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    if (!vs_hook_active() || !array || !desc)
        return VS_REAL(cuArrayCreate_v2, array, desc);
    CUDA_ARRAY3D_DESCRIPTOR full = {.Width = desc->Width,
                                    .Height = desc->Height,
                                    .Format = desc->Format,
                                    .NumChannels = desc->NumChannels};
    MAKE(&full, 1, "cuArrayCreate", VS_REAL(cuArrayCreate_v2, array, desc))
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    if (!vs_hook_active() || !array || !desc)
        return VS_REAL(cuArray3DCreate_v2, array, desc);
    MAKE(desc, 1, "cuArray3DCreate", VS_REAL(cuArray3DCreate_v2, array, desc))
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                unsigned levels)
{
    if (!vs_hook_active() || !array || !desc)
        return VS_REAL(cuMipmappedArrayCreate, array, desc, levels);
    MAKE(desc, levels, "cuMipmappedArrayCreate",
         VS_REAL(cuMipmappedArrayCreate, array, desc, levels))
}

/* Called before and after the driver's call. */
static bool destroying(const void *array, const char *api, struct vs_tracked *live)
{
    vs_thread.inside++;
    return vs_track_leave(key_of(array), api, live);
}

static CUresult destroyed(CUresult r, const void *array, bool known, const struct vs_tracked *live,
                          const char *api)
{
    if (known)
        vs_track_left(live, 0, api, r == CUDA_SUCCESS);
    if (known && r == CUDA_SUCCESS)
        vs_limit_gone(live);
    if (r == CUDA_SUCCESS)
        vs_physical_detach(key_of(array), UINT64_MAX, api);
    vs_track_free_failed(array ? key_of(array) : 0, api, r);
    vs_thread.inside--;
    return r;
}

CUresult cuArrayDestroy(CUarray array)
{
    struct vs_tracked live;
    if (!vs_hook_active())
        return VS_REAL(cuArrayDestroy, array);
    const char *api = vs_api("cuArrayDestroy");
    bool known = destroying(array, api, &live);
    return destroyed(VS_REAL(cuArrayDestroy, array), array, known, &live, api);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    struct vs_tracked live;
    if (!vs_hook_active())
        return VS_REAL(cuMipmappedArrayDestroy, array);
    const char *api = vs_api("cuMipmappedArrayDestroy");
    bool known = destroying(array, api, &live);
    return destroyed(VS_REAL(cuMipmappedArrayDestroy, array), array, known, &live, api);
}
