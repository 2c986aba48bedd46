/* SPDX-License-Identifier: Apache-2.0
 *
 * The weight space of recurrent layers: for each pseudo-layer the matrices of its gates for the
 * input, those for the hidden state and the projection, without gaps; behind those of all
 * pseudo-layers their biases in the same order. Frameworks that merge the matrices of the gates
 * into one tensor rely on this order. */
#include "simulator/libraries/cudnn/vs_cudnn_rnn.h"

int dnn_rnn_gates(const struct cudnnRNNStruct *rnn)
{
    return rnn->cell == CUDNN_LSTM ? 4 : rnn->cell == CUDNN_GRU ? 3 : 1;
}

static int directions(const struct cudnnRNNStruct *rnn)
{
    return rnn->direction == CUDNN_BIDIRECTIONAL ? 2 : 1;
}

static bool projects(const struct cudnnRNNStruct *rnn)
{
    return rnn->projection && rnn->projection != rnn->hidden;
}

/* output: the size of a cell's result. */
static size_t output(const struct cudnnRNNStruct *rnn)
{
    return (size_t)(projects(rnn) ? rnn->projection : rnn->hidden);
}

/* input: columns of the input's matrices; 0 where the input is used as it is. */
static size_t input(const struct cudnnRNNStruct *rnn, int layer)
{
    if (layer >= directions(rnn))
        return output(rnn) * (size_t)directions(rnn);
    return rnn->input == CUDNN_SKIP_INPUT ? 0 : (size_t)rnn->inputs;
}

static size_t matrices(const struct cudnnRNNStruct *rnn, int layer)
{
    size_t hidden = (size_t)rnn->hidden, gates = (size_t)dnn_rnn_gates(rnn);
    return gates * hidden * (input(rnn, layer) + output(rnn)) +
           (projects(rnn) ? hidden * output(rnn) : 0);
}

static size_t biases(const struct cudnnRNNStruct *rnn)
{
    size_t kinds = rnn->bias == CUDNN_RNN_NO_BIAS ? 0 : rnn->bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1;
    return kinds * (size_t)dnn_rnn_gates(rnn) * (size_t)rnn->hidden;
}

static size_t matrices_before(const struct cudnnRNNStruct *rnn, int layer)
{
    size_t n = 0;
    for (int i = 0; i < layer; i++)
        n += matrices(rnn, i);
    return n;
}

size_t dnn_rnn_elements(const struct cudnnRNNStruct *rnn)
{
    int layers = rnn->layers * directions(rnn);
    return matrices_before(rnn, layers) + (size_t)layers * biases(rnn);
}

bool dnn_rnn_find(const struct cudnnRNNStruct *rnn, int layer, int index, struct dnn_rnn_part *part)
{
    int gates = dnn_rnn_gates(rnn), layers = rnn->layers * directions(rnn);
    *part = (struct dnn_rnn_part){0};
    if (layer < 0 || layer >= layers || index < 0 || index > 2 * gates - (rnn->cell != CUDNN_LSTM))
        return false;
    size_t hidden = (size_t)rnn->hidden, in = input(rnn, layer), out = output(rnn);
    size_t start = matrices_before(rnn, layer);
    if (index == 2 * gates) {
        part->has_matrix = projects(rnn);
        part->matrix = start + (size_t)gates * hidden * (in + out);
        part->rows = (int)out;
        part->columns = (int)hidden;
        return true;
    }
    bool of_input = index < gates;
    part->has_matrix = !of_input || in;
    part->rows = (int)hidden;
    part->columns = (int)(of_input ? in : out);
    part->matrix = start + (of_input ? (size_t)index * hidden * in
                                     : (size_t)gates * hidden * in + (size_t)(index - gates) * hidden * out);
    part->has_bias = rnn->bias == CUDNN_RNN_DOUBLE_BIAS ||
                     rnn->bias == (of_input ? CUDNN_RNN_SINGLE_INP_BIAS : CUDNN_RNN_SINGLE_REC_BIAS);
    int place = rnn->bias == CUDNN_RNN_DOUBLE_BIAS ? index : index % gates;
    part->bias = matrices_before(rnn, layers) + (size_t)layer * biases(rnn) + (size_t)place * hidden;
    return true;
}
