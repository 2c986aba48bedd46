/* SPDX-License-Identifier: Apache-2.0
 *
 * Execution of cuFFT's plans: work of 5 N log2 N operations for each transform of N points, as is
 * usual for counting them. Values are not computed. */
#include <math.h>

#include "simulator/libraries/cufft/vs_fft_plan.h"

#define NEWEST                                                                                     \
    (struct vs_library_version) { CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH }

int vs_fft_execute(int handle, const struct vs_fft_execution *e)
{
    struct vs_fft_plan plan;
    if (!vs_fft_plan_get(handle, &plan) || !plan.made)
        return CUFFT_INVALID_PLAN;
    if (!e->input || !e->output || (e->direction != -1 && e->direction != 1))
        return CUFFT_INVALID_VALUE;
    if (!plan.automatic && plan.work_bytes && !plan.given && !plan.work)
        return CUFFT_NO_WORKSPACE;
    struct vs_sim_work work = {.name = "cufft",
                               .number = plan.number,
                               .operations = 5 * plan.elements * log2(plan.points < 2 ? 2 : plan.points),
                               .bytes = 4 * plan.elements * plan.element_bytes};
    return vs_library_submit(plan.stream, &work) ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
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
