/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stand-in CUPTI: activity records and resource callbacks, made from
 * what the stand-in driver reports (vs_sim_activity.h). */
#ifndef VS_SIM_CUPTI_H
#define VS_SIM_CUPTI_H

#include <cuda.h>
#pragma GCC visibility push(default) /* exports what we define of these */
#include <cupti.h>
#pragma GCC visibility pop
#include <stdbool.h>
#include <stdint.h>

#include "simulator/vs_sim_activity.h"

/* vs_cupti_attach: find the stand-in driver. False when libcuda.so.1 is missing or
 * another one. Any thread. */
bool vs_cupti_attach(void);

/* vs_cupti_permission: may anybody profile? CUPTI_SUCCESS, or the refusal that the
 * spec asks for (cupti=...), as cuptiSubscribe and cuptiActivityEnable return it. */
CUptiResult vs_cupti_permission(void);

/* vs_cupti_identify: the driver's vramscopeSimIdentify. Only after vs_cupti_attach
 * returned true. */
CUresult vs_cupti_identify(CUcontext context, CUstream stream, int per_thread,
                           struct vs_sim_identity *identity);

/* vs_cupti_want: add (*on*) or take away *bits* from what the driver reports. */
void vs_cupti_want(uint32_t bits, bool on);

/* Where the driver's reports arrive, one function in each file. */
void vs_cupti_activity_done(const struct vs_sim_activity *activity);
void vs_cupti_submitted(uint32_t correlation);
void vs_cupti_resource(enum vs_sim_resource what, CUcontext context, CUstream stream);

/* vs_cupti_time: a CLOCK_MONOTONIC instant as records show it (cupti_time.c). */
uint64_t vs_cupti_time(uint64_t monotonic_ns);

/* vs_cupti_result: *result*, remembered for cuptiGetLastError when it is an error. */
CUptiResult vs_cupti_result(CUptiResult result);

/* vs_cupti_activity_finish, vs_cupti_callback_finish: their parts of cuptiFinalize. */
void vs_cupti_activity_finish(void);
void vs_cupti_callback_finish(void);

#endif
