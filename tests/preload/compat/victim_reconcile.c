/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of every kind held at the same time, with a query of free memory while it is held, so that
 * a reading of the device has to explain all of it. check_reconcile.py checks the report of each
 * case. */
#include <cuda_runtime.h>

#include "victim_memory.h"

VICTIM("reconciliation")

/* Both results are the device's; free memory differs with a cache. */
static void ask(void)
{
    size_t unused, total;
    OK(cudaMemGetInfo(&unused, &total));
    CHECK(unused < total);
}

CASE(sizes, "allocations of many sizes, small ones sharing pages", 0,
     SIMULATE("t4-16g,others=2GiB"))
{
    void *p[40];
    for (int i = 0; i < 40; i++)
        p[i] = take(i % 4 ? 700 * KIB + (size_t)i : 3 * MIB + (size_t)i);
    ask();
    for (int i = 0; i < 40; i += 2)
        give(p[i]);
    ask();
    for (int i = 1; i < 40; i += 2)
        give(p[i]);
    ask();
}

CASE(pools, "stream-ordered pools that keep freed memory", 0,
     SIMULATE("t4-16g,others=1GiB,nvml=pids"))
{
    cudaMemPool_t pool;
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {.type = cudaMemLocationTypeDevice}};
    void *a, *b, *c;
    unsigned long long keep = 256 * MIB;
    cudaStream_t stream = new_stream(0);
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMallocAsync(&a, 5 * MIB, stream));
    OK(cudaMallocFromPoolAsync(&b, 70 * MIB, pool, stream));
    ALLOCATES(VT_ASYNC, 5 * MIB, cudaMallocFromPoolAsync(&c, 7 * MIB, pool, stream));
    tally_alloc(VT_ASYNC, 70 * MIB);
    tally_alloc(VT_ASYNC, 7 * MIB);
    void *d = take(9 * MIB);
    ask();
    FREES(VT_ASYNC, cudaFreeAsync(b, stream));
    OK(cudaStreamSynchronize(stream));
    void *e = take(64 * MIB);
    ask(); /* the pool keeps its free memory */
    OK(cudaFreeAsync(a, stream));
    FREES(VT_ASYNC, cudaFreeAsync(c, stream));
    tally_free(VT_ASYNC);
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolDestroy(pool));
    give(d);
    give(e);
}

CASE(arrays, "an array beside device memory", 0)
{
    cudaArray_t large;
    struct cudaChannelFormatDesc floats = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    OK(cudaMallocArray(&large, &floats, 1024, 1000, 0)); /* 4,096,000 bytes */
    tally_alloc(VT_ARRAY, 1024 * 1000 * 4);
    void *p = take(20 * MIB);
    ask();
    FREES(VT_ARRAY, cudaFreeArray(large));
    give(p);
}

struct library {
    void *(*take)(size_t);
    int (*give)(void *);
};

static struct library open_library(const char *path, const char *take_name, const char *give_name)
{
    struct library library;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *(void **)&library.take = find(handle, take_name);
    *(void **)&library.give = find(handle, give_name);
    return library;
}

CASE(libraries, "libraries that allocate, with their own or the shared runtime", 0,
     SIMULATE("t4-16g,nvml=nofigures,others=1GiB"))
{
    struct library nccl = open_library(VICTIM_NCCL, "nccl_take", "nccl_give");
    struct library cublas = open_library(VICTIM_CUBLAS, "cublas_take", "cublas_give");
    void *own = take(10 * MIB), *rings = nccl.take(30 * MIB), *workspace = cublas.take(32 * MIB);
    CHECK(rings && workspace);
    tally_alloc(VT_DEVICE, 30 * MIB);
    tally_alloc(VT_DEVICE, 32 * MIB);
    ask();
    OK(nccl.give(rings));
    FREES(VT_DEVICE, cublas.give(workspace));
    tally_free(VT_DEVICE);
    give(own);
}

CASE(contexts, "a second context, then the first again", VF_OBSERVE_ONLY,
     SIMULATE("t4-16g,nvml=none"))
{
    void *first = take(4 * MIB);
    CUcontext own = new_context(0);
    CUdeviceptr second = allocate(6 * MIB);
    ask();
    release(second);
    OK(cuCtxDestroy(own));
    OK(cudaSetDevice(0));
    void *third = take(64 * MIB);
    ask();
    give(first);
    give(third);
}

CASE(managed, "managed memory, part of it on the device", 0)
{
    void *p;
    struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
    ALLOCATES(VT_MANAGED, 64 * MIB, cudaMallocManaged(&p, 64 * MIB, cudaMemAttachGlobal));
    OK(cudaMemPrefetchAsync(p, 24 * MIB, here, 0, NULL));
    OK(cudaDeviceSynchronize());
    void *q = take(8 * MIB);
    ask();
    FREES(VT_MANAGED, cudaFree(p));
    give(q);
}

CASE_STATUS(forked, "a child without CUDA while the device is read", 0)
{
    void *p = take(40 * MIB);
    ask();
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status = status_of(child);
    ask();
    give(p);
    return status;
}

CASE(captured, "free memory queried during a capture", 0)
{
    cudaGraph_t graph;
    size_t unused, total;
    void *p = take(2 * MIB);
    cudaStream_t stream = new_stream(0);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemGetInfo(&unused, &total));
    OK(cudaMemsetAsync(p, 0, 2 * MIB, stream));
    OK(cudaStreamEndCapture(stream, &graph)); /* we have not invalidated it */
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    give(p);
}

static char variable[20 * MIB]; /* __device__ char variable[20 << 20]; */

/* The code that nvcc adds to a program's start-up for a variable in an image. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global);

CASE(variables, "a variable that is allocated at its first use", 0)
{
    static struct {
        int magic, version;
        const void *data, *unused;
    } wrapper = {0x466243b1, 1, (const void *)8, NULL}; /* only the wrapper is read */
    void **image = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterVar(image, variable, (char *)"variable", "variable", 0, sizeof variable, 0, 0);
    __cudaRegisterFatBinaryEnd(image);
    void *p = take(2 * MIB), *address;
    ask();
    usleep(50000); /* an immediate second query would not be recorded */
    OK(cudaMemcpyToSymbol(variable, "some", 4, 0, cudaMemcpyHostToDevice));
    ask();
    for (int i = 0; i < 1000; i++)
        OK(cudaGetSymbolAddress(&address, variable));
    give(p);
}
