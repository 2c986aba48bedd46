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

int cudnnSetPooling2dDescriptor(struct cudnnPoolingStruct *p, int mode, int nan, int window_h, int window_w,
                                int pad_h, int pad_w, int stride_h, int stride_w)
{
    int window[2] = {window_h, window_w}, pad[2] = {pad_h, pad_w}, stride[2] = {stride_h, stride_w};
    return cudnnSetPoolingNdDescriptor(p, mode, nan, 2, window, pad, stride);
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

/* Dimensions of a pooling's result, which *y* must have. */
static int check_pooling(const struct dnn_layer *l, const struct cudnnPoolingStruct *p)
{
    const struct cudnnTensorStruct *x = l->x, *y = l->y;
    DNN_NEED(x->rank == p->rank + 2, "%s: %d dimensions for a pooling of %d", l->name, x->rank,
             p->rank + 2);
    bool fits = y->rank == x->rank && y->dim[0] == x->dim[0] && y->dim[1] == x->dim[1];
    for (int i = 0; i < p->rank; i++) {
        int room = x->dim[i + 2] + 2 * p->pad[i] - p->window[i];
        DNN_NEED(room >= 0, "%s: the window is larger than the padded input", l->name);
        fits = fits && y->dim[i + 2] == room / p->stride[i] + 1;
    }
    DNN_NEED(fits, "%s: the dimensions of the result do not match", l->name);
    return CUDNN_STATUS_SUCCESS;
}

int dnn_layer(struct cudnnContext *handle, const struct dnn_layer *l)
{
    const struct cudnnTensorStruct *x = l->x, *y = l->y;
    const struct cudnnSpatialTransformerStruct *s = l->layer;
    const struct cudnnPoolingStruct *p = l->layer;
    DNN_NEED(!l->missing, "%s: a tensor%s is NULL", l->name, l->is_grid ? "" : " or factor");
    DNN_NEED(!l->bad_mode, "%s: no algorithm %d or mode %d", l->name, l->algorithm, l->mode);
    if (!dnn_is(handle, DNN_HANDLE, l->name) || (l->kind && !dnn_is_set(l->layer, l->kind, l->name)) ||
        (!l->is_grid && (!dnn_is_set(x, DNN_TENSOR, l->name) || !dnn_is_set(y, DNN_TENSOR, l->name))))
        return CUDNN_STATUS_BAD_PARAM;
    for (int i = 0; i < l->other_count; i++)
        if (!dnn_is_set(l->others[i], DNN_TENSOR, l->name))
            return CUDNN_STATUS_BAD_PARAM;
    if (l->kind == DNN_POOLING) {
        int e = check_pooling(l, p);
        return e ? e
                 : dnn_elementwise(handle, l->name, x->type, dnn_elements(y->dim, y->rank),
                                   dnn_elements(p->window, p->rank),
                                   l->tensors * (dnn_tensor_bytes(x) + dnn_tensor_bytes(y)));
    }
    if (l->kind != DNN_SPATIALTRANSFORMER) {
        DNN_NEED(dnn_same_dims(x, y), "%s: the tensors have different dimensions", l->name);
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
