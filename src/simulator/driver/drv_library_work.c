/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the stand-in libraries: launched like any other, so that they are recorded, captured
 * and ordered the same way, but with a duration from their operations and bytes instead of their
 * grid. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/driver/vs_sim_work.h"

#define REACHED 0.7 /* of the peak rates; what large matrix products reach on real devices */
#define THREADS 256
#define BLOCKS_MAX 2147483647u

VS_SIM_EXPORT vramscope_sim_library_work_fn vramscopeSimLibraryWork;
VS_SIM_EXPORT vramscope_sim_library_workspace_fn vramscopeSimLibraryWorkspace;

/* Dense peak rates in 10^12 operations per second, from NVIDIA's data sheets and architecture
 * white papers (RTX 4090: FP16 with FP32 accumulation). Where a device has no such units, the rate
 * of the next wider number. */
static const struct {
    int major, minor;
    float peak[VS_SIM_NUMBER_COUNT]; /* FP64, FP32, TF32, FP16, FP8, INT8 */
} rates[] = {
    {7, 5, {0.25f, 8.1f, 8.1f, 65, 65, 130}},
    {8, 0, {19.5f, 19.5f, 156, 312, 312, 624}},
    {8, 9, {1.29f, 82.6f, 82.6f, 165.2f, 330.3f, 660.6f}},
    {9, 0, {66.9f, 66.9f, 494.7f, 989.4f, 1978.9f, 1978.9f}},
    {10, 0, {37, 74, 1100, 2250, 4500, 4500}},
};

static uint64_t work_ns(const struct vs_sim_work *work)
{
    const struct vs_sim_preset *p = vs_sim_spec.preset;
    size_t best = 0;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (rates[i].major * 10 + rates[i].minor <= p->major * 10 + p->minor)
            best = i;
    double compute = work->operations / ((double)rates[best].peak[work->number] * 1e3 * REACHED);
    double memory = work->bytes / (p->memory_gbps * REACHED);
    double ns = VS_SIM_KERNEL_BASE_NS + (compute > memory ? compute : memory) + work->ns;
    return ns < 1e15 ? (uint64_t)ns : UINT64_C(1000000000000000);
}

CUresult vramscopeSimLibraryWork(CUstream stream, const struct vs_sim_work *work)
{
    if (!work || !work->name || (unsigned)work->number >= VS_SIM_NUMBER_COUNT ||
        !(work->operations >= 0) || !(work->bytes >= 0) || !(work->ns >= 0))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    struct vs_sim_function *function = vs_sim_library_function(work->name);
    if (!function)
        return CUDA_ERROR_NOT_FOUND;
    uint64_t blocks = work->blocks ? work->blocks : 1;
    unsigned grid = blocks < BLOCKS_MAX ? (unsigned)blocks : BLOCKS_MAX;
    return vs_sim_launch_timed(function, grid, THREADS, stream, work->params, work_ns(work),
                               work->only_time);
}

bool vramscopeSimLibraryWorkspace(uint64_t *bytes)
{
    if (vs_sim_enter() || vs_sim_spec.workspace_bytes == VS_SIM_WORKSPACE_BY_RULE)
        return false;
    *bytes = vs_sim_spec.workspace_bytes;
    return true;
}
