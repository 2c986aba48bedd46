/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults requested in the spec. Each test is a process of its own, forked before CUDA is
 * initialised, since a spec is read once. */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sim_test.h"

/* Runs *body* in a child on the device of *spec*; its assertions are exit statuses. */
static void on(const char *spec, void (*body)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        setenv("VRAMSCOPE_SIMULATE", spec, 1);
        alarm(250);
        body();
        _exit(0);
    }
    int status = -1;
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status))
        fail_msg("on %s: line %d (mod 251)", spec, WEXITSTATUS(status) - 1);
}

/* In the children, where an assertion of cmocka would go on with the next test: the line, as an
 * exit status. */
#define NEED(condition)                 \
    do {                                \
        if (!(condition))               \
            _exit(__LINE__ % 251 + 1);  \
    } while (0)

/* A test of one such process. */
#define FAULT(test_name, spec)                 \
    static void test_name##_there(void);       \
    TEST(test_name) { on(spec, test_name##_there); } \
    static void test_name##_there(void)

static CUcontext start(void)
{
    CUcontext ctx;
    NEED(cuInit(0) == CUDA_SUCCESS);
    NEED(cuDevicePrimaryCtxRetain(&ctx, 0) == CUDA_SUCCESS);
    NEED(cuCtxSetCurrent(ctx) == CUDA_SUCCESS);
    return ctx;
}

/* The failing ones of *count* allocations, as bits; the others are freed. */
static uint64_t device_failures(unsigned count)
{
    uint64_t failed = 0;
    for (unsigned i = 0; i < count; i++) {
        CUdeviceptr p = 7;
        CUresult e = cuMemAlloc(&p, 4096);
        NEED(e == CUDA_SUCCESS || (e == CUDA_ERROR_OUT_OF_MEMORY && p == 7));
        if (e)
            failed |= UINT64_C(1) << i;
        else
            NEED(cuMemFree(p) == CUDA_SUCCESS);
    }
    return failed;
}

static CUresult allocate(char family)
{
    CUDA_ARRAY_DESCRIPTOR flat = {64, 64, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY3D_DESCRIPTOR deep = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmemGenericAllocationHandle handle;
    CUmipmappedArray mipmap;
    CUdeviceptr p;
    CUarray array;
    void *host;
    switch (family) {
    case 'd': return cuMemAlloc(&p, 4096);
    case 'p': return cuMemAllocAsync(&p, 4096, NULL);
    case 'm': return cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL);
    case 'h': return cuMemHostAlloc(&host, 4096, 0);
    case 'H': return cuMemAllocHost(&host, 4096);
    case 'a': return cuArrayCreate(&array, &flat);
    case 'A': return cuArray3DCreate(&array, &deep);
    case 'M': return cuMipmappedArrayCreate(&mipmap, &deep, 3);
    case 'v': return cuMemCreate(&handle, 2 * MIB, &sim_prop, 0);
    default: return CUDA_ERROR_UNKNOWN;
    }
}

/* Allocations, by letter; those before a '!' are out of memory. */
static const char *allocations;

static void fail_where_marked(void)
{
    start();
    for (const char *c = allocations; *c; c += 1 + (c[1] == '!'))
        NEED(allocate(*c) == (c[1] == '!' ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS));
}

TEST(the_nth_allocation_of_a_family_fails)
{
    static const struct {
        const char *spec, *allocations;
    } rows[] = {
        {"t4-16g,fail=device:3", "ddd!ddddddd"},
        {"t4-16g,fail=device:3+", "ddd!d!d!d!"},
        {"t4-16g,fail=device:2,fail=device:5", "dd!ddd!d"},
        {"t4-16g,fail=pool:1", "p!pdmh"},
        {"t4-16g,fail=managed:1,fail=host:2", "m!mhh!Hd"},
        {"t4-16g,fail=array:2,fail=array:4", "dddaa!MM!A"},
        {"t4-16g,fail=vmm:1", "v!vddd"},
        {"t4-16g,fail=any:3", "ddd!ppp!"}, /* each family is counted separately */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        allocations = rows[i].allocations;
        on(rows[i].spec, fail_where_marked);
    }
}

FAULT(a_failed_allocation_takes_nothing_and_bad_arguments_do_not_count, "t4-16g,fail=device:1")
{
    size_t before, after, total;
    start();
    NEED(cuMemGetInfo(&before, &total) == CUDA_SUCCESS);
    CUdeviceptr p;
    NEED(cuMemAlloc(&p, 64 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuMemGetInfo(&after, &total) == CUDA_SUCCESS && before == after);
    NEED(cuMemAlloc(NULL, 4096) == CUDA_ERROR_INVALID_VALUE); /* does not count */
    NEED(cuMemAlloc(&p, 4096) == CUDA_SUCCESS);
}

static void graphs_alone(void)
{
    CUgraphNode node;
    CUdeviceptr p;
    CUgraphExec exec;
    start();
    CUgraph graph = sim_graph();
    CUgraphNode allocated = sim_alloc_node(graph, 4 * MIB, &p);
    NEED(cuGraphAddMemFreeNode(&node, graph, &allocated, 1, p) == CUDA_SUCCESS);
    NEED(cuGraphInstantiate(&exec, graph, 0) == CUDA_SUCCESS);
    for (int i = 1; i <= 4; i++) {
        CUresult e = cuGraphLaunch(exec, NULL);
        NEED(e == (i == 2 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS));
        NEED(cuCtxSynchronize() == CUDA_SUCCESS);
    }
    NEED(device_failures(3) == 0);
}

static void captured_is_not_allocated(void)
{
    CUstream stream;
    CUgraph graph;
    CUdeviceptr p;
    start();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    NEED(cuMemAllocAsync(&p, 4096, stream) == CUDA_SUCCESS);
    NEED(cuMemFreeAsync(p, stream) == CUDA_SUCCESS);
    NEED(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    NEED(cuMemAllocAsync(&p, 4096, stream) == CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(launches_of_graphs_allocate_and_captures_do_not)
{
    on("t4-16g,fail=graph:2", graphs_alone);
    on("t4-16g,fail=pool:1", captured_is_not_allocated);
}

static uint64_t *shared_bits;

static void note_failures(void)
{
    start();
    *shared_bits = device_failures(64);
}

static uint64_t failures_of(const char *spec)
{
    on(spec, note_failures);
    return *shared_bits;
}

TEST(chance_follows_the_seed_alone)
{
    uint64_t a = failures_of("t4-16g,fail=device:25%,seed=1");
    assert_true(a == failures_of("t4-16g,fail=device:25%,seed=1"));
    assert_true(a != failures_of("t4-16g,fail=device:25%,seed=2"));
    assert_in_range(__builtin_popcountll(a), 4, 30); /* of 64; 16 expected */
    assert_true(failures_of("t4-16g,fail=device:0%,seed=1") == 0);
    assert_true(failures_of("t4-16g,fail=device:100%") == UINT64_MAX);
    assert_true(failures_of("t4-16g,fail=pool:100%") == 0);
}

/* ---- a lost device ---- */

static CUfunction f;

static void load_kernel(void)
{
    CUmodule module;
    NEED(cuModuleLoadData(&module, "image") == CUDA_SUCCESS);
    NEED(cuModuleGetFunction(&f, module, "kernel") == CUDA_SUCCESS);
}

static CUresult launch(void) { return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); }

static void lost_after_five(void)
{
    CUdeviceptr p;
    CUevent event;
    CUcontext again;
    start();
    NEED(cuMemAlloc(&p, 4096) == CUDA_SUCCESS);
    NEED(cuEventCreate(&event, 0) == CUDA_SUCCESS);
    load_kernel();
    for (int i = 0; i < 5; i++)
        NEED(launch() == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    NEED(launch() == CUDA_SUCCESS); /* asynchronous: noticed later */
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    NEED(launch() == CUDA_ERROR_LAUNCH_FAILED);
    NEED(cuMemAlloc(&p, 4096) == CUDA_ERROR_LAUNCH_FAILED);
    NEED(cuMemFree(p) == CUDA_ERROR_LAUNCH_FAILED);
    NEED(cuEventRecord(event, NULL) == CUDA_ERROR_LAUNCH_FAILED);
    size_t free_bytes, total;
    NEED(cuMemGetInfo(&free_bytes, &total) == CUDA_ERROR_LAUNCH_FAILED);
    NEED(cuDevicePrimaryCtxReset(0) == CUDA_SUCCESS);
    NEED(cuDevicePrimaryCtxRetain(&again, 0) == CUDA_ERROR_DEVICE_UNAVAILABLE);
}

static void other_lives_on(void)
{
    CUcontext second, first = start();
    load_kernel();
    NEED(launch() == CUDA_SUCCESS && launch() == CUDA_SUCCESS);
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    NEED(cuDevicePrimaryCtxRetain(&second, 1) == CUDA_SUCCESS);
    NEED(cuCtxSetCurrent(second) == CUDA_SUCCESS);
    NEED(device_failures(3) == 0);
    NEED(cuCtxSetCurrent(first) == CUDA_SUCCESS);
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
}

static void lost_in_a_graph(void)
{
    CUgraphNode node;
    CUgraphExec exec;
    start();
    CUDA_KERNEL_NODE_PARAMS params = sim_kernel_params("kernel", 1, 1, NULL);
    CUgraph graph = sim_graph();
    for (int i = 0; i < 3; i++)
        NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &params) == CUDA_SUCCESS);
    NEED(cuGraphInstantiate(&exec, graph, 0) == CUDA_SUCCESS);
    NEED(cuGraphLaunch(exec, NULL) == CUDA_SUCCESS);
    NEED(cuCtxSynchronize() == CUDA_SUCCESS); /* three kernels */
    NEED(cuGraphLaunch(exec, NULL) == CUDA_SUCCESS);
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
}

static void runtime_stays_failed(void)
{
    void *p;
    NEED(cudaMalloc(&p, 4096) == cudaSuccess);
    load_kernel();
    NEED(launch() == CUDA_SUCCESS && launch() == CUDA_SUCCESS);
    NEED(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    NEED(cudaGetLastError() == cudaErrorLaunchFailure);
    NEED(cudaGetLastError() == cudaErrorLaunchFailure); /* sticky */
    NEED(cudaMalloc(&p, 4096) == cudaErrorLaunchFailure);
}

TEST(a_lost_device_fails_everything_from_then_on)
{
    on("t4-16g,lost=5", lost_after_five);
    on("t4-16g,lost=1,devices=2", other_lives_on);
    on("t4-16g,lost=1", runtime_stays_failed);
    on("t4-16g,lost=4", lost_in_a_graph);
}

/* ---- latency ---- */

/* The shortest of several: any call takes long on a busy machine. */
FAULT(every_nth_allocation_can_be_slow, "t4-16g,slow=3:60")
{
    double least[3] = {1e9, 1e9, 1e9};
    start();
    for (int i = 0; i < 12; i++) {
        CUdeviceptr p;
        double from = sim_now_ms();
        NEED(cuMemAlloc(&p, 4096) == CUDA_SUCCESS);
        double took = sim_now_ms() - from;
        least[i % 3] = took < least[i % 3] ? took : least[i % 3];
    }
    NEED(least[0] < 60 && least[1] < 60 && least[2] >= 60);
}

/* ---- CUPTI ---- */

static void callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                     const void *info)
{
    (void)data, (void)domain, (void)id, (void)info;
}

static CUptiResult cupti_expected;

static void cupti_refuses(void)
{
    CUpti_SubscriberHandle handle;
    start();
    NEED(cuptiSubscribe(&handle, callback, NULL) == cupti_expected);
    NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == cupti_expected);
    NEED(cuptiGetLastError() == cupti_expected);
    NEED(device_failures(3) == 0); /* the device still works */
}

TEST(cupti_can_be_refused)
{
    cupti_expected = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    on("t4-16g,cupti=refused", cupti_refuses);
    cupti_expected = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    on("t4-16g,cupti=unprivileged", cupti_refuses);
    cupti_expected = CUPTI_ERROR_NOT_INITIALIZED;
    on("t4-16g,cupti=none", cupti_refuses);
    cupti_expected = CUPTI_SUCCESS;
    on("t4-16g,cupti=works", cupti_refuses);
}

/* ---- an old driver ---- */

FAULT(a_driver_can_be_too_old_for_the_runtime, "t4-16g,driver=11080")
{
    int version = 0, count = 7;
    void *found;
    CUdriverProcAddressQueryResult status;
    NEED(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 11080); /* before cuInit */
    NEED(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status) == CUDA_ERROR_INVALID_VALUE);
    NEED(cuGetProcAddress("cuMemAlloc", &found, 11080, 0, &status) == CUDA_SUCCESS && found);
    NEED(cuGetProcAddress("cuLibraryLoadData", &found, 11080, 0, &status) == CUDA_SUCCESS &&
         !found);
    NEED(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    NEED(cudaMalloc(&found, 4096) == cudaErrorInsufficientDriver);
    NEED(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == 0);
    NEED(cudaDriverGetVersion(&version) == cudaSuccess && version == 11080);
    NEED(cudaRuntimeGetVersion(&version) == cudaSuccess && version == CUDART_VERSION);
    start();
    NEED(device_failures(3) == 0); /* the driver interface itself works */
}

/* ---- big machines ---- */

static void sixteen_full_devices(void)
{
    NEED(cuInit(0) == CUDA_SUCCESS);
    for (int i = 0; i < 16; i++) {
        CUcontext ctx;
        CUdeviceptr p;
        NEED(cuDevicePrimaryCtxRetain(&ctx, i) == CUDA_SUCCESS);
        NEED(cuCtxSetCurrent(ctx) == CUDA_SUCCESS);
        NEED(cuMemAlloc(&p, (size_t)177 << 30) == CUDA_SUCCESS);
        NEED(cuMemsetD8(p + ((size_t)176 << 30), 1, 4096) == CUDA_SUCCESS);
    }
}

TEST(memory_costs_nothing_until_it_is_touched)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* its shadow memory leaves too little address space */
#endif
    on("b200-192g,devices=16", sixteen_full_devices);
}

FAULT(capacity_others_and_context_add_up,
      "h100-80g,devices=4,capacity=10GiB,others=3GiB,context=500MiB,seed=7")
{
    int count;
    size_t free_bytes, total;
    start();
    NEED(cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 4);
    NEED(cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS);
    NEED(total == (size_t)10 << 30);
    NEED(free_bytes == ((size_t)7 << 30) - 500 * MIB);
}

SETUP(begin)
{
    shared_bits = mmap(NULL, sizeof *shared_bits, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared_bits == MAP_FAILED;
}
