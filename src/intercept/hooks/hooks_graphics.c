/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of a graphics API while they are mapped for CUDA: recorded as memory of another API from
 * the time that the program gets their address until they are unmapped. Their arrays have no
 * address; the graphics API accounts for them. */
#include "base/vs_lock.h"
#include "base/vs_map.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/ipc_import.h"
#include "intercept/track/tracker.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_PHYSICAL, "graphics resources");
static struct vs_map addresses; /* guarded by lock: resource -> address, while mapped */

CUresult vs_on_cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *ptr, size_t *bytes,
                                                     CUgraphicsResource resource)
{
    CUresult r = VS_REAL(cuGraphicsResourceGetMappedPointer_v2, ptr, bytes, resource);
    uint64_t key = (uint64_t)(uintptr_t)resource, size = bytes && !r ? *bytes : 0;
    if (r != CUDA_SUCCESS || !key || !ptr || !*ptr)
        return r;
    struct vs_tracked live = vs_live_in(vs_context_current(), *ptr, size, size, VS_FAMILY_IPC);
    VS_LOCK_SCOPE(&lock);
    /* a second query while it is mapped returns the same address */
    if (!vs_map_get(&addresses, key) && vs_map_put(&addresses, key, *ptr) == VS_OK)
        vs_opened(&live, vs_api("cuGraphicsResourceGetMappedPointer"));
    return r;
}

/* These addresses are no longer used, even if the driver refuses the call. */
static void unmapping(unsigned count, const CUgraphicsResource *resources, const char *api)
{
    if (!resources)
        return;
    VS_LOCK_SCOPE(&lock);
    for (unsigned i = 0; i < count; i++) {
        uint64_t address;
        if (vs_map_remove(&addresses, (uint64_t)(uintptr_t)resources[i], &address) &&
            !vs_opened_close(address))
            vs_track_free(address, 0, vs_api(api), NULL);
    }
}

CUresult vs_on_cuGraphicsUnmapResources(unsigned count, CUgraphicsResource *resources,
                                        CUstream stream)
{
    unmapping(count, resources, "cuGraphicsUnmapResources");
    return VS_REAL(cuGraphicsUnmapResources, count, resources, stream);
}

CUresult vs_on_cuGraphicsUnmapResources_ptsz(unsigned count, CUgraphicsResource *resources,
                                             CUstream stream)
{
    unmapping(count, resources, "cuGraphicsUnmapResources");
    return VS_REAL(cuGraphicsUnmapResources_ptsz, count, resources, stream);
}

CUresult vs_on_cuGraphicsUnregisterResource(CUgraphicsResource resource)
{
    unmapping(1, &resource, "cuGraphicsUnregisterResource");
    return VS_REAL(cuGraphicsUnregisterResource, resource);
}
