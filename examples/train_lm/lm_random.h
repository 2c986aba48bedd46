/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeatable random numbers: splitmix64, the same sequence for a seed on every
 * machine. Not shared between threads. */
#ifndef LM_RANDOM_H
#define LM_RANDOM_H

#include <math.h>
#include <stdint.h>

struct lm_random {
    uint64_t state; /* the seed; any value will do */
};

static inline uint64_t lm_random_bits(struct lm_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double lm_random_uniform(struct lm_random *r)
{
    return (double)(lm_random_bits(r) >> 11) * 0x1p-53;
}

/* Uniform in [0, count), count > 0 and far below 2^64. */
static inline uint64_t lm_random_below(struct lm_random *r, uint64_t count)
{
    return lm_random_bits(r) % count;
}

/* Normal with mean 0 and deviation 1 (Box-Muller, one of the pair). */
static inline double lm_random_normal(struct lm_random *r)
{
    double u = 1.0 - lm_random_uniform(r), v = lm_random_uniform(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

#endif
