/* SPDX-License-Identifier: Apache-2.0
 *
 * The ids of graphs and nodes in activity records, for CUPTI (vs_sim_activity.h). */
#include "simulator/graph/vs_sim_graph.h"

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
