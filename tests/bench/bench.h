/* SPDX-License-Identifier: Apache-2.0
 *
 * What benchmarks measure with. */
#ifndef VS_BENCH_H
#define VS_BENCH_H

#include <stddef.h>
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

/* The statement at one of eight call sites, without a tail call. */
#define BENCH_SITE(i, ...) case i: __VA_ARGS__; __asm__ volatile("" ::: "memory"); break;
#define BENCH_SITES(which, ...)                                                                    \
    switch (which) {                                                                               \
        BENCH_SITE(0, __VA_ARGS__) BENCH_SITE(1, __VA_ARGS__) BENCH_SITE(2, __VA_ARGS__)           \
        BENCH_SITE(3, __VA_ARGS__) BENCH_SITE(4, __VA_ARGS__) BENCH_SITE(5, __VA_ARGS__)           \
        BENCH_SITE(6, __VA_ARGS__) BENCH_SITE(7, __VA_ARGS__)                                      \
    }

#endif
