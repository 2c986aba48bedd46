/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of a communicator on its streams: a host function that meets the other ranks, then a kernel
 * that takes the time of the links. Work of one communicator runs in the order of the calls, on
 * whatever streams, so that all ranks meet in the same order; so does the work of one capture, as with
 * NCCL. A graph keeps the work that was captured and runs it at each replay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define STREAMS_MAX 64

struct queued_group {
    struct vs_nccl_member *member;
    bool captured;
    size_t count;
    struct vs_nccl_task tasks[];
};

static void free_batch(void *argument)
{
    struct queued_group *b = argument;
    vs_nccl_release(b->member);
    free(b);
}

static void run_batch(void *argument)
{
    struct queued_group *b = argument;
    struct vs_nccl_member *m = b->member;
    bool captured = b->captured;
    if (captured) { /* counted here: it may run while the communicator is being destroyed */
        pthread_mutex_lock(&m->mu);
        m->in_flight++;
        pthread_mutex_unlock(&m->mu);
    }
    if (!atomic_load(&m->stopped) && !atomic_load(&m->error) &&
        vs_nccl_perform(m, b->tasks, b->count) && !atomic_load(&m->stopped))
        vs_nccl_hold(m);
    pthread_mutex_lock(&m->mu);
    if (--m->in_flight == 0)
        pthread_cond_broadcast(&m->idle);
    pthread_mutex_unlock(&m->mu);
    if (!captured)
        free_batch(b);
}

void vs_nccl_drain(struct vs_nccl_member *m)
{
    pthread_mutex_lock(&m->mu);
    while (m->in_flight)
        pthread_cond_wait(&m->idle, &m->mu);
    pthread_mutex_unlock(&m->mu);
}

/* ---- cost ---- */

/* Bandwidth of a ring: 80 % of one direction of NVLink where devices of that architecture have it
 * (A100 300, H100 450, B200 900 GB/s, NVIDIA's data sheets), else of PCIe 4.0 with 16 lanes
 * (32 GB/s). */
double vs_nccl_cost_ns(const struct vs_nccl_member *m, const struct vs_nccl_task *task)
{
    double n = m->count, bytes = (double)vs_nccl_task_bytes(task, m->count), moved;
    if (m->count == 1)
        return 0;
    switch (task->kind) {
    case VS_NCCL_ALL_REDUCE: moved = 2 * (n - 1) / n * bytes; break;
    case VS_NCCL_BROADCAST:
    case VS_NCCL_REDUCE:
    case VS_NCCL_SEND:
    case VS_NCCL_RECV: moved = bytes; break;
    default: moved = (n - 1) / n * bytes; break;
    }
    int major = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    double gb = major == 10 ? 900 : major == 9 ? 450 : major == 8 && minor == 0 ? 300 : 32;
    return 2000.0 * (n - 1) + moved / (0.8 * gb); /* 2 us a step of the ring */
}

static void kernel_name(const struct vs_nccl_task *t, char *name, size_t bytes)
{
    static const char *const ops[] = {"Sum", "Prod", "Max", "Min", "Avg", "PreMulSum"};
    if (t->kind == VS_NCCL_ALL_REDUCE || t->kind == VS_NCCL_REDUCE ||
        t->kind == VS_NCCL_REDUCE_SCATTER)
        snprintf(name, bytes, "ncclDevKernel_%s_%s_%s_RING_LL", vs_nccl_kind_name(t->kind),
                 ops[t->op], vs_nccl_type_short(t->type));
    else if (t->kind == VS_NCCL_ALL_GATHER || t->kind == VS_NCCL_BROADCAST)
        snprintf(name, bytes, "ncclDevKernel_%s_RING_LL", vs_nccl_kind_name(t->kind));
    else
        snprintf(name, bytes, "ncclDevKernel_SendRecv");
}

/* One kernel for a group, as NCCL fuses it. */
static int queue_kernel(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count,
                        CUstream stream)
{
    char name[96];
    struct vs_sim_work work = {.name = name, .number = VS_SIM_FP32, .blocks = 24, .only_time = true};
    kernel_name(&tasks[0], name, sizeof name);
    for (size_t i = 0; i < count; i++) {
        work.bytes += 2.0 * (double)vs_nccl_task_bytes(&tasks[i], m->count);
        double ns = vs_nccl_cost_ns(m, &tasks[i]);
        bool pair = tasks[i].kind == VS_NCCL_SEND || tasks[i].kind == VS_NCCL_RECV;
        work.ns = pair ? (ns > work.ns ? ns : work.ns) : work.ns + ns;
    }
    return vs_nccl_cuda(vs_library_submit(stream, &work), name);
}

/* ---- queues ---- */

/* Gives the graph that *stream* is captured into the batch to keep. */
static int keep_in_graph(struct queued_group *b, CUgraph graph)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUuserObject object;
    CUresult e = d->cuUserObjectCreate(&object, b, free_batch, 1,
                                       CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (e) {
        free_batch(b);
        return vs_nccl_cuda(e, "cuUserObjectCreate");
    }
    e = d->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    return vs_nccl_cuda(e, "cuGraphRetainUserObject");
}

static int queue_host(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count,
                      CUstream stream, CUgraph graph)
{
    const struct vs_library_driver *d = vs_library_driver();
    struct queued_group *b = vs_sim_need(malloc(sizeof *b + count * sizeof *tasks));
    b->member = m;
    b->captured = graph != NULL;
    b->count = count;
    memcpy(b->tasks, tasks, count * sizeof *tasks);
    vs_nccl_keep(m);
    if (graph) {
        int e = keep_in_graph(b, graph);
        return e ? e : vs_nccl_cuda(d->cuLaunchHostFunc(stream, run_batch, b), "cuLaunchHostFunc");
    }
    pthread_mutex_lock(&m->mu);
    m->in_flight++;
    pthread_mutex_unlock(&m->mu);
    CUresult e = d->cuLaunchHostFunc(stream, run_batch, b);
    if (!e)
        return ncclSuccess;
    pthread_mutex_lock(&m->mu);
    m->in_flight--;
    pthread_mutex_unlock(&m->mu);
    free_batch(b);
    return vs_nccl_cuda(e, "cuLaunchHostFunc");
}

/* *to* waits for the work that *from* has so far. */
static int follow(CUevent event, CUstream from, CUstream to)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUresult e = d->cuEventRecord(event, from);
    return vs_nccl_cuda(e ? e : d->cuStreamWaitEvent(to, event, 0), "order of streams");
}

/* A communicator of one rank only copies. */
static int queue_alone(struct vs_nccl_member *m, const struct vs_nccl_task *t, CUstream stream)
{
    const struct vs_library_driver *d = vs_library_driver();
    size_t bytes = (size_t)vs_nccl_task_bytes(t, m->count);
    if (t->send == t->recv || !bytes)
        return ncclSuccess;
    return vs_nccl_cuda(d->cuMemcpyDtoDAsync_v2((CUdeviceptr)(uintptr_t)t->recv,
                                                (CUdeviceptr)(uintptr_t)t->send, bytes, stream),
                        vs_nccl_kind_name(t->kind));
}

static bool copies(const struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tasks[i].op == VS_NCCL_SCALED || tasks[i].kind >= VS_NCCL_SEND)
            return false;
    return m->count == 1;
}

static int queue_on(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count,
                    CUstream stream, CUgraph graph)
{
    int e = ncclSuccess;
    if (copies(m, tasks, count)) {
        for (size_t i = 0; i < count && !e; i++)
            e = queue_alone(m, &tasks[i], stream);
        return e;
    }
    e = queue_host(m, tasks, count, stream, graph);
    return e ? e : queue_kernel(m, tasks, count, stream);
}

static int capture_of(CUstream stream, CUgraph *graph, cuuint64_t *number)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    *graph = NULL;
    *number = 0;
    CUresult e = vs_library_driver()->cuStreamGetCaptureInfo_v3(stream, &status, number, graph, NULL,
                                                                NULL, NULL);
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *graph = NULL;
    return vs_nccl_cuda(e, "cuStreamGetCaptureInfo");
}

/* The first stream runs the group; the others wait before and after. */
static int queue_locked(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count,
                        const CUstream *streams, size_t stream_count)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUgraph graph;
    cuuint64_t number;
    int e = capture_of(streams[0], &graph, &number);
    struct vs_nccl_last *last = &m->last[graph != NULL];
    if (!e && !last->event)
        e = vs_nccl_cuda(d->cuEventCreate(&last->event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    if (!e && last->stream && last->stream != streams[0] && last->capture == number)
        e = vs_nccl_cuda(d->cuStreamWaitEvent(streams[0], last->event, 0), "cuStreamWaitEvent");
    CUevent between = NULL;
    if (!e && stream_count > 1)
        e = vs_nccl_cuda(d->cuEventCreate(&between, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    for (size_t i = 1; i < stream_count && !e; i++)
        e = follow(between, streams[i], streams[0]);
    if (!e)
        e = queue_on(m, tasks, count, streams[0], graph);
    for (size_t i = 1; i < stream_count && !e; i++)
        e = follow(between, streams[0], streams[i]);
    if (between)
        d->cuEventDestroy_v2(between);
    if (!e) {
        last->stream = streams[0];
        last->capture = number;
        e = vs_nccl_cuda(d->cuEventRecord(last->event, streams[0]), "cuEventRecord");
    }
    return e;
}

int vs_nccl_queue(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count,
                  const CUstream *streams, size_t stream_count)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUresult pushed = d->cuCtxPushCurrent_v2(m->context);
    if (pushed)
        return vs_nccl_cuda(pushed, "cuCtxPushCurrent");
    pthread_mutex_lock(&m->order);
    int e = vs_nccl_buffers_make(m, tasks, count);
    if (!e)
        e = queue_locked(m, tasks, count, streams, stream_count);
    pthread_mutex_unlock(&m->order);
    d->cuCtxPopCurrent_v2(&(CUcontext){NULL});
    return e;
}
