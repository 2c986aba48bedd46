/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs: created as a private clone with a launch plan, so later changes of the graph
 * do not affect them; updated node by node, or as a whole from a graph of the same shape. Permitted
 * changes follow cuda.h, cuGraphExecUpdate. */
#include "simulator/graph/vs_sim_graph.h"

#include <stdlib.h>
#include <string.h>

static struct vs_sim_kept execs = {.mu = PTHREAD_MUTEX_INITIALIZER};

struct vs_sim_graph_exec *vs_sim_exec_of(CUgraphExec handle)
{
    struct vs_sim_graph_exec *x = (struct vs_sim_graph_exec *)handle;
    return x && x->mark == VS_SIM_EXEC_MARK ? x : NULL;
}

/* ---- creation ---- */

static void exec_free(struct vs_sim_graph_exec *x)
{
    vs_sim_exec_close(x);
    vs_sim_objects_release(x->graph, x->last_stream, x->last_seq);
    vs_sim_graph_free(x->graph);
    x->mark = VS_SIM_GRAPH_GONE;
    vs_sim_kept_give(&execs, x);
}

/* One node of a cycle, or NULL. */
static struct vs_sim_node *in_circle(const struct vs_sim_graph *g)
{
    struct vs_sim_nodes order = {0};
    struct vs_sim_node *found = NULL;
    vs_sim_graph_sort(g, &order);
    for (size_t i = 0; i < g->nodes.count && !found; i++) {
        struct vs_sim_node *n = g->nodes.at[i];
        if (n->walk)
            found = n;
        else if (n->type == CU_GRAPH_NODE_TYPE_GRAPH)
            found = in_circle(n->u.child);
    }
    vs_sim_nodes_free(&order);
    return found;
}

/* Cooperative kernels must fit on the device, as at a launch. */
static CUresult kernels_fit(const struct vs_sim_graph *g)
{
    CUresult e = CUDA_SUCCESS;
    for (size_t i = 0; i < g->nodes.count && !e; i++) {
        const struct vs_sim_node *n = g->nodes.at[i];
        if (n->type == CU_GRAPH_NODE_TYPE_KERNEL)
            e = vs_sim_launch_fits(&n->op.u.launch);
        else if (n->type == CU_GRAPH_NODE_TYPE_GRAPH)
            e = kernels_fit(n->u.child);
    }
    return e;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, uint64_t flags, bool with_params,
                            CUgraphNode *bad)
{
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    struct vs_sim_graph *g = vs_sim_graph_of(graph);
    if (!out || !g || g->captures || g->moved || (g->has_memory && g->execs))
        return vs_sim_graph_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                     CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY |
                     (with_params ? (uint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD : 0);
    bool device = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if ((flags & ~known) || (device && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)))
        e = CUDA_ERROR_INVALID_VALUE;
    else if (device)
        e = CUDA_ERROR_NOT_SUPPORTED;
    if (!e && (*bad = (CUgraphNode)in_circle(g)))
        e = CUDA_ERROR_INVALID_VALUE;
    if (!e)
        e = kernels_fit(g);
    if (e)
        return vs_sim_graph_leave(e);
    struct vs_sim_graph_exec *x = vs_sim_kept_take(&execs, sizeof *x, NULL);
    memset(x, 0, sizeof *x);
    x->graph = vs_sim_graph_clone(g, true);
    vs_sim_exec_plan(x);
    x->mark = VS_SIM_EXEC_MARK;
    x->flags = flags & ~(uint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    x->source = g;
    x->source_id = g->id;
    g->execs++;
    *out = (CUgraphExec)x;
    return vs_sim_graph_leave(CUDA_SUCCESS);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                     unsigned long long flags)
{
    CUgraphNode bad = NULL;
    return instantiate(phGraphExec, hGraph, flags, false, &bad);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                               char *logBuffer, size_t bufferSize)
{
    CUgraphNode bad = NULL;
    CUresult e = instantiate(phGraphExec, hGraph, 0, false, &bad);
    if (phErrorNode)
        *phErrorNode = bad;
    if (logBuffer && bufferSize)
        *logBuffer = '\0';
    return e;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    CUgraphNode bad = NULL;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = instantiate(phGraphExec, hGraph, p->flags, true, &bad);
    p->hErrNode_out = bad;
    p->result_out = !e    ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                    : bad ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                          : CUDA_GRAPH_INSTANTIATE_ERROR;
    if (e || !(p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
        return e;
    e = cuGraphUpload(*phGraphExec, p->hUploadStream);
    if (e) {
        p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
        cuGraphExecDestroy(*phGraphExec);
    }
    return e;
}

CUresult cuGraphExecDestroy_locked(struct vs_sim_graph_exec *x)
{
    if (x->source->id == x->source_id && x->source->mark == VS_SIM_GRAPH_MARK)
        x->source->execs--;
    exec_free(x);
    return CUDA_SUCCESS;
}

VS_SIM_STORES(cuGraphExecGetFlags_locked, (struct vs_sim_graph_exec *x, cuuint64_t flags[static 1]),
              *flags = x->flags)

/* ---- permitted changes ---- */

static bool same_place(const struct vs_sim_end *a, const struct vs_sim_end *b)
{
    return a->memory == b->memory && a->device == b->device;
}

/* cuda.h, cuGraphExecBatchMemOpNodeSetParams: addresses, values and conditions. */
static bool same_operations(const struct vs_sim_values *a, const struct vs_sim_values *b)
{
    for (unsigned i = 0; i < a->count && a->count == b->count; i++) {
        const struct vs_sim_value *v = &a->list[i], *w = &b->list[i];
        if (v->params.operation != w->params.operation)
            return false;
        if (v->write ? v->params.writeValue.flags != w->params.writeValue.flags
                     : !v->bytes && v->params.memoryBarrier.flags != w->params.memoryBarrier.flags)
            return false;
    }
    return a->count == b->count;
}

static CUgraphExecUpdateResult compatible(const struct vs_sim_node *old,
                                          const struct vs_sim_node *new)
{
    const struct vs_sim_copy *c = &old->op.u.copy, *d = &new->op.u.copy;
    const struct vs_sim_set *s = &old->op.u.set, *t = &new->op.u.set;
    bool ok = true;
    switch (old->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (old->op.u.launch.attributes.cooperative != new->op.u.launch.attributes.cooperative)
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        return old->ctx == new->ctx ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                    : CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        ok = old->ctx == new->ctx && same_place(&c->from, &d->from) && same_place(&c->to, &d->to) &&
             c->height == d->height && c->depth == d->depth &&
             (c->height * c->depth == 1 || c->width == d->width);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        ok = old->ctx == new->ctx && same_place(&s->to, &t->to) && s->height == t->height &&
             (s->height == 1 || (s->width == t->width && s->element == t->element &&
                                 s->to.pitch == t->to.pitch));
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        ok = old->ctx == new->ctx && same_operations(&old->op.u.values, &new->op.u.values);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: /* their addresses belong to the nodes */
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return old->origin == new->id ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                      : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    default: break;
    }
    return ok ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/* ---- one node ---- */

/* The branches were planned for the previous contexts of the nodes. */
static void replan(struct vs_sim_graph_exec *x) { x->branch_ctx = NULL; }

CUresult vs_sim_exec_change(CUgraphExec exec, CUgraphNode handle, const CUgraphNodeParams *p)
{
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    struct vs_sim_graph_exec *x = vs_sim_exec_of(exec);
    struct vs_sim_node *n = vs_sim_node_of(handle);
    n = x && n ? vs_sim_node_origin(x->graph, n->id) : NULL;
    if (!n)
        return vs_sim_graph_leave(CUDA_ERROR_INVALID_VALUE);
    struct vs_sim_node changed = {.type = n->type, .graph = n->graph, .ctx = n->ctx};
    changed.op.deps = changed.op.deps_inline;
    changed.op.kind = VS_SIM_OP_NOTHING;
    e = vs_sim_node_set(&changed, p);
    if (!e && n->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        changed.op.u.launch.attributes = n->op.u.launch.attributes;
        e = vs_sim_launch_fits(&changed.op.u.launch);
    }
    bool flat = n->type != CU_GRAPH_NODE_TYPE_MEMCPY ||
                n->op.u.copy.height * n->op.u.copy.depth == 1;
    if (!e && (!flat || compatible(n, &changed)))
        e = CUDA_ERROR_INVALID_VALUE;
    if (!e)
        vs_sim_node_fill(n, &changed);
    vs_sim_node_empty(&changed);
    replan(x);
    return vs_sim_graph_leave(e);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams *nodeParams)
{
    if (!vs_sim_node_params_ok(nodeParams))
        return CUDA_ERROR_INVALID_VALUE;
    return nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH
               ? cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->graph.graph)
               : vs_sim_exec_change(hGraphExec, hNode, nodeParams);
}

/* The counterpart of *node* that can be disabled, or NULL. */
static struct vs_sim_node *can_disable(const struct vs_sim_graph_exec *x, const struct vs_sim_node *node)
{
    struct vs_sim_node *n = vs_sim_node_origin(x->graph, node->id);
    return n && (n->type == CU_GRAPH_NODE_TYPE_KERNEL || n->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                 n->type == CU_GRAPH_NODE_TYPE_MEMSET)
               ? n
               : NULL;
}

CUresult cuGraphNodeSetEnabled_locked(struct vs_sim_graph_exec *x, struct vs_sim_node *node,
                                      unsigned int isEnabled)
{
    struct vs_sim_node *n = can_disable(x, node);
    if (!n)
        return CUDA_ERROR_INVALID_VALUE;
    n->disabled = !isEnabled;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled_locked(struct vs_sim_graph_exec *x, struct vs_sim_node *node,
                                      unsigned int isEnabled[static 1])
{
    const struct vs_sim_node *n = can_disable(x, node);
    if (!n)
        return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = !n->disabled;
    return CUDA_SUCCESS;
}

/* ---- the whole graph ---- */

static CUgraphExecUpdateResult fail(CUgraphExecUpdateResultInfo *info, CUgraphExecUpdateResult why,
                                    struct vs_sim_node *node, struct vs_sim_node *from)
{
    info->result = why;
    info->errorNode = (CUgraphNode)node;
    info->errorFromNode = (CUgraphNode)from;
    return why;
}

/* Nodes without dependents are paired in order of creation, others in order of the edges that lead
 * to them; `walk` of a node of *new* is its partner. *todo* is a list of paired nodes. */
static CUgraphExecUpdateResult pair_before(struct vs_sim_nodes *todo, struct vs_sim_node *new,
                                           CUgraphExecUpdateResultInfo *info)
{
    struct vs_sim_node *old = (struct vs_sim_node *)new->walk; /* NOLINT: an address */
    if (old->type != new->type)
        return fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, new, NULL);
    if (old->before.count != new->before.count)
        return fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new, NULL);
    for (size_t i = 0; i < new->before.count; i++) {
        struct vs_sim_node *a = old->before.at[i], *b = new->before.at[i];
        if (b->walk && b->walk != (size_t)a)
            return fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new, b);
        if (b->walk)
            continue;
        b->walk = (size_t)a;
        vs_sim_nodes_add(todo, b);
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static struct vs_sim_node *next_exit(const struct vs_sim_graph *g, size_t *at)
{
    while (*at < g->nodes.count) {
        struct vs_sim_node *n = g->nodes.at[(*at)++];
        if (!n->after.count)
            return n;
    }
    return NULL;
}

static CUgraphExecUpdateResult pair(const struct vs_sim_graph *old, const struct vs_sim_graph *new,
                                    struct vs_sim_nodes *todo, CUgraphExecUpdateResultInfo *info)
{
    size_t i = 0, j = 0;
    struct vs_sim_node *a, *b;
    CUgraphExecUpdateResult r = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    if (old->nodes.count != new->nodes.count)
        return fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    for (size_t k = 0; k < new->nodes.count; k++)
        new->nodes.at[k]->walk = 0;
    do {
        a = next_exit(old, &i);
        b = next_exit(new, &j);
        if (!a != !b)
            return fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b, NULL);
        if (b) {
            b->walk = (size_t)a;
            vs_sim_nodes_add(todo, b);
        }
    } while (b);
    for (size_t k = 0; k < todo->count && !r; k++)
        r = pair_before(todo, todo->at[k], info);
    if (!r && todo->count != new->nodes.count)
        return fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    return r;
}

/* Checks everything, and with *apply* changes what an earlier call checked. */
static CUgraphExecUpdateResult update(const struct vs_sim_graph *old,
                                      const struct vs_sim_graph *new, bool apply,
                                      CUgraphExecUpdateResultInfo *info)
{
    struct vs_sim_nodes todo = {0};
    CUgraphExecUpdateResult r = pair(old, new, &todo, info);
    for (size_t i = 0; i < todo.count && !r; i++) {
        struct vs_sim_node *b = todo.at[i], *a = (struct vs_sim_node *)b->walk;
        bool memory =
            b->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || b->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
        if (b->type == CU_GRAPH_NODE_TYPE_GRAPH)
            r = update(a->u.child, b->u.child, apply, info);
        else if (!apply && (r = compatible(a, b)))
            fail(info, r, b, NULL);
        else if (apply && !memory)
            vs_sim_node_fill(a, b);
    }
    vs_sim_nodes_free(&todo);
    return r;
}

static CUresult update_from(struct vs_sim_graph_exec *x, const struct vs_sim_graph *old,
                            const struct vs_sim_graph *new, CUgraphExecUpdateResultInfo *info)
{
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    CUgraphExecUpdateResult r = update(old, new, false, info);
    if (!r)
        r = update(old, new, true, info);
    replan(x);
    return r ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2_locked(CUgraphExec hGraphExec, CUgraph hGraph,
                                     CUgraphExecUpdateResultInfo *resultInfo)
{
    struct vs_sim_graph_exec *x = vs_sim_exec_of(hGraphExec);
    struct vs_sim_graph *g = vs_sim_graph_of(hGraph);
    if (!resultInfo || !x || !g || g->moved || g->captures) {
        if (resultInfo)
            fail(resultInfo, CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return update_from(x, x->graph, g, resultInfo);
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info;
    CUresult e = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return e;
}

CUresult cuGraphExecChildGraphNodeSetParams_locked(struct vs_sim_graph_exec *x,
                                                   struct vs_sim_node *node, struct vs_sim_graph *g)
{
    CUgraphExecUpdateResultInfo info;
    const struct vs_sim_node *n = vs_sim_node_origin(x->graph, node->id);
    if (!n || g->captures || n->type != CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    return update_from(x, n->u.child, g, &info);
}

/* ---- ids in activity records, for CUPTI (vs_sim_activity.h) ---- */

VS_SIM_EXPORT vramscope_sim_graph_id_fn vramscopeSimGraphId;

CUresult vramscopeSimGraphId(enum vs_sim_graph_handle what, const void *handle, uint64_t *id)
{
    const struct vs_sim_node *node = NULL;
    const struct vs_sim_graph *graph = NULL;
    const struct vs_sim_graph_exec *exec;
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    if (what == VS_SIM_HANDLE_NODE)
        node = vs_sim_node_of((CUgraphNode)handle);
    else if (what == VS_SIM_HANDLE_GRAPH)
        graph = vs_sim_graph_of((CUgraph)handle);
    else if ((exec = vs_sim_exec_of((CUgraphExec)handle)))
        graph = exec->graph;
    if (node || graph)
        *id = node ? node->id : graph->id;
    return vs_sim_graph_leave(node || graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
