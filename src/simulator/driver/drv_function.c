/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries and settings of one kernel, and occupancy. Kernels here have no device code, so register
 * and shared memory figures are one plausible constant. */
#include "simulator/driver/vs_sim_driver.h"

#include <limits.h>

#define REGISTERS 32 /* per thread */

/* Where an attribute that can be set is kept, and its range; NULL: another one. */
static atomic_int *place_of(struct vs_sim_function *f, CUfunction_attribute attribute, int *min,
                            int *max)
{
    *min = 0;
    *max = INT_MAX;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *max = vs_sim_spec.preset->shared_optin;
        return &f->dynamic_shared_max;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *min = -1;
        *max = 100;
        return &f->carveout;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: /* their shape is checked by launches */
        return &f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *min = INT_MIN;
        return &f->nonportable_cluster;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *max = CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
        return &f->cluster_scheduling;
    default: return NULL;
    }
}

CUresult cuFuncGetAttribute_entered(int pi[static 1], CUfunction_attribute attribute,
                                    struct vs_sim_function *f)
{
    int min, max;
    const atomic_int *kept = place_of(f, attribute, &min, &max);
    if ((unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *pi = kept                                                  ? atomic_load(kept)
          : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
          : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS              ? REGISTERS
          : attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION           ? (int)f->arch.ptx
          : attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION        ? (int)f->arch.binary
                                                                 : 0;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute_entered(struct vs_sim_function *f, CUfunction_attribute attribute,
                                    int value)
{
    int min, max;
    atomic_int *kept = place_of(f, attribute, &min, &max);
    if ((unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kept ||
        (kept != &f->dynamic_shared_max && kept != &f->carveout && !vs_sim_device_clusters()))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (value < min || value > max)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_store(kept, kept == &f->nonportable_cluster ? value != 0 : value);
    return CUDA_SUCCESS;
}

/* The target of both handles is the same. */

VS_SIM_AS(cuKernelGetAttribute,
          (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev),
          vs_sim_device_find(dev) ? cuFuncGetAttribute(pi, attrib, (CUfunction)kernel)
                                  : CUDA_ERROR_INVALID_DEVICE)
VS_SIM_AS(cuKernelSetAttribute,
          (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev),
          vs_sim_device_find(dev) ? cuFuncSetAttribute((CUfunction)kernel, attrib, val)
                                  : CUDA_ERROR_INVALID_DEVICE)

/* A preference without effect here. */
VS_SIM_AS(cuFuncSetCacheConfig_entered, (struct vs_sim_function *f, CUfunc_cache config),
          (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS)
VS_SIM_AS(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice dev),
          vs_sim_device_find(dev) ? cuFuncSetCacheConfig((CUfunction)kernel, config)
                                  : CUDA_ERROR_INVALID_DEVICE)
VS_SIM_STORES(cuFuncGetName_entered, (const char *name[static 1], struct vs_sim_function *f),
              *name = f->name)
VS_SIM_AS(cuKernelGetName, (const char **name, CUkernel hfunc),
          cuFuncGetName(name, (CUfunction)hfunc))
VS_SIM_STORES(cuKernelGetFunction_in, (CUfunction pFunc[static 1], struct vs_sim_function *f),
              *pFunc = (CUfunction)f) /* the same in every context */
VS_SIM_STORES(cuKernelGetLibrary_entered, (CUlibrary pLib[static 1], struct vs_sim_function *f),
              *pLib = (CUlibrary)f->owner)

CUresult cuFuncGetModule_entered(CUmodule hmod[static 1], struct vs_sim_function *f)
{
    if (f->is_kernel)
        return cuLibraryGetModule(hmod, (CUlibrary)f->owner);
    *hmod = (CUmodule)f->owner;
    return CUDA_SUCCESS;
}

VS_SIM_STORES(cuFuncIsLoaded_entered,
              (CUfunctionLoadingState state[static 1], struct vs_sim_function *f),
              *state = CU_FUNCTION_LOADING_STATE_LOADED)
VS_SIM_AS(cuFuncLoad_entered, (struct vs_sim_function *f), CUDA_SUCCESS)

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

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_entered(
    int numBlocks[static 1], struct vs_sim_function *f, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    if (blockSize <= 0 || blockSize > 1024 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = dynamicSMemSize > (size_t)vs_sim_spec.preset->shared_optin
                     ? 0
                     : vs_sim_blocks_per_sm(blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

VS_SIM_AS(cuOccupancyMaxActiveBlocksPerMultiprocessor,
          (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize),
          cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                               dynamicSMemSize, 0))

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags_entered(
    int minGridSize[static 1], int blockSize[static 1], struct vs_sim_function *f,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
    unsigned int flags)
{
    if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
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

VS_SIM_AS(cuOccupancyMaxPotentialBlockSize,
          (int *minGridSize, int *blockSize, CUfunction func,
           CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
           int blockSizeLimit),
          cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                    blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                    blockSizeLimit, 0))

CUresult cuOccupancyAvailableDynamicSMemPerBlock_entered(size_t dynamicSmemSize[static 1],
                                                         struct vs_sim_function *f, int numBlocks,
                                                         int blockSize)
{
    if (numBlocks <= 0 || blockSize <= 0 || blockSize > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    int bytes = vs_sim_spec.preset->shared_per_sm / numBlocks - 1024;
    bytes = bytes > vs_sim_spec.preset->shared_optin ? vs_sim_spec.preset->shared_optin : bytes;
    *dynamicSmemSize = bytes > 0 ? (size_t)bytes : 0;
    return CUDA_SUCCESS;
}
