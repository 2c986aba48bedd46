/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: the order between their work. A gate (conf.h) keeps a stream busy for a fact about "not
 * yet"; that work does not wait is shown by waiting for it while the gate is closed. */
#include "conf.h"

#include <pthread.h>

#define LEGACY "guide, default stream, legacy: "
#define PER_THREAD "guide, default stream, per-thread: "
#define BYTES 4096

static struct {
    CUdeviceptr device;
    unsigned char *host; /* pinned */
    int gate;
    CUstream a, b; /* blocking */
    CUstream free; /* non-blocking */
} p;

SETUP(setup)
{
    p.device = conf_alloc(BYTES);
    p.host = conf_pinned(BYTES);
    p.free = conf_stream();
    DO(cuStreamCreate(&p.a, CU_STREAM_DEFAULT));
    DO(cuStreamCreate(&p.b, CU_STREAM_DEFAULT));
    /* functions used behind gates are used once before, in case of lazy loading */
    return cuMemsetD8Async(p.device, 0, BYTES, p.a) ||
           cuMemcpyDtoHAsync(p.host, p.device, BYTES, p.a) || cuMemsetD8(p.device, 0, BYTES) ||
           cuCtxSynchronize();
}

static void close_gate(CUstream stream) { conf_close(stream, &p.gate); }

static void open_gate(void)
{
    conf_open(&p.gate);
    DO(cuCtxSynchronize());
}

TEST(work_is_done_in_order_and_not_at_once)
{
    WORKS(cuStreamQuery(p.a), "success if all work is done");
    close_gate(p.a);
    BUSY(cuStreamQuery(p.a), "work is not done");
    WORKS(cuMemsetD8Async(p.device, 0x5a, BYTES, p.a), "queued behind what is not done");
    DO(cuMemcpyDtoHAsync(p.host, p.device, BYTES, p.a));
    p.host[0] = 1;
    BUSY(cuStreamQuery(p.a), "work is not done");
    FACT_EQ(p.host[0], 1, "guide, streams: a stream's work happens in order");
    conf_open(&p.gate);
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(p.host[0], 0x5a, "cuStreamSynchronize: waits until all work is done");
    FACT_EQ(p.host[BYTES - 1], 0x5a, "cuStreamSynchronize: waits until all work is done");
    WORKS(cuStreamQuery(p.a), "success if all work is done");
}

TEST(legacy_work_waits_for_blocking_streams)
{
    close_gate(p.a);
    DO(cuMemsetD8Async(p.device, 2, BYTES, CU_STREAM_LEGACY));
    BUSY(cuStreamQuery(CU_STREAM_LEGACY), LEGACY "its work waits for all blocking streams");
    BUSY(cuStreamQuery(NULL), "CU_STREAM_LEGACY: what 0 means without per-thread default streams");
    DO(cuMemsetD8Async(p.device, 3, BYTES, p.b));
    BUSY(cuStreamQuery(p.b), LEGACY "work issued later in blocking streams waits for it");
    open_gate();
    WORKS(cuStreamQuery(CU_STREAM_LEGACY), "cuCtxSynchronize: all is done");
    WORKS(cuStreamQuery(p.b), "cuCtxSynchronize: all is done");
}

TEST(streams_wait_for_some_others)
{
    const char *const no_order = "guide, streams: different streams may run out of order";
    const char *const none = "CU_STREAM_NON_BLOCKING: does not synchronise with stream 0";
    const struct {
        CUstream closed, stream; /* the first has work that does not end */
        bool waits;
        const char *rule;
    } rows[] = {
        {p.a, p.b, false, no_order},
        {CU_STREAM_LEGACY, p.a, true, LEGACY "blocking streams wait for its work"},
        {CU_STREAM_LEGACY, p.free, false, none},
        {p.free, CU_STREAM_LEGACY, false, none},
        {CU_STREAM_PER_THREAD, p.a, false, PER_THREAD "does not synchronise with other streams"},
        {CU_STREAM_PER_THREAD, CU_STREAM_LEGACY, true,
         PER_THREAD "synchronises with the legacy default stream"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        close_gate(rows[i].closed);
        DO(cuMemsetD8Async(p.device, (unsigned char)i, BYTES, rows[i].stream));
        if (rows[i].waits)
            BUSY(cuStreamQuery(rows[i].stream), rows[i].rule);
        else
            WORKS(cuStreamSynchronize(rows[i].stream), rows[i].rule);
        BUSY(cuStreamQuery(rows[i].closed), "work is not done");
        open_gate();
    }
}

TEST(the_context_waits_for_all_streams)
{
    for (int i = 0; i < 3; i++) {
        CUstream s = i == 0 ? p.a : i == 1 ? p.free : CU_STREAM_PER_THREAD;
        DO(cuMemsetD8Async(p.device + i * (BYTES / 4), (unsigned char)i, BYTES / 4, s));
    }
    DO(cuCtxSynchronize());
    WORKS(cuStreamQuery(p.a), "cuCtxSynchronize: all preceding tasks");
    WORKS(cuStreamQuery(p.free), "cuCtxSynchronize: all preceding tasks");
    WORKS(cuStreamQuery(CU_STREAM_PER_THREAD), "cuCtxSynchronize: all preceding tasks");
}

static struct visit {
    CUcontext ctx;
    CUresult set, first, work, done;
    unsigned long long id;
    pthread_barrier_t barrier;
} visit;

static void *visit_thread(void *arg)
{
    struct visit *v = arg;
    v->set = cuCtxSetCurrent(v->ctx);
    v->first = cuStreamSynchronize(CU_STREAM_PER_THREAD); /* it exists from here on */
    pthread_barrier_wait(&v->barrier);
    pthread_barrier_wait(&v->barrier); /* the other stream has work that does not end */
    v->work = cuMemsetD8Async(p.device, 9, BYTES, CU_STREAM_PER_THREAD);
    v->done = cuStreamSynchronize(CU_STREAM_PER_THREAD);
    cuStreamGetId(CU_STREAM_PER_THREAD, &v->id);
    return NULL;
}

TEST(each_thread_has_a_default_stream_of_its_own)
{
    struct visit *const v = &visit;
    pthread_t thread;
    DO(cuCtxGetCurrent(&v->ctx));
    DO(pthread_barrier_init(&v->barrier, NULL, 2));
    DO(pthread_create(&thread, NULL, visit_thread, v));
    pthread_barrier_wait(&v->barrier);
    close_gate(CU_STREAM_PER_THREAD);
    pthread_barrier_wait(&v->barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&v->barrier);
    FACT_EQ(v->set, CUDA_SUCCESS, "cuCtxSetCurrent: returns");
    FACT_EQ(v->first, CUDA_SUCCESS, "cuStreamSynchronize: returns");
    FACT_EQ(v->work, CUDA_SUCCESS, PER_THREAD "local to the thread");
    FACT_EQ(v->done, CUDA_SUCCESS,
            PER_THREAD "local to the thread, so another's is not waited for");
    BUSY(cuStreamQuery(CU_STREAM_PER_THREAD), PER_THREAD "local");
    open_gate();
    FACT(GOT(unsigned long long, cuStreamGetId(CU_STREAM_PER_THREAD, &got)) != v->id,
         "cuStreamGetId: unique for the life of the program");
}

/* ---- events between streams ---- */

TEST(a_stream_waits_for_an_event)
{
    CUevent event = conf_event();
    close_gate(p.free);
    DO(cuEventRecord(event, p.free));
    DO(cuStreamWaitEvent(p.a, event, 0));
    DO(cuMemsetD8Async(p.device, 10, BYTES, p.a));
    BUSY(cuStreamQuery(p.a), "cuStreamWaitEvent: all future work of the stream waits");
    DO(cuMemsetD8Async(p.device, 11, BYTES, p.b));
    WORKS(cuStreamSynchronize(p.b), "cuStreamWaitEvent: no other stream waits");
    open_gate();
    WORKS(cuStreamQuery(p.a), "cuStreamWaitEvent: until the event completes");
    RETURNS(cuStreamWaitEvent(p.a, event, 0x100), CUDA_ERROR_INVALID_VALUE);
}

TEST(a_wait_means_the_record_before_it)
{
    CUevent event = conf_event();
    DO(cuStreamWaitEvent(p.b, event, 0));
    DO(cuMemsetD8Async(p.device, 1, BYTES, p.b));
    WORKS(cuStreamSynchronize(p.b),
          "cuStreamWaitEvent: an event that was never recorded is not waited for");
    DO(cuEventRecord(event, p.b));
    DO(cuStreamWaitEvent(p.a, event, 0));
    close_gate(p.free);
    DO(cuEventRecord(event, p.free));
    DO(cuMemsetD8Async(p.device, 12, BYTES, p.a));
    WORKS(cuStreamSynchronize(p.a), "cuStreamWaitEvent: later records of the event do not matter");
    BUSY(cuEventQuery(event), "cuEventRecord: re-records");
    open_gate();
}

TEST(a_wait_outlives_its_event)
{
    CUevent event = conf_event();
    close_gate(p.free);
    DO(cuEventRecord(event, p.free));
    DO(cuStreamWaitEvent(p.a, event, 0));
    WORKS(cuEventDestroy(event), "an event may be destroyed before it is complete");
    DO(cuMemsetD8Async(p.device, 13, BYTES, p.a));
    BUSY(cuStreamQuery(p.a), "cuEventDestroy: does not complete the event early");
    open_gate();
}

/* ---- host functions ---- */

#define FUNCTIONS 8

static struct {
    int count, order[2 * FUNCTIONS];
    CUstream stream;
    CUresult status;
} seen;

static void note(void *number) { seen.order[seen.count++] = (int)(intptr_t)number; }

static void CUDA_CB note_callback(CUstream stream, CUresult status, void *number)
{
    seen.stream = stream;
    seen.status = status;
    note(number);
}

TEST(host_functions_run_in_order)
{
    memset(&seen, 0, sizeof seen);
    for (intptr_t i = 0; i < FUNCTIONS; i++)
        DO(cuLaunchHostFunc(p.a, note, (void *)i));
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(seen.count, FUNCTIONS, "cuLaunchHostFunc: called once per launch");
    for (int i = 0; i < FUNCTIONS; i++)
        FACT_EQ(seen.order[i], i, "cuLaunchHostFunc: after work before it in the stream");
}

TEST(callbacks_receive_their_stream)
{
    memset(&seen, 0, sizeof seen);
    DO(cuMemsetD8Async(p.device, 14, BYTES, p.a));
    DO(cuStreamAddCallback(p.a, note_callback, (void *)7, 0));
    DO(cuLaunchHostFunc(p.a, note, (void *)8));
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(seen.count, 2, "cuStreamAddCallback: once for each call");
    FACT_EQ(seen.order[0], 7, "cuStreamAddCallback: blocks later work until it is done");
    FACT_EQ(seen.order[1], 8, "cuStreamAddCallback: blocks later work until it is done");
    FACT(seen.stream == p.a, "CUstreamCallback: the stream it was added to");
    FACT_EQ(seen.status, CUDA_SUCCESS, "cuStreamAddCallback: CUDA_SUCCESS without an error");
    INVALID(cuStreamAddCallback(p.a, note_callback, NULL, 1), "flags must be 0");
}

static void note_byte(void *byte) { note((void *)(intptr_t)*(unsigned char *)byte); }

TEST(a_host_function_sees_what_was_copied_before)
{
    memset(&seen, 0, sizeof seen);
    close_gate(p.free);
    for (int i = 1; i <= 2; i++) {
        DO(cuMemsetD8Async(p.device, (unsigned char)i, BYTES, p.free));
        DO(cuMemcpyDtoHAsync(p.host, p.device, BYTES, p.free));
        DO(cuLaunchHostFunc(p.free, note_byte, p.host + 7));
    }
    open_gate();
    FACT_EQ(seen.order[0], 1, "cuLaunchHostFunc: after all work issued before it");
    FACT_EQ(seen.order[1], 2, "cuLaunchHostFunc: and before any issued after it");
}

/* ---- stream handles ---- */

TEST(streams_know_how_they_were_made)
{
    int least, greatest;
    CUcontext ctx = NULL, mine = NULL;
    CUstream s = NULL;
    FACT_EQ(GOT(unsigned, cuStreamGetFlags(p.a, &got)), CU_STREAM_DEFAULT, "cuStreamGetFlags");
    FACT_EQ(GOT(unsigned, cuStreamGetFlags(p.free, &got)), CU_STREAM_NON_BLOCKING,
            "cuStreamGetFlags");
    FACT_EQ(GOT(int, cuStreamGetPriority(p.a, &got)), 0,
            "cuStreamCreateWithPriority: 0 is the default");
    DO(cuStreamGetCtx(p.a, &ctx));
    DO(cuCtxGetCurrent(&mine));
    FACT(ctx == mine, "cuStreamGetCtx: the context current when it was made");
    FACT_EQ(GOT(CUdevice, cuStreamGetDevice(p.a, &got)), 0, "cuStreamGetDevice");
    DO(cuCtxGetStreamPriorityRange(&least, &greatest));
    DO(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, greatest));
    FACT_EQ(GOT(int, cuStreamGetPriority(s, &got)), greatest, "cuStreamGetPriority");
    DO(cuStreamDestroy(s));
    DO(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, greatest - 1000));
    FACT_EQ(GOT(int, cuStreamGetPriority(s, &got)), greatest,
            "cuStreamCreateWithPriority: clamped to the range");
    DO(cuStreamDestroy(s));
    DO(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, least + 1000));
    FACT_EQ(GOT(int, cuStreamGetPriority(s, &got)), least,
            "cuStreamCreateWithPriority: clamped to the range");
    DO(cuStreamDestroy(s));
    RETURNS(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuStreamCreate(&s, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
}

TEST(ids_of_streams_differ)
{
    unsigned long long a = 0, b = 0, null = 0, legacy = 0, gone = 0, fresh = 0;
    CUstream s = NULL;
    DO(cuStreamGetId(p.a, &a));
    DO(cuStreamGetId(p.b, &b));
    DO(cuStreamGetId(NULL, &null));
    DO(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    FACT(a != b, "cuStreamGetId: unique");
    FACT(a != legacy && b != legacy, "cuStreamGetId: unique");
    FACT(a != null && b != null, "cuStreamGetId: unique");
    DO(cuStreamCreate(&s, 0));
    DO(cuStreamGetId(s, &gone));
    DO(cuStreamDestroy(s));
    DO(cuStreamCreate(&s, 0));
    DO(cuStreamGetId(s, &fresh));
    FACT(gone != fresh, "cuStreamGetId: unique for the life of the program");
}

TEST(a_destroyed_stream_finishes_its_work)
{
    CUstream s = conf_stream();
    p.host[0] = 0;
    close_gate(s);
    DO(cuMemsetD8Async(p.device, 0x33, BYTES, s));
    DO(cuMemcpyDtoHAsync(p.host, p.device, BYTES, s));
    WORKS(cuStreamDestroy(s), "returns at once although the device has work to do");
    open_gate();
    FACT_EQ(p.host[0], 0x33, "cuStreamDestroy: released once all work has been done");
}
