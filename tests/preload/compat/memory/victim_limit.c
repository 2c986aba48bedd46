/* SPDX-License-Identifier: Apache-2.0
 *
 * With the option limit the device appears to have that size. Every case here passes on any device,
 * limited or not, so that its output is the same in all runs; the limit itself is checked if
 * vramscope is loaded. */
#include "victim_memory.h"

VICTIM("limit", ENV("VRAMSCOPE_LIMIT=256MiB"))

/* Is the limit in force? */
static int limited(void)
{
    return getenv("VRAMSCOPE_ALLOCATOR") != NULL;
}

static size_t free_by_runtime(void)
{
    size_t free_bytes, total_bytes;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    CHECK(free_bytes <= total_bytes);
    return free_bytes;
}

static void refused(size_t bytes)
{
    void *p;
    CHECK(cudaMalloc(&p, bytes) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    tally_failed(VT_DEVICE);
}

CASE(sizes_reported, "the device's size, by every query", 0)
{
    struct cudaDeviceProp properties;
    size_t total, by_driver, free_bytes;
    OK(cuInit(0));
    OK(cuDeviceTotalMem(&by_driver, 0)); /* before any context */
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(total == by_driver && total == properties.totalGlobalMem);
    CHECK(!limited() || total == 256 * MIB);
    CHECK(!limited() || free_bytes == total);
    CUdevice device;
    OK(cuCtxGetDevice(&device));
    OK(cuMemGetInfo(NULL, &total));
    OK(cuMemGetInfo(&free_bytes, NULL));
    CHECK(total == by_driver && free_bytes <= total);
}

CASE(free_and_used, "free and used memory always add up to the limit", 0)
{
    size_t begin = free_by_runtime();
    void *blocks[20];
    for (size_t i = 0; i < 20; i++) {
        blocks[i] = take((i % 4 + 1) * 2 * MIB);
        begin -= (i % 4 + 1) * 2 * MIB;
        CHECK(free_by_runtime() == begin);
    }
    for (size_t i = 0; i < 20; i += 2) {
        give(blocks[i]);
        begin += (i % 4 + 1) * 2 * MIB;
        CHECK(free_by_runtime() == begin);
    }
    refused(begin + 2 * MIB);
    CHECK(free_by_runtime() == begin);
}

CASE(each_family, "plain, pitched and stream-ordered memory run out at the limit", 0)
{
    void *most, *p;
    size_t pitch, some = 24 * MIB, left = free_by_runtime();
    most = take(left - some);
    refused(some + 2 * MIB);
    CHECK(cudaMallocPitch(&p, &pitch, MIB, 26) == cudaErrorMemoryAllocation);
    tally_failed(VT_DEVICE);
    CHECK(cudaMallocAsync(&p, some + 2 * MIB, 0) == cudaErrorMemoryAllocation);
    tally_failed(VT_ASYNC);
    ALLOCATES(VT_DEVICE, 20 * MIB, cudaMallocPitch(&p, &pitch, MIB, 20));
    refused(some);
    give(p);
    ALLOCATES(VT_ASYNC, 20 * MIB, cudaMallocAsync(&p, 20 * MIB, 0));
    refused(some);
    FREES(VT_ASYNC, cudaFreeAsync(p, 0));
    OK(cudaDeviceSynchronize());
    give(most);
}

/* Memory in the cache must not count against other families. */
CASE(cache_gives_way, "cached memory is given back before the limit refuses", 0)
{
    void *blocks[50];
    size_t left = free_by_runtime(), pitch;
    for (int i = 0; i < 50; i++)
        blocks[i] = take(4 * MIB);
    for (int i = 0; i < 50; i++)
        give(blocks[i]);
    CHECK(free_by_runtime() == left);
    void *p;
    OK(cudaMallocPitch(&p, &pitch, MIB, left / MIB - 8));
    tally_alloc(VT_DEVICE, (int64_t)((left / MIB - 8) * MIB));
    give(p);
    ALLOCATES(VT_ASYNC, left - 8 * MIB, cudaMallocAsync(&p, left - 8 * MIB, 0));
    FREES(VT_ASYNC, cudaFreeAsync(p, 0));
    OK(cudaDeviceSynchronize());
    give(take(left - 8 * MIB));
}

#define RACERS 12
static pthread_barrier_t line;
static size_t taken[RACERS];

static void *racer(void *arg)
{
    void *p;
    pthread_barrier_wait(&line);
    while (cudaMalloc(&p, 2 * MIB) == cudaSuccess) {
        tally_alloc(VT_DEVICE, (int64_t)(2 * MIB));
        ++taken[(intptr_t)arg];
    }
    tally_failed(VT_DEVICE);
    return NULL;
}

CASE(race, "12 threads compete for the last bytes", 0, ENV("VRAMSCOPE_LIMIT=255MiB"))
{
    size_t left = free_by_runtime(), sum = 0;
    pthread_barrier_init(&line, NULL, RACERS);
    in_threads(RACERS, racer, NULL);
    for (int i = 0; i < RACERS; i++)
        sum += taken[i];
    CHECK(sum * 2 * MIB <= left && free_by_runtime() == left - sum * 2 * MIB);
    for (void *p; cudaMalloc(&p, 2 * MIB) == cudaSuccess; sum++)
        tally_alloc(VT_DEVICE, (int64_t)(2 * MIB));
    tally_failed(VT_DEVICE);
    CHECK(sum == left / (2 * MIB));
}

CASE(two_devices, "a limit for each of two devices", 0, ENV("VRAMSCOPE_LIMIT=0:128MiB,1:256MiB"),
     SIMULATE("t4-16g,capacity=1GiB,context=400MiB,devices=2"))
{
    size_t left[2];
    for (int device = 0; device < 2; device++) {
        OK(cudaSetDevice(device));
        left[device] = free_by_runtime();
        CHECK(!limited() || left[device] == (device ? 256 : 128) * MIB);
        take(left[device] - 4 * MIB);
        refused(6 * MIB);
    }
    OK(cudaSetDevice(0));
    CHECK(free_by_runtime() == 4 * MIB);
    refused(6 * MIB);
}

CASE(two_contexts, "two contexts share the limit of the device", 0)
{
    CUdeviceptr q;
    CUcontext first = new_context(0), second = new_context(0);
    size_t half = free_now() / 2 / (2 * MIB) * (2 * MIB);
    allocate(half);
    OK(cuCtxSetCurrent(first));
    CHECK(cuMemAlloc(&q, half + 4 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    tally_failed(VT_DEVICE);
    FREES(VT_DEVICE, cuCtxDestroy(second)); /* and its memory with it */
    release(allocate(half + 4 * MIB));
}

CASE(reset, "a device reset resets the count", 0)
{
    size_t left = free_by_runtime();
    take(left - 4 * MIB);
    take(2 * MIB);
    FREES(VT_DEVICE, cudaDeviceReset());
    tally_free(VT_DEVICE);
    CHECK(free_by_runtime() == left);
    give(take(left - 4 * MIB));
}

CASE(beyond, "a limit larger than the device", 0, ENV("VRAMSCOPE_LIMIT=64GiB"))
{
    size_t total, free_bytes;
    OK(cudaMemGetInfo(&free_bytes, &total));
    printf("%zu MiB\n", total / MIB);
    refused(total);
    give(take(2 * MIB));
}

/* A graph takes its memory at launch, and the device keeps it until trimmed. */
CASE(graph_memory, "a graph launch beyond the limit fails", 0)
{
    size_t left = free_by_runtime();
    CUgraphExec exec = executable(graph_of(64 * MIB), 0);
    cudaStream_t stream = new_stream(0);
    void *most = take(left - 32 * MIB);
    CHECK(cudaGraphLaunch(exec, stream) == cudaErrorMemoryAllocation);
    tally_failed(VT_GRAPH);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    give(most);
    for (int i = 0; i < 3; i++) {
        ALLOCATES(VT_GRAPH, 64 * MIB, cudaGraphLaunch(exec, stream));
        tally_free(VT_GRAPH);
    }
    OK(cudaStreamSynchronize(stream));
    CHECK(free_by_runtime() <= left - 64 * MIB);
    refused(left - 32 * MIB);
    OK(cudaDeviceGraphMemTrim(0));
    CHECK(free_by_runtime() == left);
    give(take(left - 32 * MIB));
}

CASE(arrays, "arrays count until destroyed and fail at the limit", 0)
{
    size_t left = free_by_runtime();
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR flat = {.Width = 4096, .Height = 4096, .Format = CU_AD_FORMAT_FLOAT,
                                  .NumChannels = 1};
    void *most = take(left - 32 * MIB);
    CHECK(cuArrayCreate(&array, &flat) == CUDA_ERROR_OUT_OF_MEMORY);
    tally_failed(VT_ARRAY);
    give(most);
    for (int i = 0; i < 8; i++) { /* half a GiB, one after the other */
        ALLOCATES(VT_ARRAY, 64 * MIB, cuArrayCreate(&array, &flat));
        CHECK(free_by_runtime() <= left - 64 * MIB);
        FREES(VT_ARRAY, cuArrayDestroy(array));
        CHECK(free_by_runtime() == left);
    }
    give(take(left - 4 * MIB));
}

CASE(physical, "physical memory counts until its last handle and mapping is released", 0)
{
    CUmemGenericAllocationHandle handle, other;
    CUdeviceptr at;
    size_t left = free_by_runtime(), half = left / 2 / (2 * MIB) * (2 * MIB);
    CUmemAllocationProp prop = on_device(0);
    ALLOCATES(VT_VMM, half, cuMemCreate(&handle, half, &prop, 0));
    CHECK(free_by_runtime() == left - half);
    CHECK(cuMemCreate(&other, half + 4 * MIB, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    tally_failed(VT_VMM);
    refused(half + 4 * MIB);
    OK(cuMemAddressReserve(&at, half, 0, 0, 0));
    OK(cuMemMap(at, half, 0, handle, 0));
    OK(cuMemRelease(handle)); /* the mapping keeps it */
    CHECK(free_by_runtime() == left - half);
    FREES(VT_VMM, cuMemUnmap(at, half));
    CHECK(free_by_runtime() == left);
    OK(cuMemAddressFree(at, half));
    give(take(left - 4 * MIB));
}

CASE(smallest, "a limit smaller than a context; host and managed memory are not counted",
     VF_NO_TALLY, ENV("VRAMSCOPE_LIMIT=4096"))
{
    size_t total, free_bytes;
    void *p;
    OK(cudaMemGetInfo(&free_bytes, &total));
    if (limited()) {
        CHECK(total == 4096 && free_bytes == 4096);
        refused(8192);
        OK(cudaMallocManaged(&p, 8192, cudaMemAttachGlobal)); /* may live in host memory */
        OK(cudaFree(p));
        OK(cudaMallocHost(&p, 8192));
        OK(cudaFreeHost(p));
    }
    give(take(4096));
}

CASE(own_process, "two child processes have a limit each", VF_CHILDREN)
{
    size_t some = 192 * MIB;
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            void *p = take(some);
            refused(some + 800 * MIB);
            give(p);
            tally_end();
            exit(0);
        }
    }
    for (int i = 0; i < 2; i++)
        CHECK(status_of(children[i]) == 0);
}

CASE(not_understood, "an invalid limit is reported once and ignored", 0,
     ENV("VRAMSCOPE_LIMIT=much"), STDERR_HAS("0:8GiB,1:16GiB; no limit"))
{
    size_t total, free_bytes;
    OK(cudaMemGetInfo(&free_bytes, &total));
    give(take(MIB));
    printf("%zu MiB\n", total / MIB);
}

AGAIN(absent_device, not_understood, "a limit for a device that does not exist is reported once", 0,
      ENV("VRAMSCOPE_LIMIT=1:1GiB"), STDERR_HAS("limit: no device 1; this machine has 1"))
