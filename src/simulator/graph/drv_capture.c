/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture. A capturing stream has a part in a capture: the tips, nodes that its next work
 * depends on. The engine passes submitted work to this file, which turns it into a node; an event
 * recorded in a capture is a copy of the tips, and a stream that waits for it joins. An operation
 * that would connect captured work with other work, or query it, is an error that invalidates the
 * capture, which then remains until it is ended (cuda.h, cuStreamBeginCapture and the functions
 * after it; CUDA programming guide, "Prohibited and Unhandled Operations"). */
#include "simulator/graph/vs_sim_graph.h"

#include <stdlib.h>

struct vs_sim_part {
    struct vs_sim_part *next; /* of the same capture */
    struct vs_sim_capture *capture;
    struct vs_sim_stream *stream; /* NULL: it was destroyed */
    struct vs_sim_nodes tips;
};

struct vs_sim_capture {
    struct vs_sim_capture *next;
    uint64_t id;
    struct vs_sim_graph *graph;
    bool own; /* the graph was created for it */
    bool invalid;
    CUstreamCaptureMode mode;
    const void *thread; /* that began it */
    struct vs_sim_part *origin, *parts;
};

atomic_uint vs_sim_captures;

static struct vs_sim_capture *captures; /* guarded by the graph lock */
static uint64_t next_id = 1;            /* likewise */
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static _Thread_local char thread_self; /* its address identifies the thread */

/* ---- parts ---- */

static struct vs_sim_part *part_of(struct vs_sim_stream *s) { return atomic_load(&s->capture); }

static struct vs_sim_part *join(struct vs_sim_capture *c, struct vs_sim_stream *s)
{
    struct vs_sim_part *p = vs_sim_need(calloc(1, sizeof *p));
    p->capture = c;
    p->stream = s;
    p->next = c->parts;
    c->parts = p;
    atomic_store(&s->capture, p);
    return p;
}

static void tips_add(struct vs_sim_part *p, const struct vs_sim_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (!vs_sim_nodes_has(&p->tips, nodes->at[i]))
            vs_sim_nodes_add_edge(&p->tips, nodes->at[i], nodes->edges[i]);
}

static struct vs_sim_capture *capture_of(uint64_t id)
{
    struct vs_sim_capture *c = captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

static CUresult invalidate(struct vs_sim_capture *c, CUresult why)
{
    c->invalid = true;
    return why;
}

static void finish(struct vs_sim_capture *c)
{
    struct vs_sim_capture **at = &captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    while (c->parts) {
        struct vs_sim_part *p = c->parts;
        c->parts = p->next;
        if (p->stream)
            atomic_store(&p->stream->capture, NULL);
        vs_sim_nodes_free(&p->tips);
        free(p);
    }
    c->graph->captures--;
    free(c);
    atomic_fetch_sub(&vs_sim_captures, 1);
}

static void abandon(struct vs_sim_capture *c)
{
    struct vs_sim_graph *g = c->own ? c->graph : NULL;
    finish(c);
    if (g)
        vs_sim_graph_free(g);
}

/* ---- forbidden during captures ---- */

/* Returns success unless *s* is the legacy stream and a blocking stream of its context is
 * capturing; those captures are invalidated if *use*. */
static CUresult legacy_check(struct vs_sim_stream *s, bool use)
{
    CUresult e = CUDA_SUCCESS;
    if (!s->legacy)
        return e;
    pthread_mutex_lock(&s->ctx->submit_mu);
    for (struct vs_sim_stream *t = s->ctx->streams; t; t = t->next) {
        struct vs_sim_part *p = part_of(t);
        if (!p || t->flags & CU_STREAM_NON_BLOCKING)
            continue;
        e = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        if (use)
            invalidate(p->capture, e);
    }
    pthread_mutex_unlock(&s->ctx->submit_mu);
    return e;
}

/* Locks the graphs and returns the part that takes work of the stream. NULL: it is not captured, or
 * (*e*, and *taken*) not allowed. */
static struct vs_sim_part *use(struct vs_sim_stream *s, CUresult *e, bool *taken)
{
    vs_sim_graph_lock();
    struct vs_sim_part *p = part_of(s);
    *e = !p                  ? legacy_check(s, true)
         : p->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                               : CUDA_SUCCESS;
    *taken = p || *e;
    return *e ? NULL : p;
}

CUresult vs_sim_capture_forbids(void)
{
    CUresult e = CUDA_SUCCESS;
    vs_sim_graph_lock();
    for (struct vs_sim_capture *c = captures; c; c = c->next) {
        bool forbids = c->thread == &thread_self
                           ? c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                                 thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED
                           : c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                 thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (forbids)
            e = invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return vs_sim_graph_leave(e);
}

CUresult vs_sim_capture_refuse(struct vs_sim_stream *s)
{
    CUresult e;
    bool taken;
    struct vs_sim_part *p = use(s, &e, &taken);
    if (p)
        e = invalidate(p->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return vs_sim_graph_leave(e);
}

CUresult vs_sim_capture_refuse_context(struct vs_sim_context *ctx)
{
    CUresult e = CUDA_SUCCESS;
    vs_sim_graph_lock();
    pthread_mutex_lock(&ctx->submit_mu);
    for (struct vs_sim_stream *s = ctx->streams; s; s = s->next)
        if (part_of(s))
            e = invalidate(part_of(s)->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    pthread_mutex_unlock(&ctx->submit_mu);
    return vs_sim_graph_leave(e);
}

CUresult vs_sim_capture_query(const struct vs_sim_capture_mark *mark)
{
    vs_sim_graph_lock();
    struct vs_sim_capture *c = capture_of(atomic_load(&mark->capture));
    if (c)
        invalidate(c, CUDA_ERROR_CAPTURED_EVENT);
    return vs_sim_graph_leave(CUDA_ERROR_CAPTURED_EVENT);
}

/* ---- captured work ---- */

/* *node*, just created or refused with *e*, becomes the latest work of *p*'s stream. */
static CUresult took(struct vs_sim_part *p, CUresult e, struct vs_sim_node **node)
{
    if (e)
        return invalidate(p->capture, e);
    p->tips.count = 0;
    vs_sim_nodes_add(&p->tips, *node);
    return CUDA_SUCCESS;
}

CUresult vs_sim_capture_take(struct vs_sim_stream *s, struct vs_sim_op *op, bool *taken)
{
    struct vs_sim_node *node = NULL;
    CUresult e;
    *taken = false;
    if ((!part_of(s) && !s->legacy) || op->kind == VS_SIM_OP_RECORD)
        return CUDA_SUCCESS; /* a record was queried before its event was locked */
    struct vs_sim_part *p = use(s, &e, taken);
    if (p)
        e = took(p, vs_sim_node_take(p->capture->graph, &p->tips, s->ctx, op, &node), &node);
    if (*taken)
        vs_sim_op_drop(s, op);
    return vs_sim_graph_leave(e);
}

static CUresult take_params(struct vs_sim_stream *s, CUgraphNodeParams *params, bool *taken)
{
    struct vs_sim_node *node = NULL;
    CUresult e;
    struct vs_sim_part *p = use(s, &e, taken);
    if (p)
        e = took(p, vs_sim_node_add(p->capture->graph, &p->tips, params, &node), &node);
    return vs_sim_graph_leave(e);
}

CUresult vs_sim_capture_event(struct vs_sim_stream *s, CUevent event, bool record)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    bool taken;
    params.eventWait.event = event;
    if (record) {
        params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        params.eventRecord.event = event;
    }
    CUresult e = take_params(s, &params, &taken);
    return taken ? e : CUDA_ERROR_INVALID_VALUE;
}

CUresult vs_sim_capture_alloc(struct vs_sim_stream *s, int device, size_t bytes,
                              CUdeviceptr *address, bool *taken)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.alloc.poolProps.location.id = device;
    params.alloc.bytesize = bytes;
    CUresult e = take_params(s, &params, taken);
    if (*taken && !e)
        *address = params.alloc.dptr;
    return e;
}

CUresult vs_sim_capture_free(struct vs_sim_stream *s, CUdeviceptr address, bool *taken)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    params.free.dptr = address;
    return take_params(s, &params, taken);
}

CUresult vs_sim_capture_graph(struct vs_sim_stream *s, const struct vs_sim_graph *graph,
                              bool *taken)
{
    struct vs_sim_node *node = NULL;
    CUresult e;
    struct vs_sim_part *p = use(s, &e, taken);
    if (!p)
        return vs_sim_graph_leave(e);
    if (graph->has_memory)
        return vs_sim_graph_leave(invalidate(p->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    e = vs_sim_node_new(p->capture->graph, CU_GRAPH_NODE_TYPE_GRAPH, &p->tips, &node);
    if (!e) {
        node->u.child = vs_sim_graph_clone(graph, false);
        node->u.child->parent = node;
    }
    return vs_sim_graph_leave(took(p, e, &node));
}

CUresult vs_sim_capture_record(struct vs_sim_stream *s, struct vs_sim_capture_mark *mark,
                               bool *taken)
{
    CUresult e;
    struct vs_sim_part *p = use(s, &e, taken);
    if (p) {
        vs_sim_nodes_copy(&mark->nodes, &p->tips);
        atomic_store(&mark->capture, p->capture->id);
    }
    return vs_sim_graph_leave(e);
}

static CUresult wait_captured(struct vs_sim_part *p, const struct vs_sim_capture_mark *mark)
{
    struct vs_sim_capture *other = capture_of(atomic_load(&mark->capture));
    if (p->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!other)
        return invalidate(p->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    if (other != p->capture) {
        invalidate(other, CUDA_ERROR_STREAM_CAPTURE_MERGE);
        return invalidate(p->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    tips_add(p, &mark->nodes);
    return CUDA_SUCCESS;
}

static CUresult wait_joins(struct vs_sim_stream *s, const struct vs_sim_capture_mark *mark)
{
    struct vs_sim_capture *c = capture_of(atomic_load(&mark->capture));
    if (!c)
        return CUDA_ERROR_CAPTURED_EVENT; /* captured work cannot be waited for */
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (s->legacy)
        return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    tips_add(join(c, s), &mark->nodes);
    return CUDA_SUCCESS;
}

CUresult vs_sim_capture_wait(struct vs_sim_stream *s, const struct vs_sim_capture_mark *mark,
                             bool *taken)
{
    CUresult e = CUDA_SUCCESS;
    vs_sim_graph_lock();
    struct vs_sim_part *p = part_of(s);
    *taken = p || atomic_load(&mark->capture);
    if (p)
        e = wait_captured(p, mark);
    else if (*taken)
        e = wait_joins(s, mark);
    return vs_sim_graph_leave(e);
}

void vs_sim_capture_leave(struct vs_sim_stream *s)
{
    vs_sim_graph_lock();
    struct vs_sim_part *p = part_of(s);
    atomic_store(&s->capture, NULL);
    if (p) {
        p->stream = NULL; /* its tips must still be joined */
        if (p == p->capture->origin)
            abandon(p->capture);
    }
    vs_sim_graph_leave(CUDA_SUCCESS);
}

/* ---- beginning and ending ---- */

/* The nodes of *graph* that the program gave; one that is given twice is an error if *distinct*. */
static CUresult nodes_given(const struct vs_sim_graph *graph, const CUgraphNode *handles,
                            const CUgraphEdgeData *edges, size_t count, bool distinct,
                            struct vs_sim_nodes *list)
{
    const CUgraphEdgeData plain = {0};
    for (size_t i = 0; i < count; i++) {
        struct vs_sim_node *n = vs_sim_node_of(handles[i]);
        CUgraphEdgeData edge = edges ? edges[i] : plain;
        if (!n || n->graph != graph || (distinct && vs_sim_nodes_has(list, n)) ||
            !vs_sim_edge_valid(edge, n, CU_GRAPH_NODE_TYPE_KERNEL))
            return CUDA_ERROR_INVALID_VALUE;
        vs_sim_nodes_add_edge(list, n, edge);
    }
    return CUDA_SUCCESS;
}

static CUresult begin(struct vs_sim_stream *s, struct vs_sim_graph *graph,
                      const struct vs_sim_nodes *before, CUstreamCaptureMode mode)
{
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (s->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (part_of(s))
        return CUDA_ERROR_ILLEGAL_STATE;
    struct vs_sim_capture *c = vs_sim_need(calloc(1, sizeof *c));
    c->id = next_id++;
    c->graph = graph ? graph : vs_sim_graph_new();
    c->own = !graph;
    c->mode = mode;
    c->thread = &thread_self;
    c->next = captures;
    captures = c;
    c->graph->captures++;
    atomic_fetch_add(&vs_sim_captures, 1);
    c->origin = join(c, s);
    tips_add(c->origin, before);
    return CUDA_SUCCESS;
}

static const struct vs_sim_nodes none;

VS_SIM_AS(cuStreamBeginCapture_locked, (struct vs_sim_stream *s),
          begin(s, NULL, &none, CU_STREAM_CAPTURE_MODE_GLOBAL))
VS_SIM_AS(cuStreamBeginCapture_v2_locked, (struct vs_sim_stream *s, CUstreamCaptureMode mode),
          begin(s, NULL, &none, mode))

CUresult cuStreamBeginCaptureToGraph_locked(CUstream hStream, CUgraph hGraph,
                                            const CUgraphNode *dependencies,
                                            const CUgraphEdgeData *dependencyData,
                                            size_t numDependencies, CUstreamCaptureMode mode)
{
    struct vs_sim_nodes before = {0};
    struct vs_sim_stream *s;
    struct vs_sim_graph *g = vs_sim_graph_of(hGraph);
    CUresult e = CUDA_ERROR_INVALID_VALUE;
    if (g && (dependencies || !numDependencies))
        e = nodes_given(g, dependencies, dependencyData, numDependencies, true, &before);
    if (!e)
        e = vs_sim_enter_stream(hStream, &s);
    if (!e)
        e = begin(s, g, &before, mode);
    vs_sim_nodes_free(&before);
    return e;
}

/* Do the tips of the origin depend on the tips of every other part? */
static CUresult joined(const struct vs_sim_capture *c)
{
    struct vs_sim_nodes reached = {0};
    CUresult e = CUDA_SUCCESS;
    for (size_t i = 0; i < c->graph->nodes.count; i++)
        c->graph->nodes.at[i]->walk = 0;
    vs_sim_nodes_copy(&reached, &c->origin->tips);
    for (size_t i = 0; i < reached.count; i++) {
        struct vs_sim_node *n = reached.at[i];
        for (size_t j = 0; !n->walk && j < n->before.count; j++)
            if (!n->before.at[j]->walk)
                vs_sim_nodes_add(&reached, n->before.at[j]);
        n->walk = 1;
    }
    for (const struct vs_sim_part *p = c->parts; p; p = p->next)
        for (size_t i = 0; i < p->tips.count; i++)
            if (!p->tips.at[i]->walk)
                e = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    vs_sim_nodes_free(&reached);
    return e;
}

CUresult cuStreamEndCapture_locked(struct vs_sim_stream *s, CUgraph phGraph[static 1])
{
    struct vs_sim_part *p = part_of(s);
    *phGraph = NULL;
    if (!p)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct vs_sim_capture *c = p->capture;
    if (p != c->origin)
        return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != &thread_self)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult e = c->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : joined(c);
    if (e) {
        abandon(c);
        return e;
    }
    *phGraph = (CUgraph)c->graph;
    finish(c);
    return CUDA_SUCCESS;
}

/* ---- queries ---- */

static CUresult info(struct vs_sim_stream *s, CUstreamCaptureStatus *status, cuuint64_t *id,
                     CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                     size_t *count)
{
    if (!status || (edges && !nodes))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_part *p = part_of(s);
    CUresult e = legacy_check(s, false);
    if (e)
        return e;
    *status = !p                    ? CU_STREAM_CAPTURE_STATUS_NONE
              : p->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    for (size_t i = 0; nodes && !edges && i < p->tips.count; i++)
        if (!vs_sim_edge_plain(p->tips.edges[i]))
            return CUDA_ERROR_LOSSY_QUERY;
    if (id)
        *id = p->capture->id;
    if (graph)
        *graph = (CUgraph)p->capture->graph;
    if (nodes)
        *nodes = (const CUgraphNode *)p->tips.at;
    if (count)
        *count = p->tips.count;
    if (edges)
        *edges = p->tips.edges;
    return CUDA_SUCCESS;
}

VS_SIM_AS(cuStreamIsCapturing_locked,
          (struct vs_sim_stream *s, CUstreamCaptureStatus *captureStatus),
          info(s, captureStatus, NULL, NULL, NULL, NULL, NULL))
VS_SIM_AS(cuStreamGetCaptureInfo_locked,
          (struct vs_sim_stream *s, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id),
          info(s, captureStatus_out, id, NULL, NULL, NULL, NULL))
VS_SIM_AS(cuStreamGetCaptureInfo_v3_locked,
          (struct vs_sim_stream *s, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id,
           CUgraph *graph, const CUgraphNode **deps, const CUgraphEdgeData **edges, size_t *count),
          info(s, captureStatus_out, id, graph, deps, edges, count))

/* ---- changing ---- */

CUresult cuStreamUpdateCaptureDependencies_v2_locked(struct vs_sim_stream *s,
                                                     CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *dependencyData,
                                                     size_t numDependencies, unsigned int flags)
{
    struct vs_sim_part *p = part_of(s);
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (numDependencies && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    if (!p)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct vs_sim_nodes list = {0};
    CUresult e = p->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                     : nodes_given(p->capture->graph, dependencies, dependencyData,
                                                   numDependencies, false, &list);
    if (!e && flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        p->tips.count = 0;
    if (!e)
        tips_add(p, &list);
    vs_sim_nodes_free(&list);
    return e;
}

CUresult cuThreadExchangeStreamCaptureMode_entered(CUstreamCaptureMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
