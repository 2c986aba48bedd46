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

/* A call that creates an array of *desc* with *levels*. */
struct making {
    const CUDA_ARRAY_DESCRIPTOR *flat; /* NULL: *desc* was given */
    const CUDA_ARRAY3D_DESCRIPTOR *desc;
    unsigned levels;
    bool mipmapped;
    const char *entry, *api; /* the exported name; the name that is recorded */
};

static CUresult call_driver(const struct making *m, void **array)
{
    if (m->mipmapped)
        return VS_REAL(cuMipmappedArrayCreate, (CUmipmappedArray *)array, m->desc, m->levels);
    return m->flat ? VS_REAL(cuArrayCreate_v2, (CUarray *)array, m->flat)
                   : VS_REAL(cuArray3DCreate_v2, (CUarray *)array, m->desc);
}

static CUresult make(const struct making *m, void **array)
{
    struct vs_context *context = vs_context_current();
    uint64_t bytes = vs_array_bytes(m->desc, m->levels);
    bool later = vs_array_mapped_later(m->desc); /* counts where its memory is created */
    uint32_t device = vs_limit_device(context);
    CUresult r = VS_LIMITED(device, later ? 0 : bytes, call_driver(m, array));
    if (vs_room_made(r)) {
        r = VS_LIMITED(device, later ? 0 : bytes, call_driver(m, array));
        vs_room_served(r, vs_api(m->entry));
    }
    if (r != CUDA_SUCCESS) {
        vs_track_failed(context, bytes, VS_FAMILY_ARRAY, 0, m->api, r);
    } else if (!later) {
        struct vs_tracked live = vs_live_in(context, key_of(*array), bytes, bytes, VS_FAMILY_ARRAY);
        uint64_t now_ns = vs_track_alloc(&live, 0, m->api);
        if (context)
            vs_device_sample(context, now_ns);
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
    return make(&(struct making){desc, &full, 1, false, "cuArrayCreate_v2",
                                 vs_api("cuArrayCreate")},
                (void **)array);
}

CUresult vs_on_cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    if (!array || !desc)
        return VS_REAL(cuArray3DCreate_v2, array, desc);
    return make(&(struct making){NULL, desc, 1, false, "cuArray3DCreate_v2",
                                 vs_api("cuArray3DCreate")},
                (void **)array);
}

CUresult vs_on_cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                      unsigned levels)
{
    if (!array || !desc)
        return VS_REAL(cuMipmappedArrayCreate, array, desc, levels);
    return make(&(struct making){NULL, desc, levels, true, "cuMipmappedArrayCreate",
                                 vs_api("cuMipmappedArrayCreate")},
                (void **)array);
}

static CUresult destroy(void *array, bool mipmapped, const char *api)
{
    struct vs_tracked live;
    bool known = vs_track_leave(key_of(array), api, &live);
    CUresult r =
        mipmapped ? VS_REAL(cuMipmappedArrayDestroy, array) : VS_REAL(cuArrayDestroy, array);
    if (known)
        vs_track_left(&live, 0, api, r == CUDA_SUCCESS);
    if (known && r == CUDA_SUCCESS)
        vs_limit_gone(&live);
    if (r == CUDA_SUCCESS)
        vs_physical_detach(key_of(array), UINT64_MAX, api);
    vs_track_free_failed(array ? key_of(array) : 0, api, r);
    return r;
}

CUresult vs_on_cuArrayDestroy(CUarray array)
{
    return destroy(array, false, vs_api("cuArrayDestroy"));
}

CUresult vs_on_cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    return destroy(array, true, vs_api("cuMipmappedArrayDestroy"));
}
