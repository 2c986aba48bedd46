/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of the stand-in for cuFFT: made in fft_plan.c, executed in fft_exec.c. A handle is a small
 * number, as in cuFFT. */
#ifndef VS_FFT_PLAN_H
#define VS_FFT_PLAN_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cufft/vs_cufft_api.h"

VS_CUFFT_FUNCTIONS(VS_LIBRARY_DECLARE)

struct vs_fft_plan {
    bool used, made, automatic; /* automatic: the plan allocates its work area */
    CUstream stream;
    enum vs_sim_number number;
    unsigned element_bytes;  /* of a complex element */
    double elements, points; /* complex elements of all transforms; of one */
    size_t work_bytes;
    CUdeviceptr work;        /* allocated by the plan, or 0 */
    void *given;             /* by the caller, or NULL */
};

/* vs_fft_plan_get: copies the plan *handle*. False if there is none. */
bool vs_fft_plan_get(int handle, struct vs_fft_plan *plan);

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
