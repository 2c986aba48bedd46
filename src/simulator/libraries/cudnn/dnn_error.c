/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes as text, and the message of a thread's last error. */
#include <stdio.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

#define MESSAGE_MAX 512

static _Thread_local char last_message[MESSAGE_MAX];

#define STATUSES(F)                                                                                \
    F(SUCCESS) F(NOT_INITIALIZED) F(SUBLIBRARY_VERSION_MISMATCH)                                   \
    F(SERIALIZATION_VERSION_MISMATCH) F(DEPRECATED) F(LICENSE_ERROR) F(RUNTIME_IN_PROGRESS)        \
    F(RUNTIME_FP_OVERFLOW) F(SUBLIBRARY_LOADING_FAILED) F(BAD_PARAM) F(INVALID_VALUE)              \
    F(BAD_PARAM_NULL_POINTER) F(BAD_PARAM_MISALIGNED_POINTER) F(BAD_PARAM_NOT_FINALIZED)           \
    F(BAD_PARAM_OUT_OF_BOUND) F(BAD_PARAM_SIZE_INSUFFICIENT) F(BAD_PARAM_STREAM_MISMATCH)          \
    F(BAD_PARAM_SHAPE_MISMATCH) F(BAD_PARAM_DUPLICATED_ENTRIES) F(BAD_PARAM_ATTRIBUTE_TYPE)        \
    F(BAD_PARAM_CUDA_GRAPH_MISMATCH) F(BAD_PARAM_DESCRIPTOR_TYPE) F(NOT_SUPPORTED)                 \
    F(NOT_SUPPORTED_GRAPH_PATTERN) F(NOT_SUPPORTED_SHAPE) F(NOT_SUPPORTED_DATA_TYPE)               \
    F(NOT_SUPPORTED_LAYOUT) F(NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER)                              \
    F(NOT_SUPPORTED_INCOMPATIBLE_CUDART) F(NOT_SUPPORTED_ARCH_MISMATCH)                            \
    F(NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING) F(NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE)          \
    F(NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT) F(NOT_SUPPORTED_PADDING)                           \
    F(NOT_SUPPORTED_BAD_LAUNCH_PARAM) F(NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API)                       \
    F(NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE) F(INTERNAL_ERROR)                                       \
    F(INTERNAL_ERROR_COMPILATION_FAILED) F(INTERNAL_ERROR_UNEXPECTED_VALUE)                        \
    F(INTERNAL_ERROR_HOST_ALLOCATION_FAILED) F(INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)            \
    F(INTERNAL_ERROR_BAD_LAUNCH_PARAM) F(INTERNAL_ERROR_TEXTURE_CREATION_FAILED)                   \
    F(EXECUTION_FAILED) F(EXECUTION_FAILED_CUDA_DRIVER) F(EXECUTION_FAILED_CUBLAS)                 \
    F(EXECUTION_FAILED_CUDART) F(EXECUTION_FAILED_CURAND)

const char *cudnnGetErrorString(int status)
{
    switch (status) {
#define NAME(name)                                                                                 \
    case CUDNN_STATUS_##name:                                                                      \
        return "CUDNN_STATUS_" #name;
        STATUSES(NAME)
#undef NAME
    default:
        return "CUDNN_UNKNOWN_STATUS";
    }
}

int dnn_fail(int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(last_message, sizeof last_message, format, list);
    va_end(list);
    return status;
}

int dnn_driver(CUresult result, const char *function)
{
    if (!result)
        return CUDNN_STATUS_SUCCESS;
    const struct vs_library_driver *d = vs_library_driver();
    const char *name = NULL;
    if (!d || d->cuGetErrorName(result, &name) || !name)
        name = "an unknown error";
    return dnn_fail(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER, "%s: the driver returned %s", function,
                    name);
}

void cudnnGetLastErrorString(char *message, size_t max_size)
{
    if (!message || !max_size)
        return;
    size_t length = strnlen(last_message, max_size - 1);
    memcpy(message, last_message, length);
    message[length] = '\0';
    last_message[0] = '\0';
}
