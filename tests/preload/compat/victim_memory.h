/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts and plain device memory for a victim, counted in its tally: take and give by the runtime,
 * allocate and release by the driver; some work, and work without an end. Header-only, as victim.h
 * is. */
#ifndef VS_VICTIM_MEMORY_H
#define VS_VICTIM_MEMORY_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "victim.h"

static inline void *take(size_t bytes)
{
    void *p;
    ALLOCATES(VT_DEVICE, bytes, cudaMalloc(&p, bytes));
    return p;
}

static inline void give(void *p)
{
    FREES(VT_DEVICE, cudaFree(p));
}

static inline void some_work(void)
{
    void *p[20];
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < 20; i++)
            p[i] = take((i + 1) * KIB);
        for (int i = 0; i < 20; i++)
            give(p[i]);
    }
}

static _Atomic int going = 1;

/* A thread that allocates and frees while *going*. */
static inline void *churn(void *arg)
{
    while (going)
        give(take(KIB));
    return arg;
}

/* The same, not counted: for threads that the end of the process interrupts. */
static inline void *churn_uncounted(void *arg)
{
    void *p;
    while (going) {
        if (cudaMalloc(&p, KIB) == cudaSuccess)
            cudaFree(p);
    }
    return arg;
}

static inline CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p;
    ALLOCATES(VT_DEVICE, bytes, cuMemAlloc(&p, bytes));
    return p;
}

static inline void release(CUdeviceptr p)
{
    FREES(VT_DEVICE, cuMemFree(p));
}

static inline cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

/* The primary context of device 0 becomes current. */
static inline void start(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
}

static inline CUmemAllocationProp on_device(int device)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
}

/* A node that allocates; *after* may be NULL. */
static inline CUgraphNode add_alloc(CUgraph graph, CUgraphNode after, size_t bytes, CUdeviceptr *ptr)
{
    CUmemAllocationProp prop = on_device(0);
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .bytesize = bytes, .poolProps = {.allocType = prop.type, .location = prop.location}};
    CUgraphNode node;
    OK(cuGraphAddMemAllocNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &params));
    *ptr = params.dptr;
    return node;
}

static inline CUgraphNode add_free(CUgraph graph, CUgraphNode after, CUdeviceptr ptr)
{
    CUgraphNode node;
    OK(cuGraphAddMemFreeNode(&node, graph, after ? &after : NULL, after ? 1 : 0, ptr));
    return node;
}

static inline CUgraphExec executable(CUgraph graph, unsigned long long flags)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, flags));
    return exec;
}

/* A graph that allocates and frees *bytes*. */
static inline CUgraph graph_of(size_t bytes)
{
    CUgraph graph;
    CUdeviceptr ptr;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_alloc(graph, NULL, bytes, &ptr);
    add_free(graph, node, ptr);
    return graph;
}

/* Current, in a driver that is initialised. */
static inline CUcontext new_context(int device)
{
    CUcontext context;
    OK(cuInit(0));
#if CUDA_VERSION >= 13000
    OK(cuCtxCreate(&context, NULL, 0, device));
#else
    OK(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

typedef CUresult (*get_fn)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

/* A block of *bytes* by functions of the driver that were found. */
static inline void use_found(void *alloc, void *release, size_t bytes)
{
    CUresult (*take_there)(CUdeviceptr *, size_t), (*give_there)(CUdeviceptr);
    CUdeviceptr p;
    CHECK(alloc && release);
    *(void **)&take_there = alloc;
    *(void **)&give_there = release;
    ALLOCATES(VT_DEVICE, bytes, take_there(&p, bytes));
    FREES(VT_DEVICE, give_there(p));
}

static inline size_t free_now(void)
{
    size_t free_bytes, total_bytes;
    OK(cuMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes;
}

#endif
