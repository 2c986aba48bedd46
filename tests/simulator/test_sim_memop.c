/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream memory operations, facts of the simulated device alone. */
#include "sim_test.h"

static CUdeviceptr plain, managed;

TEST(places_are_checked)
{
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    INVALID(cuStreamWriteValue32(s, plain + 2, 1, 0));
    INVALID(cuStreamWriteValue64(s, plain + 4, 1, 0));
    INVALID(cuStreamWriteValue32(s, managed, 1, 0));
    INVALID(cuStreamWriteValue32(s, 4096, 1, 0));
    INVALID(cuStreamWriteValue32(s, plain, 1, 2));
    INVALID(cuStreamWaitValue32(s, plain, 1, 4));
    FAILS(cuStreamWaitValue32(s, plain, 1, CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(a_bad_batch_queues_nothing)
{
    CUstreamBatchMemOpParams list[2] = {{.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32},
                                        {.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES}};
    OK(cuMemsetD32(plain, 5, 1));
    list[0].writeValue.address = plain;
    list[0].writeValue.value = 6;
    FAILS(cuStreamBatchMemOp(NULL, 2, list, 0), CUDA_ERROR_NOT_SUPPORTED);
    list[1].operation = CU_STREAM_MEM_OP_BARRIER;
    list[1].memoryBarrier.flags = 2;
    INVALID(cuStreamBatchMemOp(NULL, 2, list, 0));
    assert_int_equal(GOT(uint32_t, cuMemcpyDtoH(&got, plain, 4)), 5);
    list[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    OK(cuStreamBatchMemOp(NULL, 2, list, 0));
    assert_int_equal(GOT(uint32_t, cuMemcpyDtoH(&got, plain, 4)), 6);
}

TEST(the_legacy_stream_waits_behind_a_waiting_one)
{
    OK(cuMemsetD32(plain, 0, 1));
    OK(cuCtxSynchronize()); /* non-blocking streams do not wait for it */
    CUstream blocking = sim_stream(CU_STREAM_DEFAULT);
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamWaitValue32(blocking, plain, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemsetD8Async(plain + 64, 1, 1, NULL));
    FAILS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    OK(cuStreamWriteValue32(s, plain, 1, 0));
    OK(cuStreamSynchronize(NULL));
}

TEST(a_wait_on_freed_memory_fails_its_context)
{
    CUcontext mine = sim_context();
    CUdeviceptr p = sim_alloc(4 * MIB);
    CUcontext ctx = sim_context_on(0); /* the owner's free does not wait for its work */
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamWaitValue32(s, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuCtxSetCurrent(mine));
    OK(cuMemFree(p));
    OK(cuCtxSetCurrent(ctx));
    FAILS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(ctx));
    OK(cuCtxSetCurrent(mine));
}

/* A capture stores them as nodes, with their parameters. */
TEST(captured_operations_become_nodes)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    CUgraphNode nodes[3];
    CUgraph clone;
    size_t count = 3;
    uint32_t values[2];
    OK(cuMemsetD32(plain, 0, 2));
    OK(cuCtxSynchronize());
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamWriteValue32(s, plain, 9, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    OK(cuStreamWaitValue32(s, plain, 9, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue32(s, plain + 4, 10, 0));
    CUgraph graph = sim_captured(s);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphGetNodes(clone, nodes, &count));
    assert_int_equal(count, 3);
    OK(cuGraphBatchMemOpNodeGetParams(nodes[0], &got));
    assert_int_equal(got.count, 1);
    assert_int_equal(got.paramArray[0].operation, CU_STREAM_MEM_OP_WRITE_VALUE_32);
    assert_int_equal(got.paramArray[0].writeValue.address, plain);
    assert_int_equal(got.paramArray[0].writeValue.value, 9);
    assert_int_equal(got.paramArray[0].writeValue.flags, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    CUgraphExec exec = sim_exec(clone);
    OK(cuMemcpyDtoH(values, plain, 8));
    assert_int_equal(values[1], 0);
    sim_run(exec, s);
    OK(cuMemcpyDtoH(values, plain, 8));
    assert_int_equal(values[0], 9);
    assert_int_equal(values[1], 10);
}

SETUP(begin)
{
    sim_begin_on("a100-40g");
    OK(cuMemAlloc(&plain, 4096));
    OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    return 0;
}
