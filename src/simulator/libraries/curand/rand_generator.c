/* SPDX-License-Identifier: Apache-2.0
 *
 * cuRAND's pseudo-random generators. The numbers are real, but not those of a real GPU: a counter and
 * the seed are mixed by splitmix64, whatever the type of the generator. A device generator writes in
 * the order of its stream, a host generator at once. */
#include <math.h>
#include <stdlib.h>

#include "simulator/libraries/curand/vs_rand.h"

#define TWO_PI 6.283185307179586

/* One call of a generate function; executed on the stream's thread. */
struct rand_job {
    struct vs_rand_call call;
    uint64_t seed, offset;
};

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Uniform in (0, 1], as cuRAND's. */
static double unit(uint64_t bits) { return ((double)(bits >> 11) + 1) / 9007199254740992.0; }

static double normal(uint64_t bits, double mean, double deviation)
{
    return mean + deviation * sqrt(-2 * log(unit(bits))) * cos(TWO_PI * unit(mix(bits)));
}

/* Poisson: products of uniform numbers for small means, the normal distribution for large ones. */
static unsigned poisson(uint64_t bits, double mean)
{
    if (mean > 64) {
        double value = normal(bits, mean, sqrt(mean)) + 0.5;
        return value > 0 ? (unsigned)value : 0;
    }
    unsigned n = 0;
    for (double product = unit(bits), end = exp(-mean); product > end; n++)
        product *= unit(bits = mix(bits));
    return n;
}
/* Element *i* of a call, from random bits. */
static void store(const struct vs_rand_call *c, size_t i, uint64_t bits)
{
    double value = c->kind < VS_RAND_NORMAL ? 0 : normal(bits, c->mean, c->deviation);
    switch (c->kind) {
    case VS_RAND_32: ((unsigned int *)c->to)[i] = (unsigned int)bits; break;
    case VS_RAND_64: ((unsigned long long *)c->to)[i] = bits; break;
    case VS_RAND_UNIFORM: ((float *)c->to)[i] = (float)(((double)(bits >> 40) + 1) / 16777216.0); break;
    case VS_RAND_UNIFORM_DOUBLE: ((double *)c->to)[i] = unit(bits); break;
    case VS_RAND_NORMAL: ((float *)c->to)[i] = (float)value; break;
    case VS_RAND_NORMAL_DOUBLE: ((double *)c->to)[i] = value; break;
    case VS_RAND_LOG_NORMAL: ((float *)c->to)[i] = (float)exp(value); break;
    case VS_RAND_LOG_NORMAL_DOUBLE: ((double *)c->to)[i] = exp(value); break;
    case VS_RAND_POISSON: ((unsigned int *)c->to)[i] = poisson(bits, c->mean); break;
    }
}

static void fill(void *data)
{
    const struct rand_job *job = data;
    for (size_t i = 0; i < job->call.count; i++)
        store(&job->call, i, mix(job->seed ^ mix(job->offset + i)));
}

int vs_rand_generate(struct curandGenerator_st *g, const struct vs_rand_call *c)
{
    /* An odd count is an error of cuRAND's pseudo-random normal distributions, which come in pairs. */
    if (c->kind >= VS_RAND_NORMAL && c->kind < VS_RAND_POISSON && c->count % 2)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (c->kind == VS_RAND_POISSON && !(c->mean > 0))
        return CURAND_STATUS_OUT_OF_RANGE;
    if (!vs_library_object(g, VS_RAND_GENERATOR))
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!c->to && c->count)
        return CURAND_STATUS_OUT_OF_RANGE;
    struct rand_job job = {*c, g->seed, g->offset};
    g->offset += c->count;
    if (g->host)
        fill(&job);
    else if (vs_library_in_order(g->stream, fill, &job, sizeof job))
        return CURAND_STATUS_LAUNCH_FAILURE;
    return CURAND_STATUS_SUCCESS;
}

/* ---- generators ---- */

static int create(struct curandGenerator_st **generator, int type, bool host)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (type >= CURAND_RNG_QUASI_DEFAULT)
        return vs_library_unsupported("curandCreateGenerator", "for quasi-random generators");
    if (type < CURAND_RNG_PSEUDO_DEFAULT || type > CURAND_RNG_PSEUDO_PHILOX4_32_10)
        return CURAND_STATUS_TYPE_ERROR;
    if (!host && !vs_library_driver())
        return CURAND_STATUS_INITIALIZATION_FAILED;
    *generator = vs_library_new(VS_RAND_GENERATOR, sizeof **generator);
    **generator = (struct curandGenerator_st){.type = type, .host = host};
    return CURAND_STATUS_SUCCESS;
}

int curandCreateGenerator(struct curandGenerator_st **generator, int type)
{
    return create(generator, type, false);
}

int curandCreateGeneratorHost(struct curandGenerator_st **generator, int type)
{
    return create(generator, type, true);
}

int curandSetPseudoRandomGeneratorSeed(struct curandGenerator_st *g, unsigned long long seed)
{
    if (!vs_library_object(g, VS_RAND_GENERATOR))
        return CURAND_STATUS_NOT_INITIALIZED;
    g->seed = seed;
    g->offset = 0;
    return CURAND_STATUS_SUCCESS;
}
