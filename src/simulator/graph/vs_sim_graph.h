/* SPDX-License-Identifier: Apache-2.0
 *
 * Internal header of graphs, for drv_graph*.c and drv_capture.c. A node stores its work as an op,
 * ready to be copied and queued. An executable graph is a private clone of the graph with a launch
 * order.
 *
 * One lock, vs_sim_graph_lock, guards graphs, nodes, executable graphs and captures; it is
 * recursive and comes before every lock of vs_sim_driver.h. The structures are never returned to
 * malloc: a stale handle is recognised by its mark. */
#ifndef VS_SIM_GRAPH_H
#define VS_SIM_GRAPH_H

#include "simulator/driver/vs_sim_driver.h"

#define VS_SIM_GRAPH_MARK 0x76734752u
#define VS_SIM_NODE_MARK 0x76734e44u
#define VS_SIM_EXEC_MARK 0x76734558u
#define VS_SIM_GRAPH_GONE 0x76734700u

struct vs_sim_graph_exec;
struct vs_sim_object;

struct vs_sim_alloc_params { /* of an allocation node */
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    CUmemAccessDesc *access; /* own copy of params.accessDescs */
    struct vs_sim_block *block;
};

struct vs_sim_node {
    uint32_t mark;
    CUgraphNodeType type;
    struct vs_sim_graph *graph;
    uint64_t id;                       /* unique in the process */
    /* of the node it was cloned from; its own if it is not a clone */
    uint64_t origin;
    struct vs_sim_nodes before, after; /* dependencies and dependents, in order of adding */
    struct vs_sim_context *ctx;        /* the context it runs in; NULL: that of the launch */
    bool disabled;                     /* in executable graphs */
    size_t walk;                       /* scratch for graph traversals */
    union {
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS set;
        void **params; /* KERNEL: pointers to the arguments, created on request */
        CUstreamBatchMemOpParams *batch; /* BATCH_MEM_OP: likewise */
        CUevent event;
        struct vs_sim_graph *child;
        struct vs_sim_alloc_params alloc;
        CUdeviceptr freed;
    } u;
    struct vs_sim_op op; /* KERNEL, MEMCPY, MEMSET, HOST, BATCH_MEM_OP: the work */
};

struct vs_sim_held { /* references to a user object */
    struct vs_sim_held *next;
    struct vs_sim_object *object;
    unsigned count;
};

struct vs_sim_graph {
    uint32_t mark;
    uint32_t id;               /* unique in the process */
    struct vs_sim_nodes nodes; /* in order of creation */
    uint32_t origin;           /* id of the graph it was cloned from, 0: none */
    struct vs_sim_node *parent; /* the child graph node that owns it, or NULL */
    bool has_memory;            /* allocation or free nodes, its children's too */
    bool private_clone;         /* of an executable graph: no handle of the program's */
    bool moved;                 /* moved into its parent, which accepts no more memory nodes */
    unsigned execs;             /* executable graphs made from it */
    unsigned captures;          /* that add nodes to it */
    struct vs_sim_held *objects;
};

void vs_sim_graph_lock(void);
/* vs_sim_graph_leave: unlocks, and returns *e*. */
CUresult vs_sim_graph_leave(CUresult e);
/* vs_sim_graph_enter: vs_sim_enter, then takes the lock. On an error it is not held. */
CUresult vs_sim_graph_enter(void);

/* ---- all the following: with the lock held ---- */

void vs_sim_nodes_add(struct vs_sim_nodes *list, struct vs_sim_node *node);
void vs_sim_nodes_add_edge(struct vs_sim_nodes *list, struct vs_sim_node *node, CUgraphEdgeData edge);
bool vs_sim_nodes_has(const struct vs_sim_nodes *list, const struct vs_sim_node *node);
void vs_sim_nodes_remove(struct vs_sim_nodes *list, const struct vs_sim_node *node);
/* vs_sim_nodes_copy: makes *to* the same list. */
void vs_sim_nodes_copy(struct vs_sim_nodes *to, const struct vs_sim_nodes *from);
void vs_sim_nodes_free(struct vs_sim_nodes *list);

/* vs_sim_graph_of, vs_sim_node_of: NULL if the handle is not one of the program's. */
struct vs_sim_graph *vs_sim_graph_of(CUgraph handle);
struct vs_sim_node *vs_sim_node_of(CUgraphNode handle);

struct vs_sim_graph *vs_sim_graph_new(void);
void vs_sim_graph_free(struct vs_sim_graph *graph);
/* vs_sim_graph_clone: a copy with its own nodes; memory blocks and references to user objects are
 * shared. */
struct vs_sim_graph *vs_sim_graph_clone(const struct vs_sim_graph *from, bool private_clone);

/* vs_sim_node_new: creates a node in *graph* that depends on *before*, which must not contain
 * duplicates. CUDA_ERROR_INVALID_VALUE. */
CUresult vs_sim_node_new(struct vs_sim_graph *graph, CUgraphNodeType type,
                         const struct vs_sim_nodes *before, struct vs_sim_node **node);
/* vs_sim_node_free: removes it from its graph with its edges. */
void vs_sim_node_free(struct vs_sim_node *node);
/* vs_sim_node_empty: frees its content; its edges stay. */
void vs_sim_node_empty(struct vs_sim_node *node);
/* vs_sim_node_fill: copies the work of *from*, which is of the same type; edges are unchanged. */
void vs_sim_node_fill(struct vs_sim_node *to, const struct vs_sim_node *from);
/* vs_sim_access_copy: gives *a* its own copy of the access descriptions. */
void vs_sim_access_copy(struct vs_sim_alloc_params *a);
/* vs_sim_node_origin: the node of *graph* or its children that the given one was cloned from. */
struct vs_sim_node *vs_sim_node_origin(const struct vs_sim_graph *graph, uint64_t origin);
/* vs_sim_edge_at: the annotation of node *i*. */
CUgraphEdgeData vs_sim_edge_at(const struct vs_sim_nodes *list, size_t i);
/* vs_sim_edge_plain: is it an ordinary dependency? */
bool vs_sim_edge_plain(CUgraphEdgeData edge);
/* vs_sim_edge_valid: may it lead from *from* to a node of type *to*? */
bool vs_sim_edge_valid(CUgraphEdgeData edge, const struct vs_sim_node *from, CUgraphNodeType to);
/* vs_sim_graph_sort: its nodes, dependencies first, without those of cycles, whose `walk` is not 0. */
void vs_sim_graph_sort(const struct vs_sim_graph *graph, struct vs_sim_nodes *list);

/* ---- nodes (drv_graph_node.c) ---- */

/* vs_sim_node_take: creates a node for *op* in *graph*; NOT_SUPPORTED for work that no node can
 * represent. */
CUresult vs_sim_node_take(struct vs_sim_graph *graph, const struct vs_sim_nodes *before,
                          struct vs_sim_context *ctx, const struct vs_sim_op *op,
                          struct vs_sim_node **node);
/* vs_sim_node_set: sets parameters of its type in *node*, of a graph or of an executable one. */
CUresult vs_sim_node_set(struct vs_sim_node *node, const CUgraphNodeParams *params);
/* vs_sim_node_params_ok: are they given, and their reserved fields 0? */
static inline bool vs_sim_node_params_ok(const CUgraphNodeParams *p)
{
    return p && !p->reserved0[0] && !p->reserved0[1] && !p->reserved0[2] && !p->reserved2;
}
/* vs_sim_node_add: adds a node of any type, as cuGraphAddNode. */
CUresult vs_sim_node_add(struct vs_sim_graph *graph, const struct vs_sim_nodes *before,
                         CUgraphNodeParams *params, struct vs_sim_node **node);

/* ---- executable graphs (drv_graph_exec.c, drv_graph_launch.c) ---- */

/* vs_sim_exec_change: cuGraphExecNodeSetParams of any type. */
CUresult vs_sim_exec_change(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *params);

#define VS_SIM_BRANCHES_MAX 32 /* streams that one launch uses at most */

struct vs_sim_step {
    struct vs_sim_node *node; /* of the clone; a child graph node ends its graph */
    uint32_t first, count;    /* in needs */
    uint32_t branch;
};

struct vs_sim_branch {
    struct vs_sim_stream *stream; /* NULL: not created yet; the first: the stream of the launch */
    uint32_t stream_id;           /* of this use of the stream */
    struct vs_sim_context *ctx;
};

struct vs_sim_graph_exec {
    uint32_t mark;
    uint64_t flags;
    struct vs_sim_graph *graph;  /* private clone */
    struct vs_sim_graph *source; /* may be destroyed: compare the id */
    uint32_t source_id;
    struct vs_sim_step *steps;
    size_t step_count;
    uint32_t *needs; /* numbers of earlier steps */
    size_t need_count, need_max;
    struct vs_sim_context *branch_ctx; /* the branches are planned for a launch in this one */
    struct vs_sim_branch branches[VS_SIM_BRANCHES_MAX];
    unsigned branch_count;
    struct vs_sim_stream *last_stream; /* end of the newest launch */
    uint64_t last_seq;
};

struct vs_sim_graph_exec *vs_sim_exec_of(CUgraphExec handle);
/* vs_sim_exec_plan: computes steps and needs from the clone. */
void vs_sim_exec_plan(struct vs_sim_graph_exec *exec);
CUresult vs_sim_exec_launch(struct vs_sim_graph_exec *exec, struct vs_sim_stream *stream);
/* vs_sim_exec_close: releases its streams; running work continues. */
void vs_sim_exec_close(struct vs_sim_graph_exec *exec);

/* ---- memory of graphs (drv_graph_memory.c) ---- */

/* vs_sim_block_new: reserves address space for *bytes*, without memory, for a node. */
CUresult vs_sim_block_new(struct vs_sim_context *ctx, int device, size_t bytes,
                          struct vs_sim_block **block, CUdeviceptr *address);
void vs_sim_block_hold(struct vs_sim_block *block); /* for one more node */
void vs_sim_block_release(struct vs_sim_block *block);
/* vs_sim_block_own: *graph* has the allocation node. */
void vs_sim_block_own(struct vs_sim_block *block, const struct vs_sim_graph *graph);
/* vs_sim_block_plan_free: *graph* is to have a free node for *address*. CUDA_ERROR_INVALID_VALUE
 * where cuGraphAddMemFreeNode documents it. */
CUresult vs_sim_block_plan_free(uintptr_t address, const struct vs_sim_graph *graph);
/* vs_sim_block_begin: called before a launch of *exec* in *stream*: takes physical memory for all
 * its allocations. INVALID_VALUE, OUT_OF_MEMORY: nothing has changed. */
CUresult vs_sim_block_begin(struct vs_sim_graph_exec *exec, struct vs_sim_stream *stream);
/* vs_sim_block_at: NULL: none. */
struct vs_sim_block *vs_sim_block_at(uintptr_t address);

/* ---- capture (drv_capture.c) ---- */

/* vs_sim_capture_graph: a launch of *graph* in *stream*, if it is capturing (*taken*), becomes a
 * child graph node. */
CUresult vs_sim_capture_graph(struct vs_sim_stream *stream, const struct vs_sim_graph *graph,
                              bool *taken);

/* ---- user objects (drv_graph_object.c) ---- */

/* vs_sim_objects_copy: *to* gets the references of *from*. */
void vs_sim_objects_copy(struct vs_sim_graph *to, const struct vs_sim_graph *from);
/* vs_sim_objects_release: releases after (*stream*, *seq*) is complete; NULL: now. */
void vs_sim_objects_release(struct vs_sim_graph *graph, struct vs_sim_stream *stream, uint64_t seq);

#endif
