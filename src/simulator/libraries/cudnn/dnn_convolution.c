/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of the older interface: descriptors, algorithms with their workspace and duration, and the work.
 * Two algorithms are offered: one for tensor cores with the workspace of dnn_convolution_size.c,
 * and a slower one without workspace. Both compute every convolution. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

/* ---- descriptors ---- */

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

int cudnnSetConvolutionMathType(struct cudnnConvolutionStruct *c, int type)
{
    DNN_NEED_KIND(c, DNN_CONVOLUTION);
    DNN_NEED(type >= CUDNN_DEFAULT_MATH && type <= CUDNN_FMA_MATH, "%s: %d is out of range", __func__, type);
    c->math_type = type;
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
    DNN_NEED(x->dim[1] == w->dim[1] * c->groups,
             "%s: %d input channels, but the filter has %d x %d groups", __func__, x->dim[1],
             w->dim[1], c->groups);
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
    if (!e && n && k && h && width)
        *n = dim[0], *k = dim[1], *h = dim[2], *width = dim[3];
    return e;
}

/* ---- problems ---- */

static void widen(const int *from, int64_t *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

/* check: the four descriptors fit together; fills *c*. */
static int check(const char *function, enum dnn_direction direction, struct cudnnTensorStruct *x,
                 struct cudnnFilterStruct *w, struct cudnnConvolutionStruct *desc,
                 struct cudnnTensorStruct *y, struct dnn_convolution *c)
{
    int dim[DNN_DIMS];
    if (!dnn_is_set(x, DNN_TENSOR, function) || !dnn_is_set(w, DNN_FILTER, function) ||
        !dnn_is_set(desc, DNN_CONVOLUTION, function) || !dnn_is_set(y, DNN_TENSOR, function))
        return CUDNN_STATUS_BAD_PARAM;
    int e = cudnnGetConvolutionNdForwardOutputDim(desc, x, w, x->rank, dim);
    if (e)
        return e;
    DNN_NEED(y->rank == x->rank && !memcmp(dim, y->dim, sizeof *dim * (size_t)y->rank),
             "%s: the dimensions of the result do not match", function);
    DNN_NEED(w->dim[0] % desc->groups == 0, "%s: %d filters in %d groups", function, w->dim[0],
             desc->groups);
    *c = (struct dnn_convolution){
        .direction = direction, .type = x->type, .rank = x->rank,
        .tensor_cores = x->type == CUDNN_DATA_FLOAT /* TF32 is part of the default */
                            ? desc->math_type != CUDNN_FMA_MATH
                            : x->type == CUDNN_DATA_HALF || x->type == CUDNN_DATA_BFLOAT16,
    };
    int64_t stride[DNN_DIMS];
    widen(x->dim, c->x, x->rank);
    widen(w->dim, c->w, w->rank);
    widen(y->dim, c->y, y->rank);
    widen(x->stride, stride, x->rank);
    widen(desc->pad, c->pad, desc->rank);
    widen(desc->pad, c->pad_behind, desc->rank);
    widen(desc->stride, c->stride, desc->rank);
    widen(desc->dilation, c->dilation, desc->rank);
    c->channels_last = dnn_channels_last(c->x, stride, x->rank);
    return CUDNN_STATUS_SUCCESS;
}

static const struct {
    int fast, plain, count;
} algorithms[] = {
    [DNN_FORWARD] = {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                     CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_COUNT},
    [DNN_BACKWARD_DATA] = {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
                           CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT},
    [DNN_BACKWARD_FILTER] = {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
                             CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT},
};

static int workspace_of(const struct dnn_convolution *c, int algorithm, const char *function,
                        size_t *bytes)
{
    DNN_NEED(algorithm >= 0 && algorithm < algorithms[c->direction].count, "%s: no algorithm %d",
             function, algorithm);
    if (algorithm == algorithms[c->direction].fast)
        *bytes = dnn_convolution_workspace(c);
    else if (algorithm == algorithms[c->direction].plain)
        *bytes = 0;
    else
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: algorithm %d is not supported here", function,
                        algorithm);
    return CUDNN_STATUS_SUCCESS;
}

static int run(const char *function, struct cudnnContext *handle, const struct dnn_convolution *c,
               int algorithm, const void *workspace, size_t given)
{
    struct dnn_cost cost;
    size_t needed;
    if (!dnn_is(handle, DNN_HANDLE, function))
        return CUDNN_STATUS_BAD_PARAM;
    int e = workspace_of(c, algorithm, function, &needed);
    if (e)
        return e;
    if (needed > given || (needed && !workspace))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: algorithm %d needs %zu bytes of workspace, %zu given", function, algorithm,
                        needed, workspace ? given : 0);
    dnn_convolution_cost(c, &cost);
    if (algorithm == algorithms[c->direction].plain)
        cost.tensor_cores = false;
    return dnn_submit(handle, &cost);
}

/* rank: fills up to *wanted* results, whose layout is the same in each direction, the fastest first. *measured*: with durations. */
static int rank(const struct dnn_convolution *c, int wanted, int *returned, void *results, bool measured)
{
    int order[2] = {algorithms[c->direction].fast, algorithms[c->direction].plain};
    DNN_NEED(wanted > 0 && returned && results, "no room for a result");
    *returned = wanted < 2 ? wanted : 2;
    for (int i = 0; i < *returned; i++) {
        struct dnn_cost cost;
        dnn_convolution_cost(c, &cost);
        cudnnConvolutionFwdAlgoPerf_t result = {
            .algo = order[i],
            .status = CUDNN_STATUS_SUCCESS,
            .time = measured ? (float)((1 + cost.operations / 1e10 + cost.bytes / 1e9) * (1 + 3 * i)) : -1,
            .memory = i ? 0 : dnn_convolution_workspace(c),
            .determinism = CUDNN_DETERMINISTIC,
            .mathType = i || !c->tensor_cores ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH,
        };
        memcpy((char *)results + (size_t)i * sizeof result, &result, sizeof result);
    }
    return CUDNN_STATUS_SUCCESS;
}

typedef struct cudnnTensorStruct *const tensor;
typedef struct cudnnFilterStruct *const filter;
typedef struct cudnnConvolutionStruct *const convolution;

int dnn_algorithms(struct cudnnContext *handle, const struct dnn_algorithms *k)
{
    struct dnn_convolution p;
    if (!dnn_is(handle, DNN_HANDLE, k->name))
        return CUDNN_STATUS_BAD_PARAM;
    if (k->step == DNN_COUNT ? !k->returned : k->step == DNN_SIZE && !k->bytes)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: %s is NULL", k->name,
                        k->step == DNN_COUNT ? "count" : "bytes");
    if (k->step == DNN_COUNT) {
        *k->returned = algorithms[k->direction].count;
        return CUDNN_STATUS_SUCCESS;
    }
    int e = check(k->name, k->direction, k->x, k->w, k->c, k->y, &p);
    if (e)
        return e;
    return k->step == DNN_SIZE
               ? workspace_of(&p, k->algorithm, k->name, k->bytes)
               : rank(&p, k->wanted, k->returned, k->results, k->step == DNN_MEASURE);
}

/* find_with: as the Find…AlgorithmEx functions: candidates that fit into the given workspace run. */
static int find_with(const char *function, struct cudnnContext *handle, const struct dnn_convolution *c,
                     int wanted, int *returned, cudnnConvolutionFwdAlgoPerf_t *results,
                     const void *workspace, size_t given)
{
    if (!dnn_is(handle, DNN_HANDLE, function))
        return CUDNN_STATUS_BAD_PARAM;
    int e = rank(c, wanted, returned, results, true);
    for (int i = 0; !e && i < *returned; i++) {
        if (results[i].memory > given || (results[i].memory && !workspace)) {
            results[i].status = CUDNN_STATUS_ALLOC_FAILED;
            results[i].time = -1;
            continue;
        }
        e = run(function, handle, c, results[i].algo, workspace, given);
    }
    if (!e && *returned == 2 && results[0].status && !results[1].status) {
        cudnnConvolutionFwdAlgoPerf_t failed = results[0];
        results[0] = results[1];
        results[1] = failed;
    }
    return e;
}

int dnn_convolve(struct cudnnContext *handle, const struct dnn_convolve *k)
{
    struct dnn_convolution p;
    DNN_NEED(!k->missing, "%s: %s is NULL", k->name, k->missing);
    int e = check(k->name, k->direction, k->x, k->w, k->c, k->y, &p);
    if (e)
        return e;
    return k->finds ? find_with(k->name, handle, &p, k->wanted, k->returned, k->results, k->workspace, k->bytes)
                    : run(k->name, handle, &p, k->algorithm, k->workspace, k->bytes);
}

int cudnnConvolutionBackwardBias(struct cudnnContext *handle, const void *alpha, tensor dy,
                                 const void *dy_data, const void *beta, tensor db, void *db_data)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(dy, DNN_TENSOR);
    DNN_NEED_SET(db, DNN_TENSOR);
    DNN_NEED(alpha && beta && dy_data && db_data, "%s: a tensor or factor is NULL", __func__);
    DNN_NEED(db->rank >= 2 && dy->rank >= 2 && db->dim[1] == dy->dim[1], "%s: %d and %d channels",
             __func__, db->dim[1], dy->dim[1]);
    return dnn_elementwise(handle, "cudnn_convolution_backward_bias", dy->type,
                           dnn_elements(dy->dim, dy->rank), 1,
                           dnn_tensor_bytes(dy) + dnn_tensor_bytes(db));
}

int cudnnConvolutionBiasActivationForward(struct cudnnContext *handle, const void *alpha1, tensor x,
                                          const void *x_data, filter w, const void *w_data, convolution c,
                                          int algorithm, void *workspace, size_t bytes,
                                          const void *alpha2, tensor z, const void *z_data, tensor bias,
                                          const void *bias_data,
                                          struct cudnnActivationStruct *const activation, tensor y,
                                          void *y_data)
{
    struct dnn_convolution p;
    DNN_NEED_SET(z, DNN_TENSOR);
    DNN_NEED_SET(bias, DNN_TENSOR);
    DNN_NEED_SET(activation, DNN_ACTIVATION);
    DNN_NEED(alpha1 && alpha2 && x_data && w_data && z_data && bias_data && y_data,
             "%s: a tensor or factor is NULL", __func__);
    int e = check(__func__, DNN_FORWARD, x, w, c, y, &p);
    DNN_NEED(e || (dnn_same_dims(z, y) && bias->rank == y->rank && bias->dim[1] == y->dim[1]),
             "%s: the dimensions of z or of the bias do not match the result", __func__);
    return e ? e : run(__func__, handle, &p, algorithm, workspace, bytes);
}
