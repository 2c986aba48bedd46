/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of the graph interface: created, filled attribute by attribute, finalized, read,
 * destroyed. Each call is checked against the table of attributes (attributes.txt). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_graph.h"

struct descriptor {
    struct dnn_graph_node *node;
};

/* Names that stand for no type of descriptor, or several, in the table. */
enum {
    CUDNN_BACKEND_NONE_DESCRIPTOR = DNN_GRAPH_NONE,
    CUDNN_BACKEND_ANY_DESCRIPTOR = DNN_GRAPH_ANY_OPERATION,
};
#define ATTRIBUTE(name, descriptor, elements, min, max, need, child)                               \
    {"CUDNN_ATTR_" #name, CUDNN_ATTR_##name, CUDNN_BACKEND_##descriptor##_DESCRIPTOR, elements,    \
     min, max, DNN_GRAPH_##need, CUDNN_BACKEND_##child##_DESCRIPTOR},
const struct dnn_graph_attribute dnn_graph_attributes[] = {VS_CUDNN_ATTRIBUTES(ATTRIBUTE)};
const size_t dnn_graph_attribute_count = sizeof dnn_graph_attributes / sizeof dnn_graph_attributes[0];

#define NAME(name) #name,
static const char *const type_names[] = {VS_CUDNN_DESCRIPTORS(NAME)}; /* by their numbers */
#define TYPE_COUNT ((int)(sizeof type_names / sizeof type_names[0]))

const char *dnn_graph_type_name(int type)
{
    return type >= 0 && type < TYPE_COUNT ? type_names[type] : "no type";
}

bool dnn_graph_is_operation(int type) { return !strncmp(dnn_graph_type_name(type), "OPERATION_", 10); }

const struct dnn_graph_attribute *dnn_graph_find_attribute(int attribute)
{
    for (size_t i = 0; i < dnn_graph_attribute_count; i++)
        if (dnn_graph_attributes[i].attribute == attribute)
            return &dnn_graph_attributes[i];
    return NULL;
}

size_t dnn_graph_element_bytes(int elements)
{
    switch (elements) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
        return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
    case CUDNN_TYPE_FRACTION:
        return sizeof(cudnnFraction_t);
    default:
        return elements >= 0 && elements <= CUDNN_TYPE_CUDA_GRAPH_RETENTION ? 4 : 0;
    }
}

static bool accepts(const struct dnn_graph_attribute *a, int elements)
{
    switch (a->elements) {
    case DNN_GRAPH_REAL:
        return elements == CUDNN_TYPE_FLOAT || elements == CUDNN_TYPE_DOUBLE;
    case DNN_GRAPH_STEP:
        return elements == CUDNN_TYPE_INT64 || elements == CUDNN_TYPE_FRACTION;
    case DNN_GRAPH_SEED:
        return elements == CUDNN_TYPE_INT64 || elements == CUDNN_TYPE_BACKEND_DESCRIPTOR;
    case DNN_GRAPH_CONSTANT:
        return elements == CUDNN_TYPE_INT32 || elements == CUDNN_TYPE_INT64 ||
               elements == CUDNN_TYPE_FLOAT || elements == CUDNN_TYPE_DOUBLE;
    default:
        return elements == a->elements;
    }
}

static struct dnn_graph_node *node_of(const void *descriptor, const char *function)
{
    if (!dnn_is(descriptor, DNN_GRAPH_DESCRIPTOR, function))
        return NULL;
    return ((const struct descriptor *)descriptor)->node;
}

int dnn_graph_node_of(const void *descriptor, const char *function, const struct dnn_graph_node **node)
{
    *node = node_of(descriptor, function);
    return *node ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

int cudnnBackendCreateDescriptor(int type, void **out)
{
    DNN_NEED_POINTER(out);
    if (type < 0 || type >= TYPE_COUNT)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: no descriptor type %d", __func__, type);
    struct descriptor *d = vs_library_new(DNN_GRAPH_DESCRIPTOR, sizeof *d);
    d->node = dnn_graph_node_new(type);
    *out = d;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnBackendDestroyDescriptor(void *descriptor)
{
    if (!descriptor)
        return CUDNN_STATUS_SUCCESS;
    struct dnn_graph_node *node = node_of(descriptor, __func__);
    if (!node)
        return CUDNN_STATUS_BAD_PARAM;
    vs_library_delete(descriptor, DNN_GRAPH_DESCRIPTOR);
    dnn_graph_node_release(node);
    return CUDNN_STATUS_SUCCESS;
}

/* check_children: descriptors in an array, of the right type and finalized; *nodes* receives them. */
static int check_children(const struct dnn_graph_attribute *a, int64_t count, const void *array,
                          struct dnn_graph_node **nodes)
{
    void *const *handles = array;
    for (int64_t i = 0; i < count; i++) {
        struct dnn_graph_node *n = node_of(handles[i], a->name);
        if (!n)
            return CUDNN_STATUS_BAD_PARAM;
        bool fits = a->child == DNN_GRAPH_ANY_OPERATION ? dnn_graph_is_operation(n->descriptor)
                                                        : n->descriptor == a->child;
        if (!fits)
            return dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "%s: element %" PRId64 " is a %s",
                            a->name, i, dnn_graph_type_name(n->descriptor));
        if (!n->final)
            return dnn_fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "%s: the %s is not finalized", a->name,
                            dnn_graph_type_name(n->descriptor));
        nodes[i] = n;
    }
    return CUDNN_STATUS_SUCCESS;
}

static int check_set(const struct dnn_graph_node *node, const struct dnn_graph_attribute *a,
                     int attribute, int elements, int64_t count, const void *array)
{
    if (!a || a->descriptor != node->descriptor)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM, "attribute %d does not belong to a %s", attribute,
                        dnn_graph_type_name(node->descriptor));
    DNN_NEED(!node->final, "%s: the %s is already finalized", a->name,
             dnn_graph_type_name(node->descriptor));
    DNN_NEED(a->need != DNN_GRAPH_READ, "%s can only be read", a->name);
    if (!accepts(a, elements))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "%s: elements of type %d", a->name,
                        elements);
    DNN_NEED(count >= a->min && count <= a->max, "%s: %" PRId64 " elements; %d to %d are allowed",
             a->name, count, a->min, a->max);
    if (count && !array)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: the array is NULL", a->name);
    if (elements == CUDNN_TYPE_DATA_TYPE)
        for (int64_t i = 0; i < count; i++)
            DNN_NEED(dnn_bits(((const int *)array)[i]), "%s: no data type %d", a->name,
                     ((const int *)array)[i]);
    if (elements == CUDNN_TYPE_HANDLE && !dnn_is(*(void *const *)array, DNN_HANDLE, a->name))
        return CUDNN_STATUS_BAD_PARAM;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnBackendSetAttribute(void *descriptor, int attribute, int elements, int64_t count,
                             const void *array)
{
    struct dnn_graph_node *node = node_of(descriptor, __func__), **children = NULL;
    if (!node)
        return CUDNN_STATUS_BAD_PARAM;
    const struct dnn_graph_attribute *a = dnn_graph_find_attribute(attribute);
    int e = check_set(node, a, attribute, elements, count, array);
    if (e)
        return e;
    if (elements == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        children = vs_sim_need(malloc(sizeof *children * (size_t)(count ? count : 1)));
        e = check_children(a, count, array, children);
        array = children;
    }
    if (!e)
        dnn_graph_put(node, attribute, elements, count, array);
    free(children);
    return e;
}

int cudnnBackendFinalize(void *descriptor)
{
    struct dnn_graph_node *node = node_of(descriptor, __func__);
    if (!node)
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(!node->final, "%s: the %s is already finalized", __func__,
             dnn_graph_type_name(node->descriptor));
    int e = dnn_graph_finalize(node);
    node->final = !e;
    return e;
}

/* take: gives the caller's descriptors the contents *nodes*, whose references it consumes. */
static int take(const struct dnn_graph_attribute *a, int64_t count, void *const *handles,
                struct dnn_graph_node **nodes)
{
    int e = CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; i < count; i++) {
        struct dnn_graph_node *old = e ? NULL : node_of(handles[i], a->name);
        if (old && old->descriptor == nodes[i]->descriptor) {
            ((struct descriptor *)handles[i])->node = nodes[i];
            dnn_graph_node_release(old);
            continue;
        }
        if (!e && old)
            e = dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "%s: element %" PRId64 " is a %s",
                         a->name, i, dnn_graph_type_name(old->descriptor));
        e = e ? e : CUDNN_STATUS_BAD_PARAM;
        dnn_graph_node_release(nodes[i]);
    }
    return e;
}

/* read_value: an attribute that was set. */
static void read_value(const struct dnn_graph_node *node, const struct dnn_graph_attribute *a,
                       int64_t wanted, int64_t *count, void *data)
{
    const struct dnn_graph_value *v = dnn_graph_get(node, a->attribute);
    *count = v ? v->count : 0;
    int64_t n = wanted < *count ? wanted : *count;
    if (n <= 0)
        return;
    memcpy(data, v->data, dnn_graph_element_bytes(v->elements) * (size_t)n);
    if (v->elements == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < n; i++)
            dnn_graph_node_share(v->nodes[i]);
}

static int get(const struct dnn_graph_node *node, const struct dnn_graph_attribute *a, int elements,
               int64_t wanted, int64_t *count, void *array)
{
    int e = CUDNN_STATUS_SUCCESS;
    bool descriptors = elements == CUDNN_TYPE_BACKEND_DESCRIPTOR;
    int64_t room = array ? wanted : 0;
    struct dnn_graph_node **nodes = NULL;
    if (descriptors && room)
        nodes = vs_sim_need(malloc(sizeof *nodes * (size_t)room));
    void *to = descriptors ? (void *)nodes : array;
    if (!dnn_graph_compute(node, a, room, count, to, &e))
        read_value(node, a, room, count, to);
    if (array && *count > room)
        *count = room; /* the number of elements that were written */
    if (!e && descriptors && array)
        e = take(a, *count, array, nodes);
    free(nodes);
    return e;
}

int cudnnBackendGetAttribute(void *const descriptor, int attribute, int elements, int64_t wanted,
                             int64_t *count, void *array)
{
    int64_t unused;
    struct dnn_graph_node *node = node_of(descriptor, __func__);
    if (!node)
        return CUDNN_STATUS_BAD_PARAM;
    const struct dnn_graph_attribute *a = dnn_graph_find_attribute(attribute);
    if (!a || a->descriptor != node->descriptor)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM, "attribute %d does not belong to a %s", attribute,
                        dnn_graph_type_name(node->descriptor));
    if (!node->final)
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "%s: the %s is not finalized", a->name,
                        dnn_graph_type_name(node->descriptor));
    const struct dnn_graph_value *v = dnn_graph_get(node, attribute);
    if (v ? elements != v->elements : !accepts(a, elements))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "%s: elements of type %d", a->name,
                        elements);
    DNN_NEED(wanted >= 0, "%s: %" PRId64 " elements requested", a->name, wanted);
    return get(node, a, elements, wanted, count ? count : &unused, array);
}
