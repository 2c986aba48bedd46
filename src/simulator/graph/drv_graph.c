/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs as structures: creation and cloning, their nodes and edges, and queries about them. The
 * work of nodes is in drv_graph_node.c. An edge is stored at both of its ends. */
#define _GNU_SOURCE /* a recursive mutex with a static initialiser */
#include "simulator/graph/vs_sim_graph.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t graphs_mu = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct vs_sim_kept kept_graphs = {.mu = PTHREAD_MUTEX_INITIALIZER};
static struct vs_sim_kept kept_nodes = {.mu = PTHREAD_MUTEX_INITIALIZER};
static uint64_t next_node_id = 1; /* guarded by graphs_mu, like the following */
static uint32_t next_graph_id = 1;

void vs_sim_graph_lock(void) { pthread_mutex_lock(&graphs_mu); }

CUresult vs_sim_graph_leave(CUresult e)
{
    pthread_mutex_unlock(&graphs_mu);
    return e;
}

CUresult vs_sim_graph_enter(void)
{
    CUresult e = vs_sim_enter();
    if (e == CUDA_SUCCESS)
        vs_sim_graph_lock();
    return e;
}

/* ---- lists ---- */

static const CUgraphEdgeData plain;

void vs_sim_nodes_add_edge(struct vs_sim_nodes *list, struct vs_sim_node *node, CUgraphEdgeData edge)
{
    size_t max = list->max;
    vs_sim_room(&list->at, list->count, &max, sizeof(struct vs_sim_node *));
    vs_sim_room(&list->edges, list->count, &list->max, sizeof edge);
    list->edges[list->count] = edge;
    list->at[list->count++] = node;
}

void vs_sim_nodes_add(struct vs_sim_nodes *list, struct vs_sim_node *node)
{
    vs_sim_nodes_add_edge(list, node, plain);
}

CUgraphEdgeData vs_sim_edge_at(const struct vs_sim_nodes *list, size_t i)
{
    return list->edges ? list->edges[i] : plain;
}

bool vs_sim_edge_plain(CUgraphEdgeData edge) { return !memcmp(&edge, &plain, sizeof plain); }

bool vs_sim_nodes_has(const struct vs_sim_nodes *list, const struct vs_sim_node *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == node)
            return true;
    return false;
}

void vs_sim_nodes_remove(struct vs_sim_nodes *list, const struct vs_sim_node *node)
{
    for (size_t i = list->count; i-- > 0;)
        if (list->at[i] == node) {
            memmove(list->at + i, list->at + i + 1,
                    (list->count - i - 1) * sizeof(struct vs_sim_node *));
            memmove(list->edges + i, list->edges + i + 1, (list->count - i - 1) * sizeof plain);
            list->count--;
            return;
        }
}

void vs_sim_nodes_copy(struct vs_sim_nodes *to, const struct vs_sim_nodes *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        vs_sim_nodes_add_edge(to, from->at[i], from->edges[i]);
}

void vs_sim_nodes_free(struct vs_sim_nodes *list)
{
    free(list->at);
    free(list->edges);
    *list = (struct vs_sim_nodes){0};
}

/* ---- handles ---- */

struct vs_sim_graph *vs_sim_graph_of(CUgraph handle)
{
    struct vs_sim_graph *g = (struct vs_sim_graph *)handle;
    return g && g->mark == VS_SIM_GRAPH_MARK && !g->private_clone ? g : NULL;
}

struct vs_sim_node *vs_sim_node_of(CUgraphNode handle)
{
    struct vs_sim_node *n = (struct vs_sim_node *)handle;
    return n && n->mark == VS_SIM_NODE_MARK && !n->graph->private_clone ? n : NULL;
}

/* ---- nodes ---- */

static void link_nodes(struct vs_sim_node *from, struct vs_sim_node *to, CUgraphEdgeData edge)
{
    vs_sim_nodes_add_edge(&to->before, from, edge);
    vs_sim_nodes_add_edge(&from->after, to, edge);
}

static void unlink_nodes(struct vs_sim_node *from, struct vs_sim_node *to)
{
    vs_sim_nodes_remove(&to->before, from);
    vs_sim_nodes_remove(&from->after, to);
}

/* Programmatic dependencies (cuda.h, CUgraphEdgeData) let a kernel begin before another has ended. It begins
 * after it here, which they allow. */
bool vs_sim_edge_valid(CUgraphEdgeData edge, const struct vs_sim_node *from, CUgraphNodeType to)
{
    CUgraphEdgeData known = {.from_port = edge.from_port, .type = edge.type};
    if (vs_sim_edge_plain(edge))
        return true;
    if (memcmp(&edge, &known, sizeof edge) || from->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return false;
    return edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
               ? to == CU_GRAPH_NODE_TYPE_KERNEL &&
                     (edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
                      edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
               : edge.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT &&
                     edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
}

static bool all_valid(const struct vs_sim_graph *graph, const struct vs_sim_nodes *list,
                      CUgraphNodeType to)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct vs_sim_node *n = list->at[i];
        if (!n || n->mark != VS_SIM_NODE_MARK || n->graph != graph ||
            !vs_sim_edge_valid(vs_sim_edge_at(list, i), n, to))
            return false;
        for (size_t j = 0; j < i; j++)
            if (n == list->at[j])
                return false;
    }
    return true;
}

CUresult vs_sim_node_new(struct vs_sim_graph *graph, CUgraphNodeType type,
                         const struct vs_sim_nodes *before, struct vs_sim_node **node)
{
    if ((before->count && !before->at) || !all_valid(graph, before, type))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_node *n = vs_sim_kept_take(&kept_nodes, sizeof *n, NULL);
    memset(n, 0, sizeof *n);
    n->mark = VS_SIM_NODE_MARK;
    n->type = type;
    n->graph = graph;
    n->id = n->origin = next_node_id++;
    n->op.kind = VS_SIM_OP_NOTHING;
    n->op.deps = n->op.deps_inline;
    vs_sim_nodes_add(&graph->nodes, n);
    for (size_t i = 0; i < before->count; i++)
        link_nodes(before->at[i], n, vs_sim_edge_at(before, i));
    *node = n;
    return CUDA_SUCCESS;
}

/* Frees the node's content, not its edges. */
void vs_sim_node_empty(struct vs_sim_node *n)
{
    vs_sim_op_clean(&n->op);
    if (n->type == CU_GRAPH_NODE_TYPE_KERNEL)
        free(n->u.params);
    if (n->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        free(n->u.batch);
    if (n->type == CU_GRAPH_NODE_TYPE_GRAPH && n->u.child)
        vs_sim_graph_free(n->u.child);
    if (n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        free(n->u.alloc.access);
        if (n->u.alloc.block)
            vs_sim_block_release(n->u.alloc.block);
    }
    memset(&n->u, 0, sizeof n->u);
}

void vs_sim_node_free(struct vs_sim_node *n)
{
    vs_sim_node_empty(n);
    while (n->before.count)
        unlink_nodes(n->before.at[0], n);
    while (n->after.count)
        unlink_nodes(n, n->after.at[0]);
    vs_sim_nodes_remove(&n->graph->nodes, n);
    vs_sim_nodes_free(&n->before);
    vs_sim_nodes_free(&n->after);
    n->mark = VS_SIM_GRAPH_GONE;
    vs_sim_kept_give(&kept_nodes, n);
}

void vs_sim_access_copy(struct vs_sim_alloc_params *a)
{
    size_t bytes = a->params.accessDescCount * sizeof *a->access;
    a->access = bytes ? vs_sim_dup(a->params.accessDescs, bytes) : NULL;
    a->params.accessDescs = a->access;
}

void vs_sim_node_fill(struct vs_sim_node *to, const struct vs_sim_node *from)
{
    vs_sim_node_empty(to);
    to->ctx = from->ctx;
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        to->u.alloc = from->u.alloc;
        vs_sim_block_hold(to->u.alloc.block);
        vs_sim_access_copy(&to->u.alloc);
        return;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        to->u.child = vs_sim_graph_clone(from->u.child, to->graph->private_clone);
        to->u.child->parent = to;
        break;
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: break; /* created on request */
    default: to->u = from->u;
    }
    vs_sim_op_copy(&to->op, &from->op);
}

/* ---- graphs ---- */

struct vs_sim_graph *vs_sim_graph_new(void)
{
    struct vs_sim_graph *g = vs_sim_kept_take(&kept_graphs, sizeof *g, NULL);
    *g = (struct vs_sim_graph){.mark = VS_SIM_GRAPH_MARK, .id = next_graph_id++};
    return g;
}

void vs_sim_graph_free(struct vs_sim_graph *g)
{
    while (g->nodes.count)
        vs_sim_node_free(g->nodes.at[g->nodes.count - 1]);
    vs_sim_nodes_free(&g->nodes);
    vs_sim_objects_release(g, NULL, 0);
    g->mark = VS_SIM_GRAPH_GONE;
    vs_sim_kept_give(&kept_graphs, g);
}

struct vs_sim_graph *vs_sim_graph_clone(const struct vs_sim_graph *from, bool private_clone)
{
    struct vs_sim_graph *g = vs_sim_graph_new();
    g->private_clone = private_clone;
    g->origin = from->id;
    for (size_t i = 0; i < from->nodes.count; i++) {
        struct vs_sim_node *n = from->nodes.at[i], *copy;
        n->walk = i; /* its position in the list */
        vs_sim_node_new(g, n->type, &(struct vs_sim_nodes){0}, &copy);
        copy->origin = n->id;
        vs_sim_node_fill(copy, n);
    }
    for (size_t i = 0; i < from->nodes.count; i++) {
        const struct vs_sim_nodes *before = &from->nodes.at[i]->before;
        for (size_t j = 0; j < before->count; j++)
            link_nodes(g->nodes.at[before->at[j]->walk], g->nodes.at[i], before->edges[j]);
    }
    vs_sim_objects_copy(g, from);
    g->has_memory = from->has_memory;
    return g;
}

struct vs_sim_node *vs_sim_node_origin(const struct vs_sim_graph *graph, uint64_t origin)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct vs_sim_node *n = graph->nodes.at[i];
        if (n->origin == origin)
            return n;
        if (n->type == CU_GRAPH_NODE_TYPE_GRAPH && (n = vs_sim_node_origin(n->u.child, origin)))
            return n;
    }
    return NULL;
}

void vs_sim_graph_sort(const struct vs_sim_graph *graph, struct vs_sim_nodes *list)
{
    list->count = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct vs_sim_node *n = graph->nodes.at[i];
        n->walk = n->before.count; /* dependencies not yet in the list */
        if (!n->walk)
            vs_sim_nodes_add(list, n);
    }
    for (size_t done = 0; done < list->count; done++) {
        const struct vs_sim_nodes *after = &list->at[done]->after;
        for (size_t i = 0; i < after->count; i++)
            if (!--after->at[i]->walk)
                vs_sim_nodes_add(list, after->at[i]);
    }
}

CUresult cuGraphCreate_locked(CUgraph *phGraph, unsigned int flags)
{
    if (!phGraph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)vs_sim_graph_new();
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy_locked(struct vs_sim_graph *g)
{
    if (g->parent || g->captures)
        return CUDA_ERROR_INVALID_VALUE;
    vs_sim_graph_free(g);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone_locked(CUgraph phGraphClone[static 1], struct vs_sim_graph *g)
{
    if (g->has_memory)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraphClone = (CUgraph)vs_sim_graph_clone(g, false);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone_locked(CUgraphNode phNode[static 1], struct vs_sim_node *n,
                                       struct vs_sim_graph *clone)
{
    struct vs_sim_node *found = clone->origin ? vs_sim_node_origin(clone, n->id) : NULL;
    if (found)
        *phNode = (CUgraphNode)found;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphDestroyNode_locked(struct vs_sim_node *n)
{
    if (n->graph->captures || n->graph->has_memory)
        return CUDA_ERROR_INVALID_VALUE;
    vs_sim_node_free(n);
    return CUDA_SUCCESS;
}

VS_SIM_STORES(cuGraphNodeGetType_locked, (struct vs_sim_node *n, CUgraphNodeType type[static 1]),
              *type = n->type)

/* ---- edges ---- */

/* Has *b* the edge *edge* from *a*? */
static bool has_edge(const struct vs_sim_node *b, const struct vs_sim_node *a, CUgraphEdgeData edge)
{
    for (size_t i = 0; i < b->before.count; i++)
        if (b->before.at[i] == a)
            return !memcmp(&b->before.edges[i], &edge, sizeof edge);
    return false;
}

static CUresult edges_check(struct vs_sim_graph *g, const CUgraphNode *from, const CUgraphNode *to,
                            const CUgraphEdgeData *data, size_t count, bool present)
{
    if (count && (!from || !to))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct vs_sim_node *a = vs_sim_node_of(from[i]), *b = vs_sim_node_of(to[i]);
        CUgraphEdgeData edge = data ? data[i] : plain;
        if (!a || !b || a == b || a->graph != g || b->graph != g ||
            (present ? !has_edge(b, a, edge)
                     : vs_sim_nodes_has(&b->before, a) || !vs_sim_edge_valid(edge, a, b->type)))
            return CUDA_ERROR_INVALID_VALUE;
        for (size_t j = 0; j < i; j++)
            if (from[i] == from[j] && to[i] == to[j])
                return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2_locked(struct vs_sim_graph *g, const CUgraphNode *from,
                                          const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                          size_t numDependencies)
{
    CUresult e = edges_check(g, from, to, edgeData, numDependencies, false);
    for (size_t i = 0; i < numDependencies && !e; i++)
        link_nodes((struct vs_sim_node *)from[i], (struct vs_sim_node *)to[i],
                   edgeData ? edgeData[i] : plain);
    return e;
}

CUresult cuGraphRemoveDependencies_v2_locked(struct vs_sim_graph *g, const CUgraphNode *from,
                                             const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                             size_t numDependencies)
{
    CUresult e = edges_check(g, from, to, edgeData, numDependencies, true);
    if (!e && g->has_memory && numDependencies)
        e = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies && !e; i++)
        unlink_nodes((struct vs_sim_node *)from[i], (struct vs_sim_node *)to[i]);
    return e;
}

/* ---- lists for the program ---- */

/* The two-step protocol: without *out* only the count; with it as many as fit, the rest of *out*
 * NULL. Without *data*, all their edges must be ordinary. */
static CUresult give_edges(const struct vs_sim_nodes *list, CUgraphNode *out, CUgraphEdgeData *data,
                           size_t *count)
{
    if (!count || (data && !out))
        return CUDA_ERROR_INVALID_VALUE;
    size_t room = out ? *count : 0;
    for (size_t i = 0; i < room && i < list->count && !data; i++)
        if (!vs_sim_edge_plain(list->edges[i]))
            return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = 0; i < room; i++) {
        out[i] = i < list->count ? (CUgraphNode)list->at[i] : NULL;
        if (data)
            data[i] = i < list->count ? list->edges[i] : plain;
    }
    *count = out && room < list->count ? room : list->count;
    return CUDA_SUCCESS;
}

static CUresult give(const struct vs_sim_nodes *list, CUgraphNode *out, size_t *count)
{
    return give_edges(list, out, NULL, count);
}

VS_SIM_AS(cuGraphGetNodes_locked, (struct vs_sim_graph *g, CUgraphNode *nodes, size_t *numNodes),
          give(&g->nodes, nodes, numNodes))

CUresult cuGraphGetRootNodes_locked(struct vs_sim_graph *g, CUgraphNode *rootNodes,
                                    size_t *numRootNodes)
{
    struct vs_sim_nodes roots = {0};
    for (size_t i = 0; i < g->nodes.count; i++)
        if (!g->nodes.at[i]->before.count)
            vs_sim_nodes_add(&roots, g->nodes.at[i]);
    CUresult e = give(&roots, rootNodes, numRootNodes);
    vs_sim_nodes_free(&roots);
    return e;
}

CUresult cuGraphGetEdges_v2_locked(struct vs_sim_graph *g, CUgraphNode *from, CUgraphNode *to,
                                   CUgraphEdgeData *edgeData, size_t numEdges[static 1])
{
    struct vs_sim_nodes ends[2] = {{0}, {0}};
    if (!from != !to || (edgeData && !from))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t j = 0; j < g->nodes.at[i]->before.count; j++) {
            const struct vs_sim_nodes *before = &g->nodes.at[i]->before;
            vs_sim_nodes_add_edge(&ends[0], before->at[j], before->edges[j]);
            vs_sim_nodes_add(&ends[1], g->nodes.at[i]);
        }
    size_t room = *numEdges;
    CUresult e = give_edges(&ends[0], from, edgeData, &room);
    if (!e)
        give(&ends[1], to, numEdges);
    vs_sim_nodes_free(&ends[0]);
    vs_sim_nodes_free(&ends[1]);
    return e;
}

VS_SIM_AS(cuGraphNodeGetDependencies_v2_locked,
          (struct vs_sim_node *n, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
           size_t *numDependencies),
          give_edges(&n->before, dependencies, edgeData, numDependencies))
VS_SIM_AS(cuGraphNodeGetDependentNodes_v2_locked,
          (struct vs_sim_node *n, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
           size_t *numDependentNodes),
          give_edges(&n->after, dependentNodes, edgeData, numDependentNodes))

/* ---- entries: the lock is held for all of the call ---- */

#define VS_ENTRY(...)
#define VS_LOCKED(symbol, parameters, variables, before, after, definition, call)              \
    CUresult symbol parameters                                                                 \
    {                                                                                          \
        CUresult entered;                                                                      \
        variables                                                                              \
        if before                                                                              \
            return entered;                                                                    \
        vs_sim_graph_lock();                                                                   \
        return vs_sim_graph_leave(after ? entered : call);                                     \
    }
#include "generated/vs_sim_enter_table.h"
