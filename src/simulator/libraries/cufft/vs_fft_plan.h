/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows of cufft.calls hand to their runners. */
#ifndef VS_FFT_PLAN_H
#define VS_FFT_PLAN_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cufft/vs_cufft_api.h"

VS_CUFFT_FUNCTIONS(VS_LIBRARY_DECLARE)

/* The transforms of a plan, as cufft.calls packs them. */
struct vs_fft_shape {
    int rank, type;
    bool many; /* lengths are in one of the arrays, or else in *n* */
    long long n[3], batch;
    const int *narrow;
    const long long *wide;
    bool has_types; /* of input, output and execution, instead of *type* */
    int input, output, execution;
    unsigned long *size; /* receives the bytes of the work area */
};
int vs_fft_make(int handle, const struct vs_fft_shape *shape);
int vs_fft_new(int *handle, const struct vs_fft_shape *shape);

struct vs_fft_execution {
    const void *input, *output;
    int direction;
};
int vs_fft_execute(int handle, const struct vs_fft_execution *execution);

#endif
