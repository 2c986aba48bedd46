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

/* In the children, which must not use cmocka: the line, as an exit status. */
#define NEED(condition)                 \
    do {                                \
        if (!(condition))               \
            _exit(__LINE__ % 251 + 1);  \
    } while (0)

static CUcontext start(void)
{
    CUcontext ctx;
    NEED(cuInit(0) == CUDA_SUCCESS);
    NEED(cuDevicePrimaryCtxRetain(&ctx, 0) == CUDA_SUCCESS);
    NEED(cuCtxSetCurrent(ctx) == CUDA_SUCCESS);
    return ctx;
}

/* The failing ones of *count* allocations of a family, as bits; the others are freed. */
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

static void third_fails(void)
{
    start();
    NEED(device_failures(10) == 1 << 2);
}

static void from_third(void)
{
    start();
    NEED(device_failures(6) == 0x3c);
}

static void second_and_fifth(void)
{
    start();
    NEED(device_failures(6) == 0x12);
}

TEST(the_nth_device_allocation_fails)
{
    on("t4-16g,fail=device:3", third_fails);
    on("t4-16g,fail=device:3+", from_third);
    on("t4-16g,fail=device:2,fail=device:5", second_and_fifth);
}

static void nothing_lost(void)
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

TEST(a_failed_allocation_takes_nothing_and_bad_arguments_do_not_count)
{
    on("t4-16g,fail=device:1", nothing_lost);
}

static void only_pool(void)
{
    CUdeviceptr p, q;
    void *h;
    start();
    NEED(cuMemAllocAsync(&p, 4096, NULL) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuMemAllocAsync(&p, 4096, NULL) == CUDA_SUCCESS);
    NEED(cuMemAlloc(&q, 4096) == CUDA_SUCCESS);
    NEED(cuMemAllocManaged(&q, 4096, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    NEED(cuMemHostAlloc(&h, 4096, 0) == CUDA_SUCCESS);
}

static void managed_and_host(void)
{
    CUdeviceptr p;
    void *h;
    start();
    NEED(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    NEED(cuMemHostAlloc(&h, 4096, 0) == CUDA_SUCCESS);
    NEED(cuMemHostAlloc(&h, 4096, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuMemAllocHost(&h, 4096) == CUDA_SUCCESS);
    NEED(cuMemAlloc(&p, 4096) == CUDA_SUCCESS);
}

static void arrays_alone(void)
{
    CUDA_ARRAY_DESCRIPTOR flat = {64, 64, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY3D_DESCRIPTOR deep = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray a;
    CUmipmappedArray m;
    start();
    NEED(device_failures(3) == 0);
    NEED(cuArrayCreate(&a, &flat) == CUDA_SUCCESS);
    NEED(cuArrayCreate(&a, &flat) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuMipmappedArrayCreate(&m, &deep, 3) == CUDA_SUCCESS);
    NEED(cuMipmappedArrayCreate(&m, &deep, 3) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuArray3DCreate(&a, &deep) == CUDA_SUCCESS);
}

static void physical_alone(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle h;
    start();
    NEED(cuMemCreate(&h, 2 * MIB, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    NEED(cuMemCreate(&h, 2 * MIB, &prop, 0) == CUDA_SUCCESS);
    NEED(device_failures(3) == 0);
}

static void graphs_alone(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4 * MIB};
    CUgraph graph;
    CUgraphNode allocate, give_back;
    CUgraphExec exec;
    start();
    NEED(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
    NEED(cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &params) == CUDA_SUCCESS);
    NEED(cuGraphAddMemFreeNode(&give_back, graph, &allocate, 1, params.dptr) == CUDA_SUCCESS);
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

static void any_third(void)
{
    CUdeviceptr p;
    start();
    NEED(device_failures(3) == 4);
    NEED(cuMemAllocAsync(&p, 4096, NULL) == CUDA_SUCCESS); /* each family is counted separately */
    NEED(cuMemAllocAsync(&p, 4096, NULL) == CUDA_SUCCESS);
    NEED(cuMemAllocAsync(&p, 4096, NULL) == CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(families_are_counted_apart)
{
    on("t4-16g,fail=pool:1", only_pool);
    on("t4-16g,fail=managed:1,fail=host:2", managed_and_host);
    on("t4-16g,fail=array:2,fail=array:4", arrays_alone);
    on("t4-16g,fail=vmm:1", physical_alone);
    on("t4-16g,fail=graph:2", graphs_alone);
    on("t4-16g,fail=pool:1", captured_is_not_allocated);
    on("t4-16g,fail=any:3", any_third);
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

static CUresult launch(CUfunction f)
{
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void lost_after_five(void)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    CUevent event;
    CUcontext again;
    start();
    NEED(cuMemAlloc(&p, 4096) == CUDA_SUCCESS);
    NEED(cuEventCreate(&event, 0) == CUDA_SUCCESS);
    NEED(cuModuleLoadData(&module, "image") == CUDA_SUCCESS);
    NEED(cuModuleGetFunction(&f, module, "kernel") == CUDA_SUCCESS);
    for (int i = 0; i < 5; i++)
        NEED(launch(f) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    NEED(launch(f) == CUDA_SUCCESS); /* asynchronous: noticed later */
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    NEED(launch(f) == CUDA_ERROR_LAUNCH_FAILED);
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
    CUcontext second;
    CUmodule module;
    CUfunction f;
    CUcontext first = start();
    NEED(cuModuleLoadData(&module, "image") == CUDA_SUCCESS);
    NEED(cuModuleGetFunction(&f, module, "kernel") == CUDA_SUCCESS);
    NEED(launch(f) == CUDA_SUCCESS && launch(f) == CUDA_SUCCESS);
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    NEED(cuDevicePrimaryCtxRetain(&second, 1) == CUDA_SUCCESS);
    NEED(cuCtxSetCurrent(second) == CUDA_SUCCESS);
    NEED(device_failures(3) == 0);
    NEED(cuCtxSetCurrent(first) == CUDA_SUCCESS);
    NEED(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
}

static void lost_in_a_graph(void)
{
    CUmodule module;
    CUfunction f;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    start();
    NEED(cuModuleLoadData(&module, "image") == CUDA_SUCCESS);
    NEED(cuModuleGetFunction(&f, module, "kernel") == CUDA_SUCCESS);
    NEED(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
    CUDA_KERNEL_NODE_PARAMS params = {.func = f,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1};
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
    CUmodule module;
    CUfunction f;
    void *p;
    NEED(cudaMalloc(&p, 4096) == cudaSuccess);
    NEED(cuModuleLoadData(&module, "image") == CUDA_SUCCESS);
    NEED(cuModuleGetFunction(&f, module, "kernel") == CUDA_SUCCESS);
    NEED(launch(f) == CUDA_SUCCESS && launch(f) == CUDA_SUCCESS);
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
static void every_third_is_slow(void)
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

TEST(every_nth_allocation_can_be_slow)
{
    on("t4-16g,slow=3:60", every_third_is_slow);
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

static void old_driver(void)
{
    int version = 0, count = 7;
    void *f;
    CUdriverProcAddressQueryResult status;
    NEED(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 11080); /* before cuInit */
    NEED(cuGetProcAddress("cuMemAlloc", &f, 13000, 0, &status) == CUDA_ERROR_INVALID_VALUE);
    NEED(cuGetProcAddress("cuMemAlloc", &f, 11080, 0, &status) == CUDA_SUCCESS && f);
    NEED(cuGetProcAddress("cuLibraryLoadData", &f, 11080, 0, &status) == CUDA_SUCCESS && !f);
    NEED(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    NEED(cudaMalloc(&f, 4096) == cudaErrorInsufficientDriver);
    NEED(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == 0);
    NEED(cudaDriverGetVersion(&version) == cudaSuccess && version == 11080);
    NEED(cudaRuntimeGetVersion(&version) == cudaSuccess && version == CUDART_VERSION);
    start();
    NEED(device_failures(3) == 0); /* the driver interface itself works */
}

TEST(a_driver_can_be_too_old_for_the_runtime)
{
    on("t4-16g,driver=11080", old_driver);
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

static void four_shared_devices(void)
{
    int count;
    size_t free_bytes, total;
    start();
    NEED(cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 4);
    NEED(cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS);
    NEED(total == (size_t)10 << 30);
    NEED(free_bytes == ((size_t)7 << 30) - 500 * MIB);
}

TEST(capacity_others_and_context_add_up)
{
    on("h100-80g,devices=4,capacity=10GiB,others=3GiB,context=500MiB,seed=7", four_shared_devices);
}

SETUP(begin)
{
    shared_bits = mmap(NULL, sizeof *shared_bits, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_bits == MAP_FAILED)
        return 1;
    return 0;
}
