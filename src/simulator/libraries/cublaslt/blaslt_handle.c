/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLASLt handles, version, statuses by name, log and cache of heuristics. The log is switched, and
 * nothing is written to it; the cache has a capacity and no contents, since choosing an algorithm
 * costs nothing here. */
#include <stdatomic.h>
#include <stdlib.h>

#include "simulator/libraries/cublaslt/vs_blas_handle.h"
#include "simulator/libraries/cublaslt/vs_blaslt.h"

#define CACHE_ENTRIES 8192 /* default of CUBLASLT_HEURISTICS_CACHE_CAPACITY, as documented */
#define LOG_LEVEL_MAX 5

static atomic_size_t cache_entries = CACHE_ENTRIES;

bool vs_lt_is_handle(const struct cublasLtContext *handle)
{
    return vs_library_object(handle, VS_LT_HANDLE) || vs_library_object(handle, VS_LT_BLAS_HANDLE);
}

bool vramscopeSimBlasHandle(const void *handle, bool live)
{
    return live ? vs_library_adopt(handle, VS_LT_BLAS_HANDLE)
                : vs_library_forget(handle, VS_LT_BLAS_HANDLE);
}

int cublasLtCreate(struct cublasLtContext **handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_library_use_device())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    void *made = vs_library_new(VS_LT_HANDLE, 1);
    if (!made)
        return CUBLAS_STATUS_ALLOC_FAILED;
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtDestroy(struct cublasLtContext *handle)
{
    return vs_library_delete(handle, VS_LT_HANDLE) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

static struct vs_library_version version(void)
{
    if (vs_library_cuda_major() == 12)
        return vs_library_version((struct vs_library_version){12, 9, 2});
    return vs_library_version(
        (struct vs_library_version){CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH});
}

size_t cublasLtGetVersion(void)
{
    struct vs_library_version v = version();
    return (size_t)(v.major * 10000 + v.minor * 100 + v.patch);
}

size_t cublasLtGetCudartVersion(void)
{
    return vs_library_cuda_major() == 12 ? 12090 : CUDART_VERSION;
}

int cublasLtGetProperty(int property, int *value)
{
    return vs_library_property(version(), property, value) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

const char *cublasLtGetStatusName(int status)
{
    switch (status) {
#define NAME(name) case CUBLAS_STATUS_##name: return "CUBLAS_STATUS_" #name;
    NAME(SUCCESS) NAME(NOT_INITIALIZED) NAME(ALLOC_FAILED) NAME(INVALID_VALUE) NAME(ARCH_MISMATCH)
    NAME(MAPPING_ERROR) NAME(EXECUTION_FAILED) NAME(INTERNAL_ERROR) NAME(NOT_SUPPORTED)
    NAME(LICENSE_ERROR)
#undef NAME
    default: return "CUBLAS_STATUS_UNKNOWN";
    }
}

const char *cublasLtGetStatusString(int status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value was used as an argument";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "an absent device architectural feature is required";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "the GPU program failed to execute";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "the functionality is not supported";
    default: return "unknown status";
    }
}

int cublasLtHeuristicsCacheGetCapacity(size_t *entries)
{
    if (!entries)
        return CUBLAS_STATUS_INVALID_VALUE;
    *entries = atomic_load(&cache_entries);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtHeuristicsCacheSetCapacity(size_t entries)
{
    atomic_store(&cache_entries, entries);
    return CUBLAS_STATUS_SUCCESS;
}

unsigned int cublasLtDisableCpuInstructionsSetMask(unsigned int mask)
{
    static atomic_uint masked;
    return atomic_exchange(&masked, mask); /* the mask before */
}

int cublasLtLoggerSetCallback(void *callback)
{
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtLoggerSetFile(FILE *file)
{
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtLoggerOpenFile(const char *path)
{
    return path ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

int cublasLtLoggerSetLevel(int level)
{
    return level < 0 || level > LOG_LEVEL_MAX ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

int cublasLtLoggerSetMask(int mask)
{
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtLoggerForceDisable(void)
{
    return CUBLAS_STATUS_SUCCESS;
}
