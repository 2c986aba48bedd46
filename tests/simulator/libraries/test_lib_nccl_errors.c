/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that make different calls, die, abort or do not come: an error and a message instead of a
 * hang, and nothing left behind. */
#define _GNU_SOURCE
#include "nccl_ranks.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "simulator/libraries/nccl/vs_nccl_segment.h"

static void wait_for_error(struct ncclComm *comm, int expected)
{
    int error;
    do {
        usleep(1000);
        GOOD(ncclCommGetAsyncError(comm, &error));
    } while (error == ncclSuccess);
    CHECK(error == expected);
}

/* Ends a rank whose communicator failed: aborting lets its stream go on. */
static void end_failed(struct ncclComm *comm, cudaStream_t stream)
{
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady); /* kept waiting, as a kernel would be */
    GOOD(ncclCommAbort(comm));
    GOOD(cudaStreamSynchronize(stream));
    _exit(0);
}

RANKS(2, different_calls_are_reported)
{
    int *value = rank_device(16);
    if (rank_number)
        GOOD(ncclBroadcast(value, value, 4, ncclInt32, 0, comm, stream));
    else
        GOOD(ncclAllReduce(value, value, 4, ncclInt32, ncclSum, comm, stream));
    wait_for_error(comm, ncclInvalidUsage);
    CHECK(strstr(ncclGetLastError(comm), "AllReduce of 4 int32"));
    CHECK(strstr(ncclGetLastError(comm), "Broadcast of 4 int32"));
    CHECK(ncclAllReduce(value, value, 4, ncclInt32, ncclSum, comm, stream) == ncclInvalidUsage);
    end_failed(comm, stream);
}

RANKS(2, different_counts_are_reported)
{
    int *value = rank_device(16);
    GOOD(ncclAllReduce(value, value, 3 + (size_t)rank_number, ncclInt32, ncclSum, comm, stream));
    wait_for_error(comm, ncclInvalidUsage);
    end_failed(comm, stream);
}

static void one_dies(struct ncclComm *comm, cudaStream_t stream)
{
    int *value = rank_device(4);
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, comm, stream));
    GOOD(cudaStreamSynchronize(stream));
    if (rank_number == 1)
        raise(SIGKILL);
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, comm, stream));
    wait_for_error(comm, ncclRemoteError);
    end_failed(comm, stream);
}

/* The name of the socket of the last unique id, in *name*; true if it still exists. */
static bool socket_left(char name[64])
{
    char line[512];
    bool found = false;
    int n = sprintf(name, "vramscope-nccl-");
    for (int i = 0; i < 16; i++)
        n += sprintf(name + n, "%02x", (unsigned char)rank_id.internal[16 + i]);
    FILE *f = fopen("/proc/net/unix", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        found |= strstr(line, name) != NULL;
    fclose(f);
    return found;
}

TEST(a_dead_rank_is_an_error_for_the_others)
{
    ranks_run(3, one_dies, (const int[]){0, SIGKILL, 0});
    assert_false(socket_left((char[64]){0}));
}

/* Rank 1 joins second, after more connections than wait at most, and from another PID namespace. */
static void move_rank_1(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = 20};
    int status = 0;
    if (rank_number != 1)
        return;
    while (!socket_left(address.sun_path + 1))
        usleep(1000);
    for (int i = 0; i < VS_NCCL_RANKS_MAX + 8; i++) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        CHECK(s >= 0 && !setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
        size_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1);
        while (connect(s, (struct sockaddr *)&address, (socklen_t)length))
            CHECK(errno == ECONNREFUSED); /* bound, but does not listen yet */
        close(s);
    }
    CHECK(!unshare(CLONE_NEWPID | CLONE_NEWNS));
    pid_t inner = fork();
    if (!inner) { /* /proc shows only this process, where a container may mount it */
        if (!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
            mount("proc", "/proc", "proc", 0, NULL);
        return;
    }
    CHECK(inner > 0 && waitpid(inner, &status, 0) == inner);
    _exit(status != 0);
}

static void reduce_late(struct ncclComm *comm, cudaStream_t stream)
{
    int *value = rank_device(4);
    if (rank_number == 1)
        usleep(500000); /* until rank 0 has looked whether this process is still there */
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, comm, stream));
    for (int error; cudaStreamQuery(stream) == cudaErrorNotReady; usleep(1000)) {
        GOOD(ncclCommGetAsyncError(comm, &error));
        CHECK(!error);
    }
}

TEST(a_rank_of_another_container_joins)
{
    int status;
    pid_t child = fork();
    if (!child)
        _exit(unshare(CLONE_NEWPID | CLONE_NEWNS) != 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status)
        skip(); /* making a container is not allowed here */
    rank_prepare = move_rank_1;
    ranks_run(2, reduce_late, NULL);
}

static void die_while_joining(struct ncclComm *comm, cudaStream_t stream)
{
    (void)comm, (void)stream;
    raise(SIGKILL);
}

TEST(nothing_is_left_of_a_killed_run)
{
    ranks_run(2, die_while_joining, (const int[]){SIGKILL, SIGKILL});
    assert_false(socket_left((char[64]){0}));
}

RANKS(2, aborting_ends_the_wait)
{
    char byte = 0;
    int *value = rank_device(4);
    if (rank_number == 1) { /* never calls the collective, but stays until rank 0 has aborted */
        CHECK(read(rank_pipe[0], &byte, 1) == 1);
        return;
    }
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, comm, stream));
    GOOD(ncclCommAbort(comm));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(write(rank_pipe[1], &byte, 1) == 1);
    _exit(0);
}

static void one_is_late(struct ncclComm *comm, cudaStream_t stream)
{
    char byte = 0;
    int *value = rank_device(4);
    if (rank_number == 1) {
        CHECK(read(rank_pipe[0], &byte, 1) == 1);
        return;
    }
    GOOD(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, comm, stream));
    wait_for_error(comm, ncclRemoteError);
    CHECK(strstr(ncclGetLastError(comm), "rank 1 did not arrive within 5 s"));
    CHECK(write(rank_pipe[1], &byte, 1) == 1);
    end_failed(comm, stream);
}

TEST(a_rank_that_does_not_come_is_an_error_after_the_timeout)
{
    setenv("VRAMSCOPE_SIMULATE_COLLECTIVES", "timeout=5", 1); /* also the time that both have to join */
    ranks_run(2, one_is_late, NULL);
    unsetenv("VRAMSCOPE_SIMULATE_COLLECTIVES");
}

RANKS(2, bad_arguments_are_named)
{
    int *value = rank_device(4), number, host = 0;
    struct ncclComm *none = (struct ncclComm *)&number;
    CHECK(ncclAllReduce(value, value, 1, 99, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(strstr(ncclGetLastError(comm), "data type 99"));
    CHECK(ncclAllReduce(value, value, 1, ncclInt32, 77, comm, stream) == ncclInvalidArgument);
    CHECK(ncclBroadcast(value, value, 1, ncclInt32, 2, comm, stream) == ncclInvalidArgument);
    CHECK(strstr(ncclGetLastError(comm), "root 2"));
    CHECK(ncclAllReduce(NULL, value, 1, ncclInt32, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclAllReduce(&host, value, 1, ncclInt32, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclAllReduce(value, value, 1, ncclInt32, ncclSum, none, stream) == ncclInvalidArgument);
    CHECK(ncclCommCount(none, &number) == ncclInvalidArgument);
    CHECK(ncclSend(value, 1, ncclInt32, rank_number, comm, stream) == ncclInvalidUsage);
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
    GOOD(ncclGroupStart());
    CHECK(ncclAllReduce(value, value, 1, 99, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclGroupEnd() == ncclInvalidArgument);
    CHECK(!strcmp(ncclGetErrorString(ncclSuccess), "no error"));
    CHECK(ncclCommSuspend(comm, 0) == ncclInvalidArgument);
}

RANKS(2, two_ranks_cannot_share_a_device)
{
    struct ncclComm *other = NULL;
    ncclUniqueId id = rank_id;
    id.internal[20] ^= 1;
    GOOD(cudaSetDevice(0));
    CHECK(ncclCommInitRank(&other, 2, id, rank_number) == ncclInvalidUsage);
    CHECK(!other && strstr(ncclGetLastError(NULL), "Duplicate GPU"));
    GOOD(cudaSetDevice(rank_number));
}
