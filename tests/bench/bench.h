/* SPDX-License-Identifier: Apache-2.0
 *
 * What benchmarks measure with. */
#ifndef VS_BENCH_H
#define VS_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static inline int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts *values*. */
static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, bench_by_value);
    return values[count / 2];
}

typedef uint64_t bench_leaf_fn(void *argument);

__attribute__((noinline, unused)) static uint64_t bench_below(int depth, bench_leaf_fn *leaf,
                                                              void *argument)
{
    uint64_t result = depth > 0 ? bench_below(depth - 1, leaf, argument) : leaf(argument);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return result;
}

/* What *leaf* returns, called *depth* + 2 frames down from one of eight call sites, in no fixed order. */
__attribute__((noinline, unused)) static uint64_t bench_from_a_site(int depth, bench_leaf_fn *leaf,
                                                                    void *argument)
{
    static _Thread_local unsigned random = 1;
    uint64_t result = 0;
    random = random * 1664525u + 1013904223u;
    switch (random >> 29) {
#define BENCH_SITE(i)                                 \
    case i:                                           \
        result = bench_below(depth, leaf, argument);  \
        __asm__ volatile("" ::: "memory");            \
        break;
        BENCH_SITE(0) BENCH_SITE(1) BENCH_SITE(2) BENCH_SITE(3)
        BENCH_SITE(4) BENCH_SITE(5) BENCH_SITE(6) BENCH_SITE(7)
#undef BENCH_SITE
    }
    return result;
}

#endif
