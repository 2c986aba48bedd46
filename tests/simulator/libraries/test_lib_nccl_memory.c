/* SPDX-License-Identifier: Apache-2.0
 *
 * The device memory that communicators take, beside public figures. The first argument names the
 * group of tests: "a100" for four devices, "h100" for eight. */
#include "nccl_ranks.h"

static uint64_t used(void)
{
    size_t available, total;
    GOOD(cudaMemGetInfo(&available, &total));
    return total - available;
}

/* What the first all_reduce of *comm* takes. */
static uint64_t all_reduce(struct ncclComm *comm, cudaStream_t stream, void *memory)
{
    uint64_t before = used();
    GOOD(ncclAllReduce(memory, memory, 1 << 20, ncclFloat32, ncclSum, comm, stream));
    GOOD(cudaStreamSynchronize(stream));
    return used() - before;
}

/* https://github.com/NVIDIA/nccl/issues/964: 544 MiB for a group of two, 688 MiB for larger ones, on
 * rank 0 of four A100. */
RANKS(4, groups_of_a100_take_what_was_measured)
{
    void *memory = rank_device(4 << 20);
    struct ncclComm *pair;
    GOOD(ncclCommSplit(comm, rank_number / 2, 0, &pair, NULL));
    CHECK(all_reduce(pair, stream, memory) == 544 * MIB);
    CHECK(all_reduce(pair, stream, memory) == 0);
    uint64_t whole = all_reduce(comm, stream, memory);
    CHECK(whole == (rank_number % 3 ? 832 : 688) * MIB); /* inner ranks of the tree have two peers */
    uint64_t before = used();
    GOOD(ncclCommDestroy(pair));
    CHECK(before - used() == 544 * MIB);
}

static void smaller_buffers(struct ncclComm *comm, cudaStream_t stream)
{
    CHECK(all_reduce(comm, stream, rank_device(4 << 20)) == (256 + 2 * (4 + 6)) * MIB);
}

TEST(buffer_size_and_channels_of_a100_follow_the_environment)
{
    setenv("NCCL_BUFFSIZE", "2097152", 1); /* with its header 4 MiB: A100 has it at the sender */
    setenv("NCCL_MAX_NCHANNELS", "2", 1);
    ranks_run(2, smaller_buffers, NULL);
    unsetenv("NCCL_BUFFSIZE");
    unsetenv("NCCL_MAX_NCHANNELS");
}

static void send_to_next(struct ncclComm *comm, cudaStream_t stream, char *memory)
{
    int next = (rank_number + 1) % rank_count, last = (rank_number + rank_count - 1) % rank_count;
    GOOD(ncclGroupStart());
    GOOD(ncclSend(memory, 4, ncclInt8, next, comm, stream));
    GOOD(ncclRecv(memory + 4, 4, ncclInt8, last, comm, stream));
    GOOD(ncclGroupEnd());
    GOOD(cudaStreamSynchronize(stream));
}

/* https://github.com/NVIDIA/nccl/issues/1685: 1.06 GB before the first all_to_all_single of eight
 * H100, 4.34 GB after it; 32 channels for each pair. */
RANKS(8, all_to_all_of_h100_takes_what_was_measured)
{
    char *memory = rank_device(1 << 20);
    uint64_t before = used();
    GOOD(ncclAlltoAll(memory, memory + (1 << 19), 4, ncclInt8, comm, stream));
    GOOD(cudaStreamSynchronize(stream));
    uint64_t taken = used() - before;
    CHECK(taken / 10000000 == 328); /* 3.28 GB */
    send_to_next(comm, stream, memory); /* connected already */
    CHECK(used() - before == taken);
}

RANKS(3, only_ranks_of_h100_that_talk_are_connected)
{
    char *memory = rank_device(8);
    uint64_t before = used();
    send_to_next(comm, stream, memory);
    CHECK(used() - before == (442 + 32 * 12) * MIB);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 && !strcmp(argv[1], "a100") ? "*_a100_*" : "*_h100_*");
    return vs_run_tests(NULL, NULL);
}
