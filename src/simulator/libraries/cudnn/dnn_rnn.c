/* SPDX-License-Identifier: Apache-2.0
 *
 * Recurrent layers: sizes of their spaces, the places of weights, and the work. Weight spaces are
 * exact; workspace and reserve space are cuDNN's own answers and assumed here: the products of the
 * input with the gates' matrices for every step, and for training the gates, the cell states and
 * the results of every layer and step, with a byte for each element that dropout may zero. */
#include <stdio.h>

#include "simulator/libraries/cudnn/vs_cudnn_rnn.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

int cudnnBuildRNNDynamic(struct cudnnContext *handle, struct cudnnRNNStruct *rnn, int batch)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(rnn, DNN_RNN);
    DNN_NEED(batch > 0, "%s: %d sequences", __func__, batch);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetRNNWeightSpaceSize(struct cudnnContext *handle, struct cudnnRNNStruct *rnn, size_t *bytes)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(rnn, DNN_RNN);
    DNN_NEED_POINTER(bytes);
    *bytes = dnn_rnn_elements(rnn) * dnn_bits(rnn->type) / 8;
    return CUDNN_STATUS_SUCCESS;
}

static size_t space(const char *what, const struct cudnnRNNStruct *rnn,
                    const struct cudnnRNNDataStruct *x, bool training, double bytes, const char *why)
{
    static const char *const cells[] = {"RNN_RELU", "RNN_TANH", "LSTM", "GRU"};
    char key[192];
    snprintf(key, sizeof key, "%s %s %s layers %d%s input %d hidden %d projection %d steps %d batch %d",
             cells[rnn->cell], training ? "training" : "inference", dnn_type_name(rnn->type), rnn->layers,
             rnn->direction == CUDNN_BIDIRECTIONAL ? " bidirectional" : "", rnn->inputs, rnn->hidden,
             rnn->projection, x->time, x->batch);
    return vs_library_workspace(what, key, (uint64_t)bytes, why);
}

int cudnnGetRNNTempSpaceSizes(struct cudnnContext *handle, struct cudnnRNNStruct *rnn, int mode,
                              struct cudnnRNNDataStruct *x, size_t *workspace, size_t *reserve)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(rnn, DNN_RNN);
    DNN_NEED_SET(x, DNN_RNNDATA);
    DNN_NEED(mode == CUDNN_FWD_MODE_INFERENCE || mode == CUDNN_FWD_MODE_TRAINING, "%s: no mode %d",
             __func__, mode);
    bool training = mode == CUDNN_FWD_MODE_TRAINING;
    double directions = rnn->direction == CUDNN_BIDIRECTIONAL ? 2 : 1, bytes = dnn_bits(rnn->type) / 8.0;
    double cells = (double)x->time * x->batch * rnn->hidden * directions;
    if (workspace)
        *workspace = space("rnn-workspace", rnn, x, training, cells * dnn_rnn_gates(rnn) * bytes,
                           "the input's products with the gates' matrices for every step");
    if (!reserve)
        return CUDNN_STATUS_SUCCESS;
    *reserve = 0;
    bool dropout = rnn->drops && rnn->layers > 1;
    if (training)
        *reserve = space("rnn-reserve", rnn, x, training,
                         cells * rnn->layers * (dnn_rnn_gates(rnn) + 2) * bytes +
                             (dropout ? cells * (rnn->layers - 1) : 0),
                         "gates, cell states and results of every layer and step");
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetRNNWeightParams(struct cudnnContext *handle, struct cudnnRNNStruct *rnn, int32_t layer,
                            size_t bytes, const void *weights, int32_t index,
                            struct cudnnTensorStruct *matrix, void **matrix_address,
                            struct cudnnTensorStruct *bias, void **bias_address)
{
    struct dnn_rnn_part part;
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(rnn, DNN_RNN);
    if (matrix)
        DNN_NEED_KIND(matrix, DNN_TENSOR);
    if (bias)
        DNN_NEED_KIND(bias, DNN_TENSOR);
    size_t element = dnn_bits(rnn->type) / 8;
    DNN_NEED(bytes >= dnn_rnn_elements(rnn) * element, "%s: a weight space of %zu bytes; %zu are needed",
             __func__, bytes, dnn_rnn_elements(rnn) * element);
    DNN_NEED(dnn_rnn_find(rnn, layer, index, &part), "%s: no part %d of pseudo-layer %d", __func__, index,
             layer);
    const char *base = weights;
    if (matrix_address)
        *matrix_address = part.has_matrix && base ? (void *)(base + part.matrix * element) : NULL;
    if (bias_address)
        *bias_address = part.has_bias && base ? (void *)(base + part.bias * element) : NULL;
    if (matrix && part.has_matrix)
        dnn_set_tensor(matrix, rnn->type, 3, (int[]){1, part.rows, part.columns});
    if (bias && part.has_bias)
        dnn_set_tensor(bias, rnn->type, 3, (int[]){1, part.rows, 1});
    return CUDNN_STATUS_SUCCESS;
}

int dnn_rnn_run(struct cudnnContext *handle, const struct dnn_rnn_run *r)
{
    const struct cudnnRNNStruct *rnn = r->rnn;
    const struct cudnnRNNDataStruct *x = r->x, *y = r->y;
    size_t need_workspace, need_reserve;
    DNN_NEED(!r->missing, "%s: %s is NULL", r->name, r->missing);
    if (r->overwrites)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: gradients can only be added", r->name);
    int e = cudnnGetRNNTempSpaceSizes(handle, r->rnn, r->mode, r->x, &need_workspace, &need_reserve);
    if (e)
        return e;
    size_t workspace = r->workspace ? r->workspace_bytes : 0, reserve = r->reserve ? r->reserve_bytes : 0;
    if (workspace < need_workspace || reserve < need_reserve)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: %zu bytes of workspace and %zu of reserve space; %zu and %zu are needed",
                        r->name, workspace, reserve, need_workspace, need_reserve);
    if (!dnn_is_set(y, DNN_RNNDATA, r->name))
        return CUDNN_STATUS_BAD_PARAM;
    size_t needed = dnn_rnn_elements(rnn) * dnn_bits(rnn->type) / 8;
    DNN_NEED(r->weights && r->weight_bytes >= needed, "%s: a weight space of %zu bytes; %zu are needed",
             r->name, r->weights ? r->weight_bytes : 0, needed);
    int directions = rnn->direction == CUDNN_BIDIRECTIONAL ? 2 : 1;
    int output = rnn->projection ? rnn->projection : rnn->hidden;
    DNN_NEED(x->vector == rnn->inputs && y->vector == output * directions && x->batch == y->batch &&
                 x->time == y->time,
             "%s: x has vectors of %d, y of %d; the layers take %d and give %d", r->name, x->vector,
             y->vector, rnn->inputs, output * directions);
    double steps = 0;
    for (int i = 0; i < x->batch; i++)
        steps += x->lengths[i];
    struct dnn_cost cost = {
        .kernel = r->kernel, .type = rnn->type,
        .tensor_cores = rnn->math_type != CUDNN_FMA_MATH && rnn->type != CUDNN_DATA_DOUBLE,
        .operations = 2 * steps * (double)dnn_rnn_elements(rnn),
        .bytes = (double)needed * x->time + steps * (x->vector + y->vector) * dnn_bits(rnn->type) / 8,
    };
    return dnn_submit(handle, &cost);
}
