/* SPDX-License-Identifier: Apache-2.0
 *
 * Times allocate-and-free pairs of a driver program and prints the median of
 * several rounds in ns. Knows nothing of vramscope; bench_preload.sh runs it
 * without and with the library in front. */
#define _GNU_SOURCE
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 9

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A chain of calls of some depth, as real programs have. */
__attribute__((noinline)) static CUresult pair_at(int depth, size_t bytes)
{
    CUdeviceptr p;
    if (depth) {
        CUresult r = pair_at(depth - 1, bytes);
        __asm__ volatile("" ::: "memory"); /* no tail call */
        return r;
    }
    CUresult r = cuMemAlloc(&p, bytes);
    return r == CUDA_SUCCESS ? cuMemFree(p) : r;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 20000, depth = argc > 2 ? atoi(argv[2]) : 16;
    CUdevice device;
    CUcontext context;
    double times[ROUNDS];
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context))
        return 1;
    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();
        for (int i = 0; i < pairs; i++) {
            if (pair_at(depth, 1 << 20))
                return 1;
        }
        times[r] = (now_ns() - start) / pairs;
    }
    qsort(times, ROUNDS, sizeof *times, by_value);
    printf("%.0f\n", times[ROUNDS / 2]);
    return 0;
}
