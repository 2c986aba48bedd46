/* SPDX-License-Identifier: Apache-2.0
 *
 * Every public CUPTI function that is not simulated, so that tools which mention
 * them load; a call returns CUPTI_ERROR_NOT_SUPPORTED. The arguments are not
 * looked at, which is why cupti.h must not be included. */
#define VS_CUPTI_NOT_SUPPORTED 27 /* CUPTI_ERROR_NOT_SUPPORTED */

extern int vs_cupti_result(int result); /* CUptiResult is an int-sized enum in this ABI */

#define VS_CUPTI_NO(symbol)                                                                        \
    __attribute__((visibility("default"))) int symbol(void);                                       \
    int symbol(void) { return vs_cupti_result(VS_CUPTI_NOT_SUPPORTED); }
#include "simulator/cupti/vs_sim_cupti_unsupported_table.h"

/* "Starting with CUDA 13.0 ... always returns" this (cupti_activity.h). */
#define VS_CUPTI_LEGACY_PROFILER_NOT_SUPPORTED 38
__attribute__((visibility("default"))) int cuptiActivityConfigurePCSampling(void);
int cuptiActivityConfigurePCSampling(void)
{
    return vs_cupti_result(VS_CUPTI_LEGACY_PROFILER_NOT_SUPPORTED);
}
