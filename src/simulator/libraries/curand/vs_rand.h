/* SPDX-License-Identifier: Apache-2.0
 *
 * What a row of curand.calls hands to its runner. */
#ifndef VS_RAND_H
#define VS_RAND_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/curand/vs_curand_api.h"

VS_CURAND_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { VS_RAND_GENERATOR = 1 };

struct curandGenerator_st {
    int type;
    bool host;
    CUstream stream;
    uint64_t seed, offset;
};

enum vs_rand_kind {
    VS_RAND_32,
    VS_RAND_64,
    VS_RAND_UNIFORM,
    VS_RAND_UNIFORM_DOUBLE,
    VS_RAND_NORMAL, /* from here on in pairs */
    VS_RAND_NORMAL_DOUBLE,
    VS_RAND_LOG_NORMAL,
    VS_RAND_LOG_NORMAL_DOUBLE,
    VS_RAND_POISSON
};
struct vs_rand_call {
    enum vs_rand_kind kind;
    void *to;
    size_t count;
    double mean, deviation;
};
/* vs_rand_generate: fills *to* in the order of the generator's stream, or at once for a generator on the
 * host. Returns a status of cuRAND. */
int vs_rand_generate(struct curandGenerator_st *generator, const struct vs_rand_call *call);

#endif
