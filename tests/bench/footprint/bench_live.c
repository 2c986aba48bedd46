/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds a number of live allocations and prints the process's host memory in KiB: Pss and
 * Private_Dirty. Independent of vramscope; bench_footprint.sh runs it without and with the library
 * preloaded.
 *
 *   bench_live COUNT [BYTES [DEPTH]]
 *
 * Blocks come from one of eight call sites in no fixed order, DEPTH frames deep. A COUNT of 0 makes
 * one allocation and frees it, so that one-time allocations are included. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t bytes = 512;
static int depth = 20;

__attribute__((noinline)) static CUresult at_depth(int left, CUdeviceptr *p)
{
    CUresult r = left > 0 ? at_depth(left - 1, p) : cuMemAlloc(p, bytes);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return r;
}

#define SITE(n)                                                              \
    __attribute__((noinline)) static CUresult site_##n(CUdeviceptr *p)       \
    {                                                                        \
        CUresult r = at_depth(depth, p);                                     \
        __asm__ volatile("" ::: "memory");                                   \
        return r;                                                            \
    }
SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)

static CUresult (*const sites[8])(CUdeviceptr *) = {site_0, site_1, site_2, site_3,
                                                    site_4, site_5, site_6, site_7};

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
    bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : bytes;
    depth = argc > 3 ? atoi(argv[3]) : depth;
    CUcontext context;
    CUdeviceptr one;
    /* the program's own table, the same in every run */
    CUdeviceptr *blocks = mmap(NULL, (count + 1) * sizeof *blocks, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (blocks == MAP_FAILED || cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || sites[0](&one) ||
        cuMemFree(one))
        return 1;
    uint32_t random = 1;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525 + 1013904223;
        if (sites[random >> 29](&blocks[i])) {
            fprintf(stderr, "allocation %zu failed\n", i);
            return 1;
        }
    }
    printf("%ld %ld\n", field("Pss:"), field("Private_Dirty:"));
    return 0;
}
