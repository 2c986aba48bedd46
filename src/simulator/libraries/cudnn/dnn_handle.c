/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles with their stream, and versions. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

/* Loaded as libcudnn.so.8, it is the last release of cuDNN 8. */
static struct vs_library_version version(void)
{
    Dl_info own;
    struct vs_library_version v = vs_library_version();
    const char *end = dladdr((void *)(uintptr_t)&cudnnGetVersion, &own) ? strrchr(own.dli_fname, '.') : NULL;
    return v.major != 8 && end && !strcmp(end, ".8") ? (struct vs_library_version){8, 9, 7} : v;
}

size_t cudnnGetVersion(void)
{
    struct vs_library_version v = version();
    return (size_t)(v.major * (v.major < 9 ? 1000 : 10000) + v.minor * 100 + v.patch);
}

size_t cudnnGetCudartVersion(void) { return (size_t)vs_library_cuda_major() * 1000; }

size_t cudnnGetMaxDeviceVersion(void)
{
    return CUDNN_MAX_SM_MAJOR_NUMBER * 100 + CUDNN_MAX_SM_MINOR_NUMBER * 10;
}

int cudnnGetProperty(int type, int *value)
{
    DNN_NEED_POINTER(value);
    DNN_NEED(!vs_library_get_property(type, value), "cudnnGetProperty: no property %d", type);
    *value = (const int[]){version().major, version().minor, version().patch}[type];
    return CUDNN_STATUS_SUCCESS;
}

int cudnnCreate(struct cudnnContext **handle)
{
    DNN_NEED_POINTER(handle);
    if (!vs_library_use_device())
        return dnn_fail(CUDNN_STATUS_NOT_INITIALIZED, "cudnnCreate: no CUDA device can be used");
    if (!vs_library_load())
        return dnn_fail(CUDNN_STATUS_ALLOC_FAILED, "cudnnCreate: no device memory for cuDNN's kernels");
    return dnn_new(&(struct dnn_object){__func__, DNN_HANDLE, sizeof **handle, handle, NULL});
}

int cudnnDestroy(struct cudnnContext *handle)
{
    return dnn_delete(&(struct dnn_object){.name = __func__, .kind = DNN_HANDLE, .object = handle});
}

int cudnnSetStream(struct cudnnContext *handle, struct CUstream_st *stream)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetStream(struct cudnnContext *handle, struct CUstream_st **stream)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_POINTER(stream);
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}
