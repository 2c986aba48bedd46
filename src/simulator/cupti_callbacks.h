/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stand-in CUPTI: the one subscriber, and what it is told. */
#ifndef VS_SIM_CUPTI_CALLBACKS_H
#define VS_SIM_CUPTI_CALLBACKS_H

#include <cupti.h>
#include <stdbool.h>
#include <stdint.h>

#include "simulator/vs_sim_activity.h"

/* vs_sim_callback_resource: a context or stream comes or goes. Any thread. */
void vs_sim_callback_resource(enum vs_sim_resource what, CUcontext context, CUstream stream);

/* vs_sim_want: switch VS_SIM_WANT bits of the driver on or off. */
CUptiResult vs_sim_want(uint32_t bits, bool on);

/* vs_sim_driver_symbol: of the loaded libcuda.so.1; NULL without one. */
void *vs_sim_driver_symbol(const char *name);

#endif
