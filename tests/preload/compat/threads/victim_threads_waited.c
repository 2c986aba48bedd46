/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that the loading or unloading of a library waits for. The loading thread holds the
 * loader's lock until the constructors have run, so the threads that they wait for must be able to
 * call CUDA without that lock, even a function for the first time. */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "victim.h"

VICTIM("threads")

#define HANG_SECONDS 200

static void *lookup_of(const char *name)
{
    void *fn = NULL;
    enum cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
    OK(cudaGetDriverEntryPointByVersion(name, &fn, 12000, cudaEnableDefault, &status));
#else
    OK(cudaGetDriverEntryPoint(name, &fn, cudaEnableDefault, &status));
#endif
    CHECK(fn);
    return fn;
}

/* Initialises CUDA, whose own first steps load libraries. Allocates nothing. */
static void warm_up(void)
{
    int count;
    cudaStream_t stream;
    alarm(HANG_SECONDS);
    OK(cuInit(0));
    OK(cudaGetDeviceCount(&count));
    OK(cudaSetDevice(0));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    lookup_of("cuCtxGetDevice");
}

static void runtime_calls(void)
{
    static char own[8192];
    void *p;
    cudaArray_t array;
    struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    ALLOCATES(VT_DEVICE, 3 * MIB, cudaMalloc(&p, 3 * MIB));
    FREES(VT_DEVICE, cudaFree(p));
    ALLOCATES(VT_MANAGED, 2 * MIB, cudaMallocManaged(&p, 2 * MIB, cudaMemAttachGlobal));
    FREES(VT_MANAGED, cudaFree(p));
    ALLOCATES(VT_PINNED, MIB, cudaMallocHost(&p, MIB));
    FREES(VT_PINNED, cudaFreeHost(p));
    OK(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
    tally_alloc(VT_REGISTERED, sizeof own);
    FREES(VT_REGISTERED, cudaHostUnregister(own));
    ALLOCATES(VT_ASYNC, MIB, cudaMallocAsync(&p, MIB, NULL));
    FREES(VT_ASYNC, cudaFreeAsync(p, NULL));
    ALLOCATES(VT_ARRAY, 128 * 16 * 4, cudaMallocArray(&array, &format, 128, 16, 0));
    FREES(VT_ARRAY, cudaFreeArray(array));
}

static void mapped_memory(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    ALLOCATES(VT_VMM, 2 * MIB, cuMemCreate(&handle, 2 * MIB, &prop, 0));
    OK(cuMemAddressReserve(&at, 2 * MIB, 0, 0, 0));
    OK(cuMemMap(at, 2 * MIB, 0, handle, 0));
    OK(cuMemUnmap(at, 2 * MIB));
    OK(cuMemAddressFree(at, 2 * MIB));
    FREES(VT_VMM, cuMemRelease(handle));
}

static void graph(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .bytesize = MIB,
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}}};
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node, last;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    OK(cuGraphAddMemFreeNode(&last, graph, &node, 1, params.dptr));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    ALLOCATES(VT_GRAPH, MIB, cuGraphLaunch(exec, NULL));
    tally_free(VT_GRAPH);
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void driver_calls(void)
{
    CUdeviceptr p;
    CUmemorytype type;
    CUstream stream;
    CUgraph captured;
    CUdeviceptr base;
    size_t bytes, total;
    ALLOCATES(VT_DEVICE, MIB, cuMemAlloc(&p, MIB));
    OK(cuMemGetAddressRange(&base, &bytes, p));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    OK(cuMemGetInfo(&bytes, &total));
    FREES(VT_DEVICE, cuMemFree(p));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuStreamEndCapture(stream, &captured));
    OK(cuGraphDestroy(captured));
    OK(cuStreamDestroy(stream));
    mapped_memory();
    graph();
}

/* Pointers returned by the driver, of functions not called before. */
static void looked_up_calls(void)
{
    CUresult (*alloc)(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
    CUdeviceptr p;
    size_t pitch;
    alloc = (__typeof__(alloc))lookup_of("cuMemAllocPitch");
    ALLOCATES(VT_DEVICE, pitch * 512, alloc(&p, &pitch, 1024, 512, 4));
    FREES(VT_DEVICE, cuMemFree(p));
}

/* Ends that we intercept, too. */
static void become_another(void)
{
    int status = -1;
    char *const argv[] = {"true", NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv("/bin/true", argv);
        _exit(9);
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void use_device(void)
{
    OK(cudaSetDevice(0));
}

static sem_t wanted;

/* Number of threads that could receive a signal sent to the process. */
static int threads_that_hear(int signal)
{
    char path[300], line[256];
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (struct dirent *e; (e = readdir(tasks));) {
        unsigned long long blocked = ~0ULL;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
        while (f && fgets(line, sizeof line, f)) {
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
                break;
        }
        if (f)
            fclose(f);
        count += !(blocked >> (signal - 1) & 1);
    }
    closedir(tasks);
    return count;
}

/* Must not leave another thread that could receive a signal sent to the process, not even while a
 * recording begins. */
static void *work(void *arg)
{
    void (*first)(void) = (void (*)(void))(uintptr_t)arg;
    while (sem_wait(&wanted) && errno == EINTR)
        ;
    int before = threads_that_hear(SIGABRT);
    first();
    runtime_calls();
    driver_calls();
    looked_up_calls();
    become_another();
    CHECK(threads_that_hear(SIGABRT) == before);
    return NULL;
}

static pthread_t worker;

static void hire(void (*first)(void))
{
    CHECK(!sem_init(&wanted, 0, 0));
    CHECK(!pthread_create(&worker, NULL, work, (void *)(uintptr_t)first));
}

/* With the loader's lock held. */
static void await_worker(void)
{
    struct timespec until;
    sem_post(&wanted);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HANG_SECONDS / 2;
    int late = pthread_timedjoin_np(worker, NULL, &until);
    puts(late ? "the worker waits for the loader" : "the worker has done its work");
    fflush(stdout);
    if (late)
        _exit(99);
}

static void start_and_await_worker(void)
{
    hire(use_device);
    await_worker();
}

static void at(const char *variable, void (*moment)(void))
{
    char address[32];
    snprintf(address, sizeof address, "%llx", (unsigned long long)(uintptr_t)moment);
    CHECK(!setenv(variable, address, 1));
}

static void open_and_close_a(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library);
    CHECK(dlsym(library, "loading_choice") || !strcmp(path, VICTIM_LOADING_LIBRARY));
    CHECK(!dlclose(library));
}

static void open_and_close(void)
{
    open_and_close_a(VICTIM_LOADING_LIBRARY);
}

CASE_STATUS(constructor_awaits_first_calls, "a constructor waits for a thread that calls CUDA", 0)
{
    warm_up();
    at("VICTIM_MOMENT", start_and_await_worker);
    open_and_close();
    return 71;
}

CASE_STATUS(destructor_awaits_first_calls,
            "a destructor of a closed library waits for a thread that calls CUDA", 0)
{
    warm_up();
    at("VICTIM_LAST_MOMENT", start_and_await_worker);
    open_and_close();
    return 72;
}

CASE_STATUS(constructor_awaits_calls_after_another,
            "a constructor waits for an older thread that calls CUDA", 0)
{
    void *p;
    warm_up();
    ALLOCATES(VT_DEVICE, MIB, cudaMalloc(&p, MIB));
    hire(use_device);
    at("VICTIM_MOMENT", await_worker);
    open_and_close();
    FREES(VT_DEVICE, cudaFree(p));
    return 73;
}

static void make_context(void)
{
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
}

/* Only the driver, initialised by cuInit alone. */
CASE_STATUS(constructor_awaits_first_context,
            "a constructor waits for a thread that creates the context", 0,
            STDERR_HAS("no kernels, no native call stacks"))
{
    int count;
    alarm(HANG_SECONDS);
    OK(cuInit(0));
    OK(cudaGetDeviceCount(&count));
    hire(make_context);
    at("VICTIM_MOMENT", await_worker);
    open_and_close();
    return 74;
}

/* The recording has begun, by a call without effect; the first context is the worker's. */
CASE_STATUS(constructor_awaits_context_after_a_call,
            "a constructor waits for a thread that creates the context, after another CUDA call", 0)
{
    int count;
    alarm(HANG_SECONDS);
    OK(cuInit(0));
    OK(cudaGetDeviceCount(&count));
    (void)cuMemFree(0);
    hire(make_context);
    at("VICTIM_MOMENT", await_worker);
    open_and_close();
    return 77;
}

static void call_here(void)
{
    use_device();
    runtime_calls();
}

/* The lock is its own: no thread waits, whichever others exist. */
static int calls_first(const char *variable, const char *library)
{
    int count;
    alarm(HANG_SECONDS);
    OK(cuInit(0));
    OK(cudaGetDeviceCount(&count));
    hire(use_device);
    at(variable, call_here);
    open_and_close_a(library);
    await_worker();
    return 76;
}

CASE_STATUS(constructor_calls_first,
            "a constructor and another thread make the first CUDA call at once", 0)
{
    return calls_first("VICTIM_MOMENT", VICTIM_LOADING_LIBRARY);
}

CASE_STATUS(destructor_calls_first, "a destructor of a closed library makes the first CUDA call", 0)
{
    return calls_first("VICTIM_LAST_MOMENT", VICTIM_LOADING_LIBRARY);
}

CASE_STATUS(init_calls_first, "a library's DT_INIT function makes the first CUDA call", 0)
{
    return calls_first("VICTIM_MOMENT", VICTIM_INIT_LIBRARY);
}

CASE_STATUS(resolver_calls_first, "an IFUNC resolver called by dlsym makes the first CUDA call", 0)
{
    return calls_first("VICTIM_CHOICE", VICTIM_INIT_LIBRARY);
}

static void *make_child(void *arg)
{
    become_another();
    return arg;
}

static void start_and_await_child(void)
{
    CHECK(!sem_init(&wanted, 0, 0));
    CHECK(!pthread_create(&worker, NULL, make_child, NULL));
    await_worker();
}

CASE_STATUS(constructor_awaits_first_exec, "a constructor waits for a thread that starts a program",
            VF_NO_TRACE)
{
    alarm(HANG_SECONDS);
    at("VICTIM_MOMENT", start_and_await_child);
    open_and_close();
    return 75;
}
