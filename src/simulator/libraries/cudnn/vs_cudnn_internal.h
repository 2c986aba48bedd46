/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the cuDNN stand-in share: the descriptors, messages of the last error, work on
 * the stream of a handle, and convolutions, which the older interface (descriptors per layer) and
 * the graph interface (cudnnBackend…) both compute. All functions may be called from any thread;
 * as in cuDNN, one descriptor is not altered by two threads at once. */
#ifndef VS_CUDNN_INTERNAL_H
#define VS_CUDNN_INTERNAL_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cudnn/vs_cudnn_api.h"

VS_CUDNN_FUNCTIONS(VS_LIBRARY_DECLARE)

#define DNN_DIMS CUDNN_DIM_MAX

enum dnn_kind {
    DNN_HANDLE = 1,
    DNN_TENSOR,
    DNN_FILTER,
    DNN_CONVOLUTION,
    DNN_ACTIVATION,
    DNN_POOLING,
    DNN_DROPOUT,
    DNN_SPATIALTRANSFORMER,
    DNN_CTCLOSS,
    DNN_RNN,
    DNN_RNNDATA,
    DNN_GRAPH_DESCRIPTOR, /* a descriptor of the graph interface, of any type */
};

struct cudnnContext {
    CUstream stream;
};

struct cudnnTensorStruct {
    int set; /* 0 until a Set function succeeded; the same in every descriptor below */
    int type, rank;
    int dim[DNN_DIMS], stride[DNN_DIMS];
};

struct cudnnFilterStruct {
    int set;
    int type, format, rank;
    int dim[DNN_DIMS]; /* outputs, inputs of a group, spatial dimensions, in every format */
};

struct cudnnConvolutionStruct {
    int set;
    int rank; /* spatial dimensions */
    int pad[DNN_DIMS], stride[DNN_DIMS], dilation[DNN_DIMS];
    int math_type, groups;
};

struct cudnnDropoutStruct {
    int set;
    float probability;
};

struct cudnnActivationStruct {
    int set;
};

struct cudnnPoolingStruct {
    int set;
    int rank;
    int window[DNN_DIMS], pad[DNN_DIMS], stride[DNN_DIMS];
};

struct cudnnSpatialTransformerStruct {
    int set;
    int sampler, type, rank;
    int dim[DNN_DIMS];
};

struct cudnnCTCLossStruct {
    int set;
    int label_max;
};

/* ---- errors (dnn_error.c) ---- */

/* dnn_fail: stores the message that cudnnGetLastErrorString returns to this thread, and returns
 * *status*. */
int dnn_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* dnn_driver: the status of a driver call. */
int dnn_driver(CUresult result, const char *function);

/* ---- objects (dnn_object.c) ---- */

struct dnn_object {
    const char *name; /* of the function */
    enum dnn_kind kind;
    size_t bytes;
    void *to; /* address of a pointer */
    const void *object;
};
int dnn_new(const struct dnn_object *object);
/* dnn_delete: NULL is accepted, as cuDNN does. */
int dnn_delete(const struct dnn_object *object);
/* dnn_is: whether *object* is a live descriptor of *kind*; otherwise stores the error. */
bool dnn_is(const void *object, enum dnn_kind kind, const char *function);
/* dnn_is_set: the same, and a Set function has filled it. */
bool dnn_is_set(const void *object, enum dnn_kind kind, const char *function);

/* DNN_NEED: leaves the calling function with BAD_PARAM unless the condition holds. */
#define DNN_NEED(condition, ...)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return dnn_fail(CUDNN_STATUS_BAD_PARAM, __VA_ARGS__);                                  \
    } while (0)
#define DNN_NEED_SET(object, kind)                                                                 \
    do {                                                                                           \
        if (!dnn_is_set(object, kind, __func__))                                                   \
            return CUDNN_STATUS_BAD_PARAM;                                                         \
    } while (0)
#define DNN_NEED_KIND(object, kind)                                                                \
    do {                                                                                           \
        if (!dnn_is(object, kind, __func__))                                                       \
            return CUDNN_STATUS_BAD_PARAM;                                                         \
    } while (0)
#define DNN_NEED_POINTER(pointer)                                                                  \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: " #pointer " is NULL",       \
                            __func__);                                                             \
    } while (0)

/* ---- data types and tensors (dnn_tensor.c) ---- */

/* dnn_bits: bits of one element; 0 if the type does not exist. */
unsigned dnn_bits(int type);
const char *dnn_type_name(int type);
double dnn_elements(const int *dim, int rank);
/* dnn_tensor_bytes: bytes of the elements, without gaps between them. */
double dnn_tensor_bytes(const struct cudnnTensorStruct *tensor);
/* dnn_set_tensor: fills an output descriptor with packed dimensions. */
void dnn_set_tensor(struct cudnnTensorStruct *tensor, int type, int rank, const int *dim);
bool dnn_same_dims(const struct cudnnTensorStruct *a, const struct cudnnTensorStruct *b);
/* dnn_channels_last: whether the second dimension is the innermost of dimensions above 1. */
bool dnn_channels_last(const int64_t *dim, const int64_t *stride, int rank);

/* ---- work (dnn_work.c) ---- */

struct dnn_cost {
    const char *kernel;
    int type; /* CUDNN_DATA_…, of the operands */
    bool tensor_cores; /* multiply-adds that may use TF32 where the operands are FP32 */
    double operations, bytes;
};
int dnn_submit(struct cudnnContext *handle, const struct dnn_cost *cost);
/* dnn_elementwise: reads and writes *bytes* with *per_element* operations on each element. */
int dnn_elementwise(struct cudnnContext *handle, const char *kernel, int type, double elements,
                    double per_element, double bytes);

/* ---- convolutions (dnn_convolution_size.c) ---- */

enum dnn_direction { DNN_FORWARD, DNN_BACKWARD_DATA, DNN_BACKWARD_FILTER };

struct dnn_convolution {
    enum dnn_direction direction;
    int type, rank; /* rank: with batch and channels */
    int64_t x[DNN_DIMS], w[DNN_DIMS], y[DNN_DIMS];
    int64_t pad[DNN_DIMS], pad_behind[DNN_DIMS], stride[DNN_DIMS], dilation[DNN_DIMS];
    bool channels_last, tensor_cores;
};
void dnn_convolution_cost(const struct dnn_convolution *c, struct dnn_cost *cost);
/* dnn_convolution_workspace: bytes of workspace of the fastest algorithm: measured, else assumed
 * (and noted). */
size_t dnn_convolution_workspace(const struct dnn_convolution *c);
#define DNN_KEY_MAX 320 /* of a problem's name in the table of sizes */
/* dnn_put_dims: adds " NAME 64x3x224x224" to such a name, at *at*; returns where it ends. */
int dnn_put_dims(char *text, int at, const char *name, const int64_t *dim, int rank);

/* Rows of cudnn.calls (dnn_convolution.c). */
struct dnn_algorithms {
    const char *name;
    enum dnn_direction direction;
    struct cudnnTensorStruct *x, *y;
    struct cudnnFilterStruct *w;
    struct cudnnConvolutionStruct *c;
    int wanted, *returned, algorithm;
    void *results;
    enum { DNN_OFFER, DNN_MEASURE, DNN_SIZE, DNN_COUNT } step;
    size_t *bytes;
};
int dnn_algorithms(struct cudnnContext *handle, const struct dnn_algorithms *k);
struct dnn_convolve {
    const char *name;
    enum dnn_direction direction;
    bool finds;          /* tries algorithms, or else computes */
    const char *missing; /* what is NULL, or NULL */
    struct cudnnTensorStruct *x, *y;
    struct cudnnFilterStruct *w;
    struct cudnnConvolutionStruct *c;
    int algorithm, wanted, *returned;
    void *workspace, *results;
    size_t bytes;
};
int dnn_convolve(struct cudnnContext *handle, const struct dnn_convolve *k);

/* A layer without parameters, as a row of cudnn.calls (dnn_layer.c). */
struct dnn_layer {
    const char *name;
    enum dnn_kind kind; /* of *layer*, its descriptor; 0: softmax, which has none */
    const void *layer;
    const struct cudnnTensorStruct *x, *y, *others[2]; /* others: other_count, set as well */
    int other_count, algorithm, mode;
    bool missing;           /* a pointer is NULL */
    bool is_grid;           /* makes the grid of a spatial transformer, without tensors */
    const void *reserve;    /* of dropout */
    size_t reserve_bytes;
    double per_element, tensors; /* operations; how often the tensors are read or written */
};
int dnn_layer(struct cudnnContext *handle, const struct dnn_layer *layer);

/* CTC loss, as rows of cudnn.calls (dnn_ctc.c). */
struct dnn_ctc {
    const char *name;
    const struct cudnnTensorStruct *probabilities, *gradients; /* gradients: NULL if there are none */
    const struct cudnnCTCLossStruct *c;
    int algorithm;
    bool computes, reads, missing; /* reads: lengths are in host memory; missing: a tensor is NULL */
    const int *labels, *label_lengths, *input_lengths;
    size_t *bytes, given_bytes; /* bytes: receives the size of the workspace, unless it computes */
    const void *given;
};
int dnn_ctc(struct cudnnContext *handle, const struct dnn_ctc *loss);

/* Batch normalization, as rows of cudnn.calls (dnn_batch_norm.c). */
struct dnn_batch_norm {
    const char *name;
    int mode, operation;
    const struct cudnnTensorStruct *x, *y, *dy, *derived; /* y: of the size of x, written */
    bool needs[3];         /* y, dy, derived */
    bool missing, halves;  /* a pointer is NULL; one of a pair of pointers */
    const char *absent;    /* what else is NULL, or NULL */
    const char *workspace; /* what the table of sizes calls it; NULL: there is none, or the reserve space */
    const void *given, *reserve;
    size_t given_bytes, reserve_bytes, *bytes;
    double per_element, tensors; /* operations; how many tensors are read and written */
};
int dnn_batch_norm(struct cudnnContext *handle, const struct dnn_batch_norm *b);
int dnn_batch_norm_size(struct cudnnContext *handle, const struct dnn_batch_norm *b);

#endif
