/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors by address: created, checked for their kind and that they are filled, destroyed. */
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

static const char *const kind_names[] = {
    [DNN_HANDLE] = "handle",
    [DNN_TENSOR] = "tensor descriptor",
    [DNN_FILTER] = "filter descriptor",
    [DNN_CONVOLUTION] = "convolution descriptor",
    [DNN_ACTIVATION] = "activation descriptor",
    [DNN_POOLING] = "pooling descriptor",
    [DNN_DROPOUT] = "dropout descriptor",
    [DNN_SPATIALTRANSFORMER] = "spatial transformer descriptor",
    [DNN_CTCLOSS] = "CTC loss descriptor",
    [DNN_RNN] = "RNN descriptor",
    [DNN_RNNDATA] = "RNN data descriptor",
    [DNN_GRAPH_DESCRIPTOR] = "backend descriptor",
};

int dnn_new(const struct dnn_object *o)
{
    if (!o->to)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: the result's pointer is NULL", o->name);
    void *object = vs_library_new(o->kind, o->bytes);
    memcpy(o->to, &object, sizeof object);
    return CUDNN_STATUS_SUCCESS;
}

int dnn_delete(const struct dnn_object *o)
{
    if (!o->object || vs_library_delete(o->object, o->kind))
        return CUDNN_STATUS_SUCCESS;
    return dnn_fail(CUDNN_STATUS_BAD_PARAM, "%s: %p is not a %s", o->name, o->object, kind_names[o->kind]);
}

bool dnn_is(const void *object, enum dnn_kind kind, const char *function)
{
    if (vs_library_object(object, kind))
        return true;
    dnn_fail(CUDNN_STATUS_BAD_PARAM, "%s: %p is not a %s", function, object, kind_names[kind]);
    return false;
}

bool dnn_is_set(const void *object, enum dnn_kind kind, const char *function)
{
    int set;
    if (!dnn_is(object, kind, function))
        return false;
    memcpy(&set, object, sizeof set); /* the first field of every descriptor that has a Set function */
    if (!set)
        dnn_fail(CUDNN_STATUS_BAD_PARAM, "%s: a %s was used before it was set", function,
                 kind_names[kind]);
    return set;
}
