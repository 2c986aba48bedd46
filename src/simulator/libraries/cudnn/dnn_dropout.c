/* SPDX-License-Identifier: Apache-2.0
 *
 * Dropout. The states are those of a generator per thread that fits on the device: cuDNN's own
 * size of them is assumed as 48 bytes (a cuRAND state) for 2048 threads on each multiprocessor. */
#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define STATE_BYTES 48
#define THREADS_PER_SM 2048

int cudnnDropoutGetStatesSize(struct cudnnContext *handle, size_t *bytes)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_POINTER(bytes);
    uint64_t processors = (uint64_t)vs_library_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    *bytes = vs_library_size("dropout-states", "", processors * THREADS_PER_SM * STATE_BYTES,
                             "a generator's state of 48 bytes for 2048 threads per multiprocessor");
    return CUDNN_STATUS_SUCCESS;
}

int cudnnDropoutGetReserveSpaceSize(struct cudnnTensorStruct *x, size_t *bytes)
{
    DNN_NEED_SET(x, DNN_TENSOR);
    DNN_NEED_POINTER(bytes);
    *bytes = ((size_t)dnn_elements(x->dim, x->rank) + 7) / 8; /* a bit for each element */
    return CUDNN_STATUS_SUCCESS;
}

int cudnnRestoreDropoutDescriptor(struct cudnnDropoutStruct *d, struct cudnnContext *handle,
                                  float probability, void *states, size_t bytes, unsigned long long seed)
{
    size_t needed;
    DNN_NEED_KIND(d, DNN_DROPOUT);
    int e = cudnnDropoutGetStatesSize(handle, &needed);
    if (e)
        return e;
    DNN_NEED(probability >= 0 && probability <= 1, "%s: a probability of %g", __func__,
             (double)probability);
    DNN_NEED(!states || bytes >= needed, "%s: states of %zu bytes; %zu are needed", __func__, bytes, needed);
    *d = (struct cudnnDropoutStruct){1, probability};
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetDropoutDescriptor(struct cudnnDropoutStruct *d, struct cudnnContext *handle,
                              float probability, void *states, size_t bytes, unsigned long long seed)
{
    int e = cudnnRestoreDropoutDescriptor(d, handle, probability, states, bytes, seed);
    if (e || !states)
        return e;
    return dnn_elementwise(handle, "cudnn_dropout_states", CUDNN_DATA_FLOAT, (double)bytes / STATE_BYTES,
                           100, (double)bytes);
}

static int run(const char *function, struct cudnnContext *handle, struct cudnnDropoutStruct *d,
               struct cudnnTensorStruct *x, struct cudnnTensorStruct *y, const void *reserve, size_t bytes)
{
    size_t needed;
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(d, DNN_DROPOUT, function) ||
        !dnn_is_set(x, DNN_TENSOR, function) || !dnn_is_set(y, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(dnn_elements(x->dim, x->rank) == dnn_elements(y->dim, y->rank),
             "%s: the tensors have different sizes", function);
    cudnnDropoutGetReserveSpaceSize(x, &needed);
    DNN_NEED(reserve && bytes >= needed, "%s: a reserve space of %zu bytes; %zu are needed", function,
             reserve ? bytes : 0, needed);
    return dnn_elementwise(handle, function, x->type, dnn_elements(x->dim, x->rank), 10,
                           dnn_tensor_bytes(x) + dnn_tensor_bytes(y) + (double)needed);
}

int cudnnDropoutForward(struct cudnnContext *handle, struct cudnnDropoutStruct *const d,
                        struct cudnnTensorStruct *const x_desc, const void *x,
                        struct cudnnTensorStruct *const y_desc, void *y, void *reserve, size_t bytes)
{
    DNN_NEED(x && y, "%s: a tensor is NULL", __func__);
    return run(__func__, handle, d, x_desc, y_desc, reserve, bytes);
}

int cudnnDropoutBackward(struct cudnnContext *handle, struct cudnnDropoutStruct *const d,
                         struct cudnnTensorStruct *const dy_desc, const void *dy,
                         struct cudnnTensorStruct *const dx_desc, void *dx, void *reserve, size_t bytes)
{
    DNN_NEED(dy && dx, "%s: a tensor is NULL", __func__);
    return run(__func__, handle, d, dy_desc, dx_desc, reserve, bytes);
}
