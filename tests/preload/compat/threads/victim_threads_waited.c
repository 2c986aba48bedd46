/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads beside the loading or unloading of a library, which may wait for them. The loading thread
 * holds the loader's lock until the constructors have run, so other threads must be able to call
 * CUDA without that lock, even a function for the first time, and must not wait for the loader while
 * they hold one of our locks. */
#include "victim_memory.h"

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

/* By the driver alone. */
static void initialise(void)
{
    int count;
    alarm(HANG_SECONDS);
    OK(cuInit(0));
    OK(cudaGetDeviceCount(&count));
}

/* Initialises CUDA, whose own first steps load libraries. Allocates nothing. */
static void warm_up(void)
{
    initialise();
    OK(cudaSetDevice(0));
    cudaStream_t stream = new_stream(0);
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
    give(take(3 * MIB));
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

static void driver_calls(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = on_device(0);
    CUmemorytype type;
    CUgraph captured, graph;
    CUdeviceptr base, at;
    size_t bytes, total, pitch;
    CUdeviceptr p = allocate(MIB);
    OK(cuMemGetAddressRange(&base, &bytes, p));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    OK(cuMemGetInfo(&bytes, &total));
    release(p);
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuStreamEndCapture(stream, &captured));
    OK(cuGraphDestroy(captured));
    OK(cuStreamDestroy(stream));
    ALLOCATES(VT_VMM, 2 * MIB, cuMemCreate(&handle, 2 * MIB, &prop, 0));
    OK(cuMemAddressReserve(&at, 2 * MIB, 0, 0, 0));
    OK(cuMemMap(at, 2 * MIB, 0, handle, 0));
    OK(cuMemUnmap(at, 2 * MIB));
    OK(cuMemAddressFree(at, 2 * MIB));
    FREES(VT_VMM, cuMemRelease(handle));
    CUgraphExec exec = executable(graph = graph_of(MIB), 0);
    ALLOCATES(VT_GRAPH, MIB, cuGraphLaunch(exec, NULL));
    tally_free(VT_GRAPH);
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    /* a pointer returned by the driver, of a function not called before */
    CUresult (*alloc)(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
    alloc = (__typeof__(alloc))lookup_of("cuMemAllocPitch");
    ALLOCATES(VT_DEVICE, pitch * 512, alloc(&p, &pitch, 1024, 512, 4));
    FREES(VT_DEVICE, cuMemFree(p));
}

/* Ends that we intercept, too. */
static void become_another(void)
{
    char *const argv[] = {"true", NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv("/bin/true", argv);
        _exit(9);
    }
    CHECK(child > 0 && status_of(child) == 0);
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

/* *moment* in the loading library, once *prepare* has been called. */
static void load(void (*prepare)(void), const char *variable, void (*moment)(void))
{
    prepare();
    at(variable, moment);
    open_and_close_a(VICTIM_LOADING_LIBRARY);
}

/* --- another thread beside a constructor that calls CUDA --- */

static sem_t is_loading, is_done;
static CUcontext context;

static struct graph {
    CUgraph graph;
    CUgraphExec exec;
    size_t bytes;
} graphs[2];

static void launch(const struct graph *g)
{
    ALLOCATES(VT_GRAPH, g->bytes, cuGraphLaunch(g->exec, NULL));
    tally_free(VT_GRAPH);
}

static void *launch_beside(void *arg)
{
    OK(cuCtxSetCurrent(context));
    sem_wait(&is_loading);
    for (int i = 0; i < 3; i++)
        launch(arg);
    sem_post(&is_done);
    return NULL;
}

static void graphs_while_loading(struct graph *of_thread, void (*moment)(void))
{
    pthread_t thread;
    alarm(HANG_SECONDS);
    CHECK(!sem_init(&is_loading, 0, 0) && !sem_init(&is_done, 0, 0));
    start();
    OK(cuCtxGetCurrent(&context));
    for (size_t i = 0; i < 2; i++) {
        graphs[i].bytes = (3 + 2 * i) * MIB;
        graphs[i].graph = graph_of(graphs[i].bytes);
        graphs[i].exec = executable(graphs[i].graph, 0);
    }
    launch(&graphs[0]);
    CHECK(!pthread_create(&thread, NULL, launch_beside, of_thread));
    at("VICTIM_MOMENT", moment);
    CHECK(dlopen(VICTIM_LOADING_LIBRARY, RTLD_NOW));
    CHECK(!pthread_join(thread, NULL));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) {
        OK(cuGraphExecDestroy(graphs[i].exec));
        OK(cuGraphDestroy(graphs[i].graph));
    }
}

static void launch_while_loading(void)
{
    sem_post(&is_loading);
    usleep(200000); /* by now the other thread waits, if it does */
    launch(&graphs[0]);
}

CASE_STATUS(graphs_beside_loading, "graphs with memory in a constructor and in another thread", 0)
{
    graphs_while_loading(&graphs[1], launch_while_loading);
    return 61;
}

/* A thread that has called CUDA before need not wait until a library is loaded. */
static void wait_for_the_other(void)
{
    struct timespec until;
    sem_post(&is_loading);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HANG_SECONDS / 2;
    puts(sem_timedwait(&is_done, &until) ? "the other thread waits" : "the other thread goes on");
}

CASE_STATUS(graphs_go_on_while_loading, "graphs with memory while a library is being loaded", 0)
{
    graphs_while_loading(&graphs[0], wait_for_the_other);
    return 62;
}

/* --- a constructor or destructor that waits for another thread --- */

CASE_OF(constructor_awaits_first_calls, load(warm_up, "VICTIM_MOMENT", start_and_await_worker),
        "a constructor waits for a thread that calls CUDA", 0)
CASE_OF(destructor_awaits_first_calls, load(warm_up, "VICTIM_LAST_MOMENT", start_and_await_worker),
        "a destructor of a closed library waits for a thread that calls CUDA", 0)

static void *of_main;

static void allocate_first(void)
{
    warm_up();
    of_main = take(MIB);
    hire(use_device);
}

CASE_STATUS(constructor_awaits_calls_after_another,
            "a constructor waits for an older thread that calls CUDA", 0)
{
    load(allocate_first, "VICTIM_MOMENT", await_worker);
    give(of_main);
    return 73;
}

/* Only the driver, initialised by cuInit alone. */
static void hire_for_context(void)
{
    initialise();
    hire(start);
}

/* The recording has begun, by a call without effect; the first context is the worker's. */
static void call_and_hire_for_context(void)
{
    initialise();
    (void)cuMemFree(0);
    hire(start);
}

CASE_OF(constructor_awaits_first_context, load(hire_for_context, "VICTIM_MOMENT", await_worker),
        "a constructor waits for a thread that creates the context", 0,
        STDERR_HAS("no kernels, no native call stacks"))
CASE_OF(constructor_awaits_context_after_a_call,
        load(call_and_hire_for_context, "VICTIM_MOMENT", await_worker),
        "a constructor waits for a thread that creates the context, after another CUDA call", 0)

static void call_here(void)
{
    use_device();
    runtime_calls();
}

/* The lock is its own: no thread waits, whichever others exist. */
static void calls_first(const char *variable, const char *library)
{
    initialise();
    hire(use_device);
    at(variable, call_here);
    open_and_close_a(library);
    await_worker();
}

CASE_OF(constructor_calls_first, calls_first("VICTIM_MOMENT", VICTIM_LOADING_LIBRARY),
        "a constructor and another thread make the first CUDA call at once", 0)
CASE_OF(destructor_calls_first, calls_first("VICTIM_LAST_MOMENT", VICTIM_LOADING_LIBRARY),
        "a destructor of a closed library makes the first CUDA call", 0)
CASE_OF(init_calls_first, calls_first("VICTIM_MOMENT", VICTIM_INIT_LIBRARY),
        "a library's DT_INIT function makes the first CUDA call", 0)
CASE_OF(resolver_calls_first, calls_first("VICTIM_CHOICE", VICTIM_INIT_LIBRARY),
        "an IFUNC resolver called by dlsym makes the first CUDA call", 0)

static void *make_child(void *arg)
{
    become_another();
    return arg;
}

static void start_and_await_child(void)
{
    CHECK(!sem_init(&wanted, 0, 0));
    start_threads(&worker, 1, make_child);
    await_worker();
}

static void set_alarm(void)
{
    alarm(HANG_SECONDS);
}

CASE_OF(constructor_awaits_first_exec, load(set_alarm, "VICTIM_MOMENT", start_and_await_child),
        "a constructor waits for a thread that starts a program", VF_NO_TRACE)
