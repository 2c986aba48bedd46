/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that a capture forbids and allows, in each mode and from other threads, after the
 * program has freed memory that a cache would keep: results and the state of the capture must be
 * the driver's. */
#include "victim_memory.h"

VICTIM("capture", INJECTED)

static const enum cudaStreamCaptureMode modes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

/* Memory that a cache keeps for the next request of that size. */
static void fill_cache(void)
{
    void *p[4];
    for (int i = 0; i < 4; i++)
        p[i] = take((size_t)(i + 1) * MIB);
    for (int i = 0; i < 4; i++)
        give(p[i]);
    OK(cudaDeviceSynchronize());
}

/* *work* on a stream of its own, once the cache has memory. */
static void on_a_stream(void (*work)(cudaStream_t))
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    fill_cache();
    work(s);
    OK(cudaStreamDestroy(s));
}

#define STREAM_CASE(name, title)                                \
    static void name##_on(cudaStream_t s);                      \
    CASE_OF(name, on_a_stream(name##_on), title, 0)             \
    static void name##_on(cudaStream_t s)

/* An allocation that may be refused; freed again if it succeeded. */
static int try_malloc(size_t bytes)
{
    void *p;
    cudaError_t e = cudaMalloc(&p, bytes);
    if (e) {
        tally_failed(VT_DEVICE);
        cudaGetLastError();
        return (int)e;
    }
    tally_alloc(VT_DEVICE, (int64_t)bytes);
    give(p);
    return 0;
}

static int try_free(void *p)
{
    cudaError_t e = cudaFree(p);
    if (!e)
        tally_free(VT_DEVICE);
    cudaGetLastError();
    return (int)e;
}

static void end(cudaStream_t s)
{
    cudaGraph_t graph = NULL;
    cudaError_t e = cudaStreamEndCapture(s, &graph);
    printf("end: %d, graph %d\n", e, graph != NULL);
    if (graph)
        OK(cudaGraphDestroy(graph));
    cudaGetLastError();
    printf("afterwards: %d\n", try_malloc(2 * MIB));
}

STREAM_CASE(malloc_in_each_mode, "cudaMalloc in captures of each mode")
{
    for (int i = 0; i < 3; i++) {
        OK(cudaStreamBeginCapture(s, modes[i]));
        printf("mode %d: %d\n", i, try_malloc(MIB));
        printf("again: %d\n", try_malloc(300 * MIB));
        end(s);
    }
}

STREAM_CASE(free_in_each_mode, "cudaFree in captures of each mode")
{
    for (int i = 0; i < 3; i++) {
        void *p = take(3 * MIB);
        OK(cudaMemset(p, 1, 3 * MIB));
        OK(cudaStreamBeginCapture(s, modes[i]));
        OK(cudaMemsetAsync(p, i, MIB, s));
        int e = try_free(p);
        printf("mode %d: %d\n", i, e);
        end(s);
        if (e)
            give(p);
    }
}

static struct {
    int exchange; /* a mode, or -1 */
    void *to_free;
    int free_result;
} other;

static void *other_thread(void *arg)
{
    enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)other.exchange;
    if (other.exchange >= 0)
        OK(cudaThreadExchangeStreamCaptureMode(&mode));
    printf("other %d: malloc %d", other.exchange, try_malloc(MIB));
    other.free_result = try_free(other.to_free);
    printf(", free %d\n", other.free_result);
    return arg;
}

STREAM_CASE(other_threads, "cudaMalloc and cudaFree of other threads during captures of each mode")
{
    for (int i = 0; i < 3; i++) {
        for (other.exchange = -1; other.exchange < 3; other.exchange++) {
            other.to_free = take(2 * MIB);
            printf("mode %d, ", i);
            OK(cudaStreamBeginCapture(s, modes[i]));
            in_threads(1, other_thread, NULL);
            end(s);
            if (other.free_result)
                give(other.to_free);
        }
    }
}

/* The capturing thread permits itself what its capture forbids. */
STREAM_CASE(relaxed_by_exchange,
            "cudaThreadExchangeStreamCaptureMode lets the capturing thread allocate")
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    void *p = take(MIB);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    printf("malloc %d, free %d\n", try_malloc(MIB), try_free(p));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    printf("mode was %d\n", mode);
    end(s);
}

STREAM_CASE(questions, "memory information and pointer attributes in a capture")
{
    struct cudaPointerAttributes attributes;
    size_t free_bytes, total_bytes, size;
    CUdeviceptr base;
    char *p = take(5 * MIB);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    OK(cudaPointerGetAttributes(&attributes, p + 100));
    OK(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(p + 100)));
    printf("type %d, range %d %zu, info %d\n", attributes.type, base == (CUdeviceptr)p, size,
           free_bytes <= total_bytes);
    end(s);
    give(p);
}

/* Pinned memory is forbidden too, managed memory is not. */
STREAM_CASE(other_families, "pinned memory in captures of each mode")
{
    for (int i = 0; i < 3; i++) {
        void *p = NULL, *kept;
        ALLOCATES(VT_PINNED, MIB, cudaMallocHost(&kept, MIB));
        OK(cudaStreamBeginCapture(s, modes[i]));
        cudaError_t e = cudaMallocHost(&p, MIB), freed = cudaFreeHost(kept);
        if (e) {
            tally_failed(VT_PINNED);
        } else {
            tally_alloc(VT_PINNED, (int64_t)MIB);
            FREES(VT_PINNED, cudaFreeHost(p));
        }
        if (!freed)
            tally_free(VT_PINNED);
        printf("pinned %d, free %d\n", e, freed);
        end(s);
        if (freed)
            FREES(VT_PINNED, cudaFreeHost(kept));
    }
}

CASE(wrong_ends, "captures started twice, and ended without a start", 0)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    fill_cache();
    printf("never begun: %d\n", cudaStreamEndCapture(a, &graph));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    printf("begun already: %d\n", cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    printf("of another: %d\n", cudaStreamEndCapture(b, &graph));
    printf("%d\n", try_malloc(MIB));
    end(a);
}

CASE(forks_to_other_streams, "captures that fork to other streams, joined or not", 0)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t forked, joined;
    OK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    fill_cache();
    for (int i = 0; i < 2; i++) {
        void *p = take(MIB);
        OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
        OK(cudaEventRecord(forked, a));
        OK(cudaStreamWaitEvent(b, forked, 0));
        OK(cudaMemsetAsync(p, 1, MIB, b));
        if (i == 0) { /* else the fork never joins again, which is an error */
            OK(cudaEventRecord(joined, b));
            OK(cudaStreamWaitEvent(a, joined, 0));
        }
        end(a);
        give(p);
    }
    OK(cudaEventDestroy(forked));
    OK(cudaEventDestroy(joined));
}

/* A stream destroyed during a capture destroys the capture. */
CASE(abandoned, "streams destroyed during a capture", 0)
{
    fill_cache();
    for (int i = 0; i < 100; i++) {
        cudaStream_t s = new_stream(cudaStreamNonBlocking);
        OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        if (i % 3 == 0)
            CHECK(try_malloc(MIB) != 0);
        OK(cudaStreamDestroy(s));
        CHECK(try_malloc(MIB) == 0);
    }
    puts("allocates again");
}

/* The first form, of CUDA 10.0, by name; dependencies moved by hand. */
CASE(older_forms, "cuStreamBeginCapture of CUDA 10.0, moved dependencies", 0)
{
    CUresult (*begin)(CUstream);
    CUstream s = (CUstream)new_stream(cudaStreamNonBlocking);
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&begin = find(driver, "cuStreamBeginCapture");
    fill_cache();
    OK(begin(s));
    OK(cuStreamGetCaptureInfo(s, &status, &id, &graph, NULL, NULL, NULL));
    OK(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    printf("status %d, malloc %d\n", status, try_malloc(MIB));
    end((cudaStream_t)s);
}

STREAM_CASE(to_a_graph, "cudaStreamBeginCaptureToGraph")
{
    cudaGraph_t graph, out;
    void *p = take(MIB);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(p, 1, MIB, s));
    printf("malloc %d\n", try_malloc(MIB));
    OK(cudaStreamEndCapture(s, &out));
    OK(cudaGraphDestroy(graph));
    give(p);
}

/* Captures in a thread's own default stream, in two threads at the same time. */
static void *own_stream(void *arg)
{
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    int e = try_malloc(MIB);
    cudaError_t ended = cudaStreamEndCapture(cudaStreamPerThread, &graph);
    printf("malloc %d, end %d\n", e, ended);
    cudaGetLastError();
    return arg;
}

CASE(own_default_streams, "captures in per-thread default streams", VF_ANY_ORDER)
{
    fill_cache();
    for (int round = 0; round < 20; round++)
        in_threads(2, own_stream, NULL);
    printf("afterwards %d\n", try_malloc(MIB));
}

/* The context of a capture is destroyed; another one continues. */
CASE(context_ends, "the context of a capture is destroyed", 0)
{
    fill_cache();
    CUcontext context = new_context(0);
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    allocate(MIB);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FREES(VT_DEVICE, cuCtxDestroy(context));
    OK(cudaSetDevice(0));
    printf("malloc %d\n", try_malloc(MIB));
}

/* In a relaxed capture memory can be allocated, even if a cache holds it. */
CASE(relaxed_when_memory_is_short,
     "cudaMalloc in a relaxed capture that succeeds only with cached memory", 0)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    give(take(400 * MIB));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    printf("malloc %d\n", try_malloc(450 * MIB));
    end(s);
}
