/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is freed during a copy or memset, without any order in the program: an operation in
 * progress is completed, one that has not begun fails its context. The bytes written show that it
 * has begun; without the pins these tests end by SIGSEGV. */
#include "sim_test.h"

#define BYTES (64 * MIB)

static CUcontext mine, other;

/* Work of another context: a free in the owner's does not wait for it. */
static CUstream begin_in_other(void)
{
    OK(cuCtxGetCurrent(&mine));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    return s;
}

static void end_in_other(CUstream s, CUresult result)
{
    OK(cuCtxSetCurrent(other));
    FAILS(cuStreamSynchronize(s), result);
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(mine));
}

/* Reads memory that is being written, on purpose. */
__attribute__((no_sanitize("thread"))) static void wait_until_begun(CUdeviceptr p)
{
    while (!*(volatile uint8_t *)p) /* device memory is in the process's address space */
        usleep(50);
}

TEST(a_memset_in_progress_ends_before_a_free)
{
    CUdeviceptr p;
    for (int i = 0; i < 3; i++) {
        OK(cuMemAlloc(&p, BYTES));
        CUstream s = begin_in_other();
        OK(cuMemsetD8Async(p, 1, BYTES, s));
        wait_until_begun(p);
        OK(cuCtxSetCurrent(mine));
        OK(cuMemFree(p));
        end_in_other(s, CUDA_SUCCESS);
    }
}

TEST(a_copy_in_progress_ends_before_either_side_goes)
{
    CUdeviceptr p[2];
    for (int i = 0; i < 4; i++) {
        OK(cuMemAlloc(&p[0], BYTES));
        OK(cuMemAlloc(&p[1], BYTES));
        OK(cuMemsetD8(p[0], 1, BYTES));
        OK(cuCtxSynchronize());
        CUstream s = begin_in_other();
        OK(cuMemcpyDtoDAsync(p[1], p[0], BYTES, s));
        wait_until_begun(p[1]);
        OK(cuCtxSetCurrent(mine));
        OK(cuMemFree(p[i % 2]));
        end_in_other(s, CUDA_SUCCESS);
        OK(cuMemFree(p[1 - i % 2]));
    }
}

TEST(a_pool_keeps_what_is_being_written)
{
    CUdeviceptr p;
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING), writer = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemAllocAsync(&p, BYTES, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemsetD8Async(p, 1, BYTES, writer));
    wait_until_begun(p);
    OK(cuMemFreeAsync(p, s)); /* too early */
    OK(cuStreamSynchronize(s)); /* and the pool releases unused memory */
    OK(cuStreamSynchronize(writer));
}

TEST(work_on_what_a_pool_gave_back_fails_its_context)
{
    CUdeviceptr p;
    CUstream s;
    CUdeviceptr flag = sim_alloc(4096);
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuCtxSynchronize());
    OK(cuMemAllocAsync(&p, BYTES, NULL));
    OK(cuStreamSynchronize(NULL));
    s = begin_in_other();
    OK(cuStreamWaitValue32(s, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemsetD8Async(p, 1, BYTES, s));
    OK(cuCtxSetCurrent(mine));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamWriteValue32(NULL, flag, 1, 0));
    end_in_other(s, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(a_graphs_memory_goes_after_what_writes_it)
{
    CUgraph graph = sim_graph();
    CUdeviceptr p;
    sim_alloc_node(graph, BYTES, &p);
    CUgraphExec exec = sim_exec(graph);
    sim_run(exec, NULL);
    CUstream s = begin_in_other();
    OK(cuMemsetD8Async(p, 1, BYTES, s));
    wait_until_begun(p);
    OK(cuCtxSetCurrent(mine));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    end_in_other(s, CUDA_SUCCESS);
}

SIM_TESTS_ON("a100-40g")
