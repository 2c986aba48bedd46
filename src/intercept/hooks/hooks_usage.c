/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that allocate nothing but change what a device's memory is used for: creation and
 * destruction of pools, limits of a context that grow its stacks and buffers. Forwarded unchanged.
 */
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    CUresult r = VS_REAL(cuMemPoolCreate, pool, props);
    if (r == CUDA_SUCCESS && pool && props && props->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        props->location.id >= 0)
        vs_usage_pool_replace(NULL, *pool, (uint32_t)props->location.id);
    return r;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    /* before the call: afterwards it must not be queried, and another may have its handle */
    if (pool && !vs_process_forked())
        vs_usage_pool_replace(pool, NULL, 0);
    return VS_REAL(cuMemPoolDestroy, pool);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct vs_usage_mark mark;
    vs_usage_begins(&mark);
    CUresult r = VS_REAL(cuCtxSetLimit, limit, value);
    if (r == CUDA_SUCCESS)
        vs_usage_took(&mark, VS_OVERHEAD_LIMIT);
    vs_track_overhead_failed(r, VS_OVERHEAD_LIMIT, -1, "cuCtxSetLimit");
    return r;
}
