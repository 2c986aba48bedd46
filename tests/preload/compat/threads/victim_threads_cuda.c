/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads and CUDA: racing at the first call, ending with live memory, killed just after a call,
 * with default streams of their own. */
#include "victim_memory.h"

VICTIM("threads")

#define THREADS 32

static pthread_barrier_t barrier;

static void race(int count, void *(*run)(void *))
{
    CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)count) == 0);
    in_threads(count, run, NULL);
}

static void *first_use(void *arg)
{
    pthread_barrier_wait(&barrier);
    void *p = take(((size_t)(intptr_t)arg + 1) * KIB);
    OK(cudaMemset(p, 1, KIB));
    give(p);
    return NULL;
}

CASE_OF(race_at_first_use, race(THREADS, first_use), "32 threads make the first CUDA call at once",
        0)

/* Every round is a process of its own: the first call of each races. */
CASE(race_many_times, "40 processes in which 32 threads make the first CUDA call at once",
     VF_CHILDREN)
{
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            execl("/proc/self/exe", "victim", "race_at_first_use", (char *)NULL);
            _exit(127);
        }
        CHECK(status_of(pid) == 0);
    }
}

/* Each by another function. */
static void *first_call(void *arg)
{
    CUcontext context;
    size_t a, b;
    int count;
    void *p;
    pthread_barrier_wait(&barrier);
    switch ((intptr_t)arg % 6) {
    case 0: OK(cuInit(0)); break;
    case 1: OK(cudaGetDeviceCount(&count)); break;
    case 2: OK(cudaMemGetInfo(&a, &b)); break;
    case 3:
        OK(cuInit(0));
        OK(cuDevicePrimaryCtxRetain(&context, 0));
        OK(cuDevicePrimaryCtxRelease(0));
        break;
    case 4: OK(cudaFree(NULL)); break;
    default:
        ALLOCATES(VT_PINNED, KIB, cudaMallocHost(&p, KIB));
        FREES(VT_PINNED, cudaFreeHost(p));
    }
    return NULL;
}

CASE(race_by_other_calls, "30 threads with different first CUDA calls at once", 0)
{
    race(30, first_call);
    give(take(MIB));
}

static void *leave_memory(void *arg)
{
    (void)arg;
    give(take(2 * MIB));
    return take(MIB);
}

CASE(ends_with_memory_live, "threads end with live memory, which other threads free", 0)
{
    void *kept[8];
    for (int round = 0; round < 20; round++) {
        in_threads(8, leave_memory, kept);
        for (int i = 0; i < 8; i++) {
            OK(cudaMemset(kept[i], round, MIB));
            give(kept[i]);
        }
    }
}

static int calls;

/* The last thread whose last call returned kills the process at once: all of them are in the trace. */
static void *call_until_killed(void *arg)
{
    static _Atomic int ready;
    void *kept[8] = {0};
    for (int i = 0; i < calls; i++) {
        void **p = &kept[i * 5 % 13 % 8];
        if (*p)
            give(*p);
        *p = *p ? NULL : take(((size_t)(intptr_t)arg + 1) * KIB);
    }
    if (++ready == 4)
        kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static void be_killed(int after)
{
    calls = after;
    in_threads(4, call_until_killed, NULL);
}

#define KILLED_AFTER(n, text)                                                                    \
    CASE_OF(killed_after_##n, be_killed(n), "killed by SIGKILL when 4 threads have made " text, \
            VF_TORN | VF_DIES | VF_SHARED_ONLY)
KILLED_AFTER(1, "1 call each")
KILLED_AFTER(60, "60 calls each")
KILLED_AFTER(3000, "3,000 calls each")

static void *own_stream(void *arg)
{
    unsigned char byte = 0;
    for (int i = 0; i < 50; i++) {
        void *p;
        ALLOCATES(VT_ASYNC, 64 * KIB, cudaMallocAsync(&p, 64 * KIB, cudaStreamPerThread));
        OK(cudaMemsetAsync(p, i, 64 * KIB, cudaStreamPerThread));
        void *q = take(64 * KIB);
        OK(cudaMemcpyAsync(q, p, 64 * KIB, cudaMemcpyDeviceToDevice, cudaStreamPerThread));
        FREES(VT_ASYNC, cudaFreeAsync(p, cudaStreamPerThread));
        OK(cudaMemcpyAsync(&byte, q, 1, cudaMemcpyDeviceToHost, cudaStreamPerThread));
        OK(cudaStreamSynchronize(cudaStreamPerThread));
        CHECK(byte == i);
        give(q);
    }
    return arg;
}

CASE_OF(own_default_streams, in_threads(4, own_stream, NULL), "per-thread default streams", 0)
