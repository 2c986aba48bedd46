/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution descriptors, and the size of a convolution's result. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

int cudnnSetConvolutionNdDescriptor(struct cudnnConvolutionStruct *c, int rank, int *pad, int *stride,
                                    int *dilation, int mode, int compute_type)
{
    DNN_NEED_KIND(c, DNN_CONVOLUTION);
    DNN_NEED_POINTER(pad);
    DNN_NEED_POINTER(stride);
    DNN_NEED_POINTER(dilation);
    DNN_NEED(rank >= 1 && rank <= DNN_DIMS - 2, "%s: %d spatial dimensions", __func__, rank);
    DNN_NEED(mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION, "%s: no mode %d", __func__,
             mode);
    DNN_NEED(dnn_bits(compute_type), "%s: no data type %d", __func__, compute_type);
    for (int i = 0; i < rank; i++)
        DNN_NEED(pad[i] >= 0 && stride[i] > 0 && dilation[i] > 0,
                 "%s: padding %d, stride %d, dilation %d", __func__, pad[i], stride[i], dilation[i]);
    int groups = c->set ? c->groups : 1, math_type = c->math_type;
    *c = (struct cudnnConvolutionStruct){.set = 1, .rank = rank, .groups = groups, .math_type = math_type};
    memcpy(c->pad, pad, sizeof *pad * (size_t)rank);
    memcpy(c->stride, stride, sizeof *stride * (size_t)rank);
    memcpy(c->dilation, dilation, sizeof *dilation * (size_t)rank);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetConvolution2dDescriptor(struct cudnnConvolutionStruct *c, int pad_h, int pad_w, int stride_h,
                                    int stride_w, int dilation_h, int dilation_w, int mode,
                                    int compute_type)
{
    int pad[2] = {pad_h, pad_w}, stride[2] = {stride_h, stride_w}, dilation[2] = {dilation_h, dilation_w};
    return cudnnSetConvolutionNdDescriptor(c, 2, pad, stride, dilation, mode, compute_type);
}

int cudnnSetConvolutionMathType(struct cudnnConvolutionStruct *c, int type)
{
    DNN_NEED_KIND(c, DNN_CONVOLUTION);
    DNN_NEED(type >= CUDNN_DEFAULT_MATH && type <= CUDNN_FMA_MATH, "%s: %d is out of range", __func__, type);
    c->math_type = type;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetConvolutionMathType(struct cudnnConvolutionStruct *c, int *type)
{
    DNN_NEED_KIND(c, DNN_CONVOLUTION);
    DNN_NEED_POINTER(type);
    *type = c->math_type;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetConvolutionGroupCount(struct cudnnConvolutionStruct *c, int count)
{
    DNN_NEED_KIND(c, DNN_CONVOLUTION);
    DNN_NEED(count >= 1, "%s: %d is out of range", __func__, count);
    c->groups = count;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetConvolutionNdForwardOutputDim(struct cudnnConvolutionStruct *const c,
                                          struct cudnnTensorStruct *const x,
                                          struct cudnnFilterStruct *const w, int rank, int *dim)
{
    DNN_NEED_SET(c, DNN_CONVOLUTION);
    DNN_NEED_SET(x, DNN_TENSOR);
    DNN_NEED_SET(w, DNN_FILTER);
    DNN_NEED_POINTER(dim);
    DNN_NEED(x->rank == w->rank && x->rank == c->rank + 2 && rank == x->rank,
             "%s: %d dimensions of input, %d of filter, %d of convolution, %d of result", __func__,
             x->rank, w->rank, c->rank + 2, rank);
    DNN_NEED(x->dim[1] == w->dim[1] * c->groups, "%s: %d input channels, but the filter has %d x %d groups",
             __func__, x->dim[1], w->dim[1], c->groups);
    dim[0] = x->dim[0];
    dim[1] = w->dim[0];
    for (int i = 0; i < c->rank; i++) {
        int reach = (w->dim[i + 2] - 1) * c->dilation[i] + 1;
        int room = x->dim[i + 2] + 2 * c->pad[i] - reach;
        DNN_NEED(room >= 0, "%s: the filter is larger than the padded input", __func__);
        dim[i + 2] = room / c->stride[i] + 1;
    }
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetConvolution2dForwardOutputDim(struct cudnnConvolutionStruct *const c,
                                          struct cudnnTensorStruct *const x,
                                          struct cudnnFilterStruct *const w, int *n, int *k, int *h,
                                          int *width)
{
    int dim[4];
    int e = cudnnGetConvolutionNdForwardOutputDim(c, x, w, 4, dim);
    if (e)
        return e;
    if (n && k && h && width)
        *n = dim[0], *k = dim[1], *h = dim[2], *width = dim[3];
    return CUDNN_STATUS_SUCCESS;
}
