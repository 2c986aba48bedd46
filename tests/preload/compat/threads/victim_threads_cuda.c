/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads and CUDA: racing at the first call, ending with live memory, cancelled while they
 * allocate, freeing memory of other threads, also from their destructors. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sys/wait.h>

#include "victim_memory.h"

VICTIM("threads")

#define THREADS 32

static pthread_barrier_t barrier;

static void spawn(int count, void *(*run)(void *), void **results)
{
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)count) == 0);
    for (intptr_t i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], results ? &results[i] : NULL) == 0);
    pthread_barrier_destroy(&barrier);
}

static void *first_use(void *arg)
{
    pthread_barrier_wait(&barrier);
    void *p = take(((size_t)(intptr_t)arg + 1) * KIB);
    OK(cudaMemset(p, 1, KIB));
    give(p);
    return NULL;
}

CASE(race_at_first_use, "32 threads make the first CUDA call at once", 0)
{
    spawn(THREADS, first_use, NULL);
}

/* Every round is a process of its own: the first call of each races. */
CASE(race_many_times, "40 processes in which 32 threads make the first CUDA call at once",
     VF_CHILDREN)
{
    for (int i = 0; i < 40; i++) {
        int status;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            execl("/proc/self/exe", "victim", "race_at_first_use", (char *)NULL);
            _exit(127);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
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
    case 0:
        OK(cuInit(0));
        break;
    case 1:
        OK(cudaGetDeviceCount(&count));
        break;
    case 2:
        OK(cudaMemGetInfo(&a, &b));
        break;
    case 3:
        OK(cuInit(0));
        OK(cuDevicePrimaryCtxRetain(&context, 0));
        OK(cuDevicePrimaryCtxRelease(0));
        break;
    case 4:
        OK(cudaFree(NULL));
        break;
    default:
        ALLOCATES(VT_PINNED, KIB, cudaMallocHost(&p, KIB));
        FREES(VT_PINNED, cudaFreeHost(p));
    }
    return NULL;
}

CASE(race_by_other_calls, "30 threads with different first CUDA calls at once", 0)
{
    void *p;
    spawn(30, first_call, NULL);
    p = take(MIB);
    give(p);
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
        spawn(8, leave_memory, kept);
        for (int i = 0; i < 8; i++) {
            OK(cudaMemset(kept[i], round, MIB));
            give(kept[i]);
        }
    }
}

static pthread_key_t key;

static void free_at_thread_exit(void *p)
{
    give(p);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
}

static void *with_destructor(void *arg)
{
    (void)arg;
    CHECK(pthread_setspecific(key, take(300 * KIB)) == 0);
    return NULL;
}

CASE(frees_at_thread_exit, "memory freed by destructors of thread-specific data", 0)
{
    CHECK(pthread_key_create(&key, free_at_thread_exit) == 0);
    for (int round = 0; round < 10; round++)
        spawn(8, with_destructor, NULL);
}

static void *until_cancelled(void *arg)
{
    int old;
    (void)arg;
    for (;;) {
        /* within a call a cancellation is deferred, as CUDA requires; between calls it acts */
        CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
        give(take(64 * KIB));
        CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0);
        pthread_testcancel();
    }
    return NULL;
}

/* A deferred cancellation that is pending when the call is made. */
static void *with_one_pending(void *arg)
{
    (void)arg;
    CHECK(pthread_cancel(pthread_self()) == 0);
    give(take(64 * KIB));
    pthread_testcancel();
    return NULL;
}

CASE(cancelled, "threads cancelled while they allocate", 0)
{
    pthread_t threads[4];
    void *result;
    give(take(KIB));
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, i % 2 ? until_cancelled : with_one_pending,
                                 NULL) == 0);
        usleep(5000);
        for (int i = 0; i < 4; i++) {
            if (i % 2)
                CHECK(pthread_cancel(threads[i]) == 0);
            CHECK(pthread_join(threads[i], &result) == 0);
            CHECK(result == PTHREAD_CANCELED);
        }
    }
    give(take(MIB));
}

static void *slots[THREADS];

/* Each thread frees the memory that its neighbour allocated. */
static void *exchange(void *arg)
{
    intptr_t self = (intptr_t)arg;
    for (int round = 0; round < 200; round++) {
        slots[self] = take((size_t)(1 + (self * 7 + round * 13) % 64) * KIB);
        pthread_barrier_wait(&barrier);
        give(slots[(self + 1) % 4]);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

CASE(neighbours_free, "each thread frees what another allocated", 0)
{
    spawn(4, exchange, NULL);
}

static void *own_stream(void *arg)
{
    unsigned char byte = 0;
    (void)arg;
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
    return NULL;
}

CASE(own_default_streams, "per-thread default streams", 0)
{
    spawn(4, own_stream, NULL);
}

/* One thread frees a block with pending work on another thread's stream: the next owner must not
 * see its writes. */
static void *overwrite(void *arg)
{
    cudaStream_t s;
    unsigned char byte;
    intptr_t self = (intptr_t)arg;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int i = 0; i < 30; i++) {
        unsigned char *p = take(4 * MIB);
        OK(cudaMemsetAsync(p, (int)self, 4 * MIB, s));
        OK(cudaMemcpyAsync(&byte, p + 4 * MIB - 1, 1, cudaMemcpyDeviceToHost, s));
        OK(cudaStreamSynchronize(s));
        CHECK(byte == self);
        OK(cudaMemsetAsync(p, 99, 4 * MIB, s)); /* pending when it is freed */
        give(p);
    }
    OK(cudaStreamSynchronize(s));
    OK(cudaStreamDestroy(s));
    return NULL;
}

CASE(freed_with_work_pending, "threads free memory with pending work", 0)
{
    spawn(4, overwrite, NULL);
}
