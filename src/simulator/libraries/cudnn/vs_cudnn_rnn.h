/* SPDX-License-Identifier: Apache-2.0
 *
 * Recurrent layers: their descriptor and the layout of their weight space. */
#ifndef VS_CUDNN_RNN_H
#define VS_CUDNN_RNN_H

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

struct cudnnRNNStruct {
    int set;
    int algorithm, cell, bias, direction, input, type, math_precision, math_type;
    int32_t inputs, hidden, projection, layers;
    struct cudnnDropoutStruct *dropout;
    bool drops; /* between layers */
    uint32_t flags;
};

struct cudnnRNNDataStruct {
    int set;
    int type, layout, time, batch, vector;
    int *lengths; /* of the sequences: batch of them */
};

/* One matrix and one bias of a pseudo-layer (a layer of one direction), in elements from the start
 * of the weight space. */
struct dnn_rnn_part {
    bool has_matrix, has_bias;
    size_t matrix, bias;
    int rows, columns; /* of the matrix; the bias has as many elements as rows */
};

/* dnn_rnn_gates: matrices of one kind in a cell: 4 of LSTM, 3 of GRU, 1. */
int dnn_rnn_gates(const struct cudnnRNNStruct *rnn);
/* dnn_rnn_elements: of the weight space. */
size_t dnn_rnn_elements(const struct cudnnRNNStruct *rnn);
/* dnn_rnn_part: part *index* of pseudo-layer *layer*: the matrices of the input, then those of the
 * hidden state, then the projection. False if there is no such part. */
bool dnn_rnn_find(const struct cudnnRNNStruct *rnn, int layer, int index, struct dnn_rnn_part *part);

/* The work of recurrent layers, as rows of cudnn.calls (dnn_rnn.c). */
struct dnn_rnn_run {
    const char *name, *kernel, *missing; /* missing: name of the argument that is NULL, if any */
    struct cudnnRNNStruct *rnn;
    struct cudnnRNNDataStruct *x, *y;
    int mode;
    bool overwrites; /* gradients, which is not supported */
    size_t weight_bytes, workspace_bytes, reserve_bytes;
    const void *weights, *workspace, *reserve;
};
int dnn_rnn_run(struct cudnnContext *handle, const struct dnn_rnn_run *r);

#endif
