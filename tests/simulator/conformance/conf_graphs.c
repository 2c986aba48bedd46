/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: their nodes and edges, the effects of instantiation and launch, and permitted updates. */
#include "conf.h"

#include <stdio.h>
#include <unistd.h>

#define BYTES 512
#define ROW 64
#define EDGES "cuGraphAddDependencies: "

static struct {
    CUcontext ctx;
    CUdeviceptr device, second;
    unsigned char host[BYTES];
    CUstream a, b;
    CUgraph graph;
    CUevent event;
    int gate;
} p;

SETUP(setup)
{
    p.ctx = conf_context();
    p.device = conf_alloc(BYTES), p.second = conf_alloc(BYTES);
    p.a = conf_stream(), p.b = conf_stream();
    p.event = conf_event();
    return 0;
}

BEFORE(begin_case)
{
    return cuMemsetD8(p.device, 0, BYTES) || cuMemsetD8(p.second, 0, BYTES) ||
           cuCtxSynchronize() || cuGraphCreate(&p.graph, 0);
}

AFTER(end_case)
{
    conf_open(&p.gate);
    return cuCtxSynchronize() || cuGraphDestroy(p.graph);
}

static CUDA_MEMSET_NODE_PARAMS filling(CUdeviceptr at, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = at, .value = value, .elementSize = 1, .width = BYTES, .height = 1};
}

static CUgraphNode add_fill(CUgraph graph, const CUgraphNode *before, size_t count, CUdeviceptr at,
                            unsigned value)
{
    CUDA_MEMSET_NODE_PARAMS params = filling(at, value);
    return GOT(CUgraphNode, cuGraphAddMemsetNode(&got, graph, before, count, &params, p.ctx));
}

static CUgraphNode add_read(CUgraph graph, const CUgraphNode *before, size_t count,
                            CUdeviceptr from)
{
    CUDA_MEMCPY3D params = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .srcPitch = BYTES,
        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = p.host, .dstPitch = BYTES,
        .WidthInBytes = BYTES, .Height = 1, .Depth = 1};
    return GOT(CUgraphNode, cuGraphAddMemcpyNode(&got, graph, before, count, &params, p.ctx));
}

static CUgraphNode add_empty(const CUgraphNode *before, size_t count)
{
    return GOT(CUgraphNode, cuGraphAddEmptyNode(&got, p.graph, before, count));
}

static CUgraphNode add_gate(const CUgraphNode *before, size_t count)
{
    CUDA_HOST_NODE_PARAMS params = {conf_gate, &p.gate};
    p.gate = 0;
    return GOT(CUgraphNode, cuGraphAddHostNode(&got, p.graph, before, count, &params));
}

static unsigned char byte(CUdeviceptr at) { return conf_byte(at + BYTES - 1); }

/* Non-blocking streams do not wait for the legacy stream. */
static void clear(void)
{
    DO(cuMemsetD8(p.device, 0, BYTES));
    DO(cuCtxSynchronize());
}

/* The only edge to *node*, or from it if *forward*; NULL: none. */
static CUgraphNode neighbour(CUgraphNode node, bool forward)
{
    CUgraphNode other = NULL;
    size_t count = 1;
    if (forward)
        DO(cuGraphNodeGetDependentNodes(node, &other, NULL, &count));
    else
        DO(cuGraphNodeGetDependencies(node, &other, NULL, &count));
    FACT_EQ(count, other != NULL, "cuGraphNodeGetDependencies: the number of nodes obtained");
    return other;
}

TEST(nodes_have_their_type)
{
    static const CUgraphNodeType expected[] = {
        CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY,
        CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraphNode nodes[7] = {add_empty(NULL, 0), add_fill(p.graph, NULL, 0, p.device, 1),
                            add_read(p.graph, NULL, 0, p.device), add_gate(NULL, 0)};
    DO(cuGraphAddEventRecordNode(&nodes[4], p.graph, NULL, 0, p.event));
    DO(cuGraphAddEventWaitNode(&nodes[5], p.graph, NULL, 0, p.event));
    CUgraph child = conf_graph();
    DO(cuGraphAddChildGraphNode(&nodes[6], p.graph, NULL, 0, child));
    DO(cuGraphDestroy(child));
    for (int i = 0; i < 7; i++)
        FACT_EQ(GOT(CUgraphNodeType, cuGraphNodeGetType(nodes[i], &got)), expected[i],
                "cuGraphNodeGetType");
    FACT_EQ(conf_node_count(p.graph), 7, "cuGraphGetNodes");
}

TEST(lists_are_given_in_two_steps)
{
    CUgraphNode nodes[4], first = add_empty(NULL, 0), second = add_empty(&first, 1);
    size_t count = 4;
    FACT_EQ(conf_node_count(p.graph), 2, "cuGraphGetNodes: NULL returns the number");
    memset(nodes, 1, sizeof nodes);
    DO(cuGraphGetNodes(p.graph, nodes, &count));
    FACT_EQ(count, 2, "cuGraphGetNodes: the number of nodes actually obtained");
    FACT((nodes[0] == first && nodes[1] == second) || (nodes[0] == second && nodes[1] == first),
         "cuGraphGetNodes: a list of nodes");
    FACT(!nodes[2] && !nodes[3], "cuGraphGetNodes: the remaining entries are set to NULL");
    FACT_EQ(GOT(size_t, cuGraphGetRootNodes(p.graph, NULL, &got)), 1, "cuGraphGetRootNodes");
    DO(cuGraphGetRootNodes(p.graph, nodes, &count));
    FACT(nodes[0] == first, "cuGraphGetRootNodes");
    FACT(neighbour(second, false) == first, "cuGraphNodeGetDependencies");
    FACT(!neighbour(first, false), "cuGraphNodeGetDependencies");
    FACT(neighbour(first, true) == second, "cuGraphNodeGetDependentNodes");
}

TEST(edges_can_be_added_and_removed)
{
    CUgraphNode a = add_empty(NULL, 0), b = add_empty(NULL, 0), from, to;
    size_t count = 1;
    DO(cuGraphAddDependencies(p.graph, &a, &b, NULL, 1));
    DO(cuGraphGetEdges(p.graph, &from, &to, NULL, &count));
    FACT_EQ(count, 1, "cuGraphGetEdges");
    FACT(from == a && to == b, "cuGraphGetEdges: to[i] has a dependency on from[i]");
    REFUSED(cuGraphAddDependencies(p.graph, &a, &b, NULL, 1),
            EDGES "an existing dependency returns an error");
    WORKS(cuGraphAddDependencies(p.graph, NULL, NULL, NULL, 0), EDGES "0: from and to are ignored");
    DO(cuGraphRemoveDependencies(p.graph, &a, &b, NULL, 1));
    FACT_EQ(GOT(size_t, cuGraphGetEdges(p.graph, NULL, NULL, NULL, &got)), 0,
            "cuGraphRemoveDependencies");
    REFUSED(cuGraphRemoveDependencies(p.graph, &a, &b, NULL, 1),
            "an edge that does not exist is an error");
}

TEST(circles_are_refused)
{
    CUgraphNode a = add_empty(NULL, 0), b = add_empty(&a, 1), c = add_empty(&b, 1);
    CUgraphExec exec;
    FACT(cuGraphAddDependencies(p.graph, &c, &a, NULL, 1) != CUDA_SUCCESS ||
             cuGraphInstantiate(&exec, p.graph, 0) != CUDA_SUCCESS,
         "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE: such as cycles");
}

TEST(a_destroyed_node_takes_its_edges_with_it)
{
    CUgraphNode a = add_empty(NULL, 0), b = add_empty(&a, 1), c = add_empty(&b, 1);
    DO(cuGraphDestroyNode(b));
    FACT_EQ(conf_node_count(p.graph), 2, "cuGraphDestroyNode");
    FACT(!neighbour(c, false), "cuGraphDestroyNode: severs any dependencies");
    FACT(!neighbour(a, true), "cuGraphDestroyNode: and vice versa");
}

TEST(parameters_are_copied_and_can_be_read)
{
    CUDA_MEMSET_NODE_PARAMS set = filling(p.device, 3), set_out;
    CUDA_MEMCPY3D copy_out;
    CUDA_HOST_NODE_PARAMS host_out;
    CUgraphNode fill, record;
    DO(cuGraphAddMemsetNode(&fill, p.graph, NULL, 0, &set, p.ctx));
    set.value = 99;
    DO(cuGraphMemsetNodeGetParams(fill, &set_out));
    FACT(set_out.dst == p.device && set_out.value == 3 && set_out.width == BYTES &&
             set_out.height == 1 && set_out.elementSize == 1,
         "cuGraphMemsetNodeGetParams");
    set.value = 4;
    DO(cuGraphMemsetNodeSetParams(fill, &set));
    DO(cuGraphMemsetNodeGetParams(fill, &set_out));
    FACT_EQ(set_out.value, 4, "cuGraphMemsetNodeSetParams");
    DO(cuGraphMemcpyNodeGetParams(add_read(p.graph, NULL, 0, p.device), &copy_out));
    FACT(copy_out.srcDevice == p.device && copy_out.dstHost == p.host &&
             copy_out.WidthInBytes == BYTES,
         "cuGraphMemcpyNodeGetParams");
    DO(cuGraphHostNodeGetParams(add_gate(NULL, 0), &host_out));
    FACT(host_out.fn == conf_gate && host_out.userData == &p.gate, "cuGraphHostNodeGetParams");
    DO(cuGraphAddEventRecordNode(&record, p.graph, NULL, 0, p.event));
    FACT(GOT(CUevent, cuGraphEventRecordNodeGetEvent(record, &got)) == p.event,
         "cuGraphEventRecordNodeGetEvent");
    set.elementSize = 3;
    REFUSED(cuGraphAddMemsetNode(&fill, p.graph, NULL, 0, &set, p.ctx),
            "CUDA_MEMSET_NODE_PARAMS: elementSize must be 1, 2 or 4");
}

TEST(bad_graphs_are_refused)
{
    CUgraph graph;
    INVALID(cuGraphCreate(&graph, 1), "flags must be 0");
    RETURNS(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(a_launch_does_the_nodes_in_order_of_their_edges)
{
    CUgraphNode a = add_fill(p.graph, NULL, 0, p.device, 1);
    CUgraphNode b = add_fill(p.graph, &a, 1, p.device, 2);
    add_read(p.graph, &b, 1, p.device);
    CUgraphExec exec = conf_exec(p.graph);
    FACT_EQ(byte(p.device), 0, "cuGraphInstantiate: nothing runs yet");
    conf_run(exec, p.a);
    FACT_EQ(p.host[BYTES - 1], 2, "guide, graphs: an edge is a dependency");
    clear();
    memset(p.host, 0, BYTES);
    conf_run(exec, p.a);
    FACT_EQ(p.host[0], 2, "guide, graphs: launched any number of times");
}

TEST(an_executable_graph_is_a_snapshot)
{
    CUgraphNode node = add_fill(p.graph, NULL, 0, p.device, 1);
    CUDA_MEMSET_NODE_PARAMS params = filling(p.device, 2);
    CUgraphExec exec = conf_exec(p.graph);
    DO(cuGraphMemsetNodeSetParams(node, &params));
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 1, "guide, graphs: instantiation takes a snapshot");
    DO(cuGraphDestroy(p.graph));
    clear();
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 1, "guide, graphs: instantiation takes a snapshot");
    DO(cuGraphExecDestroy(exec));
    DO(cuGraphCreate(&p.graph, 0));
}

TEST(an_empty_graph_can_be_launched)
{
    CUgraphExec exec = conf_exec(p.graph);
    DO(cuGraphLaunch(exec, p.a));
    WORKS(cuStreamSynchronize(p.a), "cuGraphLaunch");
    DO(cuGraphUpload(exec, p.a));
}

TEST(launches_return_before_the_work_is_done)
{
    CUgraphNode gate = add_gate(NULL, 0);
    add_fill(p.graph, &gate, 1, p.device, 7);
    CUgraphExec exec = conf_exec(p.graph);
    DO(cuGraphLaunch(exec, p.a));
    BUSY(cuStreamQuery(p.a), "cuGraphLaunch: in hStream");
    WORKS(cuStreamQuery(p.b), "cuGraphLaunch: in hStream");
    DO(cuMemsetD8Async(p.second, 8, BYTES, p.a));
    conf_open(&p.gate);
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(byte(p.device), 7, "cuGraphLaunch");
    FACT_EQ(byte(p.second), 8, "cuGraphLaunch: later work of the stream follows");
}

TEST(a_launch_waits_for_earlier_work_of_its_stream)
{
    add_fill(p.graph, NULL, 0, p.device, 2);
    CUgraphExec exec = conf_exec(p.graph);
    conf_close(p.a, &p.gate);
    DO(cuMemsetD8Async(p.device, 1, BYTES, p.a));
    DO(cuGraphLaunch(exec, p.a));
    BUSY(cuStreamQuery(p.a), "cuGraphLaunch");
    conf_open(&p.gate);
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(byte(p.device), 2, "cuGraphLaunch: ordered behind previous work in hStream");
}

TEST(launches_of_one_executable_graph_do_not_overlap)
{
    CUgraphNode gate = add_gate(NULL, 0);
    add_fill(p.graph, &gate, 1, p.device, 5);
    CUgraphExec exec = conf_exec(p.graph);
    DO(cuGraphLaunch(exec, p.a));
    DO(cuGraphLaunch(exec, p.b));
    BUSY(cuStreamQuery(p.b), "cuGraphLaunch: ordered behind any previous launches of hGraphExec");
    conf_open(&p.gate);
    DO(cuStreamSynchronize(p.b));
    WORKS(cuStreamQuery(p.a), "cuGraphLaunch: ordered behind any previous launches of hGraphExec");
}

TEST(a_destroyed_executable_graph_finishes)
{
    CUgraphNode gate = add_gate(NULL, 0);
    add_fill(p.graph, &gate, 1, p.device, 6);
    CUgraphExec exec = conf_exec(p.graph);
    DO(cuGraphLaunch(exec, p.a));
    DO(cuGraphExecDestroy(exec));
    conf_open(&p.gate);
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(byte(p.device), 6, "cuGraphExecDestroy: in flight, it is not terminated");
}

TEST(event_nodes_connect_with_other_work)
{
    unsigned char value;
    CUgraphNode wait, record;
    CUevent done = conf_event();
    DO(cuGraphAddEventWaitNode(&wait, p.graph, NULL, 0, p.event));
    CUgraphNode fill = add_fill(p.graph, &wait, 1, p.device, 9);
    DO(cuGraphAddEventRecordNode(&record, p.graph, &fill, 1, done));
    CUgraphExec exec = conf_exec(p.graph);
    conf_close(p.b, &p.gate);
    DO(cuEventRecord(p.event, p.b));
    DO(cuGraphLaunch(exec, p.a));
    BUSY(cuStreamQuery(p.a), "cuGraphAddEventWaitNode");
    BUSY(cuEventQuery(done), "cuGraphAddEventRecordNode");
    conf_open(&p.gate);
    DO(cuEventSynchronize(done));
    DO(cuMemcpyDtoH(&value, p.device + BYTES - 1, 1)); /* waits for no more than the event */
    FACT_EQ(value, 9, "cuGraphAddEventRecordNode: after what it depends on");
}

TEST(a_clone_is_independent)
{
    CUgraphNode node = add_fill(p.graph, NULL, 0, p.device, 1), found = NULL;
    CUDA_MEMSET_NODE_PARAMS params = filling(p.device, 2);
    CUgraph clone;
    DO(cuGraphClone(&clone, p.graph));
    DO(cuGraphNodeFindInClone(&found, node, clone));
    FACT(found && found != node, "cuGraphNodeFindInClone");
    REFUSED(cuGraphNodeFindInClone(&found, node, p.graph), "hClonedGraph must have been cloned");
    DO(cuGraphNodeFindInClone(&found, node, clone));
    DO(cuGraphMemsetNodeSetParams(node, &params));
    add_empty(NULL, 0);
    DO(cuGraphMemsetNodeGetParams(found, &params));
    FACT_EQ(params.value, 1, "cuGraphClone: all parameters are copied");
    FACT_EQ(conf_node_count(clone), 1, "cuGraphClone: the original may be modified");
    conf_run(conf_exec(clone), p.a);
    FACT_EQ(byte(p.device), 1, "cuGraphClone");
}

TEST(a_child_graph_runs_in_its_place)
{
    CUgraph child, held;
    CUgraphNode node, before = add_fill(p.graph, NULL, 0, p.device, 1);
    DO(cuGraphCreate(&child, 0));
    add_fill(child, NULL, 0, p.device, 2);
    DO(cuGraphAddChildGraphNode(&node, p.graph, &before, 1, child));
    add_fill(child, NULL, 0, p.second, 2); /* too late for the node */
    add_read(p.graph, &node, 1, p.device);
    DO(cuGraphChildGraphNodeGetGraph(node, &held));
    FACT(held && held != child, "cuGraphAddChildGraphNode: the child graph is cloned");
    FACT_EQ(conf_node_count(held), 1, "cuGraphAddChildGraphNode: the child graph is cloned");
    DO(cuGraphDestroy(child));
    conf_run(conf_exec(p.graph), p.a);
    FACT_EQ(p.host[0], 2, "guide, graphs: a child graph node's dependents follow");
    FACT_EQ(byte(p.second), 0, "cuGraphAddChildGraphNode: the child graph is cloned");
}

TEST(nodes_of_executable_graphs_can_be_changed)
{
    CUgraphNode node = add_fill(p.graph, NULL, 0, p.device, 1), host = add_gate(&node, 1);
    CUDA_MEMSET_NODE_PARAMS params = filling(p.device, 2);
    CUDA_HOST_NODE_PARAMS other = {conf_gate, &(int){1}};
    CUgraphExec exec = conf_exec(p.graph);
    DO(cuGraphExecHostNodeSetParams(exec, host, &other));
    DO(cuGraphExecMemsetNodeSetParams(exec, node, &params, p.ctx));
    conf_run(exec, p.a); /* with the old host node it would not end */
    FACT_EQ(byte(p.device), 2, "cuGraphExecMemsetNodeSetParams: future launches");
    DO(cuGraphMemsetNodeGetParams(node, &params));
    FACT_EQ(params.value, 1, "cuGraphExecMemsetNodeSetParams: hNode is not modified");
    FACT_EQ(GOT(unsigned, cuGraphNodeGetEnabled(exec, node, &got)), 1, "cuGraphNodeGetEnabled");
    DO(cuGraphNodeSetEnabled(exec, node, 0));
    FACT_EQ(GOT(unsigned, cuGraphNodeGetEnabled(exec, node, &got)), 0, "cuGraphNodeGetEnabled");
    clear();
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 0, "cuGraphNodeSetEnabled: disabled like an empty node");
    DO(cuGraphNodeSetEnabled(exec, node, 1));
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 2, "cuGraphNodeSetEnabled: parameters are not affected");
    REFUSED(cuGraphNodeSetEnabled(exec, host, 0), "only kernel, memset and memcpy nodes");
}

TEST(an_executable_graph_takes_over_parameters_of_an_equal_graph)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphNode a = add_fill(p.graph, NULL, 0, p.device, 1);
    add_fill(p.graph, &a, 1, p.second, 1);
    CUgraphExec exec = conf_exec(p.graph);
    CUgraph other = conf_graph();
    a = add_fill(other, NULL, 0, p.device, 3);
    RETURNS(cuGraphExecUpdate(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    FACT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
            "cuGraphExecUpdate: the count of nodes differs");
    FACT(!info.errorNode, "cuGraphExecUpdate: in which case errorNode is NULL");
    CUgraphNode b = add_fill(other, &a, 1, p.second, 4);
    DO(cuGraphExecUpdate(exec, other, &info));
    FACT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS, "cuGraphExecUpdate");
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 3, "cuGraphExecUpdate: updates the node parameters");
    FACT_EQ(byte(p.second), 4, "cuGraphExecUpdate: updates the node parameters");
    DO(cuGraphDestroyNode(b));
    b = add_read(other, &a, 1, p.device);
    RETURNS(cuGraphExecUpdate(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    FACT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
            "cuGraphExecUpdate: the type of a node changed");
    FACT(info.errorNode == b, "cuGraphExecUpdate: errorNode is the node from hGraph");
}

TEST(instantiation_reports_its_result)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
        .hUploadStream = p.a,
        .result_out = CUDA_GRAPH_INSTANTIATE_ERROR};
    CUgraphExec exec;
    add_fill(p.graph, NULL, 0, p.device, 1);
    DO(cuGraphInstantiateWithParams(&exec, p.graph, &params));
    FACT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS, "cuGraphInstantiateWithParams");
    FACT(!params.hErrNode_out, "cuGraphInstantiateWithParams: set to NULL");
    FACT_EQ(GOT(cuuint64_t, cuGraphExecGetFlags(exec, &got)),
            CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
            "cuGraphExecGetFlags: UPLOAD is not returned");
}

TEST(any_node_can_be_added_by_one_function)
{
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_MEMSET,
        .memset = {.dst = p.device, .value = 12, .elementSize = 1, .width = BYTES, .height = 1,
                   .ctx = p.ctx}};
    CUgraphNode node;
    DO(cuGraphAddNode(&node, p.graph, NULL, NULL, 0, &params));
    CUgraphExec exec = conf_exec(p.graph);
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 12, "cuGraphAddNode");
    params.memset.value = 13;
    DO(cuGraphNodeSetParams(node, &params));
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 12, "cuGraphNodeSetParams: not the executable graph");
    DO(cuGraphExecNodeSetParams(exec, node, &params));
    conf_run(exec, p.a);
    FACT_EQ(byte(p.device), 13, "cuGraphExecNodeSetParams");
    params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    REFUSED(cuGraphNodeSetParams(node, &params), "the type must match the type of hNode");
}

TEST(copies_of_boxes_are_done)
{
    CUDA_MEMCPY3D box = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = p.host, .srcPitch = ROW,
        .srcHeight = BYTES / ROW,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p.device, .dstPitch = ROW,
        .dstHeight = BYTES / ROW, .dstXInBytes = 8, .dstY = 1,
        .WidthInBytes = 16, .Height = 2, .Depth = 1};
    CUgraphNode node;
    memset(p.host, 0x11, BYTES);
    DO(cuGraphAddMemcpyNode(&node, p.graph, NULL, 0, &box, p.ctx));
    conf_run(conf_exec(p.graph), p.a);
    DO(cuMemcpyDtoH(p.host, p.device, BYTES));
    FACT(p.host[ROW + 8] == 0x11 && p.host[2 * ROW + 23] == 0x11, "cuGraphAddMemcpyNode");
    FACT(!p.host[ROW + 7] && !p.host[ROW + 24] && !p.host[8] && !p.host[3 * ROW + 8],
         "cuGraphAddMemcpyNode: and nothing else");
}

static void count_up(void *data) { __atomic_fetch_add((int *)data, 1, __ATOMIC_RELEASE); }

/* How often *destroyed* was counted up, after a while if *wait*. */
static int count_after(int *destroyed, bool wait)
{
    for (int i = 0; wait && i < 50000 && !__atomic_load_n(destroyed, __ATOMIC_ACQUIRE); i++)
        usleep(100);
    return __atomic_load_n(destroyed, __ATOMIC_ACQUIRE);
}

TEST(graphs_keep_user_objects)
{
    static int destroyed;
    CUuserObject object;
    destroyed = 0;
    INVALID(cuUserObjectCreate(&object, &destroyed, count_up, 1, 0),
            "required to pass CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
    DO(cuUserObjectCreate(&object, &destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CUgraph graph = conf_graph();
    DO(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = conf_exec(graph);
    DO(cuGraphDestroy(graph));
    conf_run(exec, p.a);
    FACT_EQ(count_after(&destroyed, false), 0,
            "guide, user objects: an executable graph keeps references");
    DO(cuGraphExecDestroy(exec));
    FACT_EQ(count_after(&destroyed, true), 1,
            "cuUserObjectCreate: destroyed when it is no longer in use");
}

TEST(the_last_reference_destroys_a_user_object)
{
    static int destroyed;
    CUuserObject object;
    destroyed = 0;
    DO(cuUserObjectCreate(&object, &destroyed, count_up, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    DO(cuUserObjectRetain(object, 1));
    INVALID(cuUserObjectRetain(object, 0), "must be nonzero");
    DO(cuUserObjectRelease(object, 2));
    FACT_EQ(count_after(&destroyed, false), 0, "cuUserObjectRelease");
    DO(cuUserObjectRelease(object, 1));
    FACT_EQ(count_after(&destroyed, true), 1,
            "cuUserObjectRelease: invoked if the reference count reaches zero");
}

TEST(a_graph_can_be_drawn)
{
    char path[] = "/tmp/conf_graph_XXXXXX", text[64] = "";
    CUgraphNode a = add_empty(NULL, 0);
    int fd = mkstemp(path);
    add_fill(p.graph, &a, 1, p.device, 1);
    DO(cuGraphDebugDotPrint(p.graph, path, 0));
    FACT(read(fd, text, sizeof text - 1) > 0 && !strncmp(text, "digraph", 7),
         "cuGraphDebugDotPrint: a DOT formatted description");
    close(fd);
    unlink(path);
}

TEST(the_runtime_builds_the_same_graphs)
{
    struct cudaMemsetParams set = {
        .dst = (void *)p.device, .value = 21, .elementSize = 1, .width = BYTES, .height = 1};
    struct cudaMemsetParams out;
    cudaGraphNode_t fill, read_back;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    DO(cudaGraphCreate(&graph, 0));
    DO(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &set));
    DO(cudaGraphAddMemcpyNode1D(&read_back, graph, &fill, 1, p.host, (void *)p.device, BYTES,
                                cudaMemcpyDeviceToHost));
    FACT_EQ(GOT(enum cudaGraphNodeType, cudaGraphNodeGetType(read_back, &got)),
            cudaGraphNodeTypeMemcpy, "cudaGraphAddMemcpyNode1D");
    DO(cudaGraphMemsetNodeGetParams(fill, &out));
    FACT(out.dst == set.dst && out.value == 21 && out.width == BYTES,
         "cudaGraphMemsetNodeGetParams");
    DO(cudaGraphInstantiate(&exec, graph, 0));
    memset(p.host, 0, BYTES);
    DO(cudaGraphLaunch(exec, p.a));
    DO(cudaStreamSynchronize(p.a));
    FACT_EQ(p.host[BYTES / 2], 21, "cudaGraphLaunch");
    set.value = 22;
    DO(cudaGraphExecMemsetNodeSetParams(exec, fill, &set));
    DO(cudaGraphLaunch(exec, p.a));
    DO(cudaStreamSynchronize(p.a));
    FACT_EQ(p.host[BYTES / 2], 22, "cudaGraphExecMemsetNodeSetParams");
    INVALID(cudaGraphCreate(&graph, 3), "flags must be 0");
}
