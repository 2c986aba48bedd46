/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph interface (cudnnBackend…): descriptors with attributes, which refer to other
 * descriptors. The contents of a descriptor (a node) no longer change once it is finalized, so a
 * descriptor that refers to another one shares its node, and outlives it. */
#ifndef VS_CUDNN_GRAPH_H
#define VS_CUDNN_GRAPH_H

#include "generated/vs_cudnn_attributes.h"
#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

enum {
    DNN_GRAPH_NONE = -1,
    DNN_GRAPH_ANY_OPERATION = -2,
    DNN_GRAPH_MANY = 1 << 20,
    /* types of elements that accept several of CUDNN_TYPE_… */
    DNN_GRAPH_REAL = 1000, /* FLOAT or DOUBLE */
    DNN_GRAPH_STEP,        /* INT64 or FRACTION */
    DNN_GRAPH_SEED,        /* INT64 or a tensor */
    DNN_GRAPH_CONSTANT,    /* any number */
};

enum dnn_graph_need { DNN_GRAPH_OPTIONAL, DNN_GRAPH_REQUIRED, DNN_GRAPH_READ };

struct dnn_graph_attribute {
    const char *name;
    int attribute, descriptor; /* CUDNN_ATTR_…, CUDNN_BACKEND_…_DESCRIPTOR */
    int elements;              /* CUDNN_TYPE_… or one of the above */
    int min, max;              /* number of elements */
    enum dnn_graph_need need;
    int child;                 /* the type of descriptors in it */
};
extern const struct dnn_graph_attribute dnn_graph_attributes[];
extern const size_t dnn_graph_attribute_count;

/* dnn_graph_find_attribute: NULL if there is none of that number. */
const struct dnn_graph_attribute *dnn_graph_find_attribute(int attribute);
const char *dnn_graph_type_name(int descriptor);
bool dnn_graph_is_operation(int descriptor);
/* dnn_graph_element_bytes: of one element of CUDNN_TYPE_…; 0 if the type does not exist. */
size_t dnn_graph_element_bytes(int elements);

struct dnn_graph_node;
struct dnn_graph_value {
    const struct dnn_graph_attribute *attribute;
    int elements; /* CUDNN_TYPE_… */
    int64_t count;
    union {
        void *data;
        struct dnn_graph_node **nodes; /* where elements is BACKEND_DESCRIPTOR; owned references */
    };
};
struct dnn_graph_node {
    int references; /* atomic */
    int descriptor; /* CUDNN_BACKEND_…_DESCRIPTOR */
    bool final;
    unsigned count;
    struct dnn_graph_value *values;
};

/* dnn_graph_node_of: the contents of a descriptor; BAD_PARAM if it is none. */
int dnn_graph_node_of(const void *descriptor, const char *function, const struct dnn_graph_node **node);
struct dnn_graph_node *dnn_graph_node_new(int descriptor);
struct dnn_graph_node *dnn_graph_node_share(struct dnn_graph_node *node);
void dnn_graph_node_release(struct dnn_graph_node *node);
/* dnn_graph_put: sets an attribute. *data*: an array of elements; of nodes where elements is
 * BACKEND_DESCRIPTOR, each of which gains a reference. */
void dnn_graph_put(struct dnn_graph_node *node, int attribute, int elements, int64_t count,
                   const void *data);

/* dnn_graph_value: NULL if the attribute was not set. */
const struct dnn_graph_value *dnn_graph_get(const struct dnn_graph_node *node, int attribute);
/* dnn_graph_child: the first descriptor in an attribute, or NULL. */
struct dnn_graph_node *dnn_graph_child(const struct dnn_graph_node *node, int attribute);
int64_t dnn_graph_number(const struct dnn_graph_node *node, int attribute, int64_t otherwise);
/* dnn_graph_integers: the INT64 elements of an attribute, *count* set; NULL if it was not set. */
const int64_t *dnn_graph_integers(const struct dnn_graph_node *node, int attribute, int *count);

/* dnn_graph_finalize: the checks of cudnnBackendFinalize (dnn_graph_finalize.c). */
int dnn_graph_finalize(struct dnn_graph_node *node);

/* dnn_graph_compute: an attribute that is computed rather than set (dnn_graph_plan.c): fills up to
 * *wanted* elements of *data* (nodes for descriptors, owned by the caller) and *count*, the number
 * that there are. False if the attribute is not such a one. */
bool dnn_graph_compute(const struct dnn_graph_node *node, const struct dnn_graph_attribute *attribute,
                       int64_t wanted, int64_t *count, void *data, int *status);

/* dnn_graph_engines: how many engines compute *graph*: 0 is the fastest; 1, for convolutions, needs
 * no workspace. */
int dnn_graph_engines(const struct dnn_graph_node *graph);

/* ---- what a graph does (dnn_graph_cost.c) ---- */

/* dnn_graph_convolution: whether *node* is a convolution; fills *c*, if not NULL. */
bool dnn_graph_convolution(const struct dnn_graph_node *node, struct dnn_convolution *c);
void dnn_graph_cost(const struct dnn_graph_node *graph, struct dnn_cost *cost);
/* dnn_graph_workspace: of the graph's fastest engine. */
size_t dnn_graph_workspace(const struct dnn_graph_node *graph);
/* dnn_graph_visit: calls *visit* for each tensor that the operations of a graph use, in their order,
 * also those in a tensor (ragged offsets). Stops at the first status that is not 0, and returns it. */
int dnn_graph_visit(const struct dnn_graph_node *graph,
                    int (*visit)(const struct dnn_graph_node *tensor, void *data), void *data);

#endif
