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
    CUstream a = stream(), b = stream();
    cache_start();
    CUdeviceptr out = allocator(BYTES), p = cache_take(a, how);
    producer(p, a);
    consumer(p, out, a);
    pause_a_little();
    cache_give(p, a);
    CUdeviceptr q = cache_take(b, how);
    clearer(q, b);
    cache_give(q, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(out));
    OK(cuMemFree(arena));
}

CASE(cache_too_early) { caching_allocator(TOO_EARLY); }
CASE(cache_waits) { caching_allocator(WAITS); }
CASE(cache_asks) { caching_allocator(ASKS); }
CASE(cache_same_stream) { caching_allocator(SAME_STREAM); }

/* ---- waits ---- */

static void two_streams(int wait, int record_early)
{
    CUstream a = stream(), b = stream();
    CUevent done = event();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    if (record_early)
        OK(cuEventRecord(done, a));
    producer(p, a);
    pause_a_little();
    if (!record_early)
        OK(cuEventRecord(done, a));
    if (wait)
        OK(cuStreamWaitEvent(b, done, 0));
    consumer(p, q, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuMemFree(q));
}

CASE(missing_wait) { two_streams(0, 0); }
CASE(event_too_early) { two_streams(1, 1); }
CASE(event_wait) { two_streams(1, 0); }

/* One page at two addresses: written at one, read at the other. */
static void aliases(int wait)
{
    const size_t page = 2 << 20;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr range, q = allocator(BYTES);
    CUstream a = stream(), b = stream();
    CUevent done = event();
    OK(cuMemAddressReserve(&range, 2 * page, 0, 0, 0));
    OK(cuMemCreate(&handle, page, &prop, 0));
    OK(cuMemMap(range, page, 0, handle, 0));
    OK(cuMemMap(range + page, page, 0, handle, 0));
    OK(cuMemSetAccess(range, 2 * page, &access, 1));
    producer(range + 4096, a);
    if (wait) {
        OK(cuEventRecord(done, a));
        OK(cuStreamWaitEvent(b, done, 0));
    }
    pause_a_little();
    consumer(range + page + 4096, q, b);
    OK(cuCtxSynchronize());
    OK(cuMemUnmap(range, 2 * page));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(range, 2 * page));
    OK(cuMemFree(q));
}

CASE(alias_wait) { aliases(1); }
CASE(alias_missing_wait) { aliases(0); }

/* A stream signals another by a value in memory. */
static void by_value(int wait)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES), flag = allocator(4);
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuCtxSynchronize());
    if (wait)
        OK(cuStreamWaitValue32(b, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    producer(p, a);
    OK(cuStreamWriteValue32(a, flag, 1, 0));
    pause_a_little();
    consumer(p, q, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuMemFree(q));
    OK(cuMemFree(flag));
}

CASE(value_wait) { by_value(1); }
CASE(value_missing_wait) { by_value(0); }

/* The consumer's stream waits for a flag: written by the producer's stream after its work, or by
 * the host after a wait; a copy writes it as well. */
static void flag(int who)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES), device = allocator(4), f = device;
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
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuMemFree(q));
    OK(cuMemFree(device));
}

CASE(value_by_memset) { flag(0); }
CASE(value_by_stream) { flag(1); }
CASE(value_seen_by_host) { flag(2); }

static void host_sync(int sync)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    producer(p, a);
    if (sync)
        OK(cuStreamSynchronize(a));
    pause_a_little();
    consumer(p, q, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuMemFree(q));
}

CASE(stream_sync) { host_sync(1); }

/* A long pause does not order work, even if the work is always done by then. */
CASE(sleep_is_no_sync)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    producer(p, a);
    usleep(20000);
    consumer(p, q, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuMemFree(q));
}

CASE(stream_query)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    producer(p, a);
    while (cuStreamQuery(a) == CUDA_ERROR_NOT_READY)
        usleep(20);
    consumer(p, q, b);
    OK(cuCtxSynchronize());
}

/* ---- the legacy and the per-thread default streams ---- */

static void legacy(unsigned flags)
{
    CUstream a;
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    OK(cuStreamCreate(&a, flags));
    producer(p, a);
    pause_a_little();
    consumer(p, q, NULL);
    OK(cuCtxSynchronize());
}

CASE(legacy_orders_blocking) { legacy(CU_STREAM_DEFAULT); }
CASE(legacy_not_nonblocking) { legacy(CU_STREAM_NON_BLOCKING); }

/* Two blocking streams are ordered by work in the default stream between them. */
CASE(legacy_between)
{
    CUstream a, b;
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES), r = allocator(BYTES);
    OK(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    producer(p, a);
    clearer(r, NULL);
    consumer(p, q, b);
    OK(cuStreamDestroy(a));
    pause_a_little();
    clearer(p, b);
    OK(cuCtxSynchronize());
}

/* Work of a destroyed stream still comes before later work of the default stream. */
CASE(destroyed_stream)
{
    CUstream a;
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    OK(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    producer(p, a);
    OK(cuStreamDestroy(a));
    usleep(draw(2000));
    consumer(p, q, NULL);
    OK(cuCtxSynchronize());
}

static pthread_barrier_t turns;
static CUdeviceptr shared_p, shared_q;
static CUcontext shared_context;
static int thread_syncs;

static void *other_thread(void *arg)
{
    (void)arg;
    OK(cuCtxSetCurrent(shared_context));
    producer(shared_p, CU_STREAM_PER_THREAD);
    if (thread_syncs)
        OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    pthread_barrier_wait(&turns);
    return NULL;
}

static void per_thread(int sync)
{
    pthread_t thread;
    shared_p = allocator(BYTES), shared_q = allocator(BYTES);
    OK(cuCtxGetCurrent(&shared_context));
    thread_syncs = sync;
    pthread_barrier_init(&turns, NULL, 2);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_barrier_wait(&turns);
    pause_a_little();
    consumer(shared_p, shared_q, CU_STREAM_PER_THREAD);
    OK(cuCtxSynchronize());
    pthread_join(thread, NULL);
}

CASE(per_thread_sync) { per_thread(1); }
CASE(per_thread_no_sync) { per_thread(0); }

/* ---- double buffering: upload into one half while the other is computed on ---- */

static void double_buffer(int forget)
{
    CUstream copy = stream(), compute = stream();
    CUdeviceptr half[2] = {allocator(BYTES), allocator(BYTES)}, out = allocator(BYTES);
    CUevent full[2] = {event(), event()}, empty[2] = {event(), event()};
    float *host = pinned();
    for (int i = 0; i < 6; i++) {
        int h = i % 2;
        if (i >= 2 && !forget)
            OK(cuStreamWaitEvent(copy, empty[h], 0));
        uploader(half[h], host, copy);
        OK(cuEventRecord(full[h], copy));
        OK(cuStreamWaitEvent(compute, full[h], 0));
        consumer(half[h], out, compute);
        OK(cuEventRecord(empty[h], compute));
        pause_a_little();
    }
    OK(cuCtxSynchronize());
    OK(cuMemFreeHost(host));
}

CASE(double_buffer_waits) { double_buffer(0); }
CASE(double_buffer_forgets) { double_buffer(1); }

/* ---- neighbours: each stream owns one half and reads one row of the other ---- */

PART halo(int overlap)
{
    CUstream s[2] = {stream(), stream()};
    CUevent done[2] = {event(), event()};
    CUdeviceptr grid = allocator(2 * BYTES), edge[2] = {allocator(BYTES), allocator(BYTES)};
    for (int step = 0; step < 4; step++) {
        /* the inner part: all except the row next to the other device's */
        for (int i = 0; i < 2; i++) {
            CUdeviceptr at = grid + (CUdeviceptr)i * (BYTES + 1024);
            launch_fill(at, (int)((BYTES - 1024) / sizeof(float)) + (overlap ? 300 : 0),
                        (float)step, s[i]);
        }
        for (int i = 0; i < 2; i++) /* the edges */
            OK(cuMemsetD8Async(grid + BYTES - 1024 + (CUdeviceptr)i * 1024, 1, 1024, s[i]));
        for (int i = 0; i < 2; i++)
            OK(cuEventRecord(done[i], s[i]));
        for (int i = 0; i < 2; i++)
            OK(cuStreamWaitEvent(s[i], done[1 - i], 0));
        for (int i = 0; i < 2; i++)
            OK(cuMemcpyDtoDAsync(edge[i], grid + BYTES - 1024 + (CUdeviceptr)(1 - i) * 1024, 1024,
                                 s[i]));
        for (int i = 0; i < 2; i++)
            OK(cuEventRecord(done[i], s[i]));
        for (int i = 0; i < 2; i++)
            OK(cuStreamWaitEvent(s[i], done[1 - i], 0));
    }
    OK(cuCtxSynchronize());
}

CASE(halo_disjoint) { halo(0); }
CASE(halo_overlaps) { halo(1); }

/* Columns of one matrix, interleaved in memory, copied in two streams. */
PART columns(int shift)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr m = allocator(64 * 512);
    char *host = pinned();
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = host,
                       .srcPitch = 256,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = m,
                       .dstPitch = 512,
                       .WidthInBytes = 256,
                       .Height = 64};
    OK(cuMemcpy2DAsync(&c, a));
    c.dstXInBytes = (size_t)(256 - shift);
    OK(cuMemcpy2DAsync(&c, b));
    OK(cuCtxSynchronize());
}

CASE(columns_disjoint) { columns(0); }
CASE(columns_overlap) { columns(4); }

/* ---- frees ---- */

CASE(pool_other_stream)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = pool_allocator(BYTES, a), out = allocator(BYTES);
    CUevent ready = event();
    producer(p, a);
    OK(cuEventRecord(ready, a));
    OK(cuStreamWaitEvent(b, ready, 0));
    consumer(p, out, b);
    pause_a_little();
    pool_releaser(p, a); /* a does not wait for the work in b */
    OK(cuCtxSynchronize());
}

CASE(pool_ordered)
{
    CUstream a = stream(), b = stream();
    CUevent ready = event(), used = event();
    CUdeviceptr out = allocator(BYTES);
    for (int i = 0; i < 8; i++) {
        CUdeviceptr p = pool_allocator(BYTES, a);
        producer(p, a);
        OK(cuEventRecord(ready, a));
        OK(cuStreamWaitEvent(b, ready, 0));
        consumer(p, out, b);
        OK(cuEventRecord(used, b));
        OK(cuStreamWaitEvent(a, used, 0));
        pool_releaser(p, a);
        pause_a_little();
    }
    OK(cuCtxSynchronize());
}

/* Memory used in another stream that does not wait for its allocation. */
CASE(pool_before_alloc)
{
    CUstream a = stream(), b = stream();
    CUdeviceptr p = pool_allocator(BYTES, a);
    pause_a_little();
    clearer(p, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
}

/* Many streams allocate from and free to one pool, each its own blocks. */
CASE(pool_churn)
{
    CUstream s[4];
    CUdeviceptr p[4] = {0};
    for (int i = 0; i < 4; i++)
        s[i] = stream();
    for (int i = 0; i < 80; i++) {
        int k = (int)draw(4);
        if (p[k])
            OK(cuMemFreeAsync(p[k], s[k]));
        OK(cuMemAllocAsync(&p[k], BYTES * (1 + draw(3)), s[k]));
        launch_fill(p[k], N, 1, s[k]);
        if (draw(10) == 0)
            OK(cuStreamSynchronize(s[k]));
    }
    OK(cuCtxSynchronize());
}

CASE(freed_then_launched)
{
    CUdeviceptr p = allocator(BYTES);
    launch_opaque(p, NULL);
    releaser(p);
    pause_a_little();
    user(p, NULL);
    OK(cuCtxSynchronize());
}

CASE(freed_after_launch)
{
    CUdeviceptr p = allocator(BYTES);
    launch_opaque(p, NULL);
    pause_a_little();
    releaser(p); /* waits for it */
    OK(cuCtxSynchronize());
}

/* cuMemFree waits for the owner's context, not for another that uses its memory. */
CASE(freed_from_another_context)
{
    CUcontext first, second;
    OK(cuCtxGetCurrent(&first));
    CUdeviceptr p = allocator(BYTES);
    OK(cuCtxCreate(&second, NULL, 0, 0));
    CUstream s = stream();
    producer(p, s);
    OK(cuCtxSetCurrent(first));
    releaser(p);
    OK(cuCtxSetCurrent(second));
    OK(cuCtxSynchronize());
}

CASE(host_freed)
{
    CUstream a = stream();
    CUdeviceptr p = allocator(BYTES);
    void *host = pinned();
    uploader(p, host, a);
    host_releaser(host);
    OK(cuCtxSynchronize());
}

CASE(host_freed_after_sync)
{
    CUstream a = stream();
    CUdeviceptr p = allocator(BYTES);
    void *host = pinned();
    uploader(p, host, a);
    OK(cuStreamSynchronize(a));
    host_releaser(host);
    OK(cuMemFree(p));
}

PART host_reader(const float *host)
{
    vramscope_sim_read(host, BYTES);
    KEEP;
}

static void host_reads(int sync)
{
    CUstream a = stream();
    CUdeviceptr p = allocator(BYTES);
    float *host = pinned();
    clearer(p, a);
    downloader(host, p, a);
    if (sync)
        OK(cuStreamSynchronize(a));
    pause_a_little();
    host_reader(host);
    OK(cuCtxSynchronize());
}

CASE(host_reads_early) { host_reads(0); }
CASE(host_reads_after_sync) { host_reads(1); }

/* ---- graphs ---- */

PART launcher(CUgraphExec graph, CUstream s)
{
    OK(cuGraphLaunch(graph, s));
    KEEP;
}

/* Two streams captured, launched three times. */
static void graph(int forget)
{
    CUstream a = stream(), b = stream();
    CUevent fork = event(), join = event();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    CUgraph captured;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (forget)
        OK(cuEventRecord(fork, a));
    producer(p, a);
    if (!forget)
        OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    consumer(p, q, b);
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    OK(cuStreamEndCapture(a, &captured));
    OK(cuGraphInstantiate(&exec, captured, 0));
    for (int i = 0; i < 3; i++)
        launcher(exec, a);
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(captured));
}

CASE(graph_waits) { graph(0); }
CASE(graph_misses_edge) { graph(1); }

/* Memory of a graph, used by work that is not ordered after its launch. */
static void graph_memory(int ordered)
{
    CUstream a = stream(), b = stream();
    CUevent done = event();
    CUdeviceptr p;
    CUgraph captured;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    p = pool_allocator(BYTES, a);
    producer(p, a);
    OK(cuStreamEndCapture(a, &captured));
    OK(cuGraphInstantiate(&exec, captured, 0));
    for (int i = 0; i < (ordered ? 3 : 1); i++) {
        launcher(exec, a);
        OK(cuEventRecord(done, a));
        OK(cuStreamWaitEvent(b, done, 0));
        clearer(p, b);
        OK(cuEventRecord(done, b));
        if (ordered)
            OK(cuStreamWaitEvent(a, done, 0));
        pool_releaser(p, a);
    }
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(captured));
}

CASE(graph_memory_ordered) { graph_memory(1); }
CASE(graph_memory_freed) { graph_memory(0); }

/* ---- never written ---- */

static void unwritten(int write, int kernel)
{
    CUstream a = stream();
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    float *host = pinned();
    if (write)
        clearer(p, a);
    if (kernel)
        consumer(p, q, a);
    else
        OK(cuMemcpyDtoDAsync(q, p, BYTES, a));
    downloader(host, q, a);
    OK(cuCtxSynchronize());
}

CASE(unwritten_kernel) { unwritten(0, 1); }
CASE(unwritten_copied) { unwritten(0, 0); }
CASE(written_kernel) { unwritten(1, 1); }
CASE(written_copied) { unwritten(1, 0); }

/* The last quarter is missing. */
CASE(unwritten_part)
{
    CUdeviceptr p = allocator(BYTES);
    float *host = pinned();
    OK(cuMemsetD8(p, 0, BYTES / 4 * 3));
    downloader(host, p, NULL);
    OK(cuCtxSynchronize());
}

/* ---- calls that fail immediately ---- */

PART second_releaser(CUdeviceptr p)
{
    CUresult e = cuMemFree(p);
    if (e != CUDA_ERROR_INVALID_VALUE)
        OK(e);
    KEEP;
}

CASE(double_free)
{
    CUdeviceptr p = allocator(BYTES);
    releaser(p);
    second_releaser(p);
}

CASE(double_free_async)
{
    CUstream a = stream();
    CUdeviceptr p = pool_allocator(BYTES, a);
    pool_releaser(p, a);
    second_releaser(p);
    OK(cuCtxSynchronize());
}

CASE(foreign_free)
{
    CUdeviceptr p = allocator(BYTES);
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
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    releaser(p);
    freed_source(q, p);
    OK(cuMemFree(q));
}

static void context_with(int leak)
{
    CUcontext mine;
    OK(cuCtxCreate(&mine, NULL, 0, 0));
    CUdeviceptr p = allocator(BYTES), q = allocator(BYTES);
    OK(cuMemFree(q));
    if (!leak)
        OK(cuMemFree(p));
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
    for (size_t i = 0; argc > 1 && i < case_count; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    for (size_t i = 0; i < case_count; i++)
        puts(cases[i].name);
    return argc > 1 ? 3 : 0;
}
