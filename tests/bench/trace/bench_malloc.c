/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop of malloc and free for profilers of host memory: like bench_trace's loop on events, 256
 * live, in no fixed order, from eight call sites about 20 frames deep. A library, so that memray's
 * Python can call it; bench_malloc_main.c runs it alone. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define LIVE 256u

double bench_malloc_loop(uint64_t pairs);

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void *below(size_t bytes, int depth)
{
    void *p = depth ? below(bytes, depth - 1) : malloc(bytes);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return p;
}

__attribute__((noinline)) static void *allocate(size_t bytes)
{
    static unsigned random = 1;
    random = random * 1664525u + 1013904223u;
    void *p = NULL;
    switch (random >> 29) {
#define SITE(i)                            \
    case i:                                \
        p = below(bytes, 17);              \
        __asm__ volatile("" ::: "memory"); \
        break;
        SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)
#undef SITE
    }
    return p;
}

/* Returns ns per pair of an allocation and a free. */
__attribute__((visibility("default"))) double bench_malloc_loop(uint64_t pairs)
{
    static void *live[LIVE];
    unsigned random = 1;
    double start = seconds();
    for (uint64_t i = 0; i < pairs; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned slot = (random >> 16) % LIVE;
        free(live[slot]);
        live[slot] = allocate(64 + (random >> 24) % 8 * 32);
    }
    double took = seconds() - start;
    for (unsigned i = 0; i < LIVE; i++) {
        free(live[i]);
        live[i] = NULL;
    }
    return took * 1e9 / (double)pairs;
}
