/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch normalization. Sizes of workspace and reserve space are cuDNN's own answers; assumed are
 * two FP32 sums for each channel and multiprocessor where memory is channels-last, and a bit for each
 * element where an activation is fused. */
#include <stdio.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

typedef struct cudnnTensorStruct *const tensor;

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

int cudnnDeriveBNTensorDescriptor(struct cudnnTensorStruct *derived, tensor x, int mode)
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

static int workspace(const char *what, const char *function, struct cudnnContext *handle, int mode,
                     int operation, tensor x, size_t *bytes)
{
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(x, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    int e = check_modes(function, mode, operation);
    if (e)
        return e;
    DNN_NEED(bytes, "%s: the result's pointer is NULL", function);
    uint64_t processors = (uint64_t)vs_library_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    bool sums = last(x);
    *bytes = space(what, x, sums ? 8ull * (uint64_t)x->dim[1] * processors : 0,
                   sums ? "two FP32 sums for each channel and multiprocessor"
                        : "a channel is summed by one block");
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(struct cudnnContext *handle, int mode,
                                                             int operation, tensor x, tensor z, tensor y,
                                                             tensor derived,
                                                             struct cudnnActivationStruct *const activation,
                                                             size_t *bytes)
{
    DNN_NEED_SET(y, DNN_TENSOR);
    DNN_NEED_SET(derived, DNN_TENSOR);
    return workspace("batch-norm-forward", __func__, handle, mode, operation, x, bytes);
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(struct cudnnContext *handle, int mode, int operation,
                                                      tensor x, tensor y, tensor dy, tensor dz, tensor dx,
                                                      tensor derived,
                                                      struct cudnnActivationStruct *const activation,
                                                      size_t *bytes)
{
    DNN_NEED_SET(dy, DNN_TENSOR);
    DNN_NEED_SET(dx, DNN_TENSOR);
    DNN_NEED_SET(derived, DNN_TENSOR);
    return workspace("batch-norm-backward", __func__, handle, mode, operation, x, bytes);
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(struct cudnnContext *handle, int mode,
                                                         int operation,
                                                         struct cudnnActivationStruct *const activation,
                                                         tensor x, size_t *bytes)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(x, DNN_TENSOR);
    DNN_NEED_POINTER(bytes);
    int e = check_modes(__func__, mode, operation);
    if (e)
        return e;
    bool mask = operation != CUDNN_BATCHNORM_OPS_BN;
    uint64_t bits = (uint64_t)dnn_elements(x->dim, x->rank);
    *bytes = space("batch-norm-reserve", x, mask ? (bits + 7) / 8 : 0,
                   mask ? "a bit for each element of the activation" : "nothing is kept without an activation");
    return CUDNN_STATUS_SUCCESS;
}

static int run(const char *function, struct cudnnContext *handle, int mode, int operation, tensor x,
               tensor y, tensor derived, double per_element, double tensors)
{
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(x, DNN_TENSOR, function) ||
        !dnn_is_set(y, DNN_TENSOR, function) || !dnn_is_set(derived, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    int e = check_modes(function, mode, operation);
    if (e)
        return e;
    DNN_NEED(dnn_same_dims(x, y) && derived->rank == x->rank && derived->dim[1] == x->dim[1],
             "%s: the tensors have different dimensions", function);
    return dnn_elementwise(handle, function, x->type, dnn_elements(x->dim, x->rank), per_element,
                           tensors * dnn_tensor_bytes(x) + 4 * dnn_tensor_bytes(derived));
}

int cudnnBatchNormalizationForwardInference(struct cudnnContext *handle, int mode, const void *alpha,
                                            const void *beta, tensor x_desc, const void *x, tensor y_desc,
                                            void *y, tensor derived, const void *scale, const void *bias,
                                            const void *mean, const void *variance, double epsilon)
{
    DNN_NEED(alpha && beta && x && y && scale && bias && mean && variance && epsilon >= 0,
             "%s: a tensor or factor is NULL, or epsilon is negative", __func__);
    return run(__func__, handle, mode, CUDNN_BATCHNORM_OPS_BN, x_desc, y_desc, derived, 4, 2);
}

int cudnnBatchNormalizationForwardTraining(struct cudnnContext *handle, int mode, const void *alpha,
                                           const void *beta, tensor x_desc, const void *x, tensor y_desc,
                                           void *y, tensor derived, const void *scale, const void *bias,
                                           double factor, void *running_mean, void *running_variance,
                                           double epsilon, void *saved_mean, void *saved_variance)
{
    DNN_NEED(alpha && beta && x && y && scale && bias && epsilon >= 0,
             "%s: a tensor or factor is NULL, or epsilon is negative", __func__);
    DNN_NEED(!running_mean == !running_variance && !saved_mean == !saved_variance,
             "%s: one of mean and variance is NULL", __func__);
    return run(__func__, handle, mode, CUDNN_BATCHNORM_OPS_BN, x_desc, y_desc, derived, 8, 3);
}

int cudnnBatchNormalizationForwardTrainingEx(
    struct cudnnContext *handle, int mode, int operation, const void *alpha, const void *beta, tensor x_desc,
    const void *x, tensor z_desc, const void *z, tensor y_desc, void *y, tensor derived, const void *scale,
    const void *bias, double factor, void *running_mean, void *running_variance, double epsilon,
    void *saved_mean, void *saved_variance, struct cudnnActivationStruct *activation, void *given,
    size_t given_bytes, void *reserve, size_t reserve_bytes)
{
    size_t needed, needed_reserve;
    DNN_NEED(alpha && beta && x && y && scale && bias && epsilon >= 0,
             "%s: a tensor or factor is NULL, or epsilon is negative", __func__);
    DNN_NEED(!running_mean == !running_variance && !saved_mean == !saved_variance,
             "%s: one of mean and variance is NULL", __func__);
    DNN_NEED(operation != CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION || (z && z_desc), "%s: z is NULL", __func__);
    int e = cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
        handle, mode, operation, x_desc, z_desc, y_desc, derived, activation, &needed);
    if (!e)
        e = cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle, mode, operation, activation, x_desc,
                                                                 &needed_reserve);
    if (e)
        return e;
    if ((given ? given_bytes : 0) < needed || (reserve ? reserve_bytes : 0) < needed_reserve)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: %zu bytes of workspace and %zu of reserve space; %zu and %zu are needed",
                        __func__, given_bytes, reserve_bytes, needed, needed_reserve);
    return run(__func__, handle, mode, operation, x_desc, y_desc, derived, 9, z ? 4 : 3);
}

int cudnnBatchNormalizationBackward(struct cudnnContext *handle, int mode, const void *alpha_data,
                                    const void *beta_data, const void *alpha_parameters,
                                    const void *beta_parameters, tensor x_desc, const void *x,
                                    tensor dy_desc, const void *dy, tensor dx_desc, void *dx, tensor derived,
                                    const void *scale, void *dscale, void *dbias, double epsilon,
                                    const void *saved_mean, const void *saved_variance)
{
    DNN_NEED_SET(dy_desc, DNN_TENSOR);
    DNN_NEED(alpha_data && beta_data && alpha_parameters && beta_parameters && x && dy && dx && scale &&
                 dscale && dbias && epsilon >= 0,
             "%s: a tensor or factor is NULL, or epsilon is negative", __func__);
    DNN_NEED(!saved_mean == !saved_variance, "%s: one of mean and variance is NULL", __func__);
    return run(__func__, handle, mode, CUDNN_BATCHNORM_OPS_BN, x_desc, dx_desc, derived, 12, 5);
}

int cudnnBatchNormalizationBackwardEx(
    struct cudnnContext *handle, int mode, int operation, const void *alpha_data, const void *beta_data,
    const void *alpha_parameters, const void *beta_parameters, tensor x_desc, const void *x, tensor y_desc,
    const void *y, tensor dy_desc, const void *dy, tensor dz_desc, void *dz, tensor dx_desc, void *dx,
    tensor derived, const void *scale, const void *bias, void *dscale, void *dbias, double epsilon,
    const void *saved_mean, const void *saved_variance, struct cudnnActivationStruct *activation, void *given,
    size_t given_bytes, void *reserve, size_t reserve_bytes)
{
    size_t needed, needed_reserve;
    DNN_NEED(alpha_data && beta_data && alpha_parameters && beta_parameters && x && dy && dx && scale &&
                 dscale && dbias && epsilon >= 0,
             "%s: a tensor or factor is NULL, or epsilon is negative", __func__);
    DNN_NEED(!saved_mean == !saved_variance, "%s: one of mean and variance is NULL", __func__);
    DNN_NEED(operation == CUDNN_BATCHNORM_OPS_BN || y, "%s: y is NULL", __func__);
    int e = cudnnGetBatchNormalizationBackwardExWorkspaceSize(
        handle, mode, operation, x_desc, y_desc, dy_desc, dz_desc, dx_desc, derived, activation, &needed);
    if (!e)
        e = cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle, mode, operation, activation, x_desc,
                                                                 &needed_reserve);
    if (e)
        return e;
    if ((given ? given_bytes : 0) < needed || (reserve ? reserve_bytes : 0) < needed_reserve)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: %zu bytes of workspace and %zu of reserve space; %zu and %zu are needed",
                        __func__, given_bytes, reserve_bytes, needed, needed_reserve);
    return run(__func__, handle, mode, operation, x_desc, dx_desc, derived, 12, 5);
}
