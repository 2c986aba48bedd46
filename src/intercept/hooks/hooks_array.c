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
    uint64_t now; /* of these; memory that is mapped later counts where it is created */
    const char *api;
};

static struct making begin(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                           const char *driver_name)
{
    uint64_t bytes = vs_array_bytes(desc, levels);
    return (struct making){.desc = desc,
                           .context = vs_context_current(),
                           .bytes = bytes,
                           .now = vs_array_mapped_later(desc) ? 0 : bytes,
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
    return r;
}

CUresult vs_on_cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    if (!array || !desc)
        return VS_REAL(cuArrayCreate_v2, array, desc);
    CUDA_ARRAY3D_DESCRIPTOR full = {.Width = desc->Width,
                                    .Height = desc->Height,
                                    .Format = desc->Format,
                                    .NumChannels = desc->NumChannels};
    struct making making = begin(&full, 1, "cuArrayCreate");
    uint32_t device = vs_limit_device(making.context);
    CUresult r;
    VS_WITH_ROOM(r, VS_LIMITED(device, making.now, VS_REAL(cuArrayCreate_v2, array, desc)));
    return end(&making, r, r ? NULL : *array);
}

CUresult vs_on_cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    if (!array || !desc)
        return VS_REAL(cuArray3DCreate_v2, array, desc);
    struct making making = begin(desc, 1, "cuArray3DCreate");
    uint32_t device = vs_limit_device(making.context);
    CUresult r;
    VS_WITH_ROOM(r, VS_LIMITED(device, making.now, VS_REAL(cuArray3DCreate_v2, array, desc)));
    return end(&making, r, r ? NULL : *array);
}

CUresult vs_on_cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                      unsigned levels)
{
    if (!array || !desc)
        return VS_REAL(cuMipmappedArrayCreate, array, desc, levels);
    struct making making = begin(desc, levels, "cuMipmappedArrayCreate");
    uint32_t device = vs_limit_device(making.context);
    CUresult r;
    VS_WITH_ROOM(r, VS_LIMITED(device, making.now,
                               VS_REAL(cuMipmappedArrayCreate, array, desc, levels)));
    return end(&making, r, r ? NULL : *array);
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
    return r;
}

CUresult vs_on_cuArrayDestroy(CUarray array)
{
    struct vs_tracked live;
    const char *api = vs_api("cuArrayDestroy");
    bool known = vs_track_leave(key_of(array), api, &live);
    return destroyed(VS_REAL(cuArrayDestroy, array), array, known, &live, api);
}

CUresult vs_on_cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    struct vs_tracked live;
    const char *api = vs_api("cuMipmappedArrayDestroy");
    bool known = vs_track_leave(key_of(array), api, &live);
    return destroyed(VS_REAL(cuMipmappedArrayDestroy, array), array, known, &live, api);
}
