/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture: captured work, forbidden operations, and the end of a capture. */
#include "conf.h"

#include <pthread.h>

#define BYTES 256
#define GUIDE "guide, stream capture: "
#define MODE(name) CU_STREAM_CAPTURE_MODE_##name
#define STATUS(name) CU_STREAM_CAPTURE_STATUS_##name
#define ERROR(name) CUDA_ERROR_STREAM_CAPTURE_##name
#define MODE_RULE "cuThreadExchangeStreamCaptureMode: "

static struct {
    CUdeviceptr device;
    unsigned char host[BYTES];
    CUstream a, b;     /* non-blocking */
    CUstream blocking;
    CUevent event, other;
} p;

SETUP(setup)
{
    p.device = conf_alloc(BYTES);
    p.a = conf_stream(), p.b = conf_stream();
    p.event = conf_event(), p.other = conf_event();
    return cuStreamCreate(&p.blocking, CU_STREAM_DEFAULT) || cuMemsetD8(p.device, 0, BYTES);
}

/* A capture that a failed case left open would make others fail. */
AFTER(end_all)
{
    CUstream streams[] = {p.a, p.b, p.blocking};
    CUgraph graph;
    for (size_t i = 0; i < 3; i++)
        if (cuStreamEndCapture(streams[i], &graph) == CUDA_SUCCESS && graph)
            cuGraphDestroy(graph);
    return cuCtxSynchronize();
}

static void begin(CUstream stream) { DO(cuStreamBeginCapture(stream, MODE(RELAXED))); }

static CUgraph end(CUstream stream)
{
    return GOT(CUgraph, cuStreamEndCapture(stream, &got));
}

static void fill(CUstream stream, unsigned char value)
{
    DO(cuMemsetD8Async(p.device, value, BYTES, stream));
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)-1;
    DO(cuStreamIsCapturing(stream, &status));
    return status;
}

static unsigned char byte(void) { return conf_byte(p.device + BYTES - 1); }

/* Number of nodes of this type; the order of nodes is undefined. */
static int nodes_of(CUgraph graph, CUgraphNodeType wanted)
{
    CUgraphNode nodes[8];
    CUgraphNodeType type;
    size_t count = 8;
    int found = 0;
    DO(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        DO(cuGraphNodeGetType(nodes[i], &type));
        found += type == wanted;
    }
    return found;
}

/* The only dependency of the next captured node. */
static CUgraphNode last_captured(CUstream stream)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *deps = NULL;
    size_t count = 0;
    DO(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &deps, NULL, &count));
    DO(count != 1);
    return deps[0];
}

/* Ends the capture of *stream*, which must be invalidated. */
static void ends_invalid(CUstream stream)
{
    CUgraph graph = (CUgraph)1;
    FACT_EQ(status_of(stream), STATUS(INVALIDATED),
            GUIDE "an invalid operation invalidates any associated capture");
    FACT_EQ(cuMemsetD8Async(p.device, 9, BYTES, stream), ERROR(INVALIDATED),
            "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
    FACT_EQ(cuStreamEndCapture(stream, &graph), ERROR(INVALIDATED),
            "cuStreamEndCapture; CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
    FACT(graph == NULL, "cuStreamEndCapture: a NULL graph if it was invalidated");
    FACT_EQ(status_of(stream), STATUS(NONE),
            GUIDE "cudaStreamEndCapture takes the streams out of capture mode");
}

TEST(captured_work_is_not_done)
{
    DO(cuMemsetD8(p.device, 1, BYTES));
    FACT_EQ(status_of(p.a), STATUS(NONE), "cuStreamIsCapturing");
    begin(p.a);
    FACT_EQ(status_of(p.a), STATUS(ACTIVE), "cuStreamIsCapturing");
    FACT_EQ(status_of(p.b), STATUS(NONE), "cuStreamIsCapturing");
    fill(p.a, 2);
    CUgraph graph = end(p.a);
    FACT_EQ(status_of(p.a), STATUS(NONE), "cuStreamEndCapture");
    FACT_EQ(byte(), 1, "cuStreamBeginCapture: operations will not be executed");
    conf_run(conf_exec(graph), p.b);
    FACT_EQ(byte(), 2, "cuStreamBeginCapture: but captured into a graph");
}

TEST(work_of_a_stream_becomes_a_chain_of_nodes)
{
    int gate = 1;
    size_t edges = 0, roots = 0;
    begin(p.a);
    fill(p.a, 3);
    DO(cuMemcpyDtoHAsync(p.host, p.device, BYTES, p.a));
    DO(cuLaunchHostFunc(p.a, conf_gate, &gate));
    CUgraph graph = end(p.a);
    FACT_EQ(conf_node_count(graph), 3, GUIDE "a node for each operation");
    FACT_EQ(nodes_of(graph, CU_GRAPH_NODE_TYPE_MEMSET), 1, GUIDE "a memset node");
    FACT_EQ(nodes_of(graph, CU_GRAPH_NODE_TYPE_MEMCPY), 1, GUIDE "a memcpy node");
    FACT_EQ(nodes_of(graph, CU_GRAPH_NODE_TYPE_HOST), 1, GUIDE "a host node");
    DO(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    FACT_EQ(edges, 2, GUIDE "in-stream order becomes edges");
    DO(cuGraphGetRootNodes(graph, NULL, &roots));
    FACT_EQ(roots, 1, GUIDE "in-stream order becomes edges");
    memset(p.host, 0, BYTES);
    conf_run(conf_exec(graph), p.a);
    FACT_EQ(p.host[5], 3, GUIDE "the graph does what was captured");
}

TEST(a_captured_source_is_read_at_the_launch)
{
    unsigned char source[BYTES];
    memset(source, 1, BYTES);
    begin(p.a);
    DO(cuMemcpyHtoDAsync(p.device, source, BYTES, p.a));
    CUgraph graph = end(p.a);
    memset(source, 77, BYTES);
    conf_run(conf_exec(graph), p.a);
    FACT_EQ(byte(), 77, "cuStreamBeginCapture: operations will not be executed");
}

TEST(info_returns_id_graph_and_dependencies)
{
    CUstreamCaptureStatus status;
    cuuint64_t first = 0, id = 0;
    CUgraph graph = NULL, ended;
    const CUgraphNode *deps;
    size_t count = 99, one = 1;
    begin(p.a);
    DO(cuStreamGetCaptureInfo(p.a, &status, &first, &graph, &deps, NULL, &count));
    FACT_EQ(status, STATUS(ACTIVE), "cuStreamGetCaptureInfo");
    FACT_EQ(count, 0, "cuStreamGetCaptureInfo: nothing has been captured");
    FACT(graph != NULL, "cuStreamGetCaptureInfo: the graph being captured into");
    fill(p.a, 1);
    DO(cuStreamGetCaptureInfo(p.a, &status, &id, &graph, &deps, NULL, &count));
    FACT_EQ(id, first, "cuStreamGetCaptureInfo: an id for the capture sequence");
    FACT_EQ(count, 1, "cuStreamGetCaptureInfo: the next node depends on this set");
    FACT(deps[0] == GOT(CUgraphNode, cuGraphGetNodes(graph, &got, &one)),
         "cuStreamGetCaptureInfo: the next node depends on this set");
    ended = end(p.a);
    FACT(ended == graph, "cuStreamGetCaptureInfo: ownership is transferred at the end");
    DO(cuGraphDestroy(ended));
    begin(p.a);
    DO(cuStreamGetCaptureInfo(p.a, &status, &id, NULL, NULL, NULL, NULL));
    FACT(id != first, "cuStreamGetCaptureInfo: unique over the process");
    DO(cuGraphDestroy(end(p.a)));
    DO(cuStreamGetCaptureInfo(p.a, &status, NULL, NULL, NULL, NULL, NULL));
    FACT_EQ(status, STATUS(NONE), "cuStreamGetCaptureInfo");
}

TEST(an_empty_capture_is_an_empty_graph)
{
    begin(p.a);
    CUgraph graph = end(p.a);
    FACT(graph != NULL, "cuStreamEndCapture");
    FACT_EQ(conf_node_count(graph), 0, "cuStreamEndCapture");
    conf_run(conf_exec(graph), p.a);
}

TEST(captures_begin_where_they_may)
{
    REFUSED(cuStreamBeginCapture(CU_STREAM_LEGACY, MODE(RELAXED)),
            "not if stream is CU_STREAM_LEGACY");
    RETURNS(cuStreamBeginCapture(p.a, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE);
    FACT_EQ(status_of(p.a), STATUS(NONE), "cuStreamBeginCapture");
    begin(p.a);
    REFUSED(cuStreamBeginCapture(p.a, MODE(RELAXED)),
            "only if the stream is not already in capture mode");
    CUgraph graph = NULL;
    if (cuStreamEndCapture(p.a, &graph) == CUDA_SUCCESS)
        DO(cuGraphDestroy(graph));
    REFUSED(cuStreamEndCapture(p.a, &graph), "capture must have been initiated");
}

TEST(the_per_thread_stream_can_capture)
{
    begin(CU_STREAM_PER_THREAD);
    fill(CU_STREAM_PER_THREAD, 44);
    CUgraph graph = end(CU_STREAM_PER_THREAD);
    FACT_EQ(conf_node_count(graph), 1, "cuStreamBeginCapture: only CU_STREAM_LEGACY may not");
}

TEST(waiting_for_a_capturing_stream_is_invalid)
{
    for (int i = 0; i < 3; i++) {
        begin(p.a);
        FACT_EQ(i == 0   ? cuStreamSynchronize(p.a)
                : i == 1 ? cuStreamQuery(p.a)
                         : cuCtxSynchronize(),
                ERROR(UNSUPPORTED),
                GUIDE "it is invalid to synchronize or query a stream which is being captured, or "
                      "a handle that encompasses one, such as a context");
        ends_invalid(p.a);
    }
}

TEST(asking_about_a_captured_event_is_invalid)
{
    CUgraph graph;
    begin(p.a);
    fill(p.a, 1);
    DO(cuEventRecord(p.event, p.a));
    FACT_EQ(cuEventQuery(p.event), CUDA_ERROR_CAPTURED_EVENT,
            MODE_RULE "cuEventQuery on an event last recorded inside a capture");
    (void)cuStreamEndCapture(p.a, &graph);
    begin(p.a);
    fill(p.a, 1);
    DO(cuEventRecord(p.event, p.a));
    FACT_EQ(cuEventSynchronize(p.event), CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT");
    (void)cuStreamEndCapture(p.a, &graph);
    DO(cuEventRecord(p.event, p.a)); /* an ordinary record makes it an ordinary event */
    WORKS(cuEventSynchronize(p.event), "CUDA_ERROR_CAPTURED_EVENT: last");
}

TEST(unsafe_calls_depend_on_the_mode)
{
    static const struct {
        CUstreamCaptureMode capture, thread;
        CUresult result;
        const char *rule;
    } rows[] = {
        {MODE(GLOBAL), MODE(GLOBAL), ERROR(UNSUPPORTED),
         MODE_RULE "GLOBAL: prohibited by an own capture that is not relaxed"},
        {MODE(THREAD_LOCAL), MODE(GLOBAL), ERROR(UNSUPPORTED),
         MODE_RULE "GLOBAL: prohibited by an own capture that is not relaxed"},
        {MODE(RELAXED), MODE(GLOBAL), CUDA_SUCCESS, MODE_RULE "a relaxed one prohibits nothing"},
        {MODE(GLOBAL), MODE(RELAXED), CUDA_SUCCESS, MODE_RULE "RELAXED: not prohibited"},
    };
    CUstreamCaptureMode mode;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUdeviceptr d;
        mode = rows[i].thread;
        DO(cuThreadExchangeStreamCaptureMode(&mode));
        FACT_EQ(mode, MODE(GLOBAL), MODE_RULE "GLOBAL is the default mode");
        DO(cuStreamBeginCapture(p.a, rows[i].capture));
        FACT_EQ(cuMemAlloc(&d, BYTES), rows[i].result, rows[i].rule);
        if (rows[i].result) {
            ends_invalid(p.a);
        } else {
            WORKS(cuMemFree(d), rows[i].rule);
            end(p.a);
        }
        DO(cuThreadExchangeStreamCaptureMode(&mode));
        FACT_EQ(mode, rows[i].thread, MODE_RULE "overwritten with the previous mode");
    }
    mode = (CUstreamCaptureMode)7;
    WORKS(cuThreadExchangeStreamCaptureMode(&mode), MODE_RULE "does not check the mode");
    mode = MODE(GLOBAL);
    DO(cuThreadExchangeStreamCaptureMode(&mode));
}

struct other_thread {
    CUcontext ctx;
    CUstreamCaptureMode mode;
    bool ends; /* it ends the capture instead of allocating */
    CUresult allocated, ended;
};

static void *run_other(void *arg)
{
    struct other_thread *t = arg;
    CUdeviceptr d;
    CUgraph graph;
    CUstreamCaptureMode mode = t->mode;
    t->allocated = t->ended = CUDA_ERROR_UNKNOWN;
    if (cuCtxSetCurrent(t->ctx) || cuThreadExchangeStreamCaptureMode(&mode))
        return NULL;
    if (!t->ends)
        t->allocated = cuMemAlloc(&d, BYTES);
    if (t->allocated == CUDA_SUCCESS)
        cuMemFree(d);
    if (t->ends)
        t->ended = cuStreamEndCapture(p.a, &graph);
    if (t->ended == CUDA_SUCCESS)
        cuGraphDestroy(graph);
    return NULL;
}

static struct other_thread in_other_thread(CUstreamCaptureMode mode, bool ends)
{
    struct other_thread t = {.mode = mode, .ends = ends};
    pthread_t thread;
    DO(cuCtxGetCurrent(&t.ctx));
    DO(pthread_create(&thread, NULL, run_other, &t));
    DO(pthread_join(thread, NULL));
    return t;
}

TEST(other_threads_are_held_back_by_global_captures_only)
{
    static const struct {
        CUstreamCaptureMode capture, other;
        CUresult result;
        const char *rule;
    } rows[] = {
        {MODE(THREAD_LOCAL), MODE(GLOBAL), CUDA_SUCCESS,
         MODE_RULE "GLOBAL: only captures of other threads that are GLOBAL count"},
        {MODE(GLOBAL), MODE(THREAD_LOCAL), CUDA_SUCCESS,
         MODE_RULE "THREAD_LOCAL: captures in other threads are ignored"},
        {MODE(GLOBAL), MODE(GLOBAL), ERROR(UNSUPPORTED),
         MODE_RULE "GLOBAL: prohibited while another thread has a GLOBAL capture"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DO(cuStreamBeginCapture(p.a, rows[i].capture));
        FACT_EQ(in_other_thread(rows[i].other, false).allocated, rows[i].result, rows[i].rule);
        if (rows[i].result == CUDA_SUCCESS)
            DO(cuGraphDestroy(end(p.a)));
        else
            end_all(NULL);
    }
}

TEST(captures_end_in_the_thread_that_began_them)
{
    DO(cuStreamBeginCapture(p.a, MODE(THREAD_LOCAL)));
    FACT_EQ(in_other_thread(MODE(RELAXED), true).ended, ERROR(WRONG_THREAD),
            "cuStreamEndCapture: from the same thread unless relaxed");
    end_all(NULL);
    begin(p.a);
    WORKS(in_other_thread(MODE(RELAXED), true).ended,
          "cuStreamEndCapture: from the same thread unless relaxed");
}

TEST(the_legacy_stream_is_unusable_beside_a_blocking_capture)
{
    CUstreamCaptureStatus status;
    begin(p.blocking);
    FACT_EQ(cuStreamIsCapturing(CU_STREAM_LEGACY, &status), ERROR(IMPLICIT),
            "on CU_STREAM_LEGACY while a blocking stream captures");
    RETURNS(cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, NULL, NULL, NULL, NULL, NULL),
            ERROR(IMPLICIT));
    FACT_EQ(status_of(p.blocking), STATUS(ACTIVE),
            "cuStreamIsCapturing: the capture is not invalidated");
    FACT_EQ(cuMemsetD8Async(p.device, 1, BYTES, CU_STREAM_LEGACY),
            ERROR(IMPLICIT), "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
    ends_invalid(p.blocking);
    begin(p.a); /* not blocking */
    DO(cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    FACT_EQ(status, STATUS(NONE), "cuStreamIsCapturing");
    WORKS(cuMemsetD8Async(p.device, 5, BYTES, CU_STREAM_LEGACY),
          GUIDE "only streams that are not cudaStreamNonBlocking make the legacy stream invalid");
    DO(cuGraphDestroy(end(p.a)));
    FACT_EQ(byte(), 5, GUIDE "work in other streams is not captured");
}

TEST(events_take_a_capture_to_other_streams)
{
    CUstreamCaptureStatus status;
    cuuint64_t ids[2];
    begin(p.a);
    fill(p.a, 1);
    DO(cuEventRecord(p.event, p.a));
    DO(cuStreamWaitEvent(p.b, p.event, 0));
    FACT_EQ(status_of(p.b), STATUS(ACTIVE),
            GUIDE "cross-stream: waiting for a captured event places the stream in capture mode");
    DO(cuStreamGetCaptureInfo(p.a, &status, &ids[0], NULL, NULL, NULL, NULL));
    DO(cuStreamGetCaptureInfo(p.b, &status, &ids[1], NULL, NULL, NULL, NULL));
    FACT_EQ(ids[0], ids[1], GUIDE "cross-stream: into the same capture");
    fill(p.a, 2);
    fill(p.b, 3);
    DO(cuEventRecord(p.other, p.b));
    DO(cuStreamWaitEvent(p.a, p.other, 0));
    fill(p.a, 4);
    CUgraph graph = end(p.a);
    FACT_EQ(status_of(p.b), STATUS(NONE),
            GUIDE "cross-stream: all streams of the capture are taken out of capture mode");
    FACT_EQ(conf_node_count(graph), 4, GUIDE "events make edges, not nodes");
    FACT_EQ(GOT(size_t, cuGraphGetEdges(graph, NULL, NULL, NULL, &got)), 4,
            GUIDE "events make edges");
    FACT_EQ(GOT(size_t, cuGraphGetRootNodes(graph, NULL, &got)), 1, GUIDE "events make edges");
    conf_run(conf_exec(graph), p.b);
    FACT_EQ(byte(), 4, GUIDE "what joins runs last");
}

static void fork_off(void)
{
    begin(p.a);
    fill(p.a, 1);
    DO(cuEventRecord(p.event, p.a));
    DO(cuStreamWaitEvent(p.b, p.event, 0));
    fill(p.b, 2);
}

TEST(forks_must_be_joined)
{
    CUgraph graph = (CUgraph)1;
    fork_off();
    FACT_EQ(cuStreamEndCapture(p.a, &graph), ERROR(UNJOINED), "CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
    FACT(graph == NULL, "cuStreamEndCapture: a NULL graph");
    FACT_EQ(status_of(p.a), STATUS(NONE), "cuStreamEndCapture");
}

TEST(captures_end_in_the_stream_that_began_them)
{
    CUgraph graph;
    fork_off();
    FACT_EQ(cuStreamEndCapture(p.b, &graph), ERROR(UNMATCHED),
            "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED");
    end_all(NULL);
}

TEST(captures_are_isolated_from_other_work)
{
    DO(cuEventRecord(p.event, p.b));
    begin(p.a);
    FACT_EQ(cuStreamWaitEvent(p.a, p.event, 0), ERROR(ISOLATION),
            GUIDE "it is invalid to wait for a non-captured event from a captured stream");
    ends_invalid(p.a);
}

TEST(captures_do_not_merge)
{
    begin(p.a);
    begin(p.b);
    fill(p.b, 1);
    DO(cuEventRecord(p.event, p.b));
    FACT_EQ(cuStreamWaitEvent(p.a, p.event, 0), ERROR(MERGE),
            GUIDE "it is invalid to merge two separate captures");
    end_all(NULL);
}

TEST(external_events_become_nodes)
{
    REFUSED(cuEventRecordWithFlags(p.event, p.a, CU_EVENT_RECORD_EXTERNAL),
            "CU_EVENT_RECORD_EXTERNAL: invalid outside of capture");
    REFUSED(cuStreamWaitEvent(p.a, p.event, CU_EVENT_WAIT_EXTERNAL),
            "CU_EVENT_WAIT_EXTERNAL: invalid outside of capture");
    DO(cuEventRecord(p.event, p.b));
    begin(p.a);
    DO(cuStreamWaitEvent(p.a, p.event, CU_EVENT_WAIT_EXTERNAL));
    DO(cuEventRecordWithFlags(p.other, p.a, CU_EVENT_RECORD_EXTERNAL));
    CUgraph graph = end(p.a);
    FACT_EQ(conf_node_count(graph), 2, "CU_EVENT_WAIT_EXTERNAL: creates a node");
    FACT_EQ(nodes_of(graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT), 1, "CU_EVENT_WAIT_EXTERNAL");
    FACT_EQ(nodes_of(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD), 1, "CU_EVENT_RECORD_EXTERNAL");
    conf_run(conf_exec(graph), p.a);
    WORKS(cuEventQuery(p.other), "CU_EVENT_RECORD_EXTERNAL: an event node");
}

TEST(dependencies_can_be_changed)
{
    CUgraphNode first;
    size_t count = 0, roots = 0;
    CUstreamCaptureStatus status;
    CUgraph graph;
    FACT_EQ(cuStreamUpdateCaptureDependencies(p.a, NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE,
            "if the stream is not capturing");
    begin(p.a);
    fill(p.a, 1);
    first = last_captured(p.a);
    DO(cuStreamUpdateCaptureDependencies(p.a, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    fill(p.a, 2);
    DO(cuStreamGetCaptureInfo(p.a, &status, NULL, &graph, NULL, NULL, NULL));
    DO(cuGraphGetRootNodes(graph, NULL, &roots));
    FACT_EQ(roots, 2, "cuStreamUpdateCaptureDependencies: SET replaces the set");
    DO(cuStreamUpdateCaptureDependencies(p.a, &first, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    fill(p.a, 3);
    DO(cuGraphNodeGetDependencies(last_captured(p.a), NULL, NULL, &count));
    FACT_EQ(count, 2, "cuStreamUpdateCaptureDependencies: ADD adds to the set");
}

TEST(a_capture_can_go_on_with_a_graph)
{
    CUgraph graph, ended = NULL;
    CUgraphNode first, filled, before = NULL;
    size_t count = 1;
    DO(cuGraphCreate(&graph, 0));
    DO(cuGraphAddEmptyNode(&first, graph, NULL, 0));
    DO(cuStreamBeginCaptureToGraph(p.a, graph, &first, NULL, 1, MODE(RELAXED)));
    fill(p.a, 6);
    filled = last_captured(p.a);
    DO(cuStreamEndCapture(p.a, &ended));
    FACT(ended == graph, "cuStreamBeginCaptureToGraph: captured into hGraph");
    FACT_EQ(conf_node_count(graph), 2,
            "cuStreamBeginCaptureToGraph: placing nodes into an existing graph");
    DO(cuGraphNodeGetDependencies(filled, &before, NULL, &count));
    FACT(count == 1 && before == first,
         "cuStreamBeginCaptureToGraph: dependencies of the first node captured");
    conf_run(conf_exec(graph), p.a);
    FACT_EQ(byte(), 6, "cuStreamBeginCaptureToGraph");
}

TEST(the_runtime_captures_likewise)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec;
    DO(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeThreadLocal));
    DO(cudaMemsetAsync((void *)p.device, 0x21, BYTES, p.a));
    FACT_EQ(GOT(enum cudaStreamCaptureStatus, cudaStreamIsCapturing(p.a, &got)),
            cudaStreamCaptureStatusActive, "cudaStreamIsCapturing");
    DO(cudaStreamEndCapture(p.a, &graph));
    DO(cudaGraphInstantiate(&exec, graph, 0));
    DO(cudaGraphLaunch(exec, p.a));
    FACT_EQ(byte(), 0x21, "cudaStreamBeginCapture");
    DO(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeGlobal));
    FACT_EQ(cudaStreamSynchronize(p.a), cudaErrorStreamCaptureUnsupported,
            "cudaErrorStreamCaptureUnsupported");
    RETURNS(cudaGetLastError(), cudaErrorStreamCaptureUnsupported);
    FACT_EQ(cudaStreamEndCapture(p.a, &graph), cudaErrorStreamCaptureInvalidated,
            "cudaErrorStreamCaptureInvalidated");
}
