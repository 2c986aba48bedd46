/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop of malloc and free for profilers of host memory: like bench_trace's loop on events, 256
 * live, in no fixed order, from eight call sites about 20 frames deep. A library, so that memray's
 * Python can call it; bench_malloc_main.c runs it alone. */
#include <stdint.h>
#include <stdlib.h>

#include "../bench.h"

#define LIVE 256u

double bench_malloc_loop(uint64_t pairs);

static uint64_t allocate(void *bytes) { return (uintptr_t)malloc((uintptr_t)bytes); }

/* Returns ns per pair of an allocation and a free. */
__attribute__((visibility("default"))) double bench_malloc_loop(uint64_t pairs)
{
    static void *live[LIVE];
    unsigned random = 1;
    double start = bench_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < pairs; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned slot = (random >> 16) % LIVE;
        free(live[slot]);
        void *bytes = (void *)(uintptr_t)(64 + (random >> 24) % 8 * 32);
        live[slot] = (void *)(uintptr_t)bench_from_a_site(17, allocate, bytes);
    }
    double took = bench_ns(CLOCK_MONOTONIC) - start;
    for (unsigned i = 0; i < LIVE; i++) {
        free(live[i]);
        live[i] = NULL;
    }
    return took / (double)pairs;
}
