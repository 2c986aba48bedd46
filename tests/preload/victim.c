/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that does not depend on vramscope and behaves in one way per run, chosen by its first
 * argument. It keeps its own tally and prints it; the test compares output and exit status with and
 * without the profiler, and the trace with the tally. Built against the shared and the static
 * runtime. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <errno.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static unsigned long allocations, frees;
static size_t live_bytes, peak_bytes;
static struct {
    void *ptr;
    size_t bytes;
} live[4096];

static void check(cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorName(e));
    exit(3);
}

static void *device_alloc(size_t bytes)
{
    void *p = NULL;
    size_t i = 0;
    check(cudaMalloc(&p, bytes), "cudaMalloc");
    while (live[i].ptr)
        i++;
    live[i].ptr = p;
    live[i].bytes = bytes;
    allocations++;
    live_bytes += bytes;
    if (live_bytes > peak_bytes)
        peak_bytes = live_bytes;
    return p;
}

static void device_free(void *p)
{
    size_t i = 0;
    while (live[i].ptr != p)
        i++;
    live_bytes -= live[i].bytes;
    live[i].ptr = NULL;
    frees++;
    check(cudaFree(p), "cudaFree");
}

static void print_tally(void)
{
    printf("allocations %lu frees %lu live %zu peak %zu\n", allocations, frees, live_bytes,
           peak_bytes);
    fflush(stdout);
}

static int mode_device(void)
{
    void *p[64];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 64; i++)
            p[i] = device_alloc((size_t)(i * i + 1) * 1000 + (size_t)round);
        for (int i = 0; i < 64; i++)
            device_free(p[(i * 37) % 64]);
    }
    p[0] = device_alloc(5 * MIB); /* left alive */
    print_tally();
    return 0;
}

static int mode_families(void)
{
    void *device, *managed, *pinned, *host, *async, *pitched;
    size_t pitch;
    struct cudaPitchedPtr volume;
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    check(cudaMalloc(&device, MIB), "cudaMalloc");
    check(cudaMallocManaged(&managed, 2 * MIB, cudaMemAttachGlobal), "cudaMallocManaged");
    check(cudaMallocHost(&pinned, 3 * MIB), "cudaMallocHost");
    check(cudaHostAlloc(&host, 4 * MIB, cudaHostAllocDefault), "cudaHostAlloc");
    check(cudaMallocAsync(&async, 5 * MIB, stream), "cudaMallocAsync");
    check(cudaMallocPitch(&pitched, &pitch, 100, 10), "cudaMallocPitch");
    check(cudaMalloc3D(&volume, (struct cudaExtent){64, 8, 4}), "cudaMalloc3D");
    check(cudaMemset(device, 7, MIB), "cudaMemset");
    check(cudaMemcpy(pinned, device, MIB, cudaMemcpyDeviceToHost), "cudaMemcpy");
    printf("byte %d\n", ((unsigned char *)pinned)[MIB - 1]);
    check(cudaFreeAsync(async, stream), "cudaFreeAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check(cudaFree(volume.ptr), "cudaFree 3D");
    check(cudaFree(pitched), "cudaFree pitched");
    check(cudaFreeHost(host), "cudaFreeHost");
    check(cudaFreeHost(pinned), "cudaFreeHost");
    check(cudaFree(managed), "cudaFree managed");
    check(cudaFree(device), "cudaFree");
    check(cudaFree(NULL), "cudaFree NULL");
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    puts("families done");
    return 0;
}

/* Memory of cudaMalloc, freed in stream order: for programs with a cache. */
static int mode_free_async(void)
{
    void *first, *second, *again;
    check(cudaMalloc(&first, MIB), "cudaMalloc");
    check(cudaMalloc(&second, MIB), "cudaMalloc");
    check(cudaMemset(second, 3, MIB), "cudaMemset");
    check(cudaFreeAsync(first, NULL), "cudaFreeAsync");
    check(cudaMalloc(&again, MIB), "cudaMalloc");
    check(cudaMemset(again, 4, MIB), "cudaMemset");
    puts(again == first ? "served again" : "elsewhere");
    check(cudaFree(again), "cudaFree");
    check(cudaFree(second), "cudaFree");
    return 0;
}

static int mode_oom(void)
{
    size_t free_before, free_after, total;
    void *small[20], *big = (void *)1, *p;
    check(cudaMemGetInfo(&free_before, &total), "cudaMemGetInfo");
    for (int i = 0; i < 20; i++)
        check(cudaMalloc(&small[i], 30 * MIB), "cudaMalloc");
    cudaError_t e = cudaMalloc(&big, total);
    cudaError_t last = cudaGetLastError(), after = cudaGetLastError();
    printf("too big: %s last %s then %s\n", cudaGetErrorName(e), cudaGetErrorName(last),
           cudaGetErrorName(after));
    for (int i = 0; i < 20; i++)
        check(cudaFree(small[i]), "cudaFree");
    check(cudaMemGetInfo(&free_after, &total), "cudaMemGetInfo");
    printf("free memory as before: %d\n", free_after == free_before);
    /* cached memory must make room for one large request, and for other families */
    check(cudaMalloc(&p, free_after - 64 * MIB), "large after small");
    check(cudaFree(p), "cudaFree");
    check(cudaMallocManaged(&p, 16 * MIB, cudaMemAttachGlobal), "cudaMallocManaged");
    check(cudaFree(p), "cudaFree");
    printf("double free: %s\n", cudaGetErrorName(cudaFree(p)));
    (void)cudaGetLastError();
    printf("foreign free: %s\n", cudaGetErrorName(cudaFree(&total)));
    return 0;
}

/* more than the device has, unless each reset frees the memory */
static int mode_resets(void)
{
    for (int i = 0; i < 12; i++) {
        void *p;
        check(cudaMalloc(&p, 60 * MIB), "cudaMalloc");
        check(cudaMemset(p, 1, 60 * MIB), "cudaMemset");
        check(cudaDeviceReset(), "cudaDeviceReset");
    }
    puts("12 resets");
    return 0;
}

static void *late;

__attribute__((destructor)) static void free_in_destructor(void)
{
    if (late)
        cudaFree(late);
}

static void free_at_exit(void)
{
    cudaFree(late);
    late = NULL;
}

/* Until a line is written to it, or the writer closes. */
static int mode_wait(void)
{
    char byte;
    device_alloc(MIB);
    return read(STDIN_FILENO, &byte, 1) < 0;
}

/* Waits with memory that the kernel needs a while to free. */
static int mode_large(void)
{
    size_t bytes = 512 * MIB;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 3;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    device_alloc(MIB);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}

static int mode_atexit(void)
{
    atexit(free_at_exit);
    check(cudaMalloc(&late, MIB), "cudaMalloc");
    puts("will free at exit");
    return 5;
}

static int mode_destructor(void)
{
    check(cudaMalloc(&late, MIB), "cudaMalloc");
    puts("will free in a destructor");
    return 6;
}

static int end_by(int number)
{
    device_alloc(MIB);
    device_free(device_alloc(2 * MIB));
    print_tally();
    raise(number);
    return 0;
}

static int mode_sigkill(void) { return end_by(SIGKILL); }
static int mode_sigsegv(void) { return end_by(SIGSEGV); }

static int mode_exec(void)
{
    device_alloc(MIB);
    fflush(stdout);
    execl("/proc/self/exe", program_invocation_name, "device", (char *)NULL);
    return 1;
}

static int mode_nothing(void)
{
    puts("no CUDA here");
    return 7;
}

static int mode_nvtx(void)
{
    nvtxRangePushA("before cuda");
    device_alloc(MIB);
    nvtxRangePop();
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %d", i);
        nvtxRangePushA(name);
        nvtxRangePushA("forward");
        void *p = device_alloc((size_t)(i + 1) * MIB);
        nvtxRangePop();
        nvtxMarkA("half");
        device_free(p);
        nvtxRangePop();
    }
    print_tally();
    return 0;
}

/* What XLA does below the program's range: its compiler, then the compiled function. */
static int mode_nvtx_compiler(void)
{
    static const char *const names[] = {"XlaCompile:#module=jit_f#", "XlaPass:#name=autotuner#",
                                        "XlaModule:#hlo_module=jit_f#", "Thunk:#name=fusion#"};
    nvtxDomainHandle_t domain = nvtxDomainCreateA("TSL");
    nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII};
    void *blocks[4];
    nvtxRangePushA("train");
    for (int i = 0; i < 4; i++) {
        event.message.ascii = names[i];
        nvtxDomainRangePushEx(domain, &event);
        blocks[i] = device_alloc(MIB);
        if (i % 2) {
            nvtxDomainRangePop(domain);
            nvtxDomainRangePop(domain);
        }
    }
    nvtxRangePop();
    for (int i = 0; i < 4; i++)
        device_free(blocks[i]);
    print_tally();
    return 0;
}

static sem_t pushed, begun;

static void *range_in_thread(void *arg)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                   .message = {.ascii = "of its domain"}};
    nvtxRangePushA(arg);
    nvtxRangePushA("ended before");
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePop();
    sem_post(&pushed);
    sem_wait(&begun);
    void *p = device_alloc(MIB);
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    device_free(p);
    return NULL;
}

static void *range_left_open(void *arg)
{
    nvtxRangePushA(arg);
    return NULL;
}

/* Ranges of other threads are open when the recording begins; one that ended is gone. */
static int mode_nvtx_threads(void)
{
    pthread_t thread;
    sem_init(&pushed, 0, 0);
    sem_init(&begun, 0, 0);
    pthread_create(&thread, NULL, range_left_open, "of an ended thread");
    pthread_join(thread, NULL);
    nvtxRangeId_t over = nvtxRangeStartA("over"), open = nvtxRangeStartA("of no thread");
    nvtxRangeEnd(over);
    pthread_create(&thread, NULL, range_in_thread, "of another thread");
    sem_wait(&pushed);
    void *p = device_alloc(MIB);
    sem_post(&begun);
    pthread_join(thread, NULL);
    nvtxRangeEnd(open);
    device_free(p);
    print_tally();
    return 0;
}

static int mode_copies(void)
{
    enum { COUNT = 20 };
    char *host = malloc(MIB);
    void *p = device_alloc(MIB);
    for (int i = 0; i < COUNT; i++) {
        memset(host, i, MIB);
        check(cudaMemcpy(p, host, MIB, cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemset(p, i + 1, MIB / 2), "cudaMemset");
        check(cudaMemcpy(host, p, MIB, cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (host[0] != i + 1 || host[MIB - 1] != i)
            puts("wrong bytes");
    }
    device_free(p);
    free(host);
    puts("copies done");
    return 0;
}

/* Each kind of wait so many times, a free behind a copy, and asynchronous copies of memory that is page-locked and that is not. */
static int mode_waits(void)
{
    enum { BYTES = 64 * MIB };
    char *pageable = calloc(1, BYTES), *locked;
    void *p = device_alloc(BYTES);
    cudaStream_t stream;
    cudaEvent_t event;
    check(cudaMallocHost((void **)&locked, BYTES), "cudaMallocHost");
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    check(cudaEventCreate(&event), "cudaEventCreate");
    check(cudaMemcpyAsync(p, locked, BYTES, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    check(cudaEventRecord(event, stream), "cudaEventRecord");
    for (int i = 0; i < 5; i++) {
        check(i < 2 ? cudaEventSynchronize(event) : cudaSuccess, "cudaEventSynchronize");
        check(i < 3 ? cudaStreamSynchronize(stream) : cudaSuccess, "cudaStreamSynchronize");
        check(i < 4 ? cudaMemcpy(p, pageable, 16, cudaMemcpyHostToDevice) : cudaSuccess, "cudaMemcpy");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    check(cudaMemcpyAsync(pageable, p, BYTES, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    check(cudaMemcpyAsync(p, pageable, BYTES, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    check(cudaMemcpyAsync(p, locked, BYTES, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    device_free(p);
    puts("waits done");
    return 0;
}

/* room for the request itself, but not for the segment that a cache would allocate */
static int mode_nearly_full(void)
{
    size_t free_bytes, total;
    void *most, *last;
    check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    check(cudaMalloc(&most, free_bytes - 8 * MIB), "cudaMalloc of most");
    check(cudaMalloc(&last, 3 * MIB), "cudaMalloc of the last");
    check(cudaMemset(last, 1, 3 * MIB), "cudaMemset");
    check(cudaFree(last), "cudaFree");
    check(cudaFree(most), "cudaFree");
    puts("nearly full");
    return 0;
}

static volatile sig_atomic_t handler_exits;

static void end_in_handler(int number)
{
    (void)number;
    if (handler_exits)
        exit(11);
    _exit(11);
}

/* the signal often interrupts the profiler */
static int end_by_signal(void (*work)(void))
{
    struct itimerval timer = {{0, 0}, {0, 20000 + getpid() % 16 * 37}};
    check(cudaMemset(device_alloc(MIB), 0, 4096), "cudaMemset");
    signal(SIGALRM, end_in_handler);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (;;)
        work();
}

static void work_ranges(void)
{
    nvtxRangePushA("work");
    nvtxRangePop();
}

static void work_memory(void)
{
    void *p;
    check(cudaMalloc(&p, 1000), "cudaMalloc");
    check(cudaFree(p), "cudaFree");
}

static int mode_handler_underscore_exit(void) { return end_by_signal(work_ranges); }

static int mode_handler_exit(void)
{
    handler_exits = 1;
    return end_by_signal(work_memory);
}

/* many processes of one name start at the same time */
static int mode_fork_race(void)
{
    enum { CHILDREN = 6 };
    int gate[2], status, failed = 0;
    char byte;
    if (pipe(gate))
        return 3;
    for (int i = 0; i < CHILDREN; i++) {
        if (fork())
            continue;
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 0)
            _exit(3);
        device_alloc(MIB);
        return 0;
    }
    usleep(100000);
    close(gate[1]); /* all at once */
    while (wait(&status) > 0)
        failed += status != 0;
    printf("failed %d\n", failed);
    return 0;
}

/* Queries devices, and never allocates. */
static int mode_queries(void)
{
    struct cudaDeviceProp properties;
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    printf("%d devices\n", count);
    return 0;
}

/* Allocations that fail for other reasons than a lack of memory, and one for that. */
static int mode_errors(void)
{
    void *ptr;
    size_t pitch;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    struct cudaMemAllocNodeParams params = {.bytesize = MIB}; /* no location */
    device_alloc(MIB);
    cudaError_t results[] = {cudaMallocManaged(&ptr, MIB, 77), cudaMallocManaged(&ptr, MIB, 77),
                             cudaHostAlloc(&ptr, MIB, 0xffff),
                             cudaMallocPitch(&ptr, &pitch, (size_t)1 << 62, 16)};
    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    puts(cudaGetErrorName(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &params)));
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        puts(cudaGetErrorName(results[i]));
    return 0;
}

/* Frees that every driver refuses, in the order of check_findings.py. */
static int mode_bad_frees(void)
{
    char *device, *ordered;
    void *host = malloc(MIB);
    cudaArray_t array;
    struct cudaChannelFormatDesc floats = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    check(cudaMalloc((void **)&device, 3 * MIB), "cudaMalloc");
    check(cudaMallocAsync((void **)&ordered, 2 * MIB, NULL), "cudaMallocAsync");
    check(cudaMallocArray(&array, &floats, 64, 64, 0), "cudaMallocArray");
    puts(cudaGetErrorName(cudaFree(device + 512)));
    puts(cudaGetErrorName(cudaFreeHost(device)));
    check(cudaFree(device), "cudaFree");
    for (int i = 0; i < 3; i++)
        puts(cudaGetErrorName(cudaFree(device)));
    check(cudaFreeAsync(ordered, NULL), "cudaFreeAsync");
    puts(cudaGetErrorName(cudaFreeAsync(ordered, NULL)));
    puts(cudaGetErrorName(cudaFree(host)));
    check(cudaFreeArray(array), "cudaFreeArray");
    printf("array refused: %d\n", cudaFreeArray(array) != cudaSuccess);
    puts(cudaGetErrorName(cudaHostUnregister(host)));
    check(cudaFree(NULL), "cudaFree NULL");
    free(host);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } modes[] = {
        {"device", mode_device}, {"families", mode_families}, {"free-async", mode_free_async},
        {"oom", mode_oom}, {"resets", mode_resets}, {"atexit", mode_atexit},
        {"destructor", mode_destructor}, {"nvtx", mode_nvtx}, {"nvtx-threads", mode_nvtx_threads},
        {"nvtx-compiler", mode_nvtx_compiler},
        {"copies", mode_copies}, {"waits", mode_waits}, {"nearly-full", mode_nearly_full},
        {"handler-_exit", mode_handler_underscore_exit}, {"handler-exit", mode_handler_exit},
        {"fork-race", mode_fork_race}, {"wait", mode_wait}, {"large", mode_large},
        {"queries", mode_queries}, {"errors", mode_errors}, {"bad-frees", mode_bad_frees},
        {"exec", mode_exec}, {"nothing", mode_nothing}, {"sigkill", mode_sigkill},
        {"sigsegv", mode_sigsegv},
    };
    const char *mode = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].run();
    }
    fprintf(stderr, "victim: unknown mode\n");
    return 2;
}
