/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of collectives between processes, and between devices of one process: every data type and
 * operation, every pattern, groups, splits, graphs. */
#include "nccl_ranks.h"

/* The numbers 1, 1.5, 2, 4 and 6 in each type, by the definitions of the formats. */
struct numbers {
    int type;
    size_t bytes;
    bool integer;
    uint64_t one, half_more, two, four, six;
};
static const struct numbers types[] = {
    {ncclInt8, 1, true, 1, 1, 2, 4, 6},
    {ncclUint8, 1, true, 1, 1, 2, 4, 6},
    {ncclInt32, 4, true, 1, 1, 2, 4, 6},
    {ncclUint32, 4, true, 1, 1, 2, 4, 6},
    {ncclInt64, 8, true, 1, 1, 2, 4, 6},
    {ncclUint64, 8, true, 1, 1, 2, 4, 6},
    {ncclFloat16, 2, false, 0x3c00, 0x3e00, 0x4000, 0x4400, 0x4600},
    {ncclBfloat16, 2, false, 0x3f80, 0x3fc0, 0x4000, 0x4080, 0x40c0},
    {ncclFloat8e4m3, 1, false, 0x38, 0x3c, 0x40, 0x48, 0x4c},
    {ncclFloat8e5m2, 1, false, 0x3c, 0x3e, 0x40, 0x44, 0x46},
    {ncclFloat32, 4, false, 0x3f800000, 0x3fc00000, 0x40000000, 0x40800000, 0x40c00000},
    {ncclFloat64, 8, false, 0x3ff0000000000000, 0x3ff8000000000000, 0x4000000000000000,
     0x4010000000000000, 0x4018000000000000},
};
#define TYPES (sizeof types / sizeof types[0])
#define ELEMENTS 5

static void fill(void *device, const struct numbers *t, uint64_t value, size_t count)
{
    unsigned char host[8 * ELEMENTS * RANKS_MAX];
    for (size_t i = 0; i < count; i++)
        memcpy(host + i * t->bytes, &value, t->bytes);
    rank_put(device, host, count * t->bytes);
}

static void expect(const void *device, const struct numbers *t, uint64_t value, cudaStream_t stream)
{
    unsigned char host[8 * ELEMENTS];
    GOOD(cudaStreamSynchronize(stream));
    rank_get(host, device, ELEMENTS * t->bytes);
    for (size_t i = 0; i < ELEMENTS; i++)
        CHECK(!memcmp(host + i * t->bytes, &value, t->bytes));
}

/* Ranks 0 and 2 of 4 give 1, ranks 1 and 3 give 2. */
static uint64_t result_of(const struct numbers *t, int op)
{
    switch (op) {
    case ncclSum: return t->six;
    case ncclProd: return t->four;
    case ncclMax: return t->two;
    case ncclMin: return t->one;
    default: return t->half_more; /* the average; of integers, rounded towards 0 */
    }
}

RANKS(4, every_type_and_operation_is_computed)
{
    void *in = rank_device(8 * ELEMENTS * 4), *out = rank_device(8 * ELEMENTS * 4);
    for (size_t i = 0; i < TYPES; i++)
        for (int op = ncclSum; op <= ncclAvg; op++) {
            const struct numbers *t = &types[i];
            uint64_t want = result_of(t, op);
            fill(in, t, rank_number % 2 ? t->two : t->one, ELEMENTS * 4);
            GOOD(ncclAllReduce(in, out, ELEMENTS, t->type, op, comm, stream));
            expect(out, t, want, stream);
            GOOD(ncclReduceScatter(in, out, ELEMENTS, t->type, op, comm, stream));
            expect(out, t, want, stream);
            fill(out, t, t->one, ELEMENTS);
            GOOD(ncclReduce(in, out, ELEMENTS, t->type, op, 2, comm, stream));
            expect(out, t, rank_number == 2 ? want : t->one, stream);
            GOOD(ncclAllReduce(in, in, ELEMENTS, t->type, op, comm, stream)); /* in place */
            expect(in, t, want, stream);
        }
}

static int rank_int(const int *device, cudaStream_t stream)
{
    int value;
    GOOD(cudaStreamSynchronize(stream));
    rank_get(&value, device, sizeof value);
    return value;
}

RANKS(2, scaled_sums_take_the_scalar_of_each_rank)
{
    int *values = rank_device(4), *factor = rank_device(4), op, other = 10 + rank_number;
    int value = rank_number + 1, host = 3;
    rank_put(values, &value, 4);
    rank_put(factor, &other, 4);
    GOOD(ncclRedOpCreatePreMulSum(&op, &host, ncclInt32, ncclScalarHostImmediate, comm));
    GOOD(ncclAllReduce(values, values, 1, ncclInt32, op, comm, stream));
    GOOD(ncclRedOpDestroy(op, comm)); /* the queued work keeps its scalar */
    CHECK(ncclRedOpDestroy(op, comm) == ncclInvalidArgument);
    CHECK(rank_int(values, stream) == 3 * (1 + 2));
    rank_put(values, &value, 4);
    GOOD(ncclRedOpCreatePreMulSum(&op, factor, ncclInt32, ncclScalarDevice, comm));
    GOOD(ncclAllReduce(values, values, 1, ncclInt32, op, comm, stream));
    CHECK(rank_int(values, stream) == 10 * 1 + 11 * 2);
    CHECK(ncclAllReduce(values, values, 1, ncclFloat32, op, comm, stream) == ncclInvalidArgument);
    GOOD(ncclRedOpDestroy(op, comm));
}

/* Element i of what rank *from* sends to rank *to*. */
static int element(int from, int to, int i)
{
    return 1000000 * (from + 1) + 10000 * (to + 1) + i % 9973;
}

static void check_part(const int *host, int from, int to, int count)
{
    for (int i = 0; i < count; i++)
        CHECK(host[i] == element(from, to, i));
}

static void move_of(struct ncclComm *comm, cudaStream_t stream, int count)
{
    size_t part = (size_t)count * sizeof(int), all = part * (size_t)rank_count;
    int *in = rank_device(all), *out = rank_device(all), *host = malloc(all), n = rank_count;
    CHECK(host);
    for (int to = 0; to < n; to++)
        for (int i = 0; i < count; i++)
            host[to * count + i] = element(rank_number, to, i);
    rank_put(in, host, all);
#define DONE(call)                                                                                \
    GOOD(call);                                                                                    \
    GOOD(cudaStreamSynchronize(stream));                                                           \
    rank_get(host, out, all)
    DONE(ncclAllGather(in, out, (size_t)count, ncclInt32, comm, stream));
    for (int r = 0; r < n; r++)
        check_part(host + r * count, r, 0, count);
    DONE(ncclAlltoAll(in, out, (size_t)count, ncclInt32, comm, stream));
    for (int r = 0; r < n; r++)
        check_part(host + r * count, r, rank_number, count);
    DONE(ncclBroadcast(in, out, (size_t)count, ncclInt32, 1, comm, stream));
    check_part(host, 1, 0, count);
    DONE(ncclScatter(in, out, (size_t)count, ncclInt32, 2, comm, stream));
    check_part(host, 2, rank_number, count);
    DONE(ncclGather(in, out, (size_t)count, ncclInt32, 0, comm, stream));
    for (int r = 0; r < n && rank_number == 0; r++)
        check_part(host + r * count, r, 0, count);
    GOOD(ncclGroupStart());
    for (int r = 0; r < n; r++) { /* to and from all, itself too; two messages for each */
        size_t h = (size_t)count / 2, rest = (size_t)count - h;
        GOOD(ncclSend(in + r * count, h, ncclInt32, r, comm, stream));
        GOOD(ncclSend(in + r * count + h, rest, ncclInt32, r, comm, stream));
        GOOD(ncclRecv(out + r * count, h, ncclInt32, r, comm, stream));
        GOOD(ncclRecv(out + r * count + h, rest, ncclInt32, r, comm, stream));
    }
    DONE(ncclGroupEnd());
    for (int r = 0; r < n; r++)
        check_part(host + r * count, r, rank_number, count);
    free(host);
    GOOD(cudaFree(in));
    GOOD(cudaFree(out));
}

RANKS(3, every_pattern_moves_the_right_bytes)
{
    move_of(comm, stream, 2);
    move_of(comm, stream, 87381); /* three parts are just under 1 MiB, more than a ring holds */
}

RANKS(2, large_messages_wait_for_all_ranks)
{
    float *big = rank_device(4 * MIB), seen;
    char byte = 0;
    if (rank_number == 1)
        CHECK(read(rank_pipe[0], &byte, 1) == 1);
    GOOD(ncclAllReduce(big, big, MIB, ncclFloat32, ncclSum, comm, stream));
    if (rank_number == 0) {
        CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
        CHECK(write(rank_pipe[1], &byte, 1) == 1);
    }
    GOOD(cudaStreamSynchronize(stream));
    rank_get(&seen, big, 4);
    CHECK(seen == 0);
}

RANKS(2, captured_calls_run_at_each_replay)
{
    float *value = rank_device(4), one = 1, result;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    GOOD(ncclAllReduce(value, value, 1, ncclFloat32, ncclSum, comm, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphDestroy(graph));
    rank_put(value, &one, 4);
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(ncclAllReduce(value, value, 1, ncclFloat32, ncclSum, comm, stream));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    rank_get(&result, value, 4);
    CHECK(result == 16);
    GOOD(cudaGraphExecDestroy(exec));
}

/* As FSDP2 does in CUDA graphs: gathers and scatters of one communicator on streams of their own. */
RANKS(2, captured_calls_on_two_streams_keep_their_order)
{
    float *value = rank_device(4), one = 1, result;
    cudaStream_t other;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t edges = 0;
    GOOD(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    GOOD(cudaEventCreate(&fork));
    GOOD(cudaEventCreate(&join));
    for (int i = 0; i < 2; i++) { /* the second capture begins anew */
        GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        GOOD(cudaEventRecord(fork, stream));
        GOOD(cudaStreamWaitEvent(other, fork, 0));
        GOOD(ncclAllReduce(value, value, 1, ncclFloat32, ncclSum, comm, stream));
        GOOD(ncclBroadcast(value, value, 1, ncclFloat32, 0, comm, other));
        GOOD(cudaEventRecord(join, other));
        GOOD(cudaStreamWaitEvent(stream, join, 0));
        GOOD(cudaStreamEndCapture(stream, &graph));
        GOOD(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
        CHECK(edges == 3); /* meeting and kernel of each, and the kernel of the first before the second */
        GOOD(cudaGraphInstantiate(&exec, graph, 0));
        GOOD(cudaGraphDestroy(graph));
        rank_put(value, &one, 4);
        GOOD(cudaGraphLaunch(exec, stream));
        GOOD(cudaStreamSynchronize(stream));
        rank_get(&result, value, 4);
        CHECK(result == 2);
        GOOD(cudaGraphExecDestroy(exec));
    }
}

RANKS(4, splits_order_ranks_by_key)
{
    struct ncclComm *part, *none;
    int rank, count, sum = rank_number, *value = rank_device(4);
    /* 0 and 2 in reverse order, 1 and 3 in order */
    GOOD(ncclCommSplit(comm, rank_number % 2, rank_number % 2 ? 0 : -rank_number, &part, NULL));
    GOOD(ncclCommUserRank(part, &rank));
    GOOD(ncclCommCount(part, &count));
    CHECK(count == 2 && rank == (rank_number == 0 || rank_number == 3));
    rank_put(value, &sum, 4);
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, part, stream));
    CHECK(rank_int(value, stream) == (rank_number % 2 ? 4 : 2));
    GOOD(ncclCommSplit(comm, rank_number ? 7 : -1, 0, &none, NULL));
    CHECK((none == NULL) == (rank_number == 0));
    GOOD(ncclCommDestroy(none));
    GOOD(ncclCommDestroy(part));
}

RANKS(3, shrinking_leaves_ranks_out)
{
    struct ncclComm *less;
    int gone[] = {1}, count, rank, one = 1, *value = rank_device(4);
    if (rank_number == 1)
        return;
    GOOD(ncclCommShrink(comm, gone, 1, &less, NULL, NCCL_SHRINK_DEFAULT));
    GOOD(ncclCommCount(less, &count));
    GOOD(ncclCommUserRank(less, &rank));
    CHECK(count == 2 && rank == rank_number / 2);
    rank_put(value, &one, 4);
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, less, stream));
    CHECK(rank_int(value, stream) == 2);
    GOOD(ncclCommDestroy(less));
}

RANKS(2, calls_on_several_streams_keep_their_order)
{
    cudaStream_t other;
    int value = 1, *memory = rank_device(4);
    GOOD(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    rank_put(memory, &value, 4);
    for (int i = 0; i < 10; i++)
        GOOD(ncclAllReduce(memory, memory, 1, ncclInt32, ncclSum, comm, i % 2 ? other : stream));
    CHECK(rank_int(memory, other) == 1024);
}

RANKS(2, channels_take_device_memory_until_the_end)
{
    size_t before, during, after, total;
    int *value = rank_device(4);
    struct ncclComm *part;
    unsigned long held;
    GOOD(ncclCommSplit(comm, 0, 0, &part, NULL));
    GOOD(cudaMemGetInfo(&before, &total));
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, part, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemGetInfo(&during, &total));
    GOOD(ncclCommMemStats(part, ncclStatGpuMemTotal, &held));
    CHECK(before - during == held && held > 0);
    GOOD(ncclCommDestroy(part));
    GOOD(cudaMemGetInfo(&after, &total));
    CHECK(after == before);
}

/* ---- one process with several devices: a child too, so that no test here uses CUDA before a fork */

RANKS(1, one_thread_drives_several_devices)
{
    struct ncclComm *comms[3];
    cudaStream_t streams[3];
    int *memory[3], value, device;
    GOOD(ncclCommInitAll(comms, 3, NULL));
    GOOD(ncclGroupStart());
    for (int i = 0; i < 3; i++) {
        GOOD(cudaSetDevice(i));
        GOOD(cudaStreamCreate(&streams[i]));
        memory[i] = rank_device(4);
        value = i + 1;
        rank_put(memory[i], &value, 4);
        GOOD(ncclGroupStart());
        GOOD(ncclAllReduce(memory[i], memory[i], 1, ncclInt32, ncclSum, comms[i], streams[i]));
        GOOD(ncclGroupEnd());
    }
    GOOD(ncclGroupEnd());
    for (int i = 0; i < 3; i++) {
        CHECK(rank_int(memory[i], streams[i]) == 6);
        GOOD(ncclCommCuDevice(comms[i], &device));
        CHECK(device == i);
    }
    for (int i = 0; i < 3; i++)
        GOOD(ncclCommDestroy(comms[i]));
}

RANKS(2, communicators_can_be_made_in_the_background)
{
    struct ncclComm *other;
    ncclUniqueId id = rank_id;
    ncclConfig_t config = {.size = sizeof config, .magic = NCCL_API_MAGIC,
                           .version = NCCL_VERSION_CODE, .blocking = 0};
    int state, result = ncclSuccess, *value = rank_device(4);
    id.internal[20] ^= 1; /* another key that both ranks know */
    result = ncclCommInitRankConfig(&other, rank_count, id, rank_number, &config);
    CHECK(result == ncclSuccess || result == ncclInProgress);
    do {
        usleep(1000);
        GOOD(ncclCommGetAsyncError(other, &state));
    } while (state == ncclInProgress);
    GOOD(state);
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, other, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(ncclCommFinalize(other));
    GOOD(ncclCommDestroy(other));
}
