/* SPDX-License-Identifier: Apache-2.0
 *
 * cuRAND's pseudo-random generators. The numbers are real, but not those of a real GPU: a counter and
 * the seed are mixed by splitmix64, whatever the type of the generator. A device generator writes in
 * the order of its stream, a host generator at once. */
#include <math.h>
#include <stdlib.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/curand/vs_curand_api.h"

VS_CURAND_FUNCTIONS(VS_LIBRARY_DECLARE)

#define GENERATOR 1
#define TWO_PI 6.283185307179586
#define NEWEST                                                                                     \
    (struct vs_library_version) { CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH }

struct curandGenerator_st {
    int type;
    bool host;
    CUstream stream;
    uint64_t seed, offset;
};

/* One call of a generate function; executed on the stream's thread. */
struct rand_job {
    int (*element)(uint64_t bits, void *to, size_t i, const double parameters[2]);
    void *to;
    size_t count;
    uint64_t seed, offset;
    double parameters[2];
    bool keep; /* part of a captured graph: it runs again */
};

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void fill(void *data)
{
    struct rand_job *job = data;
    for (size_t i = 0; i < job->count; i++)
        job->element(mix(job->seed ^ mix(job->offset + i)), job->to, i, job->parameters);
    if (!job->keep)
        free(job);
}

/* Uniform in (0, 1], as cuRAND's. */
static double unit(uint64_t bits) { return ((double)(bits >> 11) + 1) / 9007199254740992.0; }

static double normal(uint64_t bits, const double p[2])
{
    return p[0] + p[1] * sqrt(-2 * log(unit(bits))) * cos(TWO_PI * unit(mix(bits)));
}

#define ELEMENT(name, type, value)                                                                 \
    static int name(uint64_t bits, void *to, size_t i, const double p[2])                          \
    {                                                                                              \
        (void)p;                                                                                   \
        ((type *)to)[i] = (type)(value);                                                           \
        return 0;                                                                                  \
    }
ELEMENT(element_32, unsigned int, bits)
ELEMENT(element_64, unsigned long long, bits)
ELEMENT(element_uniform, float, ((double)(bits >> 40) + 1) / 16777216.0)
ELEMENT(element_uniform_double, double, unit(bits))
ELEMENT(element_normal, float, normal(bits, p))
ELEMENT(element_normal_double, double, normal(bits, p))
ELEMENT(element_log_normal, float, exp(normal(bits, p)))
ELEMENT(element_log_normal_double, double, exp(normal(bits, p)))

/* Poisson: products of uniform numbers for small means, the normal distribution for large ones. */
static unsigned poisson(uint64_t bits, double mean)
{
    if (mean > 64) {
        double value = normal(bits, (double[]){mean, sqrt(mean)}) + 0.5;
        return value > 0 ? (unsigned)value : 0;
    }
    unsigned n = 0;
    for (double product = unit(bits), end = exp(-mean); product > end; n++)
        product *= unit(bits = mix(bits));
    return n;
}
ELEMENT(element_poisson, unsigned int, poisson(bits, p[0]))

static int generate(struct curandGenerator_st *g, void *to, size_t count, const double parameters[2],
                    int (*element)(uint64_t, void *, size_t, const double[2]))
{
    if (!vs_library_object(g, GENERATOR))
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!to && count)
        return CURAND_STATUS_OUT_OF_RANGE;
    struct rand_job *job = malloc(sizeof *job);
    if (!job)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *job = (struct rand_job){element, to, count, g->seed, g->offset, {parameters[0], parameters[1]}, false};
    g->offset += count;
    if (g->host) {
        fill(job);
        return CURAND_STATUS_SUCCESS;
    }
    const struct vs_library_driver *d = vs_library_driver();
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (d && !d->cuStreamIsCapturing(g->stream, &capture))
        job->keep = capture != CU_STREAM_CAPTURE_STATUS_NONE;
    if (d && !d->cuLaunchHostFunc(g->stream, fill, job))
        return CURAND_STATUS_SUCCESS;
    free(job);
    return CURAND_STATUS_LAUNCH_FAILURE;
}

#define NO_PARAMETERS ((const double[2]){0, 0})

int curandGenerate(struct curandGenerator_st *g, unsigned int *to, size_t count)
{
    return generate(g, to, count, NO_PARAMETERS, element_32);
}

int curandGenerateLongLong(struct curandGenerator_st *g, unsigned long long *to, size_t count)
{
    return generate(g, to, count, NO_PARAMETERS, element_64);
}

int curandGenerateUniform(struct curandGenerator_st *g, float *to, size_t count)
{
    return generate(g, to, count, NO_PARAMETERS, element_uniform);
}

int curandGenerateUniformDouble(struct curandGenerator_st *g, double *to, size_t count)
{
    return generate(g, to, count, NO_PARAMETERS, element_uniform_double);
}

/* An odd count is an error of cuRAND's pseudo-random normal distributions, which come in pairs. */
#define NORMAL(name, type, element)                                                                \
    int name(struct curandGenerator_st *g, type *to, size_t count, type mean, type deviation)      \
    {                                                                                              \
        if (count % 2)                                                                             \
            return CURAND_STATUS_LENGTH_NOT_MULTIPLE;                                              \
        return generate(g, to, count, (const double[2]){mean, deviation}, element);                \
    }
NORMAL(curandGenerateNormal, float, element_normal)
NORMAL(curandGenerateNormalDouble, double, element_normal_double)
NORMAL(curandGenerateLogNormal, float, element_log_normal)
NORMAL(curandGenerateLogNormalDouble, double, element_log_normal_double)

int curandGeneratePoisson(struct curandGenerator_st *g, unsigned int *to, size_t count, double mean)
{
    if (!(mean > 0))
        return CURAND_STATUS_OUT_OF_RANGE;
    return generate(g, to, count, (const double[2]){mean, 0}, element_poisson);
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
    *generator = vs_library_new(GENERATOR, sizeof **generator);
    if (!*generator)
        return CURAND_STATUS_ALLOCATION_FAILED;
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

int curandDestroyGenerator(struct curandGenerator_st *g)
{
    return vs_library_delete(g, GENERATOR) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

#define SET(name, type, action)                                                                    \
    int name(struct curandGenerator_st *g, type value)                                             \
    {                                                                                              \
        if (!vs_library_object(g, GENERATOR))                                                      \
            return CURAND_STATUS_NOT_INITIALIZED;                                                  \
        action;                                                                                    \
        return CURAND_STATUS_SUCCESS;                                                              \
    }
SET(curandSetStream, struct CUstream_st *, g->stream = value)
SET(curandSetPseudoRandomGeneratorSeed, unsigned long long, (g->seed = value, g->offset = 0))
SET(curandSetGeneratorOffset, unsigned long long, g->offset = value)
SET(curandSetGeneratorOrdering, int, (void)value)

int curandGenerateSeeds(struct curandGenerator_st *g)
{
    return vs_library_object(g, GENERATOR) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

int curandGetVersion(int *version)
{
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    struct vs_library_version v = vs_library_version(NEWEST);
    *version = v.major * 1000 + v.minor * 100 + v.patch;
    return CURAND_STATUS_SUCCESS;
}

int curandGetProperty(int type, int *value)
{
    return vs_library_property(vs_library_version(NEWEST), type, value) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
