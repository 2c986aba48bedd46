/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuDNN: descriptors, convolutions, recurrent layers and the graph interface. */
#include "sim_library.h"

#include "generated/vs_cudnn_attributes.h"
#include "simulator/libraries/cudnn/vs_cudnn_api.h"

#define VS_LIBRARY_DECLARE(result, name, parameters) result name parameters;
VS_CUDNN_FUNCTIONS(VS_LIBRARY_DECLARE)

#define WRONG(call) FAILS(call, CUDNN_STATUS_BAD_PARAM)

static struct cudnnContext *handle;

SETUP(setup)
{
    OK(cudaFree(NULL));
    return cudnnCreate(&handle);
}

TEARDOWN(teardown)
{
    return cudnnDestroy(handle);
}

static struct cudnnTensorStruct *tensor4(int type, int format, int n, int c, int h, int w)
{
    struct cudnnTensorStruct *t;
    OK(cudnnCreateTensorDescriptor(&t));
    OK(cudnnSetTensor4dDescriptor(t, format, type, n, c, h, w));
    return t;
}

TEST(tensors_keep_their_dimensions_and_strides)
{
    int type, rank, dim[4], stride[4];
    struct cudnnTensorStruct *t = tensor4(CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 2, 3, 4, 5);
    OK(cudnnGetTensorNdDescriptor(t, 4, &type, &rank, dim, stride));
    assert_int_equal(type, CUDNN_DATA_HALF);
    assert_int_equal(rank, 4);
    assert_memory_equal(dim, ((int[]){2, 3, 4, 5}), sizeof dim);
    assert_memory_equal(stride, ((int[]){60, 1, 15, 3}), sizeof stride);
    assert_int_equal(GOT(size_t, cudnnGetTensorSizeInBytes(t, &got)), 240);
    OK(cudnnSetTensor4dDescriptorEx(t, CUDNN_DATA_FLOAT, 2, 3, 4, 5, 600, 200, 50, 10));
    OK(cudnnGetTensor4dDescriptor(t, &type, dim, NULL, NULL, dim + 1, stride, NULL, NULL,
                                  stride + 1));
    assert_int_equal(type, CUDNN_DATA_FLOAT);
    assert_memory_equal(dim, ((int[]){2, 5}), 2 * sizeof *dim);
    assert_memory_equal(stride, ((int[]){600, 10}), 2 * sizeof *stride);
    OK(cudnnDestroyTensorDescriptor(t));
    WRONG(cudnnDestroyTensorDescriptor(t));
    OK(cudnnDestroyTensorDescriptor(NULL));
}

TEST(a_wrong_argument_has_a_message)
{
    char message[256];
    struct cudnnTensorStruct *t;
    OK(cudnnCreateTensorDescriptor(&t));
    int bad[4] = {2, 0, 4, 5}, dim[4] = {2, 3, 4, 5}, stride[4] = {60, 20, 5, 1};
    WRONG(cudnnSetTensorNdDescriptor(t, CUDNN_DATA_FLOAT, 4, bad, stride));
    cudnnGetLastErrorString(message, sizeof message);
    assert_non_null(strstr(message, "dimension 1 is 0"));
    WRONG(cudnnSetTensorNdDescriptor(t, 99, 4, dim, stride));
    WRONG(cudnnSetTensorNdDescriptor(t, CUDNN_DATA_FLOAT, 9, dim, stride));
    int rank;
    WRONG(cudnnGetTensorNdDescriptor(t, 4, NULL, &rank, dim, stride));
    WRONG(cudnnSetStream((struct cudnnContext *)t, NULL));
    assert_string_equal(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
}

struct convolution {
    struct cudnnTensorStruct *x, *y;
    struct cudnnFilterStruct *w;
    struct cudnnConvolutionStruct *desc;
};

static void describe(struct convolution *c, int type, int format, int rank, const int *filter, int pad,
                     int stride)
{
    int pads[] = {pad, pad, pad}, strides[] = {stride, stride, stride}, one[] = {1, 1, 1};
    OK(cudnnCreateFilterDescriptor(&c->w));
    OK(cudnnSetFilterNdDescriptor(c->w, type, format, rank, (int *)filter));
    OK(cudnnCreateConvolutionDescriptor(&c->desc));
    OK(cudnnSetConvolutionNdDescriptor(c->desc, rank - 2, pads, strides, one,
                                       CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
}

static struct convolution convolution_of(int type, int format)
{
    struct convolution c = {.x = tensor4(type, format, 8, 16, 32, 32)};
    int n, k, h, w;
    OK(cudnnCreateFilterDescriptor(&c.w));
    OK(cudnnSetFilter4dDescriptor(c.w, type, format, 64, 16, 3, 3));
    OK(cudnnCreateConvolutionDescriptor(&c.desc));
    OK(cudnnSetConvolution2dDescriptor(c.desc, 1, 1, 2, 2, 1, 1, CUDNN_CROSS_CORRELATION,
                                       CUDNN_DATA_FLOAT));
    OK(cudnnGetConvolution2dForwardOutputDim(c.desc, c.x, c.w, &n, &k, &h, &w));
    assert_int_equal(n, 8);
    assert_int_equal(k, 64);
    assert_int_equal(h, 16);
    assert_int_equal(w, 16);
    c.y = tensor4(type, format, n, k, h, w);
    return c;
}

TEST(convolutions_assume_their_workspace_and_name_it)
{
    const char *name = "convolution forward FP16 channels-first x 8x16x32x32 w 64x16x3x3 pad 1x1 stride "
                       "2x2 dilation 1x1";
    lib_notes_begin();
    struct convolution c = convolution_of(CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW);
    cudnnConvolutionFwdAlgoPerf_t result[3];
    int count;
    OK(cudnnGetConvolutionForwardAlgorithm_v7(handle, c.x, c.w, c.desc, c.y, 3, &count, result));
    assert_int_equal(count, 2);
    size_t tensors = 2u * (8 * 16 * 32 * 32 + 8 * 64 * 16 * 16);
    assert_int_equal(result[0].memory, tensors);
    assert_int_equal(result[1].memory, 0);
    assert_int_equal(lib_notes("assumed", name), 1);
    OK(cudnnFindConvolutionForwardAlgorithm(handle, c.x, c.w, c.desc, c.y, 1, &count, result));
    assert_true(count == 1 && result[0].time > 0);
    OK(cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &count));
    assert_int_equal(count, CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    float one = 1, zero = 0;
    void *memory;
    OK(cudaMalloc(&memory, 8 << 20));
    FAILS(cudnnConvolutionForward(handle, &one, c.x, memory, c.w, memory, c.desc, result[0].algo,
                                  memory, tensors - 1, &zero, c.y, memory),
          CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    struct lib_timing t = lib_timing_begin(NULL);
    OK(cudnnConvolutionForward(handle, &one, c.x, memory, c.w, memory, c.desc, result[0].algo,
                               memory, tensors, &zero, c.y, memory));
    assert_true(lib_timing_ms(t, NULL) > 0);
    assert_int_equal(lib_notes("assumed", name), 1);
    OK(cudaFree(memory));
    OK(cudnnDestroyTensorDescriptor(c.x));
    OK(cudnnDestroyTensorDescriptor(c.y));
    OK(cudnnDestroyFilterDescriptor(c.w));
    OK(cudnnDestroyConvolutionDescriptor(c.desc));
}

static struct cudnnTensorStruct *tensor5(int c, int d, int h, int w)
{
    struct cudnnTensorStruct *t;
    int dim[] = {1, c, d, h, w};
    OK(cudnnCreateTensorDescriptor(&t));
    OK(cudnnSetTensorNdDescriptorEx(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 5, dim));
    return t;
}

TEST(layers_run_backward)
{
    struct cudnnTensorStruct *x = tensor4(CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 2, 3, 8, 8);
    struct cudnnTensorStruct *bias = tensor4(CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 3, 1, 1);
    struct cudnnActivationStruct *a;
    struct cudnnDropoutStruct *d;
    struct cudnnPoolingStruct *p;
    float one = 1;
    void *m = lib_new(2 * 3 * 8 * 8);
    size_t bytes;
    int n, c, h, w;
    OK(cudnnCreateActivationDescriptor(&a));
    OK(cudnnSetActivationDescriptor(a, CUDNN_ACTIVATION_SIGMOID, CUDNN_NOT_PROPAGATE_NAN, 0));
    OK(cudnnActivationBackward(handle, a, &one, x, m, x, m, x, m, &one, x, m));
    WRONG(cudnnActivationBackward(handle, a, &one, bias, m, x, m, x, m, &one, x, m));
    OK(cudnnSoftmaxBackward(handle, CUDNN_SOFTMAX_LOG, 0, &one, x, m, x, m, &one, x, m));
    WRONG(cudnnSoftmaxBackward(handle, 3, 0, &one, x, m, x, m, &one, x, m));
    OK(cudnnConvolutionBackwardBias(handle, &one, x, m, &one, bias, m));
    OK(cudnnCreateDropoutDescriptor(&d));
    OK(cudnnSetDropoutDescriptor(d, handle, 0.5f, NULL, 0, 1));
    OK(cudnnDropoutGetReserveSpaceSize(x, &bytes));
    assert_int_equal(bytes, 2 * 3 * 8 * 8 / 8);
    OK(cudnnDropoutForward(handle, d, x, m, x, m, m, bytes));
    WRONG(cudnnDropoutBackward(handle, d, x, m, x, m, m, bytes - 1));
    OK(cudnnCreatePoolingDescriptor(&p));
    OK(cudnnSetPooling2dDescriptor(p, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 2, 2));
    OK(cudnnGetPooling2dForwardOutputDim(p, x, &n, &c, &h, &w));
    assert_memory_equal(((int[]){n, c, h, w}), ((int[]){2, 3, 4, 4}), 4 * sizeof n);
    OK(cudaDeviceSynchronize());
}

/* https://github.com/pytorch/pytorch/issues/128947: 16.98 GiB with 7.993 GiB of input and weight. */
TEST(convolutions_in_three_dimensions_copy_input_and_weight)
{
    struct convolution c = {.x = tensor5(256, 4, 1090, 1922), .y = tensor5(64, 2, 1088, 1920)};
    size_t bytes = 0;
    describe(&c, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 5, (const int[]){64, 256, 3, 3, 3}, 0, 1);
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x, c.w, c.desc, c.y,
                                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &bytes));
    assert_int_equal(bytes, 4 * (UINT64_C(256) * 4 * 1090 * 1922 + 64 * 256 * 27));
}

TEST(channels_last_convolutions_need_no_copies)
{
    size_t bytes;
    struct convolution c = convolution_of(CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC);
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x, c.w, c.desc, c.y,
                                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &bytes));
    assert_int_equal(bytes, 0);
    WRONG(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x, c.w, c.desc, c.y, 99, &bytes));
    WRONG(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x, c.w, c.desc, c.x, 0, &bytes));
}

TEST(a_convolution_takes_the_time_of_its_operations)
{
    float one = 1, zero = 0;
    void *memory;
    struct convolution c = {.x = tensor4(CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 4096, 64, 56, 56)};
    OK(cudaMalloc(&memory, 1 << 20));
    describe(&c, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 4, (const int[]){64, 64, 3, 3}, 1, 1);
    struct lib_timing t = lib_timing_begin(NULL);
    OK(cudnnConvolutionForward(handle, &one, c.x, memory, c.w, memory, c.desc,
                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, NULL, 0, &zero, c.x, memory));
    /* 9.5e11 operations at 70 % of 989e12 per second */
    assert_true(lib_timing_ms(t, NULL) >= 1.36f);
}

static struct cudnnRNNStruct *rnn_of(int cell, int bias, int direction, int projection)
{
    struct cudnnRNNStruct *rnn;
    OK(cudnnCreateRNNDescriptor(&rnn));
    OK(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, cell, bias, direction,
                                CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
                                CUDNN_DEFAULT_MATH, 10, 20, projection, 3, NULL, 0));
    return rnn;
}

/* covered: marks the elements of one part of the weight space; each may belong to one part only. */
static size_t covered(unsigned char *used, const float *base, const float *part,
                      struct cudnnTensorStruct *desc)
{
    int rank, dim[3], stride[3];
    if (!part)
        return 0;
    OK(cudnnGetTensorNdDescriptor(desc, 3, NULL, &rank, dim, stride));
    size_t count = (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(used[(size_t)(part - base) + i]++, 0);
    return count;
}

TEST(the_parts_of_a_weight_space_fill_it_exactly)
{
    static const int cells[] = {CUDNN_RNN_RELU, CUDNN_LSTM, CUDNN_GRU};
    static const int biases[] = {CUDNN_RNN_NO_BIAS, CUDNN_RNN_SINGLE_INP_BIAS, CUDNN_RNN_DOUBLE_BIAS,
                                 CUDNN_RNN_SINGLE_REC_BIAS};
    struct cudnnTensorStruct *matrix, *bias;
    OK(cudnnCreateTensorDescriptor(&matrix));
    OK(cudnnCreateTensorDescriptor(&bias));
    for (int i = 0; i < 3 * 4 * 2 * 2; i++) {
        int cell = cells[i % 3], directions = 1 + (i / 12) % 2, projection = i / 24 ? 8 : 20;
        if (projection == 8 && cell != CUDNN_LSTM)
            continue;
        struct cudnnRNNStruct *rnn = rnn_of(cell, biases[i / 3 % 4], directions - 1, projection);
        size_t bytes, sum = 0;
        OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &bytes));
        unsigned char *used = calloc(bytes / 4, 1);
        float *base = malloc(bytes), *m, *b;
        int parts = cell == CUDNN_LSTM ? 9 : cell == CUDNN_GRU ? 6 : 2;
        for (int layer = 0; layer < 3 * directions; layer++)
            for (int part = 0; part < parts; part++) {
                OK(cudnnGetRNNWeightParams(handle, rnn, layer, bytes, base, part, matrix,
                                           (void **)&m, bias, (void **)&b));
                sum += covered(used, base, m, matrix) + covered(used, base, b, bias);
            }
        assert_int_equal(sum, bytes / 4);
        WRONG(cudnnGetRNNWeightParams(handle, rnn, 0, bytes, base, parts, matrix, (void **)&m, bias,
                                      (void **)&b));
        WRONG(cudnnGetRNNWeightParams(handle, rnn, 0, bytes - 1, base, 0, matrix, (void **)&m, bias,
                                      (void **)&b));
        free(used);
        free(base);
        OK(cudnnDestroyRNNDescriptor(rnn));
    }
}

/* ---- the graph interface ---- */

static void *node(int type)
{
    return GOT(void *, cudnnBackendCreateDescriptor(type, &got));
}

static void set_integers(void *d, int attribute, int count, const int64_t *values)
{
    OK(cudnnBackendSetAttribute(d, attribute, CUDNN_TYPE_INT64, count, values));
}

static void set_integer(void *d, int attribute, int64_t value) { set_integers(d, attribute, 1, &value); }

static void set_number(void *d, int attribute, int type, int value)
{
    OK(cudnnBackendSetAttribute(d, attribute, type, 1, &value));
}

static void set_node(void *d, int attribute, void *child)
{
    OK(cudnnBackendSetAttribute(d, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &child));
}

static void *graph_tensor(int64_t id, int64_t n, int64_t c, int64_t h, int64_t w)
{
    void *d = node(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t dim[4] = {n, c, h, w}, stride[4] = {c * h * w, 1, w * c, c};
    set_integer(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    set_integer(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
    set_number(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_HALF);
    set_integers(d, CUDNN_ATTR_TENSOR_DIMENSIONS, 4, dim);
    set_integers(d, CUDNN_ATTR_TENSOR_STRIDES, 4, stride);
    return d;
}

static void *graph_convolution(void)
{
    void *d = node(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    int64_t one[2] = {1, 1};
    set_number(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    set_number(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
    set_integer(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, one);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, one);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, one);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, one);
    OK(cudnnBackendFinalize(d));
    return d;
}

/* graph: y = convolution(x, w) as ids 1, 2, 3, finalized; all its parts are destroyed. */
static void *graph(int64_t out_height)
{
    void *parts[] = {graph_tensor(1, 4, 8, 16, 16), graph_tensor(2, 32, 8, 3, 3),
                     graph_tensor(3, 4, 32, out_height, 16), graph_convolution(),
                     node(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)};
    float one = 1, zero = 0;
    for (int i = 0; i < 3; i++)
        OK(cudnnBackendFinalize(parts[i]));
    set_node(parts[4], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, parts[0]);
    set_node(parts[4], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, parts[1]);
    set_node(parts[4], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, parts[2]);
    set_node(parts[4], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, parts[3]);
    OK(cudnnBackendSetAttribute(parts[4], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                CUDNN_TYPE_FLOAT, 1, &one));
    OK(cudnnBackendSetAttribute(parts[4], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                                CUDNN_TYPE_FLOAT, 1, &zero));
    void *g = NULL;
    if (!cudnnBackendFinalize(parts[4])) {
        g = node(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        OK(cudnnBackendSetAttribute(g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
        set_node(g, CUDNN_ATTR_OPERATIONGRAPH_OPS, parts[4]);
        OK(cudnnBackendFinalize(g));
    }
    for (int i = 0; i < 5; i++)
        OK(cudnnBackendDestroyDescriptor(parts[i]));
    return g;
}

TEST(attributes_are_checked)
{
    int64_t value = 1;
    int type = CUDNN_DATA_HALF, wrong = 99;
    void *t = node(CUDNN_BACKEND_TENSOR_DESCRIPTOR), *unfinished = node(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    void *e = node(CUDNN_BACKEND_ENGINE_DESCRIPTOR), *none;
    FAILS(cudnnBackendCreateDescriptor(1000, &none), CUDNN_STATUS_NOT_SUPPORTED);
    WRONG(cudnnBackendSetAttribute(t, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    FAILS(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &value),
          CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    WRONG(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, &value));
    WRONG(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
                                   &wrong));
    FAILS(cudnnBackendSetAttribute(e, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &unfinished),
          CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
    FAILS(cudnnBackendGetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, NULL,
                                   &value), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    WRONG(cudnnBackendFinalize(t));
    char message[256];
    cudnnGetLastErrorString(message, sizeof message);
    assert_non_null(strstr(message, "CUDNN_ATTR_TENSOR_"));
    OK(cudnnBackendDestroyDescriptor(t));
    OK(cudnnBackendDestroyDescriptor(e));
    OK(cudnnBackendDestroyDescriptor(unfinished));
    WRONG(cudnnBackendFinalize(t));
}

TEST(a_graph_with_wrong_dimensions_is_not_finalized)
{
    assert_null(graph(17));
}

/* plan: the first plan that the heuristics propose for a graph. */
static void *plan_of(void *g, int mode, int64_t expected)
{
    void *h = node(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), *config = node(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count = -1;
    set_node(h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g);
    set_number(h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    OK(cudnnBackendFinalize(h));
    OK(cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                &count, NULL));
    assert_int_equal(count, expected);
    OK(cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                &count, &config));
    assert_int_equal(count, 1);
    void *plan = node(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    OK(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    set_node(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    OK(cudnnBackendFinalize(plan));
    OK(cudnnBackendDestroyDescriptor(h));
    OK(cudnnBackendDestroyDescriptor(config));
    return plan;
}

static void *pack_of(int count, void *memory)
{
    void *pack = node(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR), *data[] = {memory, memory, memory};
    int64_t ids[] = {1, 2, 3};
    OK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, data));
    set_integers(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, count, ids);
    OK(cudnnBackendFinalize(pack));
    return pack;
}

TEST(a_plan_outlives_its_parts_and_executes)
{
    void *memory, *g = graph(16), *plan = plan_of(g, CUDNN_HEUR_MODE_A, 2);
    OK(cudaMalloc(&memory, 1 << 20));
    OK(cudnnBackendDestroyDescriptor(g));
    int64_t bytes = -1;
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                NULL, &bytes));
    assert_int_equal(bytes, 0);
    void *missing = pack_of(2, memory), *pack = pack_of(3, memory);
    WRONG(cudnnBackendExecute(handle, plan, missing));
    FAILS(cudnnBackendExecute(handle, pack, plan), CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
    struct lib_timing t = lib_timing_begin(NULL);
    OK(cudnnBackendExecute(handle, plan, pack));
    assert_true(lib_timing_ms(t, NULL) > 0);
    int64_t length;
    char text[512];
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                CUDNN_TYPE_CHAR, 0, &length, NULL));
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                CUDNN_TYPE_CHAR, length, &length, text));
    assert_non_null(strstr(text, "cudnn_convolution_forward"));
}

TEST(the_fallback_engine_needs_no_workspace)
{
    void *g = graph(16), *plan = plan_of(g, CUDNN_HEUR_MODE_FALLBACK, 1);
    int64_t bytes = -1;
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                NULL, &bytes));
    assert_int_equal(bytes, 0);
}

TEST(work_is_captured_into_a_graph)
{
    cudaStream_t stream;
    cudaGraph_t captured;
    void *memory, *g = graph(16), *plan = plan_of(g, CUDNN_HEUR_MODE_A, 2);
    OK(cudaMalloc(&memory, 1 << 20));
    OK(cudaStreamCreate(&stream));
    OK(cudnnSetStream(handle, stream));
    void *pack = pack_of(3, memory);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudnnBackendExecute(handle, plan, pack));
    OK(cudaStreamEndCapture(stream, &captured));
    assert_int_equal(GOT(size_t, cudaGraphGetNodes(captured, NULL, &got)), 1);
    OK(cudaGraphDestroy(captured));
    OK(cudnnSetStream(handle, NULL));
}

/* As autograd's threads: the program's runtime has made no context current there. */
TEST(a_thread_without_a_context_gets_the_primary_one)
{
    struct cudnnContext *late;
    CUcontext before = sim_context();
    OK(cuCtxSetCurrent(NULL));
    OK(cudnnCreate(&late));
    assert_non_null(GOT(CUcontext, cuCtxGetCurrent(&got)));
    OK(cudnnDestroy(late));
    OK(cuCtxSetCurrent(before));
}
