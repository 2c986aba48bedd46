/* SPDX-License-Identifier: Apache-2.0
 *
 * Weak definitions of exported runtime functions that no other file defines: programs that refer to
 * them load, and a call returns cudaErrorNotSupported and makes it the last error. A definition of
 * vs_rt_impl_<symbol> or vs_rt_old_<symbol> replaces the weak one (rt_api.c creates the symbols).
 */
#include "simulator/runtime/vs_sim_runtime_major.h"

#define NOT_SUPPORTED 801 /* cudaErrorNotSupported; the CUDA headers would rename symbols */

extern int vs_rt_result(int error); /* cudaError_t is an int-sized enum in this ABI */

int vs_rt_not_supported(void);
int vs_rt_not_supported(void) { return vs_rt_result(NOT_SUPPORTED); }

#define FALLBACK(symbol)                \
    __asm__(".weak " symbol "\n"        \
            ".hidden " symbol "\n"      \
            ".set " symbol ", vs_rt_not_supported\n");
#define VS_RT_API(symbol, cbid) FALLBACK("vs_rt_impl_" #symbol)
#include "generated/vs_sim_runtime_api_table.h"

#define VS_RT_OLD(symbol, cbid) FALLBACK("vs_rt_old_" #symbol)
#include "simulator/runtime/vs_sim_runtime_old_table.h"
