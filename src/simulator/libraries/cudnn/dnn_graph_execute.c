/* SPDX-License-Identifier: Apache-2.0
 *
 * Workspaces of graphs, and the execution of a plan: one kernel on the handle's stream. */
#include <inttypes.h>
#include <stdio.h>

#include "simulator/libraries/cudnn/vs_cudnn_graph.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

struct attention {
    const struct dnn_graph_node *tensors[3]; /* Q, K and V */
    bool backward;
    bool one_operation; /* else a graph of matrix products and elementwise operations */
};

/* find_attention: Q, K and V of a graph that computes attention; false if it computes another thing. */
static bool find_attention(const struct dnn_graph_value *ops, struct attention *found)
{
    const struct dnn_graph_node *products[8];
    int count = 0;
    for (int64_t i = 0; i < ops->count; i++) {
        const struct dnn_graph_node *op = ops->nodes[i];
        if (op->descriptor == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR ||
            op->descriptor == CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR) {
            bool back = op->descriptor == CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
            *found = (struct attention){{
                dnn_graph_child(op, back ? CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC
                                         : CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC),
                dnn_graph_child(op, back ? CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC
                                         : CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC),
                dnn_graph_child(op, back ? CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC
                                         : CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC)},
                back, true};
            return true;
        }
        if (op->descriptor == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR && count < 8)
            products[count++] = op;
    }
    if (count < 2)
        return false;
    *found = (struct attention){{dnn_graph_child(products[0], CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                                 dnn_graph_child(products[0], CUDNN_ATTR_OPERATION_MATMUL_BDESC),
                                 dnn_graph_child(products[1], CUDNN_ATTR_OPERATION_MATMUL_BDESC)},
                                count > 2, false};
    return true;
}

static size_t attention_workspace(const struct attention *a)
{
    static const char *const names[] = {"q", "k", "v"};
    char key[DNN_KEY_MAX];
    uint64_t bytes = 0;
    const char *why = "the kernel keeps its results in registers and shared memory";
    int64_t type = dnn_graph_number(a->tensors[0], CUDNN_ATTR_TENSOR_DATA_TYPE, 0);
    int at = snprintf(key, sizeof key, "%s %s", a->backward ? "backward" : "forward",
                      dnn_type_name((int)type));
    const int64_t *dim;
    int rank;
    for (int i = 0; i < 3; i++) {
        dim = dnn_graph_integers(a->tensors[i], CUDNN_ATTR_TENSOR_DIMENSIONS, &rank);
        at = dnn_put_dims(key, at, names[i], dim, rank);
    }
    if (a->backward && a->one_operation) {
        dim = dnn_graph_integers(a->tensors[0], CUDNN_ATTR_TENSOR_DIMENSIONS, &rank);
        bytes = 4;
        for (int i = 0; i < rank; i++)
            bytes *= (uint64_t)dim[i];
        why = "the gradient of Q in FP32";
    } else if (a->backward) {
        why = "the caller's graph has its own tensors for sums";
    }
    return vs_library_workspace("attention", key, bytes, why);
}

size_t dnn_graph_workspace(const struct dnn_graph_node *graph)
{
    const struct dnn_graph_value *ops = dnn_graph_get(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    struct dnn_convolution c;
    struct attention a;
    for (int64_t i = 0; i < ops->count; i++)
        if (dnn_graph_convolution(ops->nodes[i], NULL))
            return dnn_graph_convolution(ops->nodes[i], &c) ? dnn_convolution_workspace(&c) : 0;
    if (find_attention(ops, &a))
        return attention_workspace(&a);
    return vs_library_workspace("graph", dnn_graph_type_name(ops->nodes[0]->descriptor), 0,
                                "one kernel without intermediate results in memory");
}

/* has_pointer: whether the variant pack gives a pointer for a tensor that needs one. */
static int has_pointer(const struct dnn_graph_node *tensor, void *data)
{
    const struct dnn_graph_node *pack = data;
    int count;
    const int64_t *ids = dnn_graph_integers(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &count);
    const struct dnn_graph_value *v = dnn_graph_get(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    int64_t id = dnn_graph_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    if (dnn_graph_number(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) ||
        dnn_graph_get(tensor, CUDNN_ATTR_TENSOR_CONSTANT_VALUE))
        return CUDNN_STATUS_SUCCESS;
    for (int i = 0; i < count; i++)
        if (ids[i] == id) {
            if (((void *const *)v->data)[i])
                return CUDNN_STATUS_SUCCESS;
            return dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                            "cudnnBackendExecute: the pointer of tensor %" PRId64 " is NULL", id);
        }
    return dnn_fail(CUDNN_STATUS_BAD_PARAM,
                    "cudnnBackendExecute: the variant pack has no pointer for tensor %" PRId64, id);
}

static const struct dnn_graph_node *final_node(const void *descriptor, int type, int *status)
{
    const struct dnn_graph_node *node = NULL;
    *status = dnn_graph_node_of(descriptor, "cudnnBackendExecute", &node);
    if (*status)
        return NULL;
    if (node->descriptor != type)
        *status = dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "cudnnBackendExecute: a %s instead of a %s",
                           dnn_graph_type_name(node->descriptor), dnn_graph_type_name(type));
    else if (!node->final)
        *status = dnn_fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                           "cudnnBackendExecute: the %s is not finalized", dnn_graph_type_name(type));
    return *status ? NULL : node;
}

int cudnnBackendExecute(struct cudnnContext *handle, void *plan_descriptor, void *pack_descriptor)
{
    int e;
    DNN_NEED_KIND(handle, DNN_HANDLE);
    const struct dnn_graph_node *plan =
        final_node(plan_descriptor, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &e);
    const struct dnn_graph_node *pack =
        e ? NULL : final_node(pack_descriptor, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &e);
    if (e)
        return e;
    const struct dnn_graph_node *config = dnn_graph_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    const struct dnn_graph_node *engine = dnn_graph_child(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    const struct dnn_graph_node *graph = dnn_graph_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    e = dnn_graph_visit(graph, has_pointer, (void *)pack);
    if (e)
        return e;
    bool fast = !dnn_graph_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0);
    size_t workspace = fast ? dnn_graph_workspace(graph) : 0;
    if (workspace && !dnn_graph_number(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 0))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                        "cudnnBackendExecute: the plan needs %zu bytes of workspace, and its pointer is "
                        "NULL", workspace);
    struct dnn_cost cost;
    dnn_graph_cost(graph, &cost);
    cost.tensor_cores = cost.tensor_cores && fast;
    return dnn_submit(handle, &cost);
}
