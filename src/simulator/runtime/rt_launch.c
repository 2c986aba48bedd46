/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: the configuration that <<<>>> pushes and the stub pops, the launch functions called by
 * nvcc's code and programs, and queries about kernels. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

/* crt/host_runtime.h declares these for C++ only. */
VS_SIM_RT_API unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                                   struct CUstream_st *stream);
VS_SIM_RT_API cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                                     size_t *sharedMem, void *stream);
VS_SIM_RT_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                             void **args, size_t sharedMem, cudaStream_t stream);
VS_SIM_RT_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                                  void **args, size_t sharedMem,
                                                  cudaStream_t stream);

#define CONFIGS_MAX 16 /* launches whose arguments launch again; real code nests once at most */

struct config {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

static _Thread_local struct {
    struct config at[CONFIGS_MAX];
    unsigned depth;
} configs;

unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                     struct CUstream_st *stream)
{
    if (configs.depth == CONFIGS_MAX)
        return 1; /* the stub is not called then */
    configs.at[configs.depth++] = (struct config){gridDim, blockDim, sharedMem, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream)
{
    if (!configs.depth)
        return vs_rt_result(cudaErrorMissingConfiguration);
    struct config *c = &configs.at[--configs.depth];
    *gridDim = c->grid;
    *blockDim = c->block;
    *sharedMem = c->shared;
    memcpy(stream, &c->stream, sizeof c->stream);
    return cudaSuccess;
}

/* ---- launches ---- */

static cudaError_t check(CUkernel kernel, dim3 grid, dim3 block, size_t shared)
{
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z ||
        grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535 || block.x > 1024 ||
        block.y > 1024 || block.z > 64 || (size_t)block.x * block.y * block.z > 1024)
        return cudaErrorInvalidConfiguration;
    return shared > UINT32_MAX ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream)
{
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = check((CUkernel)kernel, gridDim, blockDim, sharedMem);
    if (!e)
        e = vs_rt_error(vs_rt.LaunchKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z,
                                           blockDim.x, blockDim.y, blockDim.z, (unsigned)sharedMem,
                                           stream, args, NULL));
    return vs_rt_result(e);
}

VS_RT_AS(__cudaLaunchKernel_ptsz,
         (cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
          cudaStream_t stream),
         __cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem,
                            stream ? stream : cudaStreamPerThread))

/* By the address of the host stub, or by a handle from cudaGetKernel. */
cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t e = vs_rt_kernel_of(func, &kernel);
    if (!e)
        e = __cudaLaunchKernel((cudaKernel_t)kernel, gridDim, blockDim, args, sharedMem, stream);
    if (e == cudaErrorInvalidConfiguration && func == (const void *)kernel)
        e = cudaErrorInvalidValue; /* the driver's: only launches by stub are checked before it */
    return vs_rt_result(e);
}

cudaError_t cudaLaunchCooperativeKernel_context(const void *func, dim3 gridDim, dim3 blockDim,
                                                void **args, size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t e = vs_rt_kernel_of(func, &kernel);
    if (!e)
        e = check(kernel, gridDim, blockDim, sharedMem);
    if (!e)
        e = vs_rt_error(vs_rt.LaunchCooperativeKernel(
            (CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
            blockDim.z, (unsigned)sharedMem, stream, args));
    return e;
}

/* Attributes are passed through. */
_Static_assert((int)cudaLaunchAttributeNvlinkUtilCentricScheduling ==
                   (int)CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
               "names and values are the driver's");

static CUlaunchConfig driver_config(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = (CUlaunchAttribute *)config->attrs,
                            .numAttrs = config->numAttrs};
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *config, const void *func, void **args,
                             bool per_thread)
{
    CUkernel kernel;
    if (!config)
        return cudaErrorInvalidValue;
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_kernel_of(func, &kernel);
    if (!e)
        e = check(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    if (e)
        return e;
    CUlaunchConfig c = driver_config(config);
    return vs_rt_error((per_thread ? vs_rt.LaunchKernelEx_ptsz
                                   : vs_rt.LaunchKernelEx)(&c, (CUfunction)kernel, args, NULL));
}

VS_RT_AS(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *func, void **args),
         vs_rt_result(launch_ex(config, func, args, false)))
VS_RT_AS(cudaLaunchKernelExC_ptsz,
         (const cudaLaunchConfig_t *config, const void *func, void **args),
         vs_rt_result(launch_ex(config, func, args, true)))

/* ---- kernels ---- */

cudaError_t vs_rt_enter_function(const void *func, CUfunction *function)
{
    CUkernel kernel;
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_kernel_of(func, &kernel);
    return e ? e : vs_rt_error(vs_rt.KernelGetFunction(function, kernel));
}

cudaError_t cudaFuncGetAttributes_function(struct cudaFuncAttributes attr[static 1],
                                           CUfunction function)
{
    static const CUfunction_attribute wanted[] = {
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_FUNC_ATTRIBUTE_NUM_REGS,
        CU_FUNC_ATTRIBUTE_PTX_VERSION,
        CU_FUNC_ATTRIBUTE_BINARY_VERSION,
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED};
    int v[sizeof wanted / sizeof wanted[0]];
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !e; i++)
        e = vs_rt_error(vs_rt.FuncGetAttribute(&v[i], wanted[i], function));
    if (e)
        return e;
    *attr = (struct cudaFuncAttributes){.sharedSizeBytes = (size_t)v[0],
                                        .constSizeBytes = (size_t)v[1],
                                        .localSizeBytes = (size_t)v[2],
                                        .maxThreadsPerBlock = v[3],
                                        .numRegs = v[4],
                                        .ptxVersion = v[5],
                                        .binaryVersion = v[6],
                                        .cacheModeCA = v[7],
                                        .maxDynamicSharedSizeBytes = v[8],
                                        .preferredShmemCarveout = v[9],
                                        .clusterDimMustBeSet = v[10],
                                        .requiredClusterWidth = v[11],
                                        .requiredClusterHeight = v[12],
                                        .requiredClusterDepth = v[13],
                                        .clusterSchedulingPolicyPreference = v[14],
                                        .nonPortableClusterSizeAllowed = v[15]};
    return cudaSuccess;
}

VS_RT_AS(cudaKernelSetAttributeForDevice_driver,
         (cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device),
         vs_rt_error(vs_rt.KernelSetAttribute((CUfunction_attribute)attr, value, (CUkernel)kernel,
                                              device)))

/* ---- occupancy ---- */

cudaError_t cudaOccupancyMaxPotentialClusterSize_function(int *size, CUfunction function,
                                                          const cudaLaunchConfig_t launch[static 1])
{
    CUlaunchConfig c = driver_config(launch);
    return launch->dynamicSmemBytes > UINT32_MAX
               ? cudaErrorInvalidValue
               : vs_rt_error(vs_rt.OccupancyMaxPotentialClusterSize(size, function, &c));
}

cudaError_t cudaOccupancyMaxActiveClusters_function(int *count, CUfunction function,
                                                    const cudaLaunchConfig_t launch[static 1])
{
    CUlaunchConfig c = driver_config(launch);
    return launch->dynamicSmemBytes > UINT32_MAX
               ? cudaErrorInvalidValue
               : vs_rt_error(vs_rt.OccupancyMaxActiveClusters(count, function, &c));
}

/* ---- libraries ---- */

cudaError_t cudaLibraryGetKernel_context(cudaKernel_t *kernel, cudaLibrary_t library,
                                         const char *name)
{
    cudaError_t e =
        vs_rt_error(vs_rt.LibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name));
    if (!e)
        vs_rt_kernel_remember((CUkernel)*kernel);
    return e;
}
