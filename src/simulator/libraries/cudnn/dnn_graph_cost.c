/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operations of a graph cost, and the workspace of its fastest engine: convolutions and
 * matrix products by their dimensions, all others by their elements; memory by the tensors that are
 * read or written in it (virtual ones are not). */
#include "simulator/libraries/cudnn/vs_cudnn_graph.h"

#define SEEN_MAX 128 /* tensors of a graph; later ones count again */

static int type_of(const struct dnn_graph_node *tensor)
{
    return (int)dnn_graph_number(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
}

static double elements_of(const struct dnn_graph_node *tensor)
{
    int rank;
    const int64_t *dim = dnn_graph_integers(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, &rank);
    double n = rank ? 1 : 0;
    for (int i = 0; i < rank; i++)
        n *= (double)dim[i];
    return n;
}

/* copy_dims: false unless the tensor has *rank* dimensions. */
static bool copy_dims(const struct dnn_graph_node *tensor, int attribute, int64_t *to, int rank)
{
    int n;
    const int64_t *from = dnn_graph_integers(tensor, attribute, &n);
    for (int i = 0; i < n && n == rank; i++)
        to[i] = from[i];
    return n == rank;
}

struct convolution_attributes {
    int operation, x, w, y, convolution;
    enum dnn_direction direction;
};
static const struct convolution_attributes convolutions[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, DNN_FORWARD},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     DNN_BACKWARD_DATA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, DNN_BACKWARD_FILTER},
};

static bool tensor_cores(int type)
{
    int major = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    return type == CUDNN_DATA_HALF ? major >= 7 : type != CUDNN_DATA_DOUBLE && major >= 8;
}

bool dnn_graph_convolution(const struct dnn_graph_node *node, struct dnn_convolution *c)
{
    const struct convolution_attributes *a = convolutions;
    const size_t count = sizeof convolutions / sizeof convolutions[0];
    size_t i = 0;
    while (i < count && a[i].operation != node->descriptor)
        i++;
    if (i == count || !c)
        return i < count;
    a += i;
    struct dnn_graph_node *x = dnn_graph_child(node, a->x), *desc = dnn_graph_child(node, a->convolution);
    *c = (struct dnn_convolution){.direction = a->direction, .type = type_of(x)};
    int64_t stride[DNN_DIMS], behind[DNN_DIMS];
    dnn_graph_integers(x, CUDNN_ATTR_TENSOR_DIMENSIONS, &c->rank);
    bool ok = c->rank >= 3 && copy_dims(x, CUDNN_ATTR_TENSOR_DIMENSIONS, c->x, c->rank) &&
              copy_dims(dnn_graph_child(node, a->w), CUDNN_ATTR_TENSOR_DIMENSIONS, c->w, c->rank) &&
              copy_dims(dnn_graph_child(node, a->y), CUDNN_ATTR_TENSOR_DIMENSIONS, c->y, c->rank) &&
              copy_dims(x, CUDNN_ATTR_TENSOR_STRIDES, stride, c->rank) &&
              copy_dims(desc, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c->pad, c->rank - 2) &&
              copy_dims(desc, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, behind, c->rank - 2) &&
              copy_dims(desc, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c->stride, c->rank - 2) &&
              copy_dims(desc, CUDNN_ATTR_CONVOLUTION_DILATIONS, c->dilation, c->rank - 2);
    for (int d = 0; ok && d < c->rank - 2; d++)
        c->pad_behind[d] = behind[d];
    c->channels_last = ok && dnn_channels_last(c->x, stride, c->rank);
    c->tensor_cores = tensor_cores(c->type);
    return ok;
}

/* matrix_operations: multiply-adds of a matrix product count twice. */
static double matrix_operations(const struct dnn_graph_node *node)
{
    int rank;
    const int64_t *a = dnn_graph_integers(dnn_graph_child(node, CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                                          CUDNN_ATTR_TENSOR_DIMENSIONS, &rank);
    double c = elements_of(dnn_graph_child(node, CUDNN_ATTR_OPERATION_MATMUL_CDESC));
    return rank ? 2 * c * (double)a[rank - 1] : 0;
}

/* attention_operations: *products* of the sizes of Q K^T. */
static double attention_operations(const struct dnn_graph_node *q, const struct dnn_graph_node *k,
                                   int products)
{
    int rq, rk;
    const int64_t *dq = dnn_graph_integers(q, CUDNN_ATTR_TENSOR_DIMENSIONS, &rq);
    const int64_t *dk = dnn_graph_integers(k, CUDNN_ATTR_TENSOR_DIMENSIONS, &rk);
    if (rq != 4 || rk != 4)
        return 0;
    return 2.0 * products * (double)dq[0] * (double)dq[1] * (double)dq[2] * (double)dk[2] * (double)dq[3];
}

/* one_cost: adds the operations of *node*; *type* becomes that of its matrix operands. */
static void one_cost(const struct dnn_graph_node *node, struct dnn_cost *cost)
{
    struct dnn_convolution c;
    if (dnn_graph_convolution(node, &c)) {
        struct dnn_cost own;
        dnn_convolution_cost(&c, &own);
        cost->operations += own.operations;
        cost->kernel = own.kernel;
        cost->type = c.type;
        cost->tensor_cores = c.tensor_cores;
        return;
    }
    struct dnn_graph_node *a = NULL;
    switch (node->descriptor) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
        a = dnn_graph_child(node, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
        cost->operations += matrix_operations(node);
        cost->kernel = "cudnn_matmul";
        break;
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
        a = dnn_graph_child(node, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC);
        cost->operations +=
            attention_operations(a, dnn_graph_child(node, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC), 2);
        cost->kernel = "cudnn_attention_forward";
        break;
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
        a = dnn_graph_child(node, CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC);
        cost->operations +=
            attention_operations(a, dnn_graph_child(node, CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC), 5);
        cost->kernel = "cudnn_attention_backward";
        break;
    default: /* elementwise: its largest tensor, once */
        for (unsigned i = 0; i < node->count; i++)
            if (node->values[i].attribute->child == CUDNN_BACKEND_TENSOR_DESCRIPTOR &&
                node->values[i].elements == CUDNN_TYPE_BACKEND_DESCRIPTOR && node->values[i].count) {
                cost->operations += elements_of(node->values[i].nodes[0]);
                break;
            }
        return;
    }
    cost->type = a && type_of(a) != CUDNN_DATA_FLOAT ? type_of(a) : cost->type;
    cost->tensor_cores = tensor_cores(cost->type);
}

struct tensors {
    const struct dnn_graph_node *seen[SEEN_MAX];
    int count, type;
    double bytes;
};

static int add_bytes(const struct dnn_graph_node *tensor, void *data)
{
    struct tensors *t = data;
    int64_t id = dnn_graph_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    if (dnn_graph_number(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) ||
        dnn_graph_number(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0))
        return 0;
    for (int i = 0; i < t->count; i++)
        if (dnn_graph_number(t->seen[i], CUDNN_ATTR_TENSOR_UNIQUE_ID, 0) == id)
            return 0;
    if (t->count < SEEN_MAX)
        t->seen[t->count++] = tensor;
    if (dnn_bits(type_of(tensor)) == 16)
        t->type = type_of(tensor);
    t->bytes += elements_of(tensor) * dnn_bits(type_of(tensor)) / 8;
    return 0;
}

static int visit_tensor(const struct dnn_graph_node *tensor,
                        int (*visit)(const struct dnn_graph_node *, void *), void *data)
{
    struct dnn_graph_node *offsets = dnn_graph_child(tensor, CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC);
    int e = visit(tensor, data);
    return !e && offsets ? visit(offsets, data) : e;
}

static int visit_operation(const struct dnn_graph_node *node,
                           int (*visit)(const struct dnn_graph_node *, void *), void *data)
{
    int e = 0;
    for (unsigned i = 0; i < node->count; i++) {
        const struct dnn_graph_value *v = &node->values[i];
        if (v->elements != CUDNN_TYPE_BACKEND_DESCRIPTOR)
            continue;
        for (int64_t j = 0; j < v->count && !e; j++) {
            if (v->nodes[j]->descriptor == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
                e = visit_tensor(v->nodes[j], visit, data);
            else if (dnn_graph_is_operation(v->nodes[j]->descriptor) ||
                     v->nodes[j]->descriptor == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
                e = visit_operation(v->nodes[j], visit, data);
        }
    }
    return e;
}

int dnn_graph_visit(const struct dnn_graph_node *graph,
                    int (*visit)(const struct dnn_graph_node *, void *), void *data)
{
    return visit_operation(graph, visit, data);
}

void dnn_graph_cost(const struct dnn_graph_node *graph, struct dnn_cost *cost)
{
    const struct dnn_graph_value *ops = dnn_graph_get(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    struct tensors t = {.type = CUDNN_DATA_FLOAT};
    dnn_graph_visit(graph, add_bytes, &t);
    *cost = (struct dnn_cost){.kernel = "cudnn_graph", .type = t.type, .bytes = t.bytes};
    int products = 0;
    for (int64_t i = 0; ops && i < ops->count; i++) {
        one_cost(ops->nodes[i], cost);
        products += ops->nodes[i]->descriptor == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
    }
    if (products > 1)
        cost->kernel = products == 2 ? "cudnn_attention_forward" : "cudnn_attention_backward";
}
