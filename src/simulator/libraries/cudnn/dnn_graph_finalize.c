/* SPDX-License-Identifier: Apache-2.0
 *
 * What each type of descriptor needs before it can be finalized: its required attributes, and for
 * some types that they fit together. */
#include <inttypes.h>

#include "simulator/libraries/cudnn/vs_cudnn_graph.h"

static int check_required(const struct dnn_graph_node *node)
{
    for (size_t i = 0; i < dnn_graph_attribute_count; i++) {
        const struct dnn_graph_attribute *a = &dnn_graph_attributes[i];
        if (a->descriptor == node->descriptor && a->need == DNN_GRAPH_REQUIRED)
            DNN_NEED(dnn_graph_get(node, a->attribute), "a %s cannot be finalized without %s",
                     dnn_graph_type_name(node->descriptor), a->name);
    }
    return CUDNN_STATUS_SUCCESS;
}

static int check_tensor(const struct dnn_graph_node *node)
{
    int rank, strides;
    const int64_t *dim = dnn_graph_integers(node, CUDNN_ATTR_TENSOR_DIMENSIONS, &rank);
    dnn_graph_integers(node, CUDNN_ATTR_TENSOR_STRIDES, &strides);
    DNN_NEED(rank == strides, "a TENSOR has %d dimensions and %d strides", rank, strides);
    for (int i = 0; i < rank; i++)
        DNN_NEED(dim[i] > 0, "dimension %d of a TENSOR is %" PRId64, i, dim[i]);
    int64_t alignment = dnn_graph_number(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
    DNN_NEED(alignment > 0 && !(alignment & (alignment - 1)), "a TENSOR is aligned to %" PRId64 " bytes",
             alignment);
    return CUDNN_STATUS_SUCCESS;
}

static int check_convolution(const struct dnn_graph_node *node)
{
    static const int lists[] = {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                                CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                                CUDNN_ATTR_CONVOLUTION_POST_PADDINGS};
    int64_t rank = dnn_graph_number(node, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        int count;
        dnn_graph_integers(node, lists[i], &count);
        DNN_NEED(count == rank, "%s has %d elements, the convolution %" PRId64 " spatial dimensions",
                 dnn_graph_find_attribute(lists[i])->name, count, rank);
    }
    return CUDNN_STATUS_SUCCESS;
}

/* check_convolution_operation: dimensions of x, w and y against padding, stride and dilation. */
static int check_convolution_operation(const struct dnn_graph_node *node)
{
    struct dnn_convolution c;
    if (!dnn_graph_convolution(node, &c))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                        "a convolution's tensors and descriptor differ in their number of dimensions");
    bool fits = c.x[0] == c.y[0] && c.w[0] == c.y[1] && c.x[1] % c.w[1] == 0;
    for (int i = 0; i < c.rank - 2; i++) {
        int64_t reach = (c.w[i + 2] - 1) * c.dilation[i] + 1;
        int64_t room = c.x[i + 2] + c.pad[i] + c.pad_behind[i] - reach;
        fits = fits && room >= 0 && room / c.stride[i] + 1 == c.y[i + 2];
    }
    if (!fits)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                        "the dimensions of a convolution's tensors do not fit together");
    return CUDNN_STATUS_SUCCESS;
}

static bool has(const struct dnn_graph_node *node, int attribute)
{
    return dnn_graph_get(node, attribute) != NULL;
}

static int check_pointwise_operation(const struct dnn_graph_node *node)
{
    struct dnn_graph_node *pw = dnn_graph_child(node, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    int64_t mode = dnn_graph_number(pw, CUDNN_ATTR_POINTWISE_MODE, 0);
    bool backward = mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
    if (backward)
        DNN_NEED(has(node, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC) &&
                     has(node, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC),
                 "an OPERATION_POINTWISE of mode %" PRId64 " needs dX and dY", mode);
    else
        DNN_NEED(has(node, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) &&
                     has(node, CUDNN_ATTR_OPERATION_POINTWISE_YDESC),
                 "an OPERATION_POINTWISE of mode %" PRId64 " needs X and Y", mode);
    return CUDNN_STATUS_SUCCESS;
}

static const int64_t *dims_of(const struct dnn_graph_node *node, int attribute, int *rank)
{
    return dnn_graph_integers(dnn_graph_child(node, attribute), CUDNN_ATTR_TENSOR_DIMENSIONS, rank);
}

static int check_matmul_operation(const struct dnn_graph_node *node)
{
    int ra, rb, rc;
    const int64_t *a = dims_of(node, CUDNN_ATTR_OPERATION_MATMUL_ADESC, &ra);
    const int64_t *b = dims_of(node, CUDNN_ATTR_OPERATION_MATMUL_BDESC, &rb);
    const int64_t *c = dims_of(node, CUDNN_ATTR_OPERATION_MATMUL_CDESC, &rc);
    bool fits = ra >= 2 && ra == rb && rb == rc && a[ra - 1] == b[rb - 2] && a[ra - 2] == c[rc - 2] &&
                b[rb - 1] == c[rc - 1];
    if (!fits)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                        "the dimensions of a matrix product do not fit together");
    return CUDNN_STATUS_SUCCESS;
}

static int check_engine(const struct dnn_graph_node *node)
{
    struct dnn_graph_node *graph = dnn_graph_child(node, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    int64_t index = dnn_graph_number(node, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0);
    int count = dnn_graph_engines(graph);
    if (index < 0 || index >= count)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "engine %" PRId64 " of %d", index, count);
    return CUDNN_STATUS_SUCCESS;
}

static int check_plan(const struct dnn_graph_node *node)
{
    if (has(node, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION))
        return vs_library_unsupported("cudnnBackendFinalize", "of an execution plan from JSON");
    DNN_NEED(has(node, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
             "an EXECUTION_PLAN cannot be finalized without an engine configuration");
    return CUDNN_STATUS_SUCCESS;
}

static int check_pack(const struct dnn_graph_node *node)
{
    const struct dnn_graph_value *ids = dnn_graph_get(node, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const struct dnn_graph_value *data = dnn_graph_get(node, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    int64_t a = ids ? ids->count : 0, b = data ? data->count : 0;
    DNN_NEED(a == b, "a VARIANT_PACK has %" PRId64 " ids and %" PRId64 " pointers", a, b);
    const int64_t *id = ids ? ids->data : NULL;
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < i; j++)
            if (id[i] == id[j])
                return dnn_fail(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
                                "a VARIANT_PACK has id %" PRId64 " twice", id[i]);
    return CUDNN_STATUS_SUCCESS;
}

int dnn_graph_finalize(struct dnn_graph_node *node)
{
    static int (*const checks[])(const struct dnn_graph_node *) = {
        [CUDNN_BACKEND_TENSOR_DESCRIPTOR] = check_tensor,
        [CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR] = check_convolution,
        [CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR] = check_convolution_operation,
        [CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR] = check_convolution_operation,
        [CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR] = check_convolution_operation,
        [CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR] = check_pointwise_operation,
        [CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR] = check_matmul_operation,
        [CUDNN_BACKEND_ENGINE_DESCRIPTOR] = check_engine,
        [CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR] = check_plan,
        [CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR] = check_pack,
    };
    int e = check_required(node);
    if (!e && node->descriptor < (int)(sizeof checks / sizeof checks[0]) && checks[node->descriptor])
        e = checks[node->descriptor](node);
    return e;
}
