/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of the stand-in for cuFFT: made in fft_plan.c, executed in fft_exec.c. A handle is a small
 * number, as in cuFFT. */
#ifndef VS_FFT_PLAN_H
#define VS_FFT_PLAN_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cufft/vs_cufft_api.h"

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

#endif
