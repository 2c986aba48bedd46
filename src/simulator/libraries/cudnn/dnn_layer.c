/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers without parameters: activations, softmax, pooling, spatial transformers (grids from affine
 * matrices, and samples at their points) and dropout. The states of dropout are those of a generator
 * per thread that fits on the device: cuDNN's own size of them is assumed as 48 bytes (a cuRAND
 * state) for 2048 threads on each multiprocessor. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define STATE_BYTES 48
#define THREADS_PER_SM 2048

/* ---- descriptors ---- */

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

int cudnnGetPoolingNdForwardOutputDim(struct cudnnPoolingStruct *const p,
                                      struct cudnnTensorStruct *const x, int rank, int *dim)
{
    DNN_NEED_SET(p, DNN_POOLING);
    DNN_NEED_SET(x, DNN_TENSOR);
    DNN_NEED_POINTER(dim);
    DNN_NEED(x->rank == p->rank + 2 && rank == x->rank, "%s: %d dimensions for a pooling of %d",
             __func__, rank, p->rank + 2);
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    for (int i = 0; i < p->rank; i++) {
        int room = x->dim[i + 2] + 2 * p->pad[i] - p->window[i];
        DNN_NEED(room >= 0, "%s: the window is larger than the padded input", __func__);
        dim[i + 2] = room / p->stride[i] + 1;
    }
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetPooling2dForwardOutputDim(struct cudnnPoolingStruct *const p,
                                      struct cudnnTensorStruct *const x, int *n, int *c, int *h,
                                      int *w)
{
    int dim[4];
    int e = cudnnGetPoolingNdForwardOutputDim(p, x, 4, dim);
    if (!e && n && c && h && w)
        *n = dim[0], *c = dim[1], *h = dim[2], *w = dim[3];
    return e;
}

int cudnnSetSpatialTransformerNdDescriptor(struct cudnnSpatialTransformerStruct *s, int sampler, int type,
                                           const int rank, int *dim)
{
    DNN_NEED_KIND(s, DNN_SPATIALTRANSFORMER);
    DNN_NEED_POINTER(dim);
    DNN_NEED(sampler == CUDNN_SAMPLER_BILINEAR, "%s: no sampler %d", __func__, sampler);
    DNN_NEED(dnn_bits(type), "%s: no data type %d", __func__, type);
    if (rank != 4)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: %d dimensions; 4 are supported", __func__, rank);
    for (int i = 0; i < rank; i++)
        DNN_NEED(dim[i] > 0, "%s: dimension %d is %d", __func__, i, dim[i]);
    *s = (struct cudnnSpatialTransformerStruct){.set = 1, .sampler = sampler, .type = type, .rank = rank};
    memcpy(s->dim, dim, sizeof *dim * (size_t)rank);
    return CUDNN_STATUS_SUCCESS;
}

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

/* ---- work ---- */

int dnn_layer(struct cudnnContext *handle, const struct dnn_layer *l)
{
    const struct cudnnTensorStruct *x = l->x, *y = l->y;
    const struct cudnnSpatialTransformerStruct *s = l->layer;
    const struct cudnnPoolingStruct *p = l->layer;
    bool factors = !l->is_grid && l->kind != DNN_DROPOUT;
    DNN_NEED(!l->missing, "%s: a tensor%s is NULL", l->name, factors ? " or factor" : "");
    bool has_mode = l->algorithm >= CUDNN_SOFTMAX_FAST && l->algorithm <= CUDNN_SOFTMAX_LOG &&
                    l->mode >= CUDNN_SOFTMAX_MODE_INSTANCE && l->mode <= CUDNN_SOFTMAX_MODE_CHANNEL;
    DNN_NEED(l->kind || has_mode, "%s: no algorithm %d or mode %d", l->name, l->algorithm, l->mode);
    if (!dnn_is(handle, DNN_HANDLE, l->name) || (l->kind && !dnn_is_set(l->layer, l->kind, l->name)) ||
        (!l->is_grid && (!dnn_is_set(x, DNN_TENSOR, l->name) || !dnn_is_set(y, DNN_TENSOR, l->name))))
        return CUDNN_STATUS_BAD_PARAM;
    for (int i = 0; i < l->other_count; i++)
        if (!dnn_is_set(l->others[i], DNN_TENSOR, l->name))
            return CUDNN_STATUS_BAD_PARAM;
    if (l->kind == DNN_POOLING) {
        int dim[DNN_DIMS];
        int e = cudnnGetPoolingNdForwardOutputDim((void *)p, (void *)x, x->rank, dim);
        DNN_NEED(e || (y->rank == x->rank && !memcmp(dim, y->dim, sizeof *dim * (size_t)y->rank)),
                 "%s: the dimensions of the result do not match", l->name);
        return e ? e
                 : dnn_elementwise(handle, l->name, x->type, dnn_elements(y->dim, y->rank),
                                   dnn_elements(p->window, p->rank),
                                   l->tensors * (dnn_tensor_bytes(x) + dnn_tensor_bytes(y)));
    }
    if (l->kind == DNN_DROPOUT) {
        double elements = dnn_elements(x->dim, x->rank);
        size_t needed;
        cudnnDropoutGetReserveSpaceSize((void *)x, &needed);
        DNN_NEED(elements == dnn_elements(y->dim, y->rank), "%s: the tensors have different sizes",
                 l->name);
        DNN_NEED(l->reserve && l->reserve_bytes >= needed,
                 "%s: a reserve space of %zu bytes; %zu are needed", l->name,
                 l->reserve ? l->reserve_bytes : 0, needed);
        return dnn_elementwise(handle, l->name, x->type, elements, l->per_element,
                               dnn_tensor_bytes(x) + dnn_tensor_bytes(y) + (double)needed);
    }
    if (l->kind != DNN_SPATIALTRANSFORMER) {
        bool same = dnn_same_dims(x, y) &&
                    (l->other_count < 2 || dnn_same_dims(l->others[0], l->others[1]));
        DNN_NEED(same, "%s: the tensors have different dimensions", l->name);
        return dnn_elementwise(handle, l->name, x->type, dnn_elements(x->dim, x->rank), l->per_element,
                               l->tensors * dnn_tensor_bytes(x));
    }
    double points = (double)s->dim[0] * s->dim[2] * s->dim[3]; /* of the grid */
    double grid = points * 2 * dnn_bits(s->type) / 8;
    if (l->is_grid)
        return dnn_elementwise(handle, l->name, s->type, points, l->per_element, grid);
    DNN_NEED(y->rank == 4 && x->rank == 4 && !memcmp(y->dim, s->dim, sizeof s->dim[0] * 4),
             "%s: the dimensions of the result do not match the descriptor", l->name);
    return dnn_elementwise(handle, l->name, x->type, dnn_elements(y->dim, 4), l->per_element,
                           l->tensors * (dnn_tensor_bytes(x) + dnn_tensor_bytes(y) + grid));
}
