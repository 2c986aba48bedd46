/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of executable graphs. The nodes, including those of child graphs, are put in one order,
 * dependencies first, and distributed to branches: a node continues the branch of a dependency if
 * it is the first to do so, else it begins another. The first branch is the stream of the launch,
 * the others are streams owned by the executable graph, so branches run concurrently. Each launch
 * queues copies of the nodes' work with waits for numbers of other branches; all of them wait for
 * the start of the launch, and its end waits for all of them. */
#include "simulator/graph/vs_sim_graph.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>

/* ---- the plan ---- */

#define NO_STEP UINT32_MAX

struct graph_launch_plan {
    struct vs_sim_graph_exec *exec;
    size_t step_max;
};

static void need(struct graph_launch_plan *p, size_t step)
{
    struct vs_sim_graph_exec *x = p->exec;
    vs_sim_room(&x->needs, x->need_count, &x->need_max, sizeof *x->needs);
    x->needs[x->need_count++] = (uint32_t)step;
}

/* The dependencies of *n*; a root of a child graph has those of the child graph node. */
static void need_all(struct graph_launch_plan *p, const struct vs_sim_node *n)
{
    while (!n->before.count && n->graph->parent)
        n = n->graph->parent;
    for (size_t i = 0; i < n->before.count; i++)
        need(p, n->before.at[i]->walk);
}

static void plan_graph(struct graph_launch_plan *p, struct vs_sim_graph *g)
{
    struct vs_sim_graph_exec *x = p->exec;
    struct vs_sim_nodes order = {0};
    vs_sim_graph_sort(g, &order);
    for (size_t i = 0; i < order.count; i++) {
        struct vs_sim_node *n = order.at[i];
        bool child = n->type == CU_GRAPH_NODE_TYPE_GRAPH && n->u.child->nodes.count;
        if (child)
            plan_graph(p, n->u.child);
        vs_sim_room(&x->steps, x->step_count, &p->step_max, sizeof *x->steps);
        struct vs_sim_step *s = &x->steps[x->step_count];
        *s = (struct vs_sim_step){.node = n, .first = (uint32_t)x->need_count};
        for (size_t j = 0; child && j < n->u.child->nodes.count; j++)
            if (!n->u.child->nodes.at[j]->after.count)
                need(p, n->u.child->nodes.at[j]->walk);
        if (!child)
            need_all(p, n);
        n->walk = x->step_count++; /* from here on, its position in the plan */
        s->count = (uint32_t)x->need_count - s->first;
    }
    vs_sim_nodes_free(&order);
}

void vs_sim_exec_plan(struct vs_sim_graph_exec *x)
{
    struct graph_launch_plan p = {.exec = x};
    plan_graph(&p, x->graph);
}

/* ---- branches ---- */

static uint32_t branch_for(struct vs_sim_graph_exec *x, const struct vs_sim_step *s,
                           const uint32_t *tails)
{
    struct vs_sim_context *ctx = s->node->ctx ? s->node->ctx : x->branch_ctx;
    bool anywhere = !s->node->ctx && s->node->op.kind == VS_SIM_OP_NOTHING;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t b = x->steps[x->needs[s->first + i]].branch;
        if (tails[b] == x->needs[s->first + i] && (anywhere || x->branches[b].ctx == ctx))
            return b;
    }
    for (uint32_t b = 0; b < x->branch_count; b++)
        if (tails[b] == NO_STEP && x->branches[b].ctx == ctx)
            return b;
    if (x->branch_count < VS_SIM_BRANCHES_MAX) {
        x->branches[x->branch_count] = (struct vs_sim_branch){.ctx = ctx};
        return x->branch_count++;
    }
    uint32_t best = 0; /* the least recently used one */
    for (uint32_t b = 1; b < x->branch_count; b++)
        if (x->branches[b].ctx == ctx && (x->branches[best].ctx != ctx || tails[b] < tails[best]))
            best = b;
    return best;
}

static void branches_close(struct vs_sim_graph_exec *x)
{
    for (uint32_t b = 1; b < x->branch_count; b++) {
        struct vs_sim_stream *s = x->branches[b].stream;
        if (s && s->id == x->branches[b].stream_id &&
            atomic_load(&s->mark) == VS_SIM_STREAM_MARK)
            vs_sim_stream_close(s);
    }
    x->branch_count = 0;
}

void vs_sim_exec_close(struct vs_sim_graph_exec *x)
{
    branches_close(x);
    free(x->steps);
    free(x->needs);
    x->steps = NULL;
    x->needs = NULL;
    x->step_count = x->need_count = x->need_max = 0;
}

/* With nodes of more than VS_SIM_BRANCHES_MAX contexts, some would run in a wrong one. */
static CUresult branches_plan(struct vs_sim_graph_exec *x, struct vs_sim_context *ctx)
{
    uint32_t tails[VS_SIM_BRANCHES_MAX];
    if (x->branch_ctx == ctx && x->branch_count)
        return CUDA_SUCCESS;
    branches_close(x);
    for (size_t b = 0; b < VS_SIM_BRANCHES_MAX; b++)
        tails[b] = NO_STEP;
    x->branch_ctx = ctx;
    x->branches[0] = (struct vs_sim_branch){.ctx = ctx};
    x->branch_count = 1;
    for (size_t i = 0; i < x->step_count; i++) {
        struct vs_sim_step *s = &x->steps[i];
        s->branch = branch_for(x, s, tails);
        if (s->node->ctx && s->node->ctx != x->branches[s->branch].ctx) {
            branches_close(x);
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        tails[s->branch] = (uint32_t)i;
    }
    return CUDA_SUCCESS;
}

static CUresult branches_open(struct vs_sim_graph_exec *x, struct vs_sim_stream *first)
{
    x->branches[0].stream = first;
    for (uint32_t i = 0; i < x->branch_count; i++) {
        struct vs_sim_branch *b = &x->branches[i];
        if (!atomic_load(&b->ctx->alive))
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        bool stale = b->stream && i && (b->stream->id != b->stream_id ||
                                        b->stream->epoch != atomic_load(&b->ctx->epoch));
        if (b->stream && !stale)
            continue;
        b->stream = vs_sim_stream_new(b->ctx, CU_STREAM_NON_BLOCKING, first->priority);
        b->stream_id = b->stream->id;
    }
    return CUDA_SUCCESS;
}

/* ---- one launch ---- */

struct launch {
    struct vs_sim_graph_exec *exec;
    uint32_t correlation;
    uint64_t begin;                      /* number of the start, in the first branch */
    uint64_t newest[VS_SIM_BRANCHES_MAX]; /* number of each branch's newest step; 0: none yet */
    uint64_t *numbers;                   /* of each step in its branch's stream */
};

/* Memory that was reallocated since the node was created is used anyway, as a device does; freed
 * memory is an illegal address. */
static void refresh(struct vs_sim_end *end)
{
    struct vs_sim_range range;
    if (!end->id)
        return;
    end->id = UINT64_MAX;
    if (!vs_sim_range_find(end->base, &range))
        return;
    end->id = range.kind == VS_SIM_RANGE_POOL ? 0 : range.id;
    end->pool = range.kind == VS_SIM_RANGE_POOL ? range.pool : NULL;
}

static void op_fill(struct vs_sim_op *op, const struct vs_sim_node *n)
{
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        op->kind = VS_SIM_OP_MAP;
        op->u.block = n->u.alloc.block;
        return;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        op->u.block = vs_sim_block_at(n->u.freed);
        op->kind = op->u.block ? VS_SIM_OP_UNMAP : VS_SIM_OP_NOTHING;
        return;
    default: break;
    }
    if (n->disabled)
        return;
    vs_sim_op_copy(op, &n->op);
    if (op->kind == VS_SIM_OP_COPY) {
        refresh(&op->u.copy.from);
        refresh(&op->u.copy.to);
    }
    if (op->kind == VS_SIM_OP_SET)
        refresh(&op->u.set.to);
    for (unsigned i = 0; op->kind == VS_SIM_OP_VALUES && i < op->u.values.count; i++)
        refresh(&op->u.values.list[i].at);
}

/* Only the newest required step of a branch matters, and none of the own branch. */
static void op_wait(const struct launch *l, const struct vs_sim_step *s, struct vs_sim_op *op)
{
    const struct vs_sim_graph_exec *x = l->exec;
    struct vs_sim_event *event;
    if (s->branch && !l->newest[s->branch])
        vs_sim_op_depend(op, x->branches[0].stream, l->begin);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t other = x->needs[s->first + i], b = x->steps[other].branch;
        if (b != s->branch)
            vs_sim_op_depend(op, x->branches[b].stream, l->numbers[other]);
    }
    if (s->node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT &&
        vs_sim_event_of(s->node->u.event, &event) == CUDA_SUCCESS)
        vs_sim_event_depend(event, op);
}

static CUresult launch_step(struct launch *l, size_t at)
{
    const struct vs_sim_step *s = &l->exec->steps[at];
    struct vs_sim_stream *stream = l->exec->branches[s->branch].stream;
    struct vs_sim_event *event = NULL;
    bool records = s->node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD &&
                   vs_sim_event_of(s->node->u.event, &event) == CUDA_SUCCESS;
    struct vs_sim_op *op =
        vs_sim_op_new_at_once(stream, records ? VS_SIM_OP_RECORD : VS_SIM_OP_NOTHING);
    if (!records)
        op_fill(op, s->node);
    op_wait(l, s, op);
    op->correlation = l->correlation;
    op->graph = l->exec->graph->id;
    op->graph_node = s->node->origin;
    CUresult e = records ? vs_sim_event_submit(event, stream, op, &l->numbers[at])
                         : vs_sim_submit(stream, op, &l->numbers[at]);
    if (!e)
        l->newest[s->branch] = l->numbers[at];
    return e;
}

static CUresult launch_begin(struct launch *l, struct vs_sim_stream *stream)
{
    struct vs_sim_graph_exec *x = l->exec;
    struct vs_sim_op *op = vs_sim_op_new_at_once(stream, VS_SIM_OP_NOTHING);
    if (x->last_stream && x->last_stream != stream)
        vs_sim_op_depend(op, x->last_stream, x->last_seq);
    return vs_sim_submit(stream, op, &l->begin);
}

static CUresult launch_end(struct launch *l, struct vs_sim_stream *stream)
{
    struct vs_sim_graph_exec *x = l->exec;
    struct vs_sim_op *op = vs_sim_op_new_at_once(stream, VS_SIM_OP_NOTHING);
    for (uint32_t b = 1; b < x->branch_count; b++)
        if (l->newest[b])
            vs_sim_op_depend(op, x->branches[b].stream, l->newest[b]);
    CUresult e = vs_sim_submit(stream, op, &x->last_seq);
    if (!e)
        x->last_stream = stream;
    return e;
}

static uint32_t correlate(const struct vs_sim_graph_exec *x)
{
    static const enum vs_sim_activity_kind kinds[] = {
        VS_SIM_ACTIVITY_KERNEL, VS_SIM_ACTIVITY_COPY, VS_SIM_ACTIVITY_SET};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && x->step_count; i++)
        if (vs_sim_wants(VS_SIM_WANT(kinds[i])))
            return vs_sim_correlate(kinds[i]);
    return 0;
}

CUresult vs_sim_exec_launch(struct vs_sim_graph_exec *x, struct vs_sim_stream *stream)
{
    struct launch l = {.exec = x};
    CUresult e = branches_plan(x, stream->ctx);
    if (!e)
        e = branches_open(x, stream);
    if (e)
        return e;
    l.numbers = vs_sim_need(malloc((x->step_count + 1) * sizeof *l.numbers));
    if (x->graph->has_memory)
        e = vs_sim_block_begin(x, stream);
    if (!e) {
        l.correlation = correlate(x);
        e = launch_begin(&l, stream);
    }
    for (size_t i = 0; i < x->step_count && !e; i++)
        e = launch_step(&l, i);
    if (!e)
        e = launch_end(&l, stream);
    free(l.numbers);
    return e;
}

/* ---- entry points ---- */

CUresult cuGraphLaunch_locked(struct vs_sim_graph_exec *x, struct vs_sim_stream *stream)
{
    if (vs_sim_capturing()) {
        bool taken;
        CUresult e = vs_sim_capture_graph(stream, x->graph, &taken);
        if (taken)
            return e;
    }
    return vs_sim_exec_launch(x, stream);
}

/* There is nothing to upload: it is a position in the stream's order after the newest launch. */
CUresult cuGraphUpload_locked(struct vs_sim_graph_exec *x, struct vs_sim_stream *stream)
{
    CUresult e = vs_sim_not_capturing(stream);
    struct launch l = {.exec = x};
    return e ? e : launch_begin(&l, stream);
}
