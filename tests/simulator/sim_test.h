/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the simulator's tests: assertions on CUDA results, and a few kernels. The gate kernel
 * runs until it is opened, which makes "not finished yet" independent of timing. */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/cmocka_test.h"

#include "vramscope_simulator.h"

#define OK(call) assert_int_equal((call), 0)
#define FAILS(call, error) assert_int_equal((call), (error))
#define INVALID(call) FAILS(call, CUDA_ERROR_INVALID_VALUE)

/* ---- kernels ---- */

/* gate(atomic_int *open): spins until *open is not 0. */
static inline void sim_gate(const struct vramscope_sim_launch *launch, unsigned long first,
                            unsigned long last)
{
    atomic_int *open = *(atomic_int **)launch->args[0];
    (void)first, (void)last;
    while (!atomic_load(open))
        usleep(100);
}

/* add(int *values, int count, int what): values[i] += what, one block of threads
 * after the other. */
static inline void sim_add(const struct vramscope_sim_launch *launch, unsigned long first,
                           unsigned long last)
{
    int *values = *(int **)launch->args[0], count = *(int *)launch->args[1],
        what = *(int *)launch->args[2];
    for (unsigned long b = first; b < last; b++)
        for (unsigned t = 0; t < launch->block[0]; t++) {
            size_t i = b * launch->block[0] + t;
            if (i < (size_t)count)
                values[i] += what;
        }
}

/* note(int *log, atomic_int *at, int what): log[(*at)++] = what, so that the log
 * shows in which order kernels ran. */
static inline void sim_note(const struct vramscope_sim_launch *launch, unsigned long first,
                            unsigned long last)
{
    int *log = *(int **)launch->args[0];
    atomic_int *at = *(atomic_int **)launch->args[1];
    (void)first, (void)last;
    log[atomic_fetch_add(at, 1)] = *(int *)launch->args[2];
}

static inline void sim_register_kernels(void)
{
    static const size_t gate[] = {sizeof(void *)},
                        add[] = {sizeof(void *), sizeof(int), sizeof(int)},
                        note[] = {sizeof(void *), sizeof(void *), sizeof(int)};
    assert_int_equal(vramscope_sim_register("gate", sim_gate, gate, 1), 1);
    assert_int_equal(vramscope_sim_register("add", sim_add, add, 3), 1);
    assert_int_equal(vramscope_sim_register("note", sim_note, note, 3), 1);
}

/* A kernel of this name, from a module loaded for it. */
static inline CUfunction sim_function(const char *name)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, "image"));
    return GOT(CUfunction, cuModuleGetFunction(&got, module, name));
}

static inline void sim_launch_gate(CUstream stream, atomic_int *open)
{
    void *args[] = {&open};
    OK(cuLaunchKernel(sim_function("gate"), 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

static inline void sim_launch_note(CUstream stream, int *log, atomic_int *at, int what)
{
    void *args[] = {&log, &at, &what};
    OK(cuLaunchKernel(sim_function("note"), 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

static inline double sim_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline CUcontext sim_context(void)
{
    return GOT(CUcontext, cuCtxGetCurrent(&got));
}

/* The primary context of *device*, retained. */
static inline CUcontext sim_retain(CUdevice device)
{
    return GOT(CUcontext, cuDevicePrimaryCtxRetain(&got, device));
}

/* Device 0's primary context, retained and current. */
static inline CUcontext sim_start(void)
{
    OK(cuInit(0));
    CUcontext ctx = sim_retain(0);
    OK(cuCtxSetCurrent(ctx));
    return ctx;
}

/* A new one on *device*, which is current then. */
static inline CUcontext sim_context_on(CUdevice device)
{
    return GOT(CUcontext, cuCtxCreate(&got, NULL, 0, device));
}

static inline CUstream sim_stream(unsigned flags)
{
    return GOT(CUstream, cuStreamCreate(&got, flags));
}

static inline CUevent sim_event(unsigned flags)
{
    return GOT(CUevent, cuEventCreate(&got, flags));
}

static inline CUdeviceptr sim_alloc(size_t bytes)
{
    return GOT(CUdeviceptr, cuMemAlloc(&got, bytes));
}

static inline CUdeviceptr sim_alloc_and_free(size_t bytes)
{
    CUdeviceptr memory = sim_alloc(bytes);
    OK(cuMemFree(memory));
    return memory;
}

/* Of virtual memory management: memory of device 0, and addresses for it. */
static const CUmemAllocationProp sim_prop __attribute__((unused)) = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static inline CUmemGenericAllocationHandle sim_create(size_t bytes)
{
    return GOT(CUmemGenericAllocationHandle, cuMemCreate(&got, bytes, &sim_prop, 0));
}

static inline CUdeviceptr sim_map(CUmemGenericAllocationHandle handle, size_t bytes)
{
    const CUmemAccessDesc both = {sim_prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    OK(cuMemMap(at, bytes, 0, handle, 0));
    OK(cuMemSetAccess(at, bytes, &both, 1));
    return at;
}

static inline void sim_unmap(CUdeviceptr at, size_t bytes)
{
    OK(cuMemUnmap(at, bytes));
    OK(cuMemAddressFree(at, bytes));
}

static inline size_t sim_free_bytes(void)
{
    size_t total;
    return GOT(size_t, cuMemGetInfo(&got, &total));
}

/* ---- graphs ---- */

static inline CUgraph sim_graph(void)
{
    return GOT(CUgraph, cuGraphCreate(&got, 0));
}

/* The graph that *stream* has captured. */
static inline CUgraph sim_captured(CUstream stream)
{
    return GOT(CUgraph, cuStreamEndCapture(stream, &got));
}

static inline CUgraphExec sim_exec(CUgraph graph)
{
    return GOT(CUgraphExec, cuGraphInstantiate(&got, graph, 0));
}

static inline void sim_run(CUgraphExec exec, CUstream stream)
{
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

static inline CUgraphNode sim_only_node(CUgraph graph)
{
    CUgraphNode node;
    size_t count = 1;
    OK(cuGraphGetNodes(graph, &node, &count));
    assert_int_equal(count, 1);
    return node;
}

/* A node that allocates *bytes* of device 0, at *address*. */
static inline CUgraphNode sim_alloc_node(CUgraph graph, size_t bytes, CUdeviceptr *address)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = bytes};
    CUgraphNode node;
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    *address = params.dptr;
    return node;
}

/* Parameters of a node that launches *name* with blocks in one dimension. */
static inline CUDA_KERNEL_NODE_PARAMS sim_kernel_params(const char *name, unsigned blocks,
                                                        unsigned threads, void **args)
{
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = sim_function(name), .gridDimX = blocks, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = threads, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
}

/* SIM_TESTS_ON(spec): the file's tests run on the devices of *spec* (NULL: the default ones), with
 * device 0's primary context current and the kernels above registered. */
#define SIM_TESTS_ON(spec)                                                                  \
    SETUP(sim_begin)                                                                        \
    {                                                                                       \
        return sim_begin_on(spec);                                                          \
    }
static inline int sim_begin_on(const char *spec)
{
    if (spec)
        setenv("VRAMSCOPE_SIMULATE", spec, 1);
    sim_start();
    sim_register_kernels();
    return 0;
}

#endif
