/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory sizes: free memory includes what the cache could release, and both figures are those of a
 * device of the size given by the option limit. */
#include "intercept/cache/caching.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"
#include "intercept/track/usage.h"

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult r = VS_REAL(cuMemGetInfo_v2, free_bytes, total_bytes);
    if (r == CUDA_SUCCESS && !vs_thread.inside && vs_process_state() == VS_PROCESS_ACTIVE) {
        VS_OWN_WORK();
        const struct vs_context *current = vs_context_current();
        if (current) {
            vs_usage_answered(current, free_bytes, total_bytes);
            vs_limit_view(current->device,
                          vs_process_serving() ? vs_caching_cached_bytes(current->device) : 0,
                          free_bytes, total_bytes);
        }
    }
    return r;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult r = VS_REAL(cuDeviceTotalMem_v2, bytes, device);
    if (r == CUDA_SUCCESS && bytes && !vs_thread.inside && !vs_process_forked())
        vs_limit_view((uint32_t)device, 0, NULL, bytes);
    return r;
}
