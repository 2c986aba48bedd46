/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGraphDebugDotPrint: a graph in the DOT language of Graphviz, child graphs as clusters. Node
 * types, ids and kernel names always; further details by flags. */
#include "simulator/graph/vs_sim_graph.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const type_names[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
    [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
    [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
    [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
    [CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
    [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT WAIT",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT RECORD",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM ALLOC",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM FREE",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH MEM OP",
};

static bool wants(unsigned flags, unsigned bit)
{
    return flags & (bit | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

static void print_params(FILE *f, const struct vs_sim_node *n, unsigned flags)
{
    const struct vs_sim_launch_op *k = &n->op.u.launch;
    const struct vs_sim_copy *c = &n->op.u.copy;
    const struct vs_sim_set *s = &n->op.u.set;
    if (n->type == CU_GRAPH_NODE_TYPE_KERNEL &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        fprintf(f, "\\ngrid %u %u %u block %u %u %u shared %u", k->grid[0], k->grid[1], k->grid[2],
                k->block[0], k->block[1], k->block[2], k->shared_bytes);
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(f, "\\n%zu x %zu x %zu from %#" PRIxPTR " to %#" PRIxPTR, c->width, c->height,
                c->depth, c->from.base, c->to.base);
    if (n->type == CU_GRAPH_NODE_TYPE_MEMSET &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(f, "\\n%zu x %zu of %u bytes at %#" PRIxPTR " value %u", s->width, s->height,
                (unsigned)s->element, s->to.base, s->value);
    if (n->type == CU_GRAPH_NODE_TYPE_HOST &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
        fprintf(f, "\\nfn %p data %p", (void *)(uintptr_t)n->op.u.host.fn, n->op.u.host.data);
    if (n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
        fprintf(f, "\\n%zu bytes at %#llx", n->u.alloc.params.bytesize, n->u.alloc.params.dptr);
    if (n->type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS))
        fprintf(f, "\\n%#llx", n->u.freed);
    if (wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(f, "\\n%p", (const void *)n);
}

static void print_name(FILE *f, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            fputc('\\', f);
        fputc(*name, f);
    }
}

static void print_graph(FILE *f, const struct vs_sim_graph *g, unsigned flags)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct vs_sim_node *n = g->nodes.at[i];
        fprintf(f, "  \"node_%" PRIu64 "\" [shape=box label=\"%s %" PRIu64, n->id,
                type_names[n->type], n->id);
        if (n->type == CU_GRAPH_NODE_TYPE_KERNEL) {
            fputs("\\n", f);
            print_name(f, n->op.u.launch.function->name);
        }
        print_params(f, n, flags);
        fputs("\"];\n", f);
        if (n->type == CU_GRAPH_NODE_TYPE_GRAPH) {
            fprintf(f, "  subgraph \"cluster_%u\" {\n  label=\"graph_%u\";\n", n->u.child->id,
                    n->u.child->id);
            print_graph(f, n->u.child, flags);
            fputs("  }\n", f);
        }
    }
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t j = 0; j < g->nodes.at[i]->before.count; j++)
            fprintf(f, "  \"node_%" PRIu64 "\" -> \"node_%" PRIu64 "\";\n",
                    g->nodes.at[i]->before.at[j]->id, g->nodes.at[i]->id);
}

CUresult cuGraphDebugDotPrint_locked(struct vs_sim_graph *g, const char path[static 1],
                                     unsigned int flags)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(f, "digraph \"graph_%u\" {\n", g->id);
    print_graph(f, g, flags);
    fputs("}\n", f);
    bool failed = ferror(f);
    failed |= fclose(f) != 0;
    return failed ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
