/* SPDX-License-Identifier: Apache-2.0
 *
 * Spatial transformers: grids from affine matrices, and samples at their points. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

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

/* points: of the grid: batch x height x width. */
static double points(const struct cudnnSpatialTransformerStruct *s)
{
    return (double)s->dim[0] * s->dim[2] * s->dim[3];
}

static int generate(const char *function, struct cudnnContext *handle, struct cudnnSpatialTransformerStruct *s)
{
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(s, DNN_SPATIALTRANSFORMER, function))
        return CUDNN_STATUS_BAD_PARAM;
    return dnn_elementwise(handle, function, s->type, points(s), 12, points(s) * 2 * dnn_bits(s->type) / 8);
}

int cudnnSpatialTfGridGeneratorForward(struct cudnnContext *handle,
                                       struct cudnnSpatialTransformerStruct *const s, const void *theta,
                                       void *grid)
{
    DNN_NEED(theta && grid, "%s: a tensor is NULL", __func__);
    return generate(__func__, handle, s);
}

int cudnnSpatialTfGridGeneratorBackward(struct cudnnContext *handle,
                                        struct cudnnSpatialTransformerStruct *const s, const void *grid,
                                        void *theta)
{
    DNN_NEED(theta && grid, "%s: a tensor is NULL", __func__);
    return generate(__func__, handle, s);
}

static int sample(const char *function, struct cudnnContext *handle, struct cudnnSpatialTransformerStruct *s,
                  struct cudnnTensorStruct *x, struct cudnnTensorStruct *y, double passes)
{
    if (!dnn_is(handle, DNN_HANDLE, function) || !dnn_is_set(s, DNN_SPATIALTRANSFORMER, function) ||
        !dnn_is_set(x, DNN_TENSOR, function) || !dnn_is_set(y, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(y->rank == 4 && x->rank == 4 && !memcmp(y->dim, s->dim, sizeof s->dim[0] * 4),
             "%s: the dimensions of the result do not match the descriptor", function);
    return dnn_elementwise(handle, function, x->type, dnn_elements(y->dim, 4), 8 * passes,
                           passes * (dnn_tensor_bytes(x) + dnn_tensor_bytes(y) +
                                     points(s) * 2 * dnn_bits(s->type) / 8));
}

int cudnnSpatialTfSamplerForward(struct cudnnContext *handle, struct cudnnSpatialTransformerStruct *s,
                                 const void *alpha, struct cudnnTensorStruct *const x_desc, const void *x,
                                 const void *grid, const void *beta, struct cudnnTensorStruct *y_desc,
                                 void *y)
{
    DNN_NEED(alpha && beta && x && grid && y, "%s: a tensor or factor is NULL", __func__);
    return sample(__func__, handle, s, x_desc, y_desc, 1);
}

int cudnnSpatialTfSamplerBackward(struct cudnnContext *handle, struct cudnnSpatialTransformerStruct *s,
                                  const void *alpha, struct cudnnTensorStruct *const x_desc, const void *x,
                                  const void *beta, struct cudnnTensorStruct *const dx_desc, void *dx,
                                  const void *grid_alpha, struct cudnnTensorStruct *const dy_desc,
                                  const void *dy, const void *grid, const void *grid_beta, void *dgrid)
{
    DNN_NEED_SET(dx_desc, DNN_TENSOR);
    DNN_NEED(alpha && beta && grid_alpha && grid_beta && x && dx && dy && grid && dgrid,
             "%s: a tensor or factor is NULL", __func__);
    return sample(__func__, handle, s, x_desc, dy_desc, 2);
}
