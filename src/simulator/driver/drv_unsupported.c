/* SPDX-License-Identifier: Apache-2.0
 *
 * Every public driver function that is not simulated, so that programs which only
 * mention them load and get CUDA_ERROR_NOT_SUPPORTED where they call them. The
 * arguments are not looked at, which is why cuda.h must not be included. Defined
 * under the hidden names of vs_sim_rename.h, so that these calls are watched too. */
#define VS_SIM_NOT_SUPPORTED 801 /* CUDA_ERROR_NOT_SUPPORTED */

#define VS_SIM_FN(name, version, symbol)
#define VS_SIM_FN_PT(name, version, symbol, pt)
#define VS_SIM_NO_1(symbol)         \
    int vs_sim_impl_##symbol(void); \
    int vs_sim_impl_##symbol(void) { return VS_SIM_NOT_SUPPORTED; }
#define VS_SIM_NO(name, version, symbol) VS_SIM_NO_1(symbol)
#define VS_SIM_NO_PT(name, version, symbol, pt) VS_SIM_NO_1(symbol) VS_SIM_NO_1(pt)
#include "simulator/driver/vs_sim_entry_table.h"
