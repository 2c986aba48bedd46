/* SPDX-License-Identifier: Apache-2.0
 *
 * Contents of the graph interface's descriptors: values by attribute, shared by reference counts. */
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_graph.h"

struct dnn_graph_node *dnn_graph_node_new(int descriptor)
{
    struct dnn_graph_node *node = vs_sim_need(calloc(1, sizeof *node));
    node->references = 1;
    node->descriptor = descriptor;
    return node;
}

struct dnn_graph_node *dnn_graph_node_share(struct dnn_graph_node *node)
{
    __atomic_fetch_add(&node->references, 1, __ATOMIC_RELAXED);
    return node;
}

static void clear(struct dnn_graph_value *value)
{
    if (value->elements == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < value->count; i++)
            dnn_graph_node_release(value->nodes[i]);
    free(value->data);
}

void dnn_graph_node_release(struct dnn_graph_node *node)
{
    /* the last release sees all that other threads did with the node */
    if (!node || __atomic_sub_fetch(&node->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (unsigned i = 0; i < node->count; i++)
        clear(&node->values[i]);
    free(node->values);
    free(node);
}

static struct dnn_graph_value *slot(struct dnn_graph_node *node, const struct dnn_graph_attribute *a)
{
    for (unsigned i = 0; i < node->count; i++)
        if (node->values[i].attribute == a) {
            clear(&node->values[i]);
            return &node->values[i];
        }
    node->values = vs_sim_need(realloc(node->values, (node->count + 1) * sizeof *node->values));
    return &node->values[node->count++];
}

void dnn_graph_put(struct dnn_graph_node *node, int attribute, int elements, int64_t count,
                   const void *data)
{
    size_t bytes = dnn_graph_element_bytes(elements) * (size_t)count;
    struct dnn_graph_value *value = slot(node, dnn_graph_find_attribute(attribute));
    *value = (struct dnn_graph_value){.attribute = dnn_graph_find_attribute(attribute),
                                      .elements = elements, .count = count,
                                      .data = bytes ? vs_sim_dup(data, bytes) : NULL};
    if (elements == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < count; i++)
            dnn_graph_node_share(value->nodes[i]);
}

const struct dnn_graph_value *dnn_graph_get(const struct dnn_graph_node *node, int attribute)
{
    for (unsigned i = 0; node && i < node->count; i++)
        if (node->values[i].attribute->attribute == attribute)
            return &node->values[i];
    return NULL;
}

struct dnn_graph_node *dnn_graph_child(const struct dnn_graph_node *node, int attribute)
{
    const struct dnn_graph_value *v = dnn_graph_get(node, attribute);
    return v && v->elements == CUDNN_TYPE_BACKEND_DESCRIPTOR && v->count ? v->nodes[0] : NULL;
}

int64_t dnn_graph_number(const struct dnn_graph_node *node, int attribute, int64_t otherwise)
{
    const struct dnn_graph_value *v = dnn_graph_get(node, attribute);
    if (!v || !v->count)
        return otherwise;
    size_t bytes = dnn_graph_element_bytes(v->elements);
    int32_t narrow;
    int64_t wide;
    if (bytes == 1)
        return *(const unsigned char *)v->data;
    if (bytes == sizeof narrow) {
        memcpy(&narrow, v->data, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, v->data, sizeof wide);
    return wide;
}

const int64_t *dnn_graph_integers(const struct dnn_graph_node *node, int attribute, int *count)
{
    const struct dnn_graph_value *v = dnn_graph_get(node, attribute);
    *count = v && v->elements == CUDNN_TYPE_INT64 ? (int)v->count : 0;
    return *count ? v->data : NULL;
}
