/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs with one deliberate bug each, and their correct versions. `checker_cases NAME SEED`: the
 * seed determines how long kernels and pauses take, so that a bug changes the data in some runs
 * only. run_cases.py contains the report that each must give. The bugs follow real ones: a caching
 * allocator that reuses a block too early, a stream that lacks a wait, a buffer freed too soon.
 *
 * Functions that submit work are named after their part and are never inlined: the test looks for
 * them in the reported stacks. */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vramscope_simulator.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* exported for their names only */
#define EXPORTED __attribute__((noinline, noclone, visibility("default")))
#define PART EXPORTED void
#define KEEP __asm__ volatile("" ::: "memory") /* prevents a tail call before it */
#define OK(call) must((call), #call, __LINE__)
#define N 4096
#define BYTES (N * sizeof(float))

static unsigned long random_state = 88172645463325252u;
static int failed; /* a call returned the checker's sticky error */

static unsigned draw(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state % below);
}

static void must(CUresult e, const char *call, int line)
{
    if (e == CUDA_ERROR_ILLEGAL_ADDRESS) {
        failed = 1;
        return;
    }
    if (e) {
        fprintf(stderr, "line %d: %s: %d\n", line, call, (int)e);
        exit(3);
    }
}

static struct {
    const char *name;
    void (*run)(void);
} cases[64];
static size_t case_count;

#define CASE(case_name)                                              \
    static void case_name(void);                                     \
    __attribute__((constructor)) static void add_##case_name(void)   \
    {                                                                \
        cases[case_count].name = #case_name;                         \
        cases[case_count++].run = case_name;                         \
    }                                                                \
    static void case_name(void)

static void pause_a_little(void) { usleep(draw(300)); }

/* ---- kernels ---- */

static void busy(unsigned us)
{
    if (us)
        usleep(us);
}

/* fill(float *to, int count, float value, int us) */
static void fill(const struct vramscope_sim_launch *l, unsigned long first, unsigned long last)
{
    float *to = *(float **)l->args[0], value = *(float *)l->args[2];
    int count = *(int *)l->args[1];
    (void)first, (void)last;
    busy(*(unsigned *)l->args[3]);
    for (int i = 0; i < count; i++) {
        vramscope_sim_write(&to[i], sizeof to[i]);
        to[i] = value;
    }
}

/* scale(const float *from, float *to, int count, float by, int us) */
static void scale(const struct vramscope_sim_launch *l, unsigned long first, unsigned long last)
{
    const float *from = *(float **)l->args[0];
    float *to = *(float **)l->args[1], by = *(float *)l->args[3];
    int count = *(int *)l->args[2];
    (void)first, (void)last;
    busy(*(unsigned *)l->args[4]);
    for (int i = 0; i < count; i++) {
        vramscope_sim_read(&from[i], sizeof from[i]);
        vramscope_sim_write(&to[i], sizeof to[i]);
        to[i] = from[i] * by;
    }
}

/* opaque(void *what, int us): declares no accesses */
static void opaque(const struct vramscope_sim_launch *l, unsigned long first, unsigned long last)
{
    (void)first, (void)last;
    busy(*(unsigned *)l->args[1]);
}

static CUfunction k_fill, k_scale, k_opaque;

static void kernels(void)
{
    static const size_t fill_args[] = {8, 4, 4, 4}, scale_args[] = {8, 8, 4, 4, 4},
                        opaque_args[] = {8, 4};
    CUmodule module;
    vramscope_sim_register("fill", fill, fill_args, 4);
    vramscope_sim_register("scale", scale, scale_args, 5);
    vramscope_sim_register("opaque", opaque, opaque_args, 2);
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&k_fill, module, "fill"));
    OK(cuModuleGetFunction(&k_scale, module, "scale"));
    OK(cuModuleGetFunction(&k_opaque, module, "opaque"));
}

static void launch_fill(CUdeviceptr to, int count, float value, CUstream s)
{
    unsigned us = draw(400);
    void *args[] = {&to, &count, &value, &us};
    OK(cuLaunchKernel(k_fill, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
}

static void launch_scale(CUdeviceptr from, CUdeviceptr to, int count, float by, CUstream s)
{
    unsigned us = draw(400);
    void *args[] = {&from, &to, &count, &by, &us};
    OK(cuLaunchKernel(k_scale, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
}

static void launch_opaque(CUdeviceptr what, CUstream s)
{
    unsigned us = draw(400);
    void *args[] = {&what, &us};
    OK(cuLaunchKernel(k_opaque, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
}

/* The parts. */
PART producer(CUdeviceptr to, CUstream s)
{
    launch_fill(to, N, 1, s);
    KEEP;
}
PART consumer(CUdeviceptr from, CUdeviceptr to, CUstream s)
{
    launch_scale(from, to, N, 2, s);
    KEEP;
}
PART user(CUdeviceptr what, CUstream s)
{
    launch_opaque(what, s);
    KEEP;
}
PART uploader(CUdeviceptr to, const void *from, CUstream s)
{
    OK(cuMemcpyHtoDAsync(to, from, BYTES, s));
    KEEP;
}
PART downloader(void *to, CUdeviceptr from, CUstream s)
{
    OK(cuMemcpyDtoHAsync(to, from, BYTES, s));
    KEEP;
}
PART clearer(CUdeviceptr to, CUstream s)
{
    OK(cuMemsetD8Async(to, 0, BYTES, s));
    KEEP;
}
PART releaser(CUdeviceptr p)
{
    OK(cuMemFree(p));
    KEEP;
}
PART pool_releaser(CUdeviceptr p, CUstream s)
{
    OK(cuMemFreeAsync(p, s));
    KEEP;
}
PART host_releaser(void *p)
{
    OK(cuMemFreeHost(p));
    KEEP;
}

EXPORTED CUdeviceptr allocator(size_t bytes)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, bytes));
    KEEP;
    return p;
}

EXPORTED CUdeviceptr pool_allocator(size_t bytes, CUstream s)
{
    CUdeviceptr p = 0;
    OK(cuMemAllocAsync(&p, bytes, s));
    KEEP;
    return p;
}

static CUstream stream(void)
{
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

static CUevent event(void)
{
    CUevent e;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    return e;
}

static void *pinned(void)
{
    void *p;
    OK(cuMemAllocHost(&p, BYTES));
    memset(p, 0, BYTES);
    return p;
}

/* Of every case: two streams, and memory for a producer and a consumer. */
static CUstream a, b;
static CUdeviceptr p, q;

/* Work that is queued in *later* from now on comes after the work in *earlier*. */
static void order(CUstream earlier, CUstream later)
{
    CUevent done = event();
    OK(cuEventRecord(done, earlier));
    OK(cuStreamWaitEvent(later, done, 0));
}

/* ---- a caching allocator, above cuMemAlloc ---- */

struct cached {
    CUdeviceptr at;
    CUevent last_use; /* of the stream that freed it */
    CUstream stream;
    int free;
};

static struct cached cache[4];
static CUdeviceptr arena;

static void cache_start(void)
{
    arena = allocator(4 * BYTES);
    for (int i = 0; i < 4; i++)
        cache[i] = (struct cached){arena + (CUdeviceptr)i * BYTES, event(), NULL, 1};
}

enum reuse { TOO_EARLY, WAITS, ASKS, SAME_STREAM };

static CUdeviceptr cache_take(CUstream s, enum reuse how)
{
    for (int i = 0; i < 4; i++) {
        struct cached *c = &cache[i];
        if (!c->free)
            continue;
        if (how == SAME_STREAM && c->stream && c->stream != s)
            continue;
        if (how == ASKS && c->stream && c->stream != s && cuEventQuery(c->last_use))
            continue;
        if (how == WAITS && c->stream)
            OK(cuStreamWaitEvent(s, c->last_use, 0));
        c->free = 0;
        return c->at;
    }
    fprintf(stderr, "cache is empty\n");
    exit(3);
}

static void cache_give(CUdeviceptr at, CUstream s)
{
    struct cached *c = &cache[(at - arena) / BYTES];
    OK(cuEventRecord(c->last_use, s));
    c->stream = s;
    c->free = 1;
}

static void caching_allocator(enum reuse how)
{
    cache_start();
    CUdeviceptr block = cache_take(a, how);
    producer(block, a);
    consumer(block, q, a);
    pause_a_little();
    cache_give(block, a);
    block = cache_take(b, how);
    clearer(block, b);
    cache_give(block, b);
}

CASE(cache_too_early) { caching_allocator(TOO_EARLY); }
CASE(cache_waits) { caching_allocator(WAITS); }
CASE(cache_asks) { caching_allocator(ASKS); }
CASE(cache_same_stream) { caching_allocator(SAME_STREAM); }

/* ---- waits ---- */

enum wait { NONE, EVENT, EARLY_EVENT, SYNC, QUERY, SLEEP };

/* Written in one stream, read in the other. */
static void two_streams(enum wait how)
{
    CUevent done = event();
    if (how == EARLY_EVENT)
        OK(cuEventRecord(done, a));
    producer(p, a);
    if (how == EVENT)
        OK(cuEventRecord(done, a));
    if (how == SYNC)
        OK(cuStreamSynchronize(a));
    while (how == QUERY && cuStreamQuery(a) == CUDA_ERROR_NOT_READY)
        usleep(20);
    if (how == SLEEP)
        usleep(20000);
    pause_a_little();
    if (how == EVENT || how == EARLY_EVENT)
        OK(cuStreamWaitEvent(b, done, 0));
    consumer(p, q, b);
}

CASE(missing_wait) { two_streams(NONE); }
CASE(event_too_early) { two_streams(EARLY_EVENT); }
CASE(event_wait) { two_streams(EVENT); }
CASE(stream_sync) { two_streams(SYNC); }
CASE(stream_query) { two_streams(QUERY); }
/* A long pause does not order work, even if the work is always done by then. */
CASE(sleep_is_no_sync) { two_streams(SLEEP); }

/* One page at two addresses: written at one, read at the other. */
static void aliases(int wait)
{
    const size_t page = 2 << 20;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr range;
    OK(cuMemAddressReserve(&range, 2 * page, 0, 0, 0));
    OK(cuMemCreate(&handle, page, &prop, 0));
    OK(cuMemMap(range, page, 0, handle, 0));
    OK(cuMemMap(range + page, page, 0, handle, 0));
    OK(cuMemSetAccess(range, 2 * page, &access, 1));
    producer(range + 4096, a);
    if (wait)
        order(a, b);
    pause_a_little();
    consumer(range + page + 4096, q, b);
    OK(cuCtxSynchronize());
    OK(cuMemUnmap(range, 2 * page));
}

CASE(alias_wait) { aliases(1); }
CASE(alias_missing_wait) { aliases(0); }

/* A stream signals another by a value in memory. */
static void by_value(int wait)
{
    CUdeviceptr flag = allocator(4);
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuCtxSynchronize());
    if (wait)
        OK(cuStreamWaitValue32(b, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    producer(p, a);
    OK(cuStreamWriteValue32(a, flag, 1, 0));
    pause_a_little();
    consumer(p, q, b);
}

CASE(value_wait) { by_value(1); }
CASE(value_missing_wait) { by_value(0); }

/* The consumer's stream waits for a flag: written by the producer's stream after its work, or by
 * the host after a wait; a copy writes it as well. */
static void flag(int who)
{
    CUdeviceptr f = allocator(4);
    unsigned *seen = pinned();
    OK(cuMemsetD32(f, 0, 1));
    OK(cuCtxSynchronize());
    if (who == 2) {
        f = (CUdeviceptr)(uintptr_t)seen;
    } else {
        OK(cuStreamWaitValue32(b, f, 1, CU_STREAM_WAIT_VALUE_EQ));
        consumer(p, q, b);
    }
    producer(p, a);
    pause_a_little();
    if (who)
        OK(cuStreamWriteValue32(a, f, 1, 0));
    else
        OK(cuMemsetD32Async(f, 1, 1, a));
    while (who == 2 && !__atomic_load_n(seen, __ATOMIC_ACQUIRE))
        usleep(100);
    if (who == 2)
        consumer(p, q, b);
}

CASE(value_by_memset) { flag(0); }
CASE(value_by_stream) { flag(1); }
CASE(value_seen_by_host) { flag(2); }

/* ---- the legacy and the per-thread default streams ---- */

static CUstream blocking_stream(void)
{
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    return s;
}

static void legacy(CUstream s)
{
    producer(p, s);
    pause_a_little();
    consumer(p, q, NULL);
}

CASE(legacy_orders_blocking) { legacy(blocking_stream()); }
CASE(legacy_not_nonblocking) { legacy(a); }

/* Two blocking streams are ordered by work in the default stream between them. */
CASE(legacy_between)
{
    CUstream first = blocking_stream(), second = blocking_stream();
    producer(p, first);
    clearer(allocator(BYTES), NULL);
    consumer(p, q, second);
    OK(cuStreamDestroy(first));
    pause_a_little();
    clearer(p, second);
}

/* Work of a destroyed stream still comes before later work of the default stream. */
CASE(destroyed_stream)
{
    CUstream s = blocking_stream();
    producer(p, s);
    OK(cuStreamDestroy(s));
    usleep(draw(2000));
    consumer(p, q, NULL);
}

static pthread_barrier_t turns;
static CUcontext shared_context;

static void *other_thread(void *sync)
{
    OK(cuCtxSetCurrent(shared_context));
    producer(p, CU_STREAM_PER_THREAD);
    if (sync)
        OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    pthread_barrier_wait(&turns);
    return NULL;
}

static void per_thread(void *sync)
{
    pthread_t thread;
    OK(cuCtxGetCurrent(&shared_context));
    pthread_barrier_init(&turns, NULL, 2);
    pthread_create(&thread, NULL, other_thread, sync);
    pthread_barrier_wait(&turns);
    pause_a_little();
    consumer(p, q, CU_STREAM_PER_THREAD);
    OK(cuCtxSynchronize());
    pthread_join(thread, NULL);
}

CASE(per_thread_sync) { per_thread(&turns); }
CASE(per_thread_no_sync) { per_thread(NULL); }

/* ---- double buffering: upload into one half while the other is computed on ---- */

static void double_buffer(int forget)
{
    CUdeviceptr half[2] = {p, allocator(BYTES)};
    CUevent empty[2] = {event(), event()};
    float *host = pinned();
    for (int i = 0; i < 6; i++) {
        int h = i % 2;
        if (i >= 2 && !forget)
            OK(cuStreamWaitEvent(a, empty[h], 0));
        uploader(half[h], host, a);
        order(a, b);
        consumer(half[h], q, b);
        OK(cuEventRecord(empty[h], b));
        pause_a_little();
    }
}

CASE(double_buffer_waits) { double_buffer(0); }
CASE(double_buffer_forgets) { double_buffer(1); }

/* ---- neighbours: each stream owns one half and reads one row of the other ---- */

PART halo(int overlap)
{
    CUstream s[2] = {a, b};
    CUdeviceptr grid = allocator(2 * BYTES), edge[2] = {p, q};
    for (int step = 0; step < 4; step++) {
        /* the inner part: all except the row next to the other device's */
        for (int i = 0; i < 2; i++) {
            CUdeviceptr at = grid + (CUdeviceptr)i * (BYTES + 1024);
            launch_fill(at, (int)((BYTES - 1024) / sizeof(float)) + (overlap ? 300 : 0),
                        (float)step, s[i]);
        }
        for (int i = 0; i < 2; i++) /* the edges */
            OK(cuMemsetD8Async(grid + BYTES - 1024 + (CUdeviceptr)i * 1024, 1, 1024, s[i]));
        order(a, b), order(b, a);
        for (int i = 0; i < 2; i++)
            OK(cuMemcpyDtoDAsync(edge[i], grid + BYTES - 1024 + (CUdeviceptr)(1 - i) * 1024, 1024,
                                 s[i]));
        order(a, b), order(b, a);
    }
}

CASE(halo_disjoint) { halo(0); }
CASE(halo_overlaps) { halo(1); }

/* Columns of one matrix, interleaved in memory, copied in two streams. */
PART columns(int shift)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = pinned(),
                       .srcPitch = 256,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = allocator(64 * 512),
                       .dstPitch = 512,
                       .WidthInBytes = 256,
                       .Height = 64};
    OK(cuMemcpy2DAsync(&c, a));
    c.dstXInBytes = (size_t)(256 - shift);
    OK(cuMemcpy2DAsync(&c, b));
}

CASE(columns_disjoint) { columns(0); }
CASE(columns_overlap) { columns(4); }

/* ---- frees ---- */

static void pool_in_two_streams(int waits)
{
    CUdeviceptr block = pool_allocator(BYTES, a);
    producer(block, a);
    order(a, b);
    consumer(block, q, b);
    if (waits)
        order(b, a);
    else
        pause_a_little();
    pool_releaser(block, a);
    pause_a_little();
}

CASE(pool_other_stream) { pool_in_two_streams(0); }
CASE(pool_ordered)
{
    for (int i = 0; i < 8; i++)
        pool_in_two_streams(1);
}

/* Memory used in another stream that does not wait for its allocation. */
CASE(pool_before_alloc)
{
    CUdeviceptr block = pool_allocator(BYTES, a);
    pause_a_little();
    clearer(block, b);
}

/* Many streams allocate from and free to one pool, each its own blocks. */
CASE(pool_churn)
{
    CUstream s[4];
    CUdeviceptr block[4] = {0};
    for (int i = 0; i < 4; i++)
        s[i] = stream();
    for (int i = 0; i < 80; i++) {
        int k = (int)draw(4);
        if (block[k])
            OK(cuMemFreeAsync(block[k], s[k]));
        OK(cuMemAllocAsync(&block[k], BYTES * (1 + draw(3)), s[k]));
        launch_fill(block[k], N, 1, s[k]);
        if (draw(10) == 0)
            OK(cuStreamSynchronize(s[k]));
    }
}

CASE(freed_then_launched)
{
    launch_opaque(p, NULL);
    releaser(p);
    pause_a_little();
    user(p, NULL);
}

CASE(freed_after_launch)
{
    launch_opaque(p, NULL);
    pause_a_little();
    releaser(p); /* waits for it */
}

/* cuMemFree waits for the owner's context, not for another that uses its memory. */
CASE(freed_from_another_context)
{
    CUcontext first, second;
    OK(cuCtxGetCurrent(&first));
    OK(cuCtxCreate(&second, NULL, 0, 0));
    producer(p, stream());
    OK(cuCtxSetCurrent(first));
    releaser(p);
    OK(cuCtxSetCurrent(second));
}

static void host_memory_freed(int sync)
{
    void *host = pinned();
    uploader(p, host, a);
    if (sync)
        OK(cuStreamSynchronize(a));
    host_releaser(host);
}

CASE(host_freed) { host_memory_freed(0); }
CASE(host_freed_after_sync) { host_memory_freed(1); }

PART host_reader(const float *host)
{
    vramscope_sim_read(host, BYTES);
    KEEP;
}

static void host_reads(int sync)
{
    float *host = pinned();
    clearer(p, a);
    downloader(host, p, a);
    if (sync)
        OK(cuStreamSynchronize(a));
    pause_a_little();
    host_reader(host);
}

CASE(host_reads_early) { host_reads(0); }
CASE(host_reads_after_sync) { host_reads(1); }

/* ---- graphs ---- */

PART launcher(CUgraphExec graph, CUstream s)
{
    OK(cuGraphLaunch(graph, s));
    KEEP;
}

/* What stream a has captured. */
static CUgraphExec captured(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamEndCapture(a, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Two streams captured, launched three times. */
static void graph(int forget)
{
    CUevent fork = event();
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (forget)
        OK(cuEventRecord(fork, a));
    producer(p, a);
    if (!forget)
        OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    consumer(p, q, b);
    order(b, a);
    CUgraphExec exec = captured();
    for (int i = 0; i < 3; i++)
        launcher(exec, a);
}

CASE(graph_waits) { graph(0); }
CASE(graph_misses_edge) { graph(1); }

/* Memory of a graph, used by work that is not ordered after its launch. */
static void graph_memory(int ordered)
{
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUdeviceptr block = pool_allocator(BYTES, a);
    producer(block, a);
    CUgraphExec exec = captured();
    for (int i = 0; i < (ordered ? 3 : 1); i++) {
        launcher(exec, a);
        order(a, b);
        clearer(block, b);
        if (ordered)
            order(b, a);
        pool_releaser(block, a);
    }
}

CASE(graph_memory_ordered) { graph_memory(1); }
CASE(graph_memory_freed) { graph_memory(0); }

/* ---- never written ---- */

static void unwritten(int write, int kernel)
{
    if (write)
        clearer(p, a);
    if (kernel)
        consumer(p, q, a);
    else
        OK(cuMemcpyDtoDAsync(q, p, BYTES, a));
    downloader(pinned(), q, a);
}

CASE(unwritten_kernel) { unwritten(0, 1); }
CASE(unwritten_copied) { unwritten(0, 0); }
CASE(written_kernel) { unwritten(1, 1); }
CASE(written_copied) { unwritten(1, 0); }

/* The last quarter is missing. */
CASE(unwritten_part)
{
    float *host = pinned();
    OK(cuMemsetD8(p, 0, BYTES / 4 * 3));
    downloader(host, p, NULL);
}

/* ---- calls that fail immediately ---- */

PART second_releaser(CUdeviceptr at)
{
    CUresult e = cuMemFree(at);
    if (e != CUDA_ERROR_INVALID_VALUE)
        OK(e);
    KEEP;
}

CASE(double_free)
{
    releaser(p);
    second_releaser(p);
}

CASE(double_free_async)
{
    CUdeviceptr block = pool_allocator(BYTES, a);
    pool_releaser(block, a);
    second_releaser(block);
}

CASE(foreign_free)
{
    second_releaser(p + 512);
    releaser(p);
}

PART freed_source(CUdeviceptr to, CUdeviceptr from)
{
    CUresult e = cuMemcpyDtoD(to, from, BYTES);
    if (e != CUDA_ERROR_INVALID_VALUE)
        OK(e);
    KEEP;
}

CASE(freed_given)
{
    releaser(p);
    freed_source(q, p);
}

static void context_with(int leak)
{
    CUcontext mine;
    OK(cuCtxCreate(&mine, NULL, 0, 0));
    CUdeviceptr kept = allocator(BYTES);
    OK(cuMemFree(allocator(BYTES)));
    if (!leak)
        OK(cuMemFree(kept));
    OK(cuCtxDestroy(mine));
}

CASE(leak) { context_with(1); }
CASE(no_leak) { context_with(0); }

/* ---- */

int main(int argc, char **argv)
{
    CUcontext ctx;
    random_state ^= argc > 2 ? (unsigned long)atol(argv[2]) * 0x9E3779B97F4A7C15u : 0;
    for (int i = 0; i < 8; i++)
        draw(2);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    kernels();
    a = stream(), b = stream();
    p = allocator(BYTES), q = allocator(BYTES);
    for (size_t i = 0; argc > 1 && i < case_count; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            OK(cuCtxSynchronize());
            return 0;
        }
    for (size_t i = 0; i < case_count; i++)
        puts(cases[i].name);
    return argc > 1 ? 3 : 0;
}
