/* SPDX-License-Identifier: Apache-2.0
 *
 * Execution of cuFFT's plans: work of 5 N log2 N operations for each transform of N points, as is
 * usual for counting them. Values are not computed. */
#include <math.h>

#include "simulator/libraries/cufft/vs_fft_plan.h"

#define NEWEST                                                                                     \
    (struct vs_library_version) { CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH }

VS_CUFFT_FUNCTIONS(VS_LIBRARY_DECLARE)

static int execute(int handle, const void *input, const void *output, int direction)
{
    struct vs_fft_plan plan;
    if (!vs_fft_plan_get(handle, &plan) || !plan.made)
        return CUFFT_INVALID_PLAN;
    if (!input || !output || (direction != -1 && direction != 1))
        return CUFFT_INVALID_VALUE;
    if (!plan.automatic && plan.work_bytes && !plan.given && !plan.work)
        return CUFFT_NO_WORKSPACE;
    struct vs_sim_work work = {.name = "cufft",
                               .number = plan.number,
                               .operations = 5 * plan.elements * log2(plan.points < 2 ? 2 : plan.points),
                               .bytes = 4 * plan.elements * plan.element_bytes};
    return vs_library_submit(plan.stream, &work) ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
}

int cufftXtExec(int handle, void *input, void *output, int direction)
{
    return execute(handle, input, output, direction);
}

int cufftExecC2C(int handle, struct float2 *input, struct float2 *output, int direction)
{
    return execute(handle, input, output, direction);
}

int cufftExecZ2Z(int handle, struct double2 *input, struct double2 *output, int direction)
{
    return execute(handle, input, output, direction);
}

int cufftExecR2C(int handle, float *input, struct float2 *output)
{
    return execute(handle, input, output, -1);
}

int cufftExecC2R(int handle, struct float2 *input, float *output)
{
    return execute(handle, input, output, 1);
}

int cufftExecD2Z(int handle, double *input, struct double2 *output)
{
    return execute(handle, input, output, -1);
}

int cufftExecZ2D(int handle, struct double2 *input, double *output)
{
    return execute(handle, input, output, 1);
}

int cufftGetVersion(int *version)
{
    if (!version)
        return CUFFT_INVALID_VALUE;
    struct vs_library_version v = vs_library_version(NEWEST);
    *version = v.major * 1000 + v.minor * 100 + v.patch;
    return CUFFT_SUCCESS;
}

int cufftGetProperty(int type, int *value)
{
    return vs_library_property(vs_library_version(NEWEST), type, value) ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}
