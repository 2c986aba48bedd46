/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs with one deliberate bug each, and their correct versions. `checker_cases NAME SEED`: the
 * seed determines how long kernels and pauses take, so that a bug changes the data in some runs
 * only. Without arguments: prints the names and the report that each must give, for run_cases.py.
 * The bugs follow real ones: a caching allocator that reuses a block too early, a stream that lacks
 * a wait, a buffer freed too soon. Most programs are lines of the language of run_statement().
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
#define KEEP __asm__ volatile("" ::: "memory") /* prevents a tail call before it */
#define PART(name, parameters, work) \
    EXPORTED void name parameters    \
    {                                \
        work;                        \
        KEEP;                        \
    }
#define OK(call) must((call), #call, __LINE__)
/* The call may find the invalid value that the checker reports. */
#define REFUSED(call)                         \
    do {                                      \
        CUresult e = (call);                  \
        if (e != CUDA_ERROR_INVALID_VALUE)    \
            OK(e);                            \
    } while (0)
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

static void pause_a_little(void) { usleep(draw(300)); }

/* ---- kernels ---- */

/* fill(float *to, int count, float value, int us) */
static void fill(const struct vramscope_sim_launch *l, unsigned long first, unsigned long last)
{
    float *to = *(float **)l->args[0], value = *(float *)l->args[2];
    int count = *(int *)l->args[1];
    (void)first, (void)last;
    usleep(*(unsigned *)l->args[3]);
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
    usleep(*(unsigned *)l->args[4]);
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
    usleep(*(unsigned *)l->args[1]);
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

static void launch(CUfunction kernel, void **args, CUstream s)
{
    OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
}

static void launch_fill(CUdeviceptr to, int count, float value, CUstream s)
{
    launch(k_fill, (void *[]){&to, &count, &value, &(unsigned){draw(400)}}, s);
}

static void launch_scale(CUdeviceptr from, CUdeviceptr to, int count, float by, CUstream s)
{
    launch(k_scale, (void *[]){&from, &to, &count, &by, &(unsigned){draw(400)}}, s);
}

static void launch_opaque(CUdeviceptr what, CUstream s)
{
    launch(k_opaque, (void *[]){&what, &(unsigned){draw(400)}}, s);
}

/* The parts. */
PART(producer, (CUdeviceptr to, CUstream s), launch_fill(to, N, 1, s))
PART(consumer, (CUdeviceptr from, CUdeviceptr to, CUstream s), launch_scale(from, to, N, 2, s))
PART(user, (CUdeviceptr what, CUstream s), launch_opaque(what, s))
PART(uploader, (CUdeviceptr to, const void *from, CUstream s),
     OK(cuMemcpyHtoDAsync(to, from, BYTES, s)))
PART(downloader, (void *to, CUdeviceptr from, CUstream s),
     OK(cuMemcpyDtoHAsync(to, from, BYTES, s)))
PART(clearer, (CUdeviceptr to, CUstream s), OK(cuMemsetD8Async(to, 0, BYTES, s)))
PART(releaser, (CUdeviceptr p), OK(cuMemFree(p)))
PART(pool_releaser, (CUdeviceptr p, CUstream s), OK(cuMemFreeAsync(p, s)))
PART(host_releaser, (void *p), OK(cuMemFreeHost(p)))
PART(host_reader, (const float *host), vramscope_sim_read(host, BYTES))
PART(launcher, (CUgraphExec graph, CUstream s), OK(cuGraphLaunch(graph, s)))
PART(second_releaser, (CUdeviceptr at), REFUSED(cuMemFree(at)))
PART(freed_source, (CUdeviceptr to, CUdeviceptr from), REFUSED(cuMemcpyDtoD(to, from, BYTES)))

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

static CUstream stream(unsigned flags)
{
    CUstream s;
    OK(cuStreamCreate(&s, flags));
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

/* Of every case: two streams that do not block and two that do; memory for a producer and a
 * consumer; host memory. */
static CUstream a, b, blocking_c, blocking_d;
static CUdeviceptr p, q;
static void *host;

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

enum reuse { TOO_EARLY, WAITS, ASKS, SAME_STREAM };

static CUdeviceptr cache_take(CUstream s, int how)
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

static void caching_allocator(int how)
{
    arena = allocator(4 * BYTES);
    for (int i = 0; i < 4; i++)
        cache[i] = (struct cached){arena + (CUdeviceptr)i * BYTES, event(), NULL, 1};
    CUdeviceptr block = cache_take(a, how);
    producer(block, a);
    consumer(block, q, a);
    pause_a_little();
    cache_give(block, a);
    block = cache_take(b, how);
    clearer(block, b);
    cache_give(block, b);
}

/* ---- programs in C ---- */

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

static void per_thread(int sync)
{
    pthread_t thread;
    OK(cuCtxGetCurrent(&shared_context));
    pthread_barrier_init(&turns, NULL, 2);
    pthread_create(&thread, NULL, other_thread, sync ? &turns : NULL);
    pthread_barrier_wait(&turns);
    pause_a_little();
    consumer(p, q, CU_STREAM_PER_THREAD);
    OK(cuCtxSynchronize());
    pthread_join(thread, NULL);
}

/* Upload into one half while the other is computed on. */
static void double_buffer(int forget)
{
    CUdeviceptr half[2] = {p, allocator(BYTES)};
    CUevent empty[2] = {event(), event()};
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

/* Neighbours: each stream owns one half and reads one row of the other. */
EXPORTED void halo(int overlap)
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

/* Columns of one matrix, interleaved in memory, copied in two streams. */
EXPORTED void columns(int shift)
{
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 256,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = allocator(64 * 512), .dstPitch = 512,
        .WidthInBytes = 256, .Height = 64};
    OK(cuMemcpy2DAsync(&copy, a));
    copy.dstXInBytes = (size_t)(256 - shift);
    OK(cuMemcpy2DAsync(&copy, b));
}

/* Many streams allocate from and free to one pool, each its own blocks. */
static void pool_churn(int blocks)
{
    CUstream s[4];
    CUdeviceptr block[4] = {0};
    for (int i = 0; i < 4; i++)
        s[i] = stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < blocks; i++) {
        int k = (int)draw(4);
        if (block[k])
            OK(cuMemFreeAsync(block[k], s[k]));
        OK(cuMemAllocAsync(&block[k], BYTES * (1 + draw(3)), s[k]));
        launch_fill(block[k], N, 1, s[k]);
        if (draw(10) == 0)
            OK(cuStreamSynchronize(s[k]));
    }
}

/* cuMemFree waits for the owner's context, not for another that uses its memory. */
static void freed_from_another_context(int flags)
{
    CUcontext first, second;
    OK(cuCtxGetCurrent(&first));
    OK(cuCtxCreate(&second, NULL, 0, 0));
    producer(p, stream((unsigned)flags));
    OK(cuCtxSetCurrent(first));
    releaser(p);
    OK(cuCtxSetCurrent(second));
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

/* ---- programs as text ---- */

/* Streams: a and b, c and d, "0" (the legacy one). Memory: p and q; k is that of the pool, x and y
 * are one page at two addresses, r has no data of others, f is a flag of 4 bytes. */
static CUstream stream_of(char name)
{
    return name == 'a' ? a : name == 'b' ? b : name == 'c' ? blocking_c :
           name == 'd' ? blocking_d : NULL;
}

static CUdeviceptr memory[128];

static void map_twice(void)
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
    memory['x'] = range + 4096;
    memory['y'] = range + page + 4096;
}

#define VERB(name, ...)        \
    if (!strcmp(verb, name)) { \
        __VA_ARGS__;           \
        return;                \
    }

static void run_statement(const char *verb, char first, char second, char third)
{
    static CUevent done;
    static CUgraphExec exec;
    CUdeviceptr m = memory[(int)first], n = memory[(int)second];
    CUstream s = stream_of(first), t = stream_of(second), u = stream_of(third);
    CUgraph graph;
    VERB("produce", producer(m, t))
    VERB("consume", consumer(m, q, t)) /* M in S: from M to q */
    VERB("use", user(m, t)) /* a kernel that declares no accesses */
    VERB("upload", uploader(m, host, t))
    VERB("download", downloader(host, m, t))
    VERB("copy", OK(cuMemcpyDtoDAsync(m, n, BYTES, u))) /* M N S: from N to M */
    VERB("clear", clearer(m, t))
    VERB("clear_most", OK(cuMemsetD8(m, 0, BYTES / 4 * 3))) /* the last quarter is missing */
    VERB("order", order(s, t)) /* S T: T waits for S */
    VERB("record", done = event(); OK(cuEventRecord(done, s)))
    VERB("wait", OK(cuStreamWaitEvent(s, done, 0))) /* for the last record */
    VERB("sync", OK(cuStreamSynchronize(s)))
    VERB("query", while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY) usleep(20))
    VERB("destroy", OK(cuStreamDestroy(s)))
    VERB("pause", pause_a_little())
    VERB("sleep", usleep(20000))
    if (!strcmp(verb, "make")) {
        memory[(int)first] = allocator(first == 'f' ? 4 : BYTES);
        OK(cuMemsetD32(memory[(int)first], 0, 1));
        OK(cuCtxSynchronize());
        return;
    }
    VERB("await", OK(cuStreamWaitValue32(t, m, 1, CU_STREAM_WAIT_VALUE_EQ))) /* F S: until F is 1 */
    VERB("raise", OK(cuStreamWriteValue32(t, m, 1, 0)))
    VERB("raise_by_memset", OK(cuMemsetD32Async(m, 1, 1, t)))
    VERB("poll", while (!__atomic_load_n((unsigned *)host, __ATOMIC_ACQUIRE)) usleep(100))
    VERB("map", map_twice())
    VERB("allocate", memory[(int)first] = pool_allocator(BYTES, t)) /* K S */
    VERB("free", second == ' ' ? releaser(m) : pool_releaser(m, t)) /* M, or K S */
    VERB("free_again", second_releaser(m))
    VERB("free_inside", second_releaser(m + 512))
    VERB("copy_freed", freed_source(m, n)) /* M N: from N to M */
    VERB("free_host", host_releaser(host))
    VERB("read_host", host_reader(host))
    VERB("capture", OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL)))
    VERB("end", OK(cuStreamEndCapture(s, &graph)); OK(cuGraphInstantiate(&exec, graph, 0)))
    VERB("launch", launcher(exec, s))
    fprintf(stderr, "no such statement: %s\n", verb);
    exit(3);
}

static void run_text(const char *text)
{
    char verb[32], names[3];
    memory['p'] = p, memory['q'] = q, memory['h'] = (CUdeviceptr)(uintptr_t)host;
    for (; text; text = strchr(text, ',')) {
        text += text[0] == ',';
        memset(names, ' ', sizeof names);
        sscanf(text, " %31[a-z_] %c %c %c", verb, &names[0], &names[1], &names[2]);
        for (int i = 0; i < 3; i++) /* of the next statement */
            if (names[i] == ',')
                memset(names + i, ' ', sizeof names - (size_t)i);
        run_statement(verb, names[0], names[1], names[2]);
    }
}

/* ---- the cases ---- */

#define RACE "race: producer, consumer"
#define FREED "freed in use|use after free: " /* which one depends on what ran first */
#define UNWRITTEN "uninitialised read: allocator, "

/* The report, the functions of its two stacks after the colon; NULL: no report. */
static const struct {
    const char *name, *report;
    int times; /* 0: once */
    const char *prologue, *text;
    void (*run)(int how);
    int how;
} cases[] = {
    {"cache_too_early", "race: producer|consumer, clearer", .run = caching_allocator,
     .how = TOO_EARLY},
    {"cache_waits", .run = caching_allocator, .how = WAITS},
    {"cache_asks", .run = caching_allocator, .how = ASKS},
    {"cache_same_stream", .run = caching_allocator, .how = SAME_STREAM},
    {"missing_wait", RACE, .text = "produce p a, pause, consume p b"},
    {"event_too_early", RACE, .text = "record a, produce p a, pause, wait b, consume p b"},
    {"event_wait", .text = "produce p a, record a, pause, wait b, consume p b"},
    {"stream_sync", .text = "produce p a, sync a, pause, consume p b"},
    {"stream_query", .text = "produce p a, query a, pause, consume p b"},
    /* a long pause does not order work, even if the work is always done by then */
    {"sleep_is_no_sync", RACE, .text = "produce p a, sleep, pause, consume p b"},
    {"alias_wait", .text = "map, produce x a, order a b, pause, consume y b"},
    {"alias_missing_wait", RACE, .text = "map, produce x a, pause, consume y b"},
    {"value_wait", .text = "make f, await f b, produce p a, raise f a, pause, consume p b"},
    {"value_missing_wait", RACE, .text = "make f, produce p a, raise f a, pause, consume p b"},
    {"value_by_memset",
     .text = "make f, await f b, consume p b, produce p a, pause, raise_by_memset f a"},
    {"value_by_stream", .text = "make f, await f b, consume p b, produce p a, pause, raise f a"},
    {"value_seen_by_host", .text = "produce p a, pause, raise h a, poll, consume p b"},
    {"legacy_orders_blocking", .text = "produce p c, pause, consume p 0"},
    {"legacy_not_nonblocking", RACE, .text = "produce p a, pause, consume p 0"},
    /* two blocking streams are ordered by work in the default stream between them */
    {"legacy_between",
     .text = "make r, produce p c, clear r 0, consume p d, destroy c, pause, clear p d"},
    /* work of a destroyed stream still comes before later work of the default stream */
    {"destroyed_stream", .text = "produce p c, destroy c, pause, pause, pause, consume p 0"},
    {"per_thread_sync", .run = per_thread, .how = 1},
    {"per_thread_no_sync", RACE, .run = per_thread},
    {"double_buffer_waits", .run = double_buffer},
    {"double_buffer_forgets", "race: consumer, uploader", .run = double_buffer, .how = 1},
    {"halo_disjoint", .run = halo},
    {"halo_overlaps", "race: halo, halo", .run = halo, .how = 1},
    {"columns_disjoint", .run = columns},
    {"columns_overlap", "race: columns, columns", .run = columns, .how = 4},
    {"pool_other_stream", FREED "consumer, pool_releaser",
     .text = "allocate k a, produce k a, order a b, consume k b, pause, free k a, pause"},
    {"pool_ordered", .times = 8,
     .text = "allocate k a, produce k a, order a b, consume k b, order b a, free k a, pause"},
    /* memory used in another stream that does not wait for its allocation */
    {"pool_before_alloc", "wrong owner: pool_allocator, clearer",
     .text = "allocate k a, pause, clear k b"},
    {"pool_churn", .run = pool_churn, .how = 80},
    {"freed_then_launched", "freed pointer: releaser, user",
     .text = "use p 0, free p, pause, use p 0"},
    {"freed_after_launch", .text = "use p 0, pause, free p"}, /* waits for it */
    {"freed_from_another_context", FREED "producer, releaser", .run = freed_from_another_context,
     .how = CU_STREAM_NON_BLOCKING},
    {"host_freed", FREED "uploader, host_releaser", .text = "upload p a, free_host"},
    {"host_freed_after_sync", .text = "upload p a, sync a, free_host"},
    {"host_reads_early", "race: downloader, host_reader",
     .text = "clear p a, download p a, pause, read_host"},
    {"host_reads_after_sync", .text = "clear p a, download p a, sync a, pause, read_host"},
    /* two streams captured, launched three times */
    {"graph_waits", .times = 3, .text = "launch a",
     .prologue = "capture a, produce p a, record a, wait b, consume p b, order b a, end a"},
    {"graph_misses_edge", RACE, .times = 3, .text = "launch a",
     .prologue = "capture a, record a, produce p a, wait b, consume p b, order b a, end a"},
    /* memory of a graph, used by work that is not ordered after its launch */
    {"graph_memory_ordered", .times = 3, .prologue = "capture a, allocate k a, produce k a, end a",
     .text = "launch a, order a b, clear k b, order b a, free k a"},
    {"graph_memory_freed", FREED "clearer, pool_releaser",
     .prologue = "capture a, allocate k a, produce k a, end a",
     .text = "launch a, order a b, clear k b, free k a"},
    {"unwritten_kernel", UNWRITTEN "consumer", .text = "consume p a, download q a"},
    {"unwritten_copied", UNWRITTEN "downloader", .text = "copy q p a, download q a"},
    {"written_kernel", .text = "clear p a, consume p a, download q a"},
    {"written_copied", .text = "clear p a, copy q p a, download q a"},
    {"unwritten_part", UNWRITTEN "downloader", .text = "clear_most p, download p 0"},
    /* calls that fail immediately */
    {"double_free", "double free: releaser, second_releaser", .text = "free p, free_again p"},
    {"double_free_async", "double free: pool_releaser, second_releaser",
     .text = "allocate k a, free k a, free_again k"},
    {"foreign_free", "foreign free: allocator, second_releaser", .text = "free_inside p, free p"},
    {"freed_given", "freed pointer: releaser, freed_source", .text = "free p, copy_freed q p"},
    {"leak", "leak: allocator", .run = context_with, .how = 1},
    {"no_leak", .run = context_with},
};
#define CASES (sizeof cases / sizeof cases[0])

int main(int argc, char **argv)
{
    CUcontext ctx;
    random_state ^= argc > 2 ? (unsigned long)atol(argv[2]) * 0x9E3779B97F4A7C15u : 0;
    for (int i = 0; i < 8; i++)
        draw(2);
    for (size_t i = 0; argc == 1 && i < CASES; i++)
        printf("%s\t%s\n", cases[i].name, cases[i].report ? cases[i].report : "");
    if (argc == 1)
        return 0;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    kernels();
    a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
    blocking_c = stream(CU_STREAM_DEFAULT), blocking_d = stream(CU_STREAM_DEFAULT);
    p = allocator(BYTES), q = allocator(BYTES);
    host = pinned();
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(argv[1], cases[i].name))
            continue;
        if (cases[i].run)
            cases[i].run(cases[i].how);
        if (cases[i].prologue)
            run_text(cases[i].prologue);
        for (int k = 0; cases[i].text && k < (cases[i].times ? cases[i].times : 1); k++)
            run_text(cases[i].text);
        OK(cuCtxSynchronize());
        return 0;
    }
    return 3;
}
