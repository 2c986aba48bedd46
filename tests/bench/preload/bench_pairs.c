/* SPDX-License-Identifier: Apache-2.0
 *
 * Times allocate-and-free pairs of a driver program and prints two figures in ns: the best of many
 * short rounds, and their median. Independent of vramscope; bench_preload.sh runs it without and
 * with the library preloaded. Usage: bench_pairs HOW [DEPTH [THREADS [BYTES [BLOCKS [ROUNDS]]]]]
 *   malloc   the C library's pair of 512 bytes: a floor
 *   calls    the chain of calls alone
 *   resync   one block, freed and allocated again at once: with a cache, every pair
 *            needs a synchronisation of the device before the block is reused
 *   hit      a working set; the program synchronises between the rounds, untimed, so
 *            that a cache need not
 *   entry    the same through vramscope_torch_alloc and _free, on a separate stream
 *            for each thread; only where the library is preloaded
 * DEPTH: frames between the allocation and its thread's start, which go through one of eight call
 * sites in no fixed order. More threads: wall time over all pairs. ROUNDS: for counting
 * instructions (scripts/bench-instructions) or profiling. */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

#define ROUNDS 400 /* unless told */
#define ROUNDS_MAX 100000
#define BLOCKS_MAX 1024
#define REPEATS 4 /* of the set in a round of `malloc` */
#define THREADS_MAX 16

enum how { HOW_MALLOC, HOW_CALLS, HOW_RESYNC, HOW_HIT, HOW_ENTRY };

static enum how how;
static size_t bytes = (size_t)20 << 20;
static int depth = 1, threads = 1;
static unsigned blocks = 64; /* of each thread */
static int rounds = ROUNDS;
static CUcontext context;
static pthread_barrier_t barrier;
static double times[ROUNDS_MAX]; /* written by the first thread */
static _Atomic bool failed;
static void *(*entry_alloc)(size_t, int, void *);
static void (*entry_free)(void *, size_t, int, void *);
static _Thread_local CUstream stream;

__attribute__((noinline)) static uint64_t take(void *address)
{
    CUdeviceptr *p = address;
    if (how == HOW_ENTRY)
        *p = (CUdeviceptr)(uintptr_t)entry_alloc(bytes, 0, stream);
    else if (how != HOW_CALLS && cuMemAlloc(p, bytes))
        failed = true;
    else if (how == HOW_RESYNC && cuMemFree(*p))
        failed = true;
    return 0;
}

static unsigned set_of_malloc(void **set)
{
    for (int i = 0; i < REPEATS; i++) {
        for (unsigned j = 0; j < blocks; j++)
            set[j] = malloc(512);
        __asm__ volatile("" ::: "memory");
        for (unsigned j = 0; j < blocks; j++)
            free(set[j]);
    }
    return REPEATS * blocks;
}

/* One round; returns its number of pairs. */
static unsigned run_round(CUdeviceptr *set)
{
    if (how == HOW_MALLOC)
        return set_of_malloc((void **)set);
    for (unsigned j = 0; j < blocks; j++)
        bench_from_a_site(depth - 3, take, &set[j]);
    for (unsigned j = 0; how == HOW_HIT && j < blocks; j++) {
        if (cuMemFree(set[j]))
            failed = true;
    }
    for (unsigned j = 0; how == HOW_ENTRY && j < blocks; j++)
        entry_free((void *)(uintptr_t)set[j], bytes, 0, stream);
    return blocks;
}

static void *work(void *arg)
{
    int self = *(const int *)arg;
    CUdeviceptr set[BLOCKS_MAX] = {0};
    if (cuCtxSetCurrent(context) ||
        (how == HOW_ENTRY && cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)))
        failed = true;
    run_round(set); /* fills the cache */
    for (int r = 0; r < rounds && !failed; r++) {
        if (threads > 1)
            pthread_barrier_wait(&barrier);
        if (!self && cuCtxSynchronize())
            failed = true;
        if (threads > 1)
            pthread_barrier_wait(&barrier);
        double start = bench_ns(CLOCK_MONOTONIC);
        unsigned pairs = run_round(set) * (unsigned)threads;
        if (threads > 1)
            pthread_barrier_wait(&barrier);
        if (!self)
            times[r] = (bench_ns(CLOCK_MONOTONIC) - start) / pairs;
    }
    return NULL;
}

static bool parse(int argc, char **argv)
{
    static const char *const names[] = {"malloc", "calls", "resync", "hit", "entry"};
    bool known = false;
    for (unsigned i = 0; argc > 1 && i < sizeof names / sizeof *names; i++) {
        if (strcmp(argv[1], names[i]) == 0) {
            how = (enum how)i;
            known = true;
        }
    }
    depth = argc > 2 ? atoi(argv[2]) : depth;
    threads = argc > 3 ? atoi(argv[3]) : threads;
    bytes = argc > 4 ? strtoull(argv[4], NULL, 10) : bytes;
    blocks = argc > 5 ? (unsigned)atoi(argv[5]) : blocks;
    rounds = argc > 6 ? atoi(argv[6]) : rounds;
    *(void **)&entry_alloc = dlsym(RTLD_DEFAULT, "vramscope_torch_alloc");
    *(void **)&entry_free = dlsym(RTLD_DEFAULT, "vramscope_torch_free");
    if (how == HOW_ENTRY && (!entry_alloc || !entry_free))
        return false;
    return known && blocks >= 1 && blocks <= BLOCKS_MAX && threads >= 1 &&
           threads <= THREADS_MAX && rounds >= 1 && rounds <= ROUNDS_MAX;
}

int main(int argc, char **argv)
{
    CUdevice device;
    pthread_t ids[THREADS_MAX];
    int numbers[THREADS_MAX];
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: bench_pairs malloc|calls|resync|hit|entry "
                        "[DEPTH [THREADS [BYTES [BLOCKS [ROUNDS]]]]]\n");
        return 2;
    }
    CUresult r = cuInit(0);
    if (r || (r = cuDeviceGet(&device, 0)) || (r = cuDevicePrimaryCtxRetain(&context, device))) {
        fprintf(stderr, "bench_pairs: no context: error %d of the driver\n", (int)r);
        return 1;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        if (i && pthread_create(&ids[i], NULL, work, &numbers[i]))
            return 1;
    }
    work(&numbers[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    if (failed) {
        fprintf(stderr, "bench_pairs: a call of the driver failed\n");
        return 1;
    }
    double median = bench_median(times, (size_t)rounds);
    printf("%.1f %.1f\n", times[0], median);
    return 0;
}
