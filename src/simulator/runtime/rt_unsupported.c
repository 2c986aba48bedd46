/* SPDX-License-Identifier: Apache-2.0
 *
 * Every exported runtime function of CUDA 13.0 that is not simulated, so that
 * programs which only mention them load; a call returns cudaErrorNotSupported and
 * makes it the last error. The arguments are not looked at, which is why the CUDA
 * headers must not be included. rt_api.c makes the symbols. */
#include "simulator/runtime/vs_sim_runtime_major.h"

#define VS_RT_NOT_SUPPORTED 801 /* cudaErrorNotSupported */

extern int vs_rt_result(int error); /* cudaError_t is an int-sized enum in this ABI */

#define VS_RT_NO(symbol)           \
    int vs_rt_impl_##symbol(void); \
    int vs_rt_impl_##symbol(void) { return vs_rt_result(VS_RT_NOT_SUPPORTED); }
#include "simulator/runtime/vs_sim_runtime_unsupported_table.h"

#define VS_RT_OLD(symbol, cbid)
#define VS_RT_OLD_NO(symbol, cbid) \
    int vs_rt_old_##symbol(void);  \
    int vs_rt_old_##symbol(void) { return vs_rt_result(VS_RT_NOT_SUPPORTED); }
#include "simulator/runtime/vs_sim_runtime_old_table.h"
