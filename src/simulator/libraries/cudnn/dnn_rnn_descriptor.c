/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of recurrent layers and of their sequences. */
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_rnn.h"

int cudnnDestroyRNNDataDescriptor(struct cudnnRNNDataStruct *data)
{
    int *lengths = vs_library_object(data, DNN_RNNDATA) ? data->lengths : NULL;
    int e = dnn_delete(&(struct dnn_object){.name = __func__, .kind = DNN_RNNDATA, .object = data});
    free(lengths);
    return e;
}

int cudnnSetRNNDescriptor_v8(struct cudnnRNNStruct *rnn, int algorithm, int cell, int bias, int direction,
                             int input, int type, int math_precision, int math_type, int32_t inputs,
                             int32_t hidden, int32_t projection, int32_t layers,
                             struct cudnnDropoutStruct *dropout, uint32_t flags)
{
    DNN_NEED_KIND(rnn, DNN_RNN);
    DNN_NEED(algorithm >= 0 && algorithm < CUDNN_RNN_ALGO_COUNT, "%s: no algorithm %d", __func__,
             algorithm);
    DNN_NEED(cell >= CUDNN_RNN_RELU && cell <= CUDNN_GRU, "%s: no cell %d", __func__, cell);
    DNN_NEED(bias >= CUDNN_RNN_NO_BIAS && bias <= CUDNN_RNN_SINGLE_REC_BIAS, "%s: no bias mode %d",
             __func__, bias);
    DNN_NEED(direction == CUDNN_UNIDIRECTIONAL || direction == CUDNN_BIDIRECTIONAL,
             "%s: no direction %d", __func__, direction);
    DNN_NEED(input == CUDNN_LINEAR_INPUT || input == CUDNN_SKIP_INPUT, "%s: no input mode %d", __func__,
             input);
    DNN_NEED(dnn_bits(type) && dnn_bits(math_precision), "%s: no data type %d or %d", __func__, type,
             math_precision);
    DNN_NEED(inputs > 0 && hidden > 0 && layers > 0 && projection >= 0 && projection <= hidden,
             "%s: sizes %d, %d and %d, %d layers", __func__, inputs, hidden, projection, layers);
    if (projection && projection != hidden && cell != CUDNN_LSTM)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: only LSTM has a projection", __func__);
    if (dropout)
        DNN_NEED_KIND(dropout, DNN_DROPOUT);
    *rnn = (struct cudnnRNNStruct){.set = 1, .algorithm = algorithm, .cell = cell, .bias = bias,
                                   .direction = direction, .input = input, .type = type,
                                   .math_precision = math_precision, .math_type = math_type,
                                   .inputs = inputs, .hidden = hidden, .projection = projection,
                                   .layers = layers, .dropout = dropout,
                                   .drops = dropout && dropout->probability > 0, .flags = flags};
    return CUDNN_STATUS_SUCCESS;
}

int cudnnGetRNNDescriptor_v8(struct cudnnRNNStruct *rnn, int *algorithm, int *cell, int *bias,
                             int *direction, int *input, int *type, int *math_precision, int *math_type,
                             int *inputs, int *hidden, int *projection, int *layers,
                             struct cudnnDropoutStruct **dropout, unsigned *flags)
{
    DNN_NEED_SET(rnn, DNN_RNN);
    int *to[] = {algorithm, cell,   bias,   direction,  input, type, math_precision,
                 math_type, inputs, hidden, projection, layers};
    int from[] = {rnn->algorithm, rnn->cell,      rnn->bias,   rnn->direction, rnn->input,
                  rnn->type,      rnn->math_precision, rnn->math_type, rnn->inputs, rnn->hidden,
                  rnn->projection, rnn->layers};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++)
        if (to[i])
            *to[i] = from[i];
    if (dropout)
        *dropout = rnn->dropout;
    if (flags)
        *flags = rnn->flags;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetRNNDataDescriptor(struct cudnnRNNDataStruct *data, int type, int layout, int time, int batch,
                              int vector, int *lengths, void *fill)
{
    DNN_NEED_KIND(data, DNN_RNNDATA);
    DNN_NEED_POINTER(lengths);
    DNN_NEED(dnn_bits(type), "%s: no data type %d", __func__, type);
    DNN_NEED(layout >= CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED &&
                 layout <= CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED,
             "%s: no layout %d", __func__, layout);
    DNN_NEED(time > 0 && batch > 0 && vector > 0, "%s: %d steps of %d sequences of %d", __func__, time,
             batch, vector);
    for (int i = 0; i < batch; i++) {
        DNN_NEED(lengths[i] >= 0 && lengths[i] <= time, "%s: sequence %d has %d of %d steps", __func__, i,
                 lengths[i], time);
        DNN_NEED(layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED || !i || lengths[i] <= lengths[i - 1],
                 "%s: packed sequences must not become longer", __func__);
    }
    int *copy = vs_sim_dup(lengths, sizeof *copy * (size_t)batch);
    free(data->lengths);
    *data = (struct cudnnRNNDataStruct){.set = 1, .type = type, .layout = layout, .time = time,
                                        .batch = batch, .vector = vector, .lengths = copy};
    return CUDNN_STATUS_SUCCESS;
}
