/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds a number of live allocations and prints the process's host memory in KiB: Pss and
 * Private_Dirty. Independent of vramscope; bench_footprint.sh runs it without and with the library
 * preloaded.
 *
 *   bench_live COUNT
 *
 * Blocks come from one of eight call sites in no fixed order, DEPTH frames deep. A COUNT of 0 makes
 * one allocation and frees it, so that one-time allocations are included. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../bench.h"

#define BYTES 512
#define DEPTH 20

static uint64_t allocate(void *p) { return cuMemAlloc(p, BYTES); }

static long field(const char *name)
{
    char line[256];
    long value = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, strlen(name)) == 0)
            value = atol(line + strlen(name));
    }
    if (f)
        fclose(f);
    return value;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    CUcontext context;
    CUdeviceptr one;
    /* the program's own table, the same in every run */
    CUdeviceptr *blocks = mmap(NULL, (count + 1) * sizeof *blocks, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (blocks == MAP_FAILED || cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) ||
        bench_from_a_site(DEPTH, allocate, &one) || cuMemFree(one))
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (bench_from_a_site(DEPTH, allocate, &blocks[i])) {
            fprintf(stderr, "allocation %zu failed\n", i);
            return 1;
        }
    }
    printf("%ld %ld\n", field("Pss:"), field("Private_Dirty:"));
    return 0;
}
