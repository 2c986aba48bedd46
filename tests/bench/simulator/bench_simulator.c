/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of the simulated GPU itself, with simulated time off: launches, copies, events,
 * allocations. Beside each figure a simple operation of the same kind in the same run:
 * calls passed to a thread through a queue, the C library's malloc and free, memcpy; and for memory
 * of whole pages the two system calls that make a use after free fault. Medians of five rounds. */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../bench.h"

#define ROUNDS 5
#define MILLION 1000000
#define FENCED 100000 /* pairs with system calls */

static void check(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "bench_simulator: %s: error %d\n", what, error);
        exit(1);
    }
}
#define OK(call) check((int)(call), #call)

/* Median ns per operation of *work*, which does *count* of them. */
static double measure(void (*work)(long count), long count)
{
    double ns[ROUNDS];
    work(count / 10 + 1);
    for (int r = 0; r < ROUNDS; r++) {
        double begin = bench_ns(CLOCK_MONOTONIC);
        work(count);
        ns[r] = (bench_ns(CLOCK_MONOTONIC) - begin) / (double)count;
    }
    return bench_median(ns, ROUNDS);
}

/* ---- the simple operations ---- */

#define QUEUE 1024

static struct {
    pthread_mutex_t mu;
    pthread_cond_t filled, emptied;
    void (*call[QUEUE])(void);
    unsigned long put, taken, done;
} queue = {.mu = PTHREAD_MUTEX_INITIALIZER,
           .filled = PTHREAD_COND_INITIALIZER,
           .emptied = PTHREAD_COND_INITIALIZER};

static void nothing(void) { __asm__ volatile("" ::: "memory"); }

static void *queue_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue.mu);
    for (;;) {
        while (queue.put == queue.taken)
            pthread_cond_wait(&queue.filled, &queue.mu);
        unsigned long first = queue.taken, last = queue.taken = queue.put;
        pthread_mutex_unlock(&queue.mu);
        for (unsigned long i = first; i < last; i++)
            queue.call[i % QUEUE]();
        pthread_mutex_lock(&queue.mu);
        queue.done = last;
        pthread_cond_signal(&queue.emptied);
    }
    return NULL;
}

static void calls_queued(long count)
{
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&queue.mu);
        while (queue.put - queue.done == QUEUE)
            pthread_cond_wait(&queue.emptied, &queue.mu);
        queue.call[queue.put++ % QUEUE] = nothing;
        pthread_cond_signal(&queue.filled);
        pthread_mutex_unlock(&queue.mu);
    }
    pthread_mutex_lock(&queue.mu);
    while (queue.put != queue.done)
        pthread_cond_wait(&queue.emptied, &queue.mu);
    pthread_mutex_unlock(&queue.mu);
}

static size_t bytes; /* of the current row */

static void host_pairs(long count)
{
    for (long i = 0; i < count; i++) {
        void *p = malloc(bytes);
        __asm__ volatile("" : "+r"(p)::"memory");
        free(p);
    }
}

/* Makes an address readable and removes that again, the minimum cost of making a use after free
 * fault. */
static void fenced_pairs(long count)
{
    static char *at;
    if (!at)
        at = mmap(NULL, (size_t)256 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    for (long i = 0; i < count; i++) {
        OK(mprotect(at + (2 << 20), bytes, PROT_READ | PROT_WRITE));
        OK(mprotect(at + (2 << 20), bytes, PROT_NONE));
    }
}

static char *host_from, *host_to;

static void host_copies(long count)
{
    for (long i = 0; i < count; i++) {
        memcpy(host_to, host_from, bytes);
        __asm__ volatile("" ::: "memory");
    }
}

/* ---- the simulated ones ---- */

static CUfunction kernel;
static CUstream stream, other;
static CUevent event;
static CUdeviceptr device_from, device_to;

static void launches_queued(long count)
{
    for (long i = 0; i < count; i++)
        OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    OK(cuStreamSynchronize(stream));
}

static void driver_pairs(long count)
{
    for (long i = 0; i < count; i++) {
        CUdeviceptr p;
        OK(cuMemAlloc(&p, bytes));
        OK(cuMemFree(p));
    }
}

static void copies(long count)
{
    for (long i = 0; i < count; i++)
        OK(cuMemcpyDtoDAsync(device_to, device_from, bytes, stream));
    OK(cuStreamSynchronize(stream));
}

static void events(long count)
{
    for (long i = 0; i < count; i++) {
        OK(cuEventRecord(event, stream));
        OK(cuStreamWaitEvent(other, event, 0));
    }
    OK(cuStreamSynchronize(other));
}

static void pool_pairs(long count)
{
    for (long i = 0; i < count; i++) {
        CUdeviceptr p;
        OK(cuMemAllocAsync(&p, bytes, stream));
        OK(cuMemFreeAsync(p, stream));
    }
    OK(cuStreamSynchronize(stream));
}

/* ---- the table ---- */

static void row(const char *name, void (*work)(long), const char *base_name, void (*base)(long),
                long count)
{
    double mine = measure(work, count), plain = measure(base, count);
    printf("%-38s %9.0f %9.2f   %-22s %9.1f %7.1f\n", name, mine, 1e3 / mine, base_name, plain,
           mine / plain);
    fflush(stdout);
}

int main(void)
{
    CUmodule module;
    pthread_t thread;
    setenv("VRAMSCOPE_SIMULATE", "a100-40g,time=off", 0);
    OK(cudaSetDevice(0));
    OK(cuModuleLoadData(&module, "nothing"));
    OK(cuModuleGetFunction(&kernel, module, "bench_kernel"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&device_from, 4096));
    OK(cuMemAlloc(&device_to, 4096));
    host_from = calloc(1, 4096);
    host_to = malloc(4096);
    OK(!host_from || !host_to);
    OK(pthread_create(&thread, NULL, queue_main, NULL));
    printf("%-38s %9s %9s   %-22s %9s %7s\n", "operation", "ns", "M/s", "beside it", "ns", "ratio");
    row("cuLaunchKernel, queued", launches_queued, "queued call", calls_queued, MILLION);
    bytes = 4096;
    row("cuMemcpyDtoDAsync, 4 KiB", copies, "memcpy", host_copies, MILLION);
    row("cuEventRecord + cuStreamWaitEvent", events, "queued call", calls_queued, MILLION);
    row("cuMemAlloc + cuMemFree, 4 KiB", driver_pairs, "malloc + free", host_pairs, MILLION);
    bytes = 1 << 20;
    row("cuMemAlloc + cuMemFree, 1 MiB", driver_pairs, "mprotect twice", fenced_pairs, FENCED);
    bytes = 64 << 20;
    row("cuMemAlloc + cuMemFree, 64 MiB", driver_pairs, "mprotect twice", fenced_pairs, FENCED);
    bytes = 4096;
    row("cuMemAllocAsync + cuMemFreeAsync", pool_pairs, "malloc + free", host_pairs, MILLION);
    return 0;
}
