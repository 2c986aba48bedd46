/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank of NCCL without the others (VRAMSCOPE_SIMULATE_ALONE, set by `vramscope fit --ranks`): calls
 * are finished at once, and take the memory that they take among all ranks. */
#include "nccl_ranks.h"

#define WORLD 16384

static struct ncclComm *comm_near(int count, int rank, const char *node)
{
    struct ncclComm *comm;
    ncclUniqueId any; /* another rank would have made it */
    ncclConfig_t config = {.size = sizeof config, .magic = NCCL_API_MAGIC, .version = NCCL_VERSION_CODE,
                           .blocking = 1, .netName = node};
    memset(&any, 1, sizeof any);
    GOOD(ncclCommInitRankConfig(&comm, count, any, rank, &config));
    return comm;
}

static struct ncclComm *comm_of(int count, int rank)
{
    return comm_near(count, rank, NULL);
}

static int number_at(const int *device, size_t i)
{
    int value;
    GOOD(cudaDeviceSynchronize());
    rank_get(&value, device + i, sizeof value);
    return value;
}

TEST(a_world_of_any_size_has_the_data_of_the_rank_alone)
{
    struct ncclComm *comm = comm_of(WORLD, 5);
    int *in = rank_device(2 * WORLD * sizeof *in), *out = in + WORLD, three = 3, four = 4, asked;
    GOOD(ncclCommCount(comm, &asked));
    assert_int_equal(asked, WORLD);
    rank_put(in, &three, sizeof three);
    rank_put(in + 5, &four, sizeof four);
    GOOD(ncclAllReduce(in, out, 1, ncclInt32, ncclSum, comm, NULL));
    assert_int_equal(number_at(out, 0), 3 * WORLD);
    GOOD(ncclAllReduce(in, out, 1, ncclInt32, ncclMax, comm, NULL));
    assert_int_equal(number_at(out, 0), 3);
    GOOD(ncclReduceScatter(in, out, 1, ncclInt32, ncclSum, comm, NULL)); /* its own part */
    assert_int_equal(number_at(out, 0), 4 * WORLD);
    GOOD(ncclAllGather(in, out, 1, ncclInt32, comm, NULL)); /* others repeat it */
    assert_int_equal(number_at(out, 0), 3);
    assert_int_equal(number_at(out, WORLD - 1), 3);
    GOOD(ncclBroadcast(in, in, 1, ncclInt32, 5, comm, NULL));
    GOOD(ncclBroadcast(in, out + 1, 1, ncclInt32, 5, comm, NULL));
    assert_int_equal(number_at(out, 1), 3);
    GOOD(ncclBroadcast(in + 5, out + 1, 1, ncclInt32, 0, comm, NULL)); /* rank 0 is not there */
    assert_int_equal(number_at(out, 1), 3);
    GOOD(ncclGroupStart()); /* an all-gather */
    GOOD(ncclBroadcast(in + 5, in + 5, 1, ncclInt32, 5, comm, NULL));
    GOOD(ncclBroadcast(out + 1, out + 1, 1, ncclInt32, 0, comm, NULL));
    GOOD(ncclGroupEnd());
    assert_int_equal(number_at(out, 1), 4);
    GOOD(ncclGroupStart());
    GOOD(ncclSend(in, 1, ncclInt32, 6, comm, NULL));
    GOOD(ncclSend(in + 5, 1, ncclInt32, 5, comm, NULL));
    GOOD(ncclRecv(out + 2, 1, ncclInt32, 4, comm, NULL));
    GOOD(ncclRecv(out + 3, 1, ncclInt32, 5, comm, NULL)); /* from itself */
    GOOD(ncclGroupEnd());
    assert_int_equal(number_at(out, 2), 3);
    assert_int_equal(number_at(out, 3), 4);
    GOOD(ncclCommDestroy(comm));
    cudaFree(in);
}

static size_t taken_by(struct ncclComm *comm, void *memory, bool to_all)
{
    size_t before, after, total;
    GOOD(cudaMemGetInfo(&before, &total));
    if (to_all)
        GOOD(ncclAlltoAll(memory, (char *)memory + (1 << 16), 1, ncclInt8, comm, NULL));
    else
        GOOD(ncclAllReduce(memory, memory, 1, ncclInt32, ncclSum, comm, NULL));
    GOOD(cudaDeviceSynchronize());
    GOOD(cudaMemGetInfo(&after, &total));
    GOOD(ncclCommDestroy(comm));
    return before - after;
}

/* The figures of test_lib_nccl_memory, where all ranks run. */
TEST(communicators_take_the_memory_that_they_take_among_all_ranks)
{
    char *memory = rank_device(1 << 17);
    size_t first = taken_by(comm_of(8, 0), memory, false), inner = taken_by(comm_of(8, 3), memory, false);
    assert_int_equal(inner - first, 24 * 2 * MIB); /* the sending side of a connection more */
    assert_int_equal(taken_by(comm_of(1024, 3), memory, false), inner);
    size_t all_near = taken_by(comm_of(8, 3), memory, true);
    assert_int_equal(all_near / 10000000, 328);
    /* peers on other nodes share buffers: 2 MiB in each of 32 channels, for sends and for receives */
    assert_int_equal(taken_by(comm_near(1024, 3, "vramscope-node:0:8:1024"), memory, true),
                     all_near + 2 * 32 * 2 * MIB);
    assert_int_equal(taken_by(comm_near(2, 1, "vramscope-node:5:6:128"), memory, true), (442 + 2 * 64) * MIB);
    cudaFree(memory);
}

TEST(a_split_is_refused_as_its_parts_are_not_known)
{
    struct ncclComm *comm = comm_of(4, 1), *part;
    assert_int_equal(ncclCommSplit(comm, 0, 0, &part, NULL), ncclInvalidUsage);
    assert_non_null(strstr(ncclGetLastError(NULL), "unique id"));
    GOOD(ncclCommDestroy(comm));
}

int main(void)
{
    GOOD(cudaSetDevice(0));
    return vs_run_tests(NULL, NULL);
}
