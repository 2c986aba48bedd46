/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch normalization. Sizes of workspace and reserve space are cuDNN's own answers; assumed are
 * two FP32 sums for each channel and multiprocessor where memory is channels-last, and a bit for each
 * element where an activation is fused. */
#include <stdio.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

static bool last(const struct cudnnTensorStruct *x)
{
    int64_t dim[DNN_DIMS], stride[DNN_DIMS];
    for (int i = 0; i < x->rank; i++) {
        dim[i] = x->dim[i];
        stride[i] = x->stride[i];
    }
    return dnn_channels_last(dim, stride, x->rank);
}

static int check_modes(const char *function, int mode, int operation)
{
    DNN_NEED(mode >= CUDNN_BATCHNORM_PER_ACTIVATION && mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT,
             "%s: no mode %d", function, mode);
    DNN_NEED(operation >= CUDNN_BATCHNORM_OPS_BN && operation <= CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION,
             "%s: no operation %d", function, operation);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnDeriveBNTensorDescriptor(struct cudnnTensorStruct *derived, struct cudnnTensorStruct *const x,
                                  int mode)
{
    int dim[DNN_DIMS];
    DNN_NEED_KIND(derived, DNN_TENSOR);
    DNN_NEED_SET(x, DNN_TENSOR);
    int e = check_modes(__func__, mode, CUDNN_BATCHNORM_OPS_BN);
    if (e)
        return e;
    for (int i = 0; i < x->rank; i++)
        dim[i] = i == 1 || (mode == CUDNN_BATCHNORM_PER_ACTIVATION && i) ? x->dim[i] : 1;
    bool wide = x->type == CUDNN_DATA_DOUBLE;
    dnn_set_tensor(derived, wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, x->rank, dim);
    return CUDNN_STATUS_SUCCESS;
}

static size_t space(const char *what, const struct cudnnTensorStruct *x, uint64_t bytes, const char *why)
{
    char key[192];
    int at = snprintf(key, sizeof key, "%s %s x ", dnn_type_name(x->type),
                      last(x) ? "channels-last" : "channels-first");
    for (int i = 0; i < x->rank; i++)
        at += snprintf(key + at, sizeof key - (size_t)at, "%s%d", i ? "x" : "", x->dim[i]);
    return vs_library_workspace(what, key, bytes, why);
}

static size_t workspace_of(const char *what, const struct cudnnTensorStruct *x)
{
    uint64_t processors = (uint64_t)vs_library_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    bool sums = last(x);
    return space(what, x, sums ? 8ull * (uint64_t)x->dim[1] * processors : 0,
                 sums ? "two FP32 sums for each channel and multiprocessor"
                      : "a channel is summed by one block");
}

static size_t reserve_of(int operation, const struct cudnnTensorStruct *x)
{
    bool mask = operation != CUDNN_BATCHNORM_OPS_BN;
    uint64_t bits = (uint64_t)dnn_elements(x->dim, x->rank);
    return space("batch-norm-reserve", x, mask ? (bits + 7) / 8 : 0,
                 mask ? "a bit for each element of the activation"
                      : "nothing is kept without an activation");
}

static int check(struct cudnnContext *handle, const struct dnn_batch_norm *b)
{
    const struct cudnnTensorStruct *const others[] = {b->y, b->dy, b->derived};
    if (!dnn_is(handle, DNN_HANDLE, b->name) || !dnn_is_set(b->x, DNN_TENSOR, b->name))
        return CUDNN_STATUS_BAD_PARAM;
    for (int i = 0; i < 3; i++)
        if (b->needs[i] && !dnn_is_set(others[i], DNN_TENSOR, b->name))
            return CUDNN_STATUS_BAD_PARAM;
    return check_modes(b->name, b->mode, b->operation);
}

int dnn_batch_norm_size(struct cudnnContext *handle, const struct dnn_batch_norm *b)
{
    int e = check(handle, b);
    if (e)
        return e;
    DNN_NEED(b->bytes, "%s: the result's pointer is NULL", b->name);
    *b->bytes = b->workspace ? workspace_of(b->workspace, b->x) : reserve_of(b->operation, b->x);
    return CUDNN_STATUS_SUCCESS;
}

int dnn_batch_norm(struct cudnnContext *handle, const struct dnn_batch_norm *b)
{
    DNN_NEED(!b->missing, "%s: a tensor or factor is NULL, or epsilon is negative", b->name);
    DNN_NEED(!b->halves, "%s: one of mean and variance is NULL", b->name);
    DNN_NEED(!b->absent, "%s: %s is NULL", b->name, b->absent);
    int e = check(handle, b);
    if (e)
        return e;
    size_t needed = b->workspace ? workspace_of(b->workspace, b->x) : 0;
    size_t needed_reserve = b->workspace ? reserve_of(b->operation, b->x) : 0;
    if ((b->given ? b->given_bytes : 0) < needed || (b->reserve ? b->reserve_bytes : 0) < needed_reserve)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: %zu bytes of workspace and %zu of reserve space; %zu and %zu are needed",
                        b->name, b->given_bytes, b->reserve_bytes, needed, needed_reserve);
    DNN_NEED(dnn_same_dims(b->x, b->y) && b->derived->rank == b->x->rank &&
                 b->derived->dim[1] == b->x->dim[1],
             "%s: the tensors have different dimensions", b->name);
    return dnn_elementwise(handle, b->name, b->x->type, dnn_elements(b->x->dim, b->x->rank),
                           b->per_element,
                           b->tensors * dnn_tensor_bytes(b->x) + 4 * dnn_tensor_bytes(b->derived));
}
