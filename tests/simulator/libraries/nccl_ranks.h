/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks as forked processes, each with its own device, for the tests of the stand-in for NCCL. */
#ifndef NCCL_RANKS_H
#define NCCL_RANKS_H

#include "sim_library.h"

#include <signal.h>
#include <sys/wait.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nccl/vs_nccl_api.h"

VS_NCCL_FUNCTIONS(VS_LIBRARY_DECLARE)

#define RANKS_MAX 8
/* In a rank: ends it with status 1 and a message. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s; NCCL: %s\n", __FILE__, __LINE__, rank_number,     \
                    #condition, ncclGetLastError(NULL));                                           \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define GOOD(call) CHECK((call) == 0)

static int rank_number, rank_count;
static ncclUniqueId rank_id;
static int rank_pipe[2];
static void (*rank_prepare)(void); /* of the next ranks_run: in each process, before it joins */

typedef void (*rank_fn)(struct ncclComm *comm, cudaStream_t stream);

static inline void rank_main(rank_fn fn)
{
    struct ncclComm *comm;
    cudaStream_t stream;
    GOOD(cudaSetDevice(rank_number));
    GOOD(ncclCommInitRank(&comm, rank_count, rank_id, rank_number));
    GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    fn(comm, stream);
    GOOD(cudaStreamSynchronize(stream));
    GOOD(ncclCommDestroy(comm));
    _exit(0);
}

/* ranks_run: *fn* in *count* processes; *expected*: how each ends (a wait status), NULL: with 0. */
static inline void ranks_run(int count, rank_fn fn, const int *expected)
{
    pid_t pids[RANKS_MAX];
    rank_count = count;
    assert_int_equal(ncclGetUniqueId(&rank_id), ncclSuccess);
    assert_int_equal(pipe(rank_pipe), 0);
    for (int r = 0; r < count; r++) {
        pids[r] = fork();
        assert_true(pids[r] >= 0);
        if (!pids[r]) {
            rank_number = r;
            if (rank_prepare)
                rank_prepare();
            rank_main(fn);
        }
    }
    rank_prepare = NULL;
    for (int r = 0; r < count; r++) {
        int status;
        assert_int_equal(waitpid(pids[r], &status, 0), pids[r]);
        assert_int_equal(status, expected ? expected[r] : 0);
    }
    close(rank_pipe[0]);
    close(rank_pipe[1]);
}

/* RANKS(4, name) { ... }: a test whose body runs in 4 ranks, with *comm* and *stream*. */
#define RANKS(count, test_name)                                                                    \
    static void test_name##_of_rank(struct ncclComm *comm, cudaStream_t stream);                   \
    TEST(test_name) { ranks_run(count, test_name##_of_rank, NULL); }                            \
    static void test_name##_of_rank(__attribute__((unused)) struct ncclComm *comm,                 \
                                    __attribute__((unused)) cudaStream_t stream)

static inline void *rank_device(size_t bytes)
{
    void *memory;
    GOOD(cudaMalloc(&memory, bytes));
    GOOD(cudaMemset(memory, 0, bytes));
    GOOD(cudaDeviceSynchronize());
    return memory;
}

static inline void rank_put(void *to, const void *from, size_t bytes)
{
    GOOD(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}

static inline void rank_get(void *to, const void *from, size_t bytes)
{
    GOOD(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

#endif
