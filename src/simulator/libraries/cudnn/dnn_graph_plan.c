/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes that are computed: the engines that the heuristics propose, their notes, workspaces,
 * and the JSON form of a plan. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_graph.h"

#define ENGINES_MAX 2

static struct dnn_graph_node *operation(const struct dnn_graph_node *graph, int64_t i)
{
    return dnn_graph_get(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS)->nodes[i];
}

static const struct dnn_graph_node *find_convolution(const struct dnn_graph_node *graph,
                                                     struct dnn_convolution *c)
{
    const struct dnn_graph_value *ops = dnn_graph_get(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    for (int64_t i = 0; ops && i < ops->count; i++)
        if (dnn_graph_convolution(operation(graph, i), c))
            return operation(graph, i);
    return NULL;
}

int dnn_graph_engines(const struct dnn_graph_node *graph)
{
    return find_convolution(graph, NULL) ? ENGINES_MAX : 1;
}

static void put_node(struct dnn_graph_node *node, int attribute, struct dnn_graph_node *child)
{
    dnn_graph_put(node, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &child);
}

/* configuration: an engine configuration for engine *index* of *graph*. */
static struct dnn_graph_node *configuration(struct dnn_graph_node *graph, int64_t index)
{
    struct dnn_graph_node *engine = dnn_graph_node_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    struct dnn_graph_node *config = dnn_graph_node_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    put_node(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    dnn_graph_put(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    put_node(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    engine->final = config->final = true;
    dnn_graph_node_release(engine);
    return config;
}

/* results: the fallback mode proposes the last engine only, which needs no workspace. */
static int results(const struct dnn_graph_node *heuristics, int64_t wanted, int64_t *count,
                   struct dnn_graph_node **out)
{
    struct dnn_graph_node *graph = dnn_graph_child(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    int64_t mode = dnn_graph_number(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, 0);
    int engines = dnn_graph_engines(graph);
    int first = mode == CUDNN_HEUR_MODE_FALLBACK ? engines - 1 : 0;
    *count = engines - first;
    for (int64_t i = 0; i < *count && i < wanted; i++)
        out[i] = configuration(graph, first + i);
    return CUDNN_STATUS_SUCCESS;
}

static int notes(const struct dnn_graph_node *engine, int *out)
{
    struct dnn_graph_node *graph = dnn_graph_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    struct dnn_convolution c;
    int n = 0;
    if (dnn_graph_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0))
        return 0;
    if (!find_convolution(graph, &c) || c.tensor_cores)
        out[n++] = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    return n;
}

static int64_t workspace(const struct dnn_graph_node *config)
{
    struct dnn_graph_node *engine = dnn_graph_child(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    struct dnn_graph_node *graph = dnn_graph_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    if (!graph || dnn_graph_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0))
        return 0;
    return (int64_t)dnn_graph_workspace(graph);
}

static int64_t json(const struct dnn_graph_node *plan, int64_t wanted, char *out)
{
    char text[256];
    struct dnn_graph_node *config = dnn_graph_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    struct dnn_graph_node *engine = dnn_graph_child(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    struct dnn_cost cost;
    dnn_graph_cost(dnn_graph_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH), &cost);
    int n = snprintf(text, sizeof text,
                     "{\"simulated\": true, \"kernel\": \"%s\", \"engine\": %" PRId64
                     ", \"workspace\": %" PRId64 ", \"operations\": %.0f, \"bytes\": %.0f}",
                     cost.kernel, dnn_graph_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0),
                     workspace(config), cost.operations, cost.bytes);
    if (wanted > 0)
        memcpy(out, text, (size_t)(wanted < n + 1 ? wanted : n + 1));
    return n + 1;
}

/* one: an attribute of a single number. */
static void one(int64_t wanted, int64_t *count, void *data, size_t bytes, int64_t number)
{
    *count = 1;
    int32_t narrow = (int32_t)number;
    bool flag = number != 0;
    if (wanted > 0)
        memcpy(data, bytes == 8 ? (void *)&number : bytes == 4 ? (void *)&narrow : (void *)&flag, bytes);
}

bool dnn_graph_compute(const struct dnn_graph_node *node, const struct dnn_graph_attribute *a,
                       int64_t wanted, int64_t *count, void *data, int *status)
{
    int list[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    switch (a->attribute) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *status = results(node, wanted, count, data);
        return true;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        *count = notes(node, list);
        if (wanted > 0 && *count)
            memcpy(data, list, sizeof list[0] * (size_t)(wanted < *count ? wanted : *count));
        return true;
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
        one(wanted, count, data, 8, dnn_graph_engines(node));
        return true;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        one(wanted, count, data, 8, workspace(node));
        return true;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        one(wanted, count, data, 8,
            workspace(dnn_graph_child(node, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)));
        return true;
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
        one(wanted, count, data, 4, 0);
        return true;
    case CUDNN_ATTR_KERNEL_CACHE_REVISION:
    case CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT: /* nothing is compiled, so nothing is cached */
        one(wanted, count, data, 8, 0);
        return true;
    case CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED:
        one(wanted, count, data, 1, 0);
        return true;
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
        *count = json(node, wanted, data);
        return true;
    default:
        return false;
    }
}
