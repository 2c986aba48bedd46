/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream memory operations: writes and waits for values in stream order. The 32-bit ones have no
 * attribute of their own. */
#include "conf.h"

static CUstream stream, other;
static volatile uint32_t *word; /* pinned; device address below */
static CUdeviceptr at;

SETUP(start)
{
    stream = conf_stream(), other = conf_stream();
    word = conf_pinned(4096);
    return cuMemHostGetDevicePointer(&at, (void *)word, 0);
}

TEST(values_are_written)
{
    uint32_t out[4] = {0};
    word[0] = 0;
    DO(cuStreamWriteValue32(stream, at, 42, 0));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(word[0], 42, "cuStreamWriteValue32: write a value to memory");
    CUdeviceptr p = conf_alloc(16);
    DO(cuMemsetD32(p, 7, 4));
    DO(cuCtxSynchronize());
    DO(cuStreamWriteValue32(stream, p + 4, 99, 0));
    DO(cuStreamSynchronize(stream));
    DO(cuMemcpyDtoH(out, p, 16));
    FACT(out[0] == 7 && out[1] == 99 && out[2] == 7, "cuStreamWriteValue32: 32 bits are written");
}

TEST(writes_wait_for_earlier_work)
{
    int gate = 0;
    word[0] = 0;
    conf_close(stream, &gate);
    DO(cuStreamWriteValue32(stream, at, 1, 0));
    FACT_EQ(word[0], 0, "cuStreamWriteValue32: in the stream's order");
    conf_open(&gate);
    DO(cuStreamSynchronize(stream));
    FACT_EQ(word[0], 1, "cuStreamWriteValue32: in the stream's order");
}

/* Does a wait for *value* with *flags* block the stream while the word is *before*, and pass when
 * it is *after*? */
static bool waits(uint32_t before, uint32_t after, uint32_t value, unsigned flags)
{
    word[0] = before;
    DO(cuStreamWaitValue32(stream, at, value, flags));
    bool held = cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
    __atomic_store_n(&word[0], after, __ATOMIC_SEQ_CST);
    DO(cuStreamSynchronize(stream));
    return held;
}

TEST(waits_end_when_their_condition_holds)
{
    FACT(waits(4, 5, 5, CU_STREAM_WAIT_VALUE_GEQ),
         "CU_STREAM_WAIT_VALUE_GEQ: (int32_t)(*addr - value) >= 0");
    FACT(waits(0xfffffff0u, 3, 2, CU_STREAM_WAIT_VALUE_GEQ),
         "CU_STREAM_WAIT_VALUE_GEQ: cyclic, 0xfffffff0 is below 2");
    FACT(waits(6, 5, 5, CU_STREAM_WAIT_VALUE_EQ), "CU_STREAM_WAIT_VALUE_EQ");
    FACT(waits(1, 6, 4, CU_STREAM_WAIT_VALUE_AND),
         "CU_STREAM_WAIT_VALUE_AND: (*addr & value) != 0");
    if (DEVICE_ATTRIBUTE(CAN_USE_STREAM_WAIT_VALUE_NOR))
        FACT(waits(0xffff0000u, 0x00ff0000u, 0x0000ffffu, CU_STREAM_WAIT_VALUE_NOR),
             "CU_STREAM_WAIT_VALUE_NOR: ~(*addr | value) != 0");
}

TEST(waits_that_hold_already_pass)
{
    word[0] = 2;
    DO(cuStreamWaitValue32(stream, at, 0xfffffff0u, CU_STREAM_WAIT_VALUE_GEQ));
    DO(cuStreamWaitValue32(stream, at, 2, CU_STREAM_WAIT_VALUE_EQ));
    WORKS(cuStreamSynchronize(stream), "cuStreamWaitValue32: the comparison is cyclic");
}

TEST(sixty_four_bits_are_compared_as_such)
{
    volatile uint64_t *wide = (volatile uint64_t *)word;
    wide[0] = 1;
    DO(cuStreamWaitValue64(stream, at, UINT64_C(1) << 40, CU_STREAM_WAIT_VALUE_GEQ));
    DO(cuStreamWriteValue64(stream, at + 8, UINT64_C(5) << 32, 0));
    BUSY(cuStreamQuery(stream), "cuStreamWaitValue64: 64 bits");
    wide[1] = 0;
    __atomic_store_n(&wide[0], (UINT64_C(1) << 40) + 1, __ATOMIC_SEQ_CST);
    DO(cuStreamSynchronize(stream));
    FACT(wide[1] == UINT64_C(5) << 32, "cuStreamWriteValue64: 64 bits");
}

TEST(batches_run_in_order)
{
    static CUstreamBatchMemOpParams list[256]; /* the last fact needs so many */
    memset(list, 0, sizeof list);
    word[0] = word[1] = word[2] = 0;
    list[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    list[0].writeValue.address = at + 4;
    list[0].writeValue.value = 11;
    list[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    list[1].waitValue.address = at;
    list[1].waitValue.value = 1;
    list[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    list[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    list[2].writeValue.address = at + 8;
    list[2].writeValue.value = 22;
    DO(cuStreamBatchMemOp(stream, 3, list, 0));
    DO(cuStreamWaitValue32(other, at + 4, 11, CU_STREAM_WAIT_VALUE_EQ));
    DO(cuStreamSynchronize(other));
    FACT_EQ(word[1], 11, "cuStreamBatchMemOp: in the order of the array");
    FACT_EQ(word[2], 0, "cuStreamBatchMemOp: in the order of the array");
    DO(cuStreamWriteValue32(other, at, 1, 0));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(word[2], 22, "cuStreamBatchMemOp: in the order of the array");
    INVALID(cuStreamBatchMemOp(stream, 256, list, 0), "count must be less than 256");
    INVALID(cuStreamBatchMemOp(stream, 3, list, 1), "flags must be 0");
}

TEST(a_node_holds_a_batch)
{
    CUstreamBatchMemOpParams ops[2] = {{.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32},
                                       {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS held, params = {
        .ctx = conf_context(), .count = 2, .paramArray = ops};
    CUgraphNode node;
    word[0] = 0;
    ops[0].writeValue.address = ops[1].waitValue.address = at;
    ops[0].writeValue.value = ops[1].waitValue.value = 5;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    CUgraph graph = conf_graph();
    DO(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    ops[0].writeValue.value = 77; /* copied: this changes nothing */
    FACT_EQ(GOT(CUgraphNodeType, cuGraphNodeGetType(node, &got)), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
            "CUgraphNodeType");
    CUgraphExec exec = conf_exec(graph);
    FACT_EQ(word[0], 0, "cuGraphInstantiate: nothing runs before a launch");
    conf_run(exec, stream);
    FACT_EQ(word[0], 5, "cuGraphAddBatchMemOpNode: the paramArray is copied");
    DO(cuGraphBatchMemOpNodeGetParams(node, &held));
    FACT_EQ(held.count, 2, "cuGraphBatchMemOpNodeGetParams: the parameters");
    FACT(held.paramArray != ops && held.paramArray[0].writeValue.value == 5 &&
             held.paramArray[1].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32,
         "cuGraphBatchMemOpNodeGetParams: the paramArray is the node's");
    ops[0].writeValue.value = ops[1].waitValue.value = 6;
    WORKS(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), "values may be modified");
    conf_run(exec, stream);
    FACT_EQ(word[0], 6, "cuGraphExecBatchMemOpNodeSetParams: affects future launches");
    DO(cuGraphBatchMemOpNodeGetParams(node, &held));
    FACT_EQ(held.paramArray[0].writeValue.value, 5,
            "cuGraphExecBatchMemOpNodeSetParams: the node is not modified");
    params.count = 1;
    REFUSED(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params),
            "the count may not be modified");
    WORKS(cuGraphBatchMemOpNodeSetParams(node, &params), "sets the parameters");
    DO(cuGraphBatchMemOpNodeGetParams(node, &held));
    FACT(held.count == 1 && held.paramArray[0].writeValue.value == 6,
         "cuGraphBatchMemOpNodeSetParams: sets the parameters");
}
