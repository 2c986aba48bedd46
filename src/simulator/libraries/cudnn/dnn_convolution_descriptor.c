/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution descriptors, and the size of a convolution's result. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

DNN_DESCRIPTOR(ConvolutionDescriptor, struct cudnnConvolutionStruct, DNN_CONVOLUTION)

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
    *c = (struct cudnnConvolutionStruct){.set = 1, .rank = rank, .mode = mode,
                                         .compute_type = compute_type, .groups = groups,
                                         .math_type = math_type, .reorder = c->reorder};
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

int cudnnGetConvolutionNdDescriptor(struct cudnnConvolutionStruct *const c, int wanted, int *rank,
                                    int *pad, int *stride, int *dilation, int *mode, int *compute_type)
{
    DNN_NEED_SET(c, DNN_CONVOLUTION);
    DNN_NEED(wanted >= 0, "%s: %d dimensions requested", __func__, wanted);
    size_t n = (size_t)(c->rank < wanted ? c->rank : wanted);
    if (rank)
        *rank = c->rank;
    if (pad)
        memcpy(pad, c->pad, sizeof *pad * n);
    if (stride)
        memcpy(stride, c->stride, sizeof *stride * n);
    if (dilation)
        memcpy(dilation, c->dilation, sizeof *dilation * n);
    if (mode)
        *mode = c->mode;
    if (compute_type)
        *compute_type = c->compute_type;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetConvolution2dDescriptor(struct cudnnConvolutionStruct *const c, int *pad_h, int *pad_w,
                                    int *stride_h, int *stride_w, int *dilation_h, int *dilation_w,
                                    int *mode, int *compute_type)
{
    DNN_NEED_SET(c, DNN_CONVOLUTION);
    DNN_NEED(c->rank == 2, "%s: the convolution has %d spatial dimensions", __func__, c->rank);
    int *to[] = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w, mode, compute_type};
    int from[] = {c->pad[0],      c->pad[1],      c->stride[0], c->stride[1],
                  c->dilation[0], c->dilation[1], c->mode,      c->compute_type};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++)
        if (to[i])
            *to[i] = from[i];
    return CUDNN_STATUS_SUCCESS;
}

/* One integer of the descriptor, with its range. */
#define PROPERTY(name, field, min, max)                                                            \
    int cudnnSetConvolution##name(struct cudnnConvolutionStruct *c, int value)                     \
    {                                                                                              \
        DNN_NEED_KIND(c, DNN_CONVOLUTION);                                                         \
        DNN_NEED(value >= (min) && value <= (max), "%s: %d is out of range", __func__, value);     \
        c->field = value;                                                                          \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }                                                                                              \
    int cudnnGetConvolution##name(struct cudnnConvolutionStruct *c, int *value)                    \
    {                                                                                              \
        DNN_NEED_KIND(c, DNN_CONVOLUTION);                                                         \
        DNN_NEED_POINTER(value);                                                                   \
        *value = c->field;                                                                         \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }
PROPERTY(MathType, math_type, CUDNN_DEFAULT_MATH, CUDNN_FMA_MATH)
PROPERTY(ReorderType, reorder, CUDNN_DEFAULT_REORDER, CUDNN_NO_REORDER)
PROPERTY(GroupCount, groups, 1, 2147483647)

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
