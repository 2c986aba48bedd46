/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries and settings of one kernel, and occupancy. Kernels here have no device code, so register
 * and shared memory figures are one plausible constant. */
#include "simulator/driver/vs_sim_driver.h"

#define REGISTERS 32 /* per thread */

static CUresult function_enter(const void *handle, struct vs_sim_function **f)
{
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    *f = vs_sim_function_of(handle);
    return *f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attribute, CUfunction handle)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(handle, &f);
    if (e)
        return e;
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *pi = 1024; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *pi = REGISTERS; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *pi = (int)f->arch.ptx; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *pi = (int)f->arch.binary; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *pi = atomic_load(&f->dynamic_shared_max);
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *pi = atomic_load(&f->carveout); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *pi = atomic_load(&f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *pi = atomic_load(&f->nonportable_cluster);
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *pi = atomic_load(&f->cluster_scheduling);
        break;
    default:
        if ((unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        *pi = 0;
    }
    return CUDA_SUCCESS;
}

/* The attributes of clusters; their shape is checked by launches. */
static CUresult set_cluster_attribute(struct vs_sim_function *f, CUfunction_attribute attribute,
                                      int value)
{
    if (!vs_sim_device_clusters())
        return CUDA_ERROR_NOT_SUPPORTED;
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
        atomic_store(&f->nonportable_cluster, value != 0);
        return CUDA_SUCCESS;
    }
    if (value < 0 || (attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE &&
                      value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING))
        return CUDA_ERROR_INVALID_VALUE;
    atomic_store(attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
                     ? &f->cluster_scheduling
                     : &f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH],
                 value);
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(handle, &f);
    if (e)
        return e;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > vs_sim_spec.preset->shared_optin)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store(&f->dynamic_shared_max, value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store(&f->carveout, value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return set_cluster_attribute(f, attribute, value);
    default:
        return (unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX ? CUDA_ERROR_INVALID_VALUE
                                                            : CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* The target of both handles is the same. */

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    return vs_sim_device_find(dev) ? cuFuncGetAttribute(pi, attrib, (CUfunction)kernel)
                                   : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    return vs_sim_device_find(dev) ? cuFuncSetAttribute((CUfunction)kernel, attrib, val)
                                   : CUDA_ERROR_INVALID_DEVICE;
}

/* A preference without effect here. */
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(handle, &f);
    if (e)
        return e;
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    return vs_sim_device_find(dev) ? cuFuncSetCacheConfig((CUfunction)kernel, config)
                                   : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuFuncGetName(const char **name, CUfunction handle)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(handle, &f);
    if (e)
        return e;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = f->name;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc)
{
    return cuFuncGetName(name, (CUfunction)hfunc);
}

CUresult cuKernelGetFunction_in(struct vs_sim_context *ctx, CUfunction *pFunc, CUkernel kernel)
{
    struct vs_sim_function *f;
    (void)ctx;
    CUresult e = function_enter(kernel, &f);
    if (e)
        return e;
    if (!pFunc)
        return CUDA_ERROR_INVALID_VALUE;
    *pFunc = (CUfunction)f; /* the same in every context */
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(kernel, &f);
    if (e)
        return e;
    if (!pLib)
        return CUDA_ERROR_INVALID_VALUE;
    *pLib = (CUlibrary)f->owner;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(hfunc, &f);
    if (e)
        return e;
    if (!hmod)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->is_kernel)
        return cuLibraryGetModule(hmod, (CUlibrary)f->owner);
    *hmod = (CUmodule)f->owner;
    return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(function, &f);
    if (e)
        return e;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    struct vs_sim_function *f;
    return function_enter(function, &f);
}

/* ---- occupancy: the least of what threads, registers, shared memory and the
 * block limit allow ---- */

int vs_sim_blocks_per_sm(int block_size, size_t shared)
{
    const struct vs_sim_preset *p = vs_sim_spec.preset;
    int threads = (block_size + 31) / 32 * 32;
    int blocks = p->threads_per_sm / threads;
    int by_registers = 65536 / (threads * REGISTERS);
    int by_shared = p->shared_per_sm / (int)(shared + 1024);
    blocks = by_registers < blocks ? by_registers : blocks;
    blocks = by_shared < blocks ? by_shared : blocks;
    return blocks < p->blocks_per_sm ? blocks : p->blocks_per_sm;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(func, &f);
    if (e)
        return e;
    if (!numBlocks || blockSize <= 0 || blockSize > 1024 ||
        flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = dynamicSMemSize > (size_t)vs_sim_spec.preset->shared_optin
                     ? 0
                     : vs_sim_blocks_per_sm(blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                dynamicSMemSize, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(func, &f);
    if (e)
        return e;
    if (!minGridSize || !blockSize || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    int limit = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024, best = 0,
        best_size = 0;
    for (int size = limit; size > 0; size = (size - 1) / 32 * 32) {
        size_t shared =
            blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(size) : dynamicSMemSize;
        int threads = shared > (size_t)vs_sim_spec.preset->shared_optin
                          ? 0
                          : vs_sim_blocks_per_sm(size, shared) * size;
        if (threads > best) {
            best = threads;
            best_size = size;
        }
    }
    *blockSize = best_size;
    *minGridSize = best_size ? best / best_size * vs_sim_spec.preset->sm_count : 0;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize)
{
    struct vs_sim_function *f;
    CUresult e = function_enter(func, &f);
    if (e)
        return e;
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 || blockSize > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    int bytes = vs_sim_spec.preset->shared_per_sm / numBlocks - 1024;
    bytes = bytes > vs_sim_spec.preset->shared_optin ? vs_sim_spec.preset->shared_optin : bytes;
    *dynamicSmemSize = bytes > 0 ? (size_t)bytes : 0;
    return CUDA_SUCCESS;
}
