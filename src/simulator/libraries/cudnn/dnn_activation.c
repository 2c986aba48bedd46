/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations and softmax. */
#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

int cudnnSetActivationDescriptor(struct cudnnActivationStruct *a, int mode, int nan, double coefficient)
{
    DNN_NEED_KIND(a, DNN_ACTIVATION);
    DNN_NEED(mode >= CUDNN_ACTIVATION_SIGMOID && mode <= CUDNN_ACTIVATION_SWISH, "%s: no mode %d",
             __func__, mode);
    DNN_NEED(nan == CUDNN_NOT_PROPAGATE_NAN || nan == CUDNN_PROPAGATE_NAN, "%s: no mode %d for NaN",
             __func__, nan);
    a->set = 1;
    return CUDNN_STATUS_SUCCESS;
}

/* run: reads and writes *tensors* tensors of x's size. */
static int run(const char *function, struct cudnnContext *handle, struct cudnnTensorStruct *x,
               struct cudnnTensorStruct *y, double per_element, double tensors)
{
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(x, DNN_TENSOR, function) ||
        !dnn_is_set(y, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(dnn_same_dims(x, y), "%s: the tensors have different dimensions", function);
    return dnn_elementwise(handle, function, x->type, dnn_elements(x->dim, x->rank), per_element,
                           tensors * dnn_tensor_bytes(x));
}

int cudnnActivationForward(struct cudnnContext *handle, struct cudnnActivationStruct *a,
                           const void *alpha, struct cudnnTensorStruct *const x_desc, const void *x,
                           const void *beta, struct cudnnTensorStruct *const y_desc, void *y)
{
    DNN_NEED_SET(a, DNN_ACTIVATION);
    DNN_NEED(alpha && beta && x && y, "%s: a tensor or factor is NULL", __func__);
    return run(__func__, handle, x_desc, y_desc, 4, 2);
}

static bool softmax_modes(int algorithm, int mode)
{
    return algorithm >= CUDNN_SOFTMAX_FAST && algorithm <= CUDNN_SOFTMAX_LOG &&
           mode >= CUDNN_SOFTMAX_MODE_INSTANCE && mode <= CUDNN_SOFTMAX_MODE_CHANNEL;
}

int cudnnSoftmaxForward(struct cudnnContext *handle, int algorithm, int mode, const void *alpha,
                        struct cudnnTensorStruct *const x_desc, const void *x, const void *beta,
                        struct cudnnTensorStruct *const y_desc, void *y)
{
    DNN_NEED(alpha && beta && x && y, "%s: a tensor or factor is NULL", __func__);
    DNN_NEED(softmax_modes(algorithm, mode), "%s: no algorithm %d or mode %d", __func__, algorithm, mode);
    return run(__func__, handle, x_desc, y_desc, 5, 3);
}

