/* SPDX-License-Identifier: Apache-2.0
 *
 * Data types, tensor descriptors and filter descriptors. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

static const struct {
    unsigned bits;
    const char *name;
} types[] = {
    [CUDNN_DATA_FLOAT] = {32, "FP32"},        [CUDNN_DATA_DOUBLE] = {64, "FP64"},
    [CUDNN_DATA_HALF] = {16, "FP16"},         [CUDNN_DATA_INT8] = {8, "INT8"},
    [CUDNN_DATA_INT32] = {32, "INT32"},       [CUDNN_DATA_INT8x4] = {32, "INT8x4"},
    [CUDNN_DATA_UINT8] = {8, "UINT8"},        [CUDNN_DATA_UINT8x4] = {32, "UINT8x4"},
    [CUDNN_DATA_INT8x32] = {256, "INT8x32"},  [CUDNN_DATA_BFLOAT16] = {16, "BF16"},
    [CUDNN_DATA_INT64] = {64, "INT64"},       [CUDNN_DATA_BOOLEAN] = {1, "BOOLEAN"},
    [CUDNN_DATA_FP8_E4M3] = {8, "FP8_E4M3"},  [CUDNN_DATA_FP8_E5M2] = {8, "FP8_E5M2"},
    [CUDNN_DATA_FAST_FLOAT_FOR_FP8] = {32, "FAST_FLOAT_FOR_FP8"},
    [CUDNN_DATA_FP8_E8M0] = {8, "FP8_E8M0"},  [CUDNN_DATA_FP4_E2M1] = {4, "FP4_E2M1"},
    [CUDNN_DATA_INT4] = {4, "INT4"},          [CUDNN_DATA_UINT4] = {4, "UINT4"},
    [CUDNN_DATA_UINT32] = {32, "UINT32"},     [CUDNN_DATA_COMPLEX_FP32] = {64, "COMPLEX_FP32"},
    [CUDNN_DATA_COMPLEX_FP64] = {128, "COMPLEX_FP64"},
    [CUDNN_DATA_BYTE_BOOLEAN] = {8, "BYTE_BOOLEAN"},
    [CUDNN_DATA_FP8_E5M3] = {8, "FP8_E5M3"},
};

unsigned dnn_bits(int type)
{
    return type >= 0 && (size_t)type < sizeof types / sizeof types[0] ? types[type].bits : 0;
}

const char *dnn_type_name(int type) { return dnn_bits(type) ? types[type].name : "no type"; }

double dnn_elements(const int *dim, int rank)
{
    double n = 1;
    for (int i = 0; i < rank; i++)
        n *= dim[i];
    return n;
}

double dnn_tensor_bytes(const struct cudnnTensorStruct *t)
{
    return dnn_elements(t->dim, t->rank) * dnn_bits(t->type) / 8;
}

bool dnn_same_dims(const struct cudnnTensorStruct *a, const struct cudnnTensorStruct *b)
{
    return a->rank == b->rank && !memcmp(a->dim, b->dim, sizeof a->dim[0] * (size_t)a->rank);
}

bool dnn_channels_last(const int64_t *dim, const int64_t *stride, int rank)
{
    if (rank < 3 || dim[1] == 1)
        return false;
    for (int i = 2; i < rank; i++)
        if (dim[i] > 1 && stride[i] < stride[1])
            return false;
    return stride[1] == 1;
}

void dnn_set_tensor(struct cudnnTensorStruct *t, int type, int rank, const int *dim)
{
    *t = (struct cudnnTensorStruct){.set = 1, .type = type, .rank = rank};
    int stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        t->dim[i] = dim[i];
        t->stride[i] = stride;
        stride *= dim[i];
    }
}

/* check_dims: the checks that all Set functions share. */
static int check_dims(const char *function, int type, int rank, int rank_min, const int *dim)
{
    DNN_NEED(dnn_bits(type), "%s: no data type %d", function, type);
    DNN_NEED(rank >= rank_min && rank <= DNN_DIMS, "%s: %d dimensions; %d to %d are allowed", function,
             rank, rank_min, DNN_DIMS);
    for (int i = 0; i < rank; i++)
        DNN_NEED(dim[i] > 0, "%s: dimension %d is %d", function, i, dim[i]);
    if (dnn_elements(dim, rank) > 2147483647)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: more than 2^31 - 1 elements", function);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetTensorNdDescriptor(struct cudnnTensorStruct *t, int type, int rank, int *dim, int *stride)
{
    DNN_NEED_KIND(t, DNN_TENSOR);
    DNN_NEED_POINTER(dim);
    DNN_NEED_POINTER(stride);
    int e = check_dims(__func__, type, rank, 3, dim);
    if (e)
        return e;
    *t = (struct cudnnTensorStruct){.set = 1, .type = type, .rank = rank};
    memcpy(t->dim, dim, sizeof *dim * (size_t)rank);
    memcpy(t->stride, stride, sizeof *stride * (size_t)rank);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetTensorNdDescriptorEx(struct cudnnTensorStruct *t, int format, int type, int rank,
                                 int *dim)
{
    int stride[DNN_DIMS];
    bool channels_last = format == CUDNN_TENSOR_NHWC;
    DNN_NEED_KIND(t, DNN_TENSOR);
    DNN_NEED_POINTER(dim);
    int e = check_dims(__func__, type, rank, 3, dim);
    if (e)
        return e;
    if (!channels_last && format != CUDNN_TENSOR_NCHW)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: format %d is not supported", __func__, format);
    stride[1] = 1;
    for (int i = rank - 1, step = channels_last ? dim[1] : 1; i >= 0; i--)
        if (i != 1 || !channels_last) {
            stride[i] = step;
            step *= dim[i];
        }
    return cudnnSetTensorNdDescriptor(t, type, rank, dim, stride);
}

int cudnnGetTensorNdDescriptor(struct cudnnTensorStruct *const t, int wanted, int *type, int *rank,
                               int *dim, int *stride)
{
    DNN_NEED_SET(t, DNN_TENSOR);
    DNN_NEED(wanted >= 0, "%s: %d dimensions requested", __func__, wanted);
    size_t n = (size_t)(t->rank < wanted ? t->rank : wanted);
    if (type)
        *type = t->type;
    if (rank)
        *rank = t->rank;
    if (dim)
        memcpy(dim, t->dim, sizeof *dim * n);
    if (stride)
        memcpy(stride, t->stride, sizeof *stride * n);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetTensor4dDescriptor(struct cudnnTensorStruct *const t, int *type, int *n, int *c, int *h,
                               int *w, int *n_stride, int *c_stride, int *h_stride, int *w_stride)
{
    DNN_NEED_SET(t, DNN_TENSOR);
    DNN_NEED(t->rank == 4, "%s: the tensor has %d dimensions", __func__, t->rank);
    int *dim[4] = {n, c, h, w}, *stride[4] = {n_stride, c_stride, h_stride, w_stride};
    if (type)
        *type = t->type;
    for (int i = 0; i < 4; i++) {
        if (dim[i])
            *dim[i] = t->dim[i];
        if (stride[i])
            *stride[i] = t->stride[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetTensorSizeInBytes(struct cudnnTensorStruct *const t, size_t *bytes)
{
    DNN_NEED_SET(t, DNN_TENSOR);
    DNN_NEED_POINTER(bytes);
    size_t last = 0; /* index of the last element: strides may leave gaps */
    for (int i = 0; i < t->rank; i++)
        last += (size_t)(t->dim[i] - 1) * (size_t)(t->stride[i] > 0 ? t->stride[i] : 0);
    *bytes = ((last + 1) * dnn_bits(t->type) + 7) / 8;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetFilterNdDescriptor(struct cudnnFilterStruct *f, int type, int format, int rank, int *dim)
{
    DNN_NEED_KIND(f, DNN_FILTER);
    DNN_NEED_POINTER(dim);
    DNN_NEED(format >= CUDNN_TENSOR_NCHW && format <= CUDNN_TENSOR_NCHW_VECT_C,
             "%s: no tensor format %d", __func__, format);
    int e = check_dims(__func__, type, rank, 3, dim);
    if (e)
        return e;
    *f = (struct cudnnFilterStruct){.set = 1, .type = type, .format = format, .rank = rank};
    memcpy(f->dim, dim, sizeof *dim * (size_t)rank);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetFilterNdDescriptor(struct cudnnFilterStruct *const f, int wanted, int *type, int *format,
                               int *rank, int *dim)
{
    DNN_NEED_SET(f, DNN_FILTER);
    DNN_NEED(wanted >= 0, "%s: %d dimensions requested", __func__, wanted);
    if (type)
        *type = f->type;
    if (format)
        *format = f->format;
    if (rank)
        *rank = f->rank;
    if (dim)
        memcpy(dim, f->dim, sizeof *dim * (size_t)(f->rank < wanted ? f->rank : wanted));
    return CUDNN_STATUS_SUCCESS;
}
