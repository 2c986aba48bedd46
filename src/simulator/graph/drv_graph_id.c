/* SPDX-License-Identifier: Apache-2.0
 *
 * The ids of graphs and nodes in activity records, for CUPTI (vs_sim_activity.h). */
#include "simulator/graph/vs_sim_graph.h"

VS_SIM_EXPORT vramscope_sim_graph_id_fn vramscopeSimGraphId;

static bool id_of_locked(enum vs_sim_graph_handle what, const void *handle, uint64_t *id)
{
    const struct vs_sim_node *node;
    const struct vs_sim_graph *graph = NULL;
    const struct vs_sim_graph_exec *exec;
    switch (what) {
    case VS_SIM_HANDLE_NODE:
        if ((node = vs_sim_node_of((CUgraphNode)handle)))
            *id = node->id;
        return node != NULL;
    case VS_SIM_HANDLE_GRAPH: graph = vs_sim_graph_of((CUgraph)handle); break;
    case VS_SIM_HANDLE_EXEC:
        if ((exec = vs_sim_exec_of((CUgraphExec)handle)))
            graph = exec->graph;
        break;
    }
    if (graph)
        *id = graph->id;
    return graph != NULL;
}

CUresult vramscopeSimGraphId(enum vs_sim_graph_handle what, const void *handle, uint64_t *id)
{
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    return vs_sim_graph_leave(id_of_locked(what, handle, id) ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE);
}
