/* SPDX-License-Identifier: Apache-2.0
 *
 * What cuBLAS says about itself: version, names of its statuses, log. The log is switched and read
 * back, and nothing is written to it. */
#include <stdatomic.h>

#include "simulator/libraries/cublas/vs_blas.h"

static _Atomic(void *) logger;

static struct vs_library_version version(void)
{
    if (vs_library_cuda_major() == 12)
        return vs_library_version((struct vs_library_version){12, 9, 2});
    return vs_library_version(
        (struct vs_library_version){CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH});
}

/* NVIDIA's ignores the handle too. */
int cublasGetVersion_v2(struct cublasContext *h, int *value)
{
    if (!value)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vs_library_version v = version();
    *value = v.major * 10000 + v.minor * 100 + v.patch;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasGetProperty(int property, int *value)
{
    return vs_library_property(version(), property, value) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

size_t cublasGetCudartVersion(void)
{
    return vs_library_cuda_major() == 12 ? 12090 : CUDART_VERSION;
}

#define STATUSES(F)                                                                                \
    F(SUCCESS, "success") F(NOT_INITIALIZED, "the library was not initialized")                    \
    F(ALLOC_FAILED, "the resource allocation failed") F(INVALID_VALUE, "an invalid value was used as an argument") \
    F(ARCH_MISMATCH, "an absent device architectural feature is required")                         \
    F(MAPPING_ERROR, "an access to GPU memory space failed")                                       \
    F(EXECUTION_FAILED, "the GPU program failed to execute")                                       \
    F(INTERNAL_ERROR, "an internal operation failed")                                              \
    F(NOT_SUPPORTED, "the functionality is not supported")                                         \
    F(LICENSE_ERROR, "the license is missing or invalid")

const char *cublasGetStatusName(int status)
{
    switch (status) {
#define NAME(name, text) case CUBLAS_STATUS_##name: return "CUBLAS_STATUS_" #name;
        STATUSES(NAME)
#undef NAME
    default: return "CUBLAS_STATUS_UNKNOWN";
    }
}

const char *cublasGetStatusString(int status)
{
    switch (status) {
#define TEXT(name, text) case CUBLAS_STATUS_##name: return text;
        STATUSES(TEXT)
#undef TEXT
    default: return "unknown status";
    }
}

int cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file)
{
    return CUBLAS_STATUS_SUCCESS;
}

int cublasSetLoggerCallback(void *callback)
{
    atomic_store(&logger, callback);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasGetLoggerCallback(void **callback)
{
    if (!callback)
        return CUBLAS_STATUS_INVALID_VALUE;
    *callback = atomic_load(&logger);
    return CUBLAS_STATUS_SUCCESS;
}
