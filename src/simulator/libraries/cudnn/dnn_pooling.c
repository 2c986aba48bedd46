/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

int cudnnSetPoolingNdDescriptor(struct cudnnPoolingStruct *p, const int mode, const int nan, int rank,
                                int *window, int *pad, int *stride)
{
    DNN_NEED_KIND(p, DNN_POOLING);
    DNN_NEED(window && pad && stride, "%s: an array is NULL", __func__);
    DNN_NEED(mode >= CUDNN_POOLING_MAX && mode <= CUDNN_POOLING_MAX_DETERMINISTIC, "%s: no mode %d",
             __func__, mode);
    DNN_NEED(nan == CUDNN_NOT_PROPAGATE_NAN || nan == CUDNN_PROPAGATE_NAN, "%s: no mode %d for NaN",
             __func__, nan);
    DNN_NEED(rank >= 1 && rank <= DNN_DIMS - 2, "%s: %d spatial dimensions", __func__, rank);
    for (int i = 0; i < rank; i++)
        DNN_NEED(window[i] > 0 && stride[i] > 0 && pad[i] >= 0 && pad[i] < window[i],
                 "%s: window %d, padding %d, stride %d", __func__, window[i], pad[i], stride[i]);
    *p = (struct cudnnPoolingStruct){.set = 1, .rank = rank};
    memcpy(p->window, window, sizeof *window * (size_t)rank);
    memcpy(p->pad, pad, sizeof *pad * (size_t)rank);
    memcpy(p->stride, stride, sizeof *stride * (size_t)rank);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetPooling2dDescriptor(struct cudnnPoolingStruct *p, int mode, int nan, int window_h, int window_w,
                                int pad_h, int pad_w, int stride_h, int stride_w)
{
    int window[2] = {window_h, window_w}, pad[2] = {pad_h, pad_w}, stride[2] = {stride_h, stride_w};
    return cudnnSetPoolingNdDescriptor(p, mode, nan, 2, window, pad, stride);
}

static int run(const char *function, struct cudnnContext *handle, struct cudnnPoolingStruct *p,
               struct cudnnTensorStruct *x, struct cudnnTensorStruct *y, double tensors)
{
    int dim[DNN_DIMS] = {0};
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(y, DNN_TENSOR, function) ||
        !dnn_is_set(p, DNN_POOLING, function) || !dnn_is_set(x, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(x->rank == p->rank + 2, "%s: %d dimensions for a pooling of %d", function, x->rank,
             p->rank + 2);
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    for (int i = 0; i < p->rank; i++) {
        int room = x->dim[i + 2] + 2 * p->pad[i] - p->window[i];
        DNN_NEED(room >= 0, "%s: the window is larger than the padded input", function);
        dim[i + 2] = room / p->stride[i] + 1;
    }
    DNN_NEED(y->rank == x->rank && !memcmp(dim, y->dim, sizeof *dim * (size_t)y->rank),
             "%s: the dimensions of the result do not match", function);
    return dnn_elementwise(handle, function, x->type, dnn_elements(y->dim, y->rank),
                           dnn_elements(p->window, p->rank),
                           tensors * (dnn_tensor_bytes(x) + dnn_tensor_bytes(y)));
}

int cudnnPoolingForward(struct cudnnContext *handle, struct cudnnPoolingStruct *const p, const void *alpha,
                        struct cudnnTensorStruct *const x_desc, const void *x, const void *beta,
                        struct cudnnTensorStruct *const y_desc, void *y)
{
    DNN_NEED(alpha && beta && x && y, "%s: a tensor or factor is NULL", __func__);
    return run(__func__, handle, p, x_desc, y_desc, 1);
}

int cudnnPoolingBackward(struct cudnnContext *handle, struct cudnnPoolingStruct *const p,
                         const void *alpha, struct cudnnTensorStruct *const y_desc, const void *y,
                         struct cudnnTensorStruct *const dy_desc, const void *dy,
                         struct cudnnTensorStruct *const x_desc, const void *x, const void *beta,
                         struct cudnnTensorStruct *const dx_desc, void *dx)
{
    DNN_NEED_SET(dy_desc, DNN_TENSOR);
    DNN_NEED_SET(dx_desc, DNN_TENSOR);
    DNN_NEED(alpha && beta && y && dy && x && dx, "%s: a tensor or factor is NULL", __func__);
    int e = run(__func__, handle, p, x_desc, y_desc, 2);
    return e;
}
