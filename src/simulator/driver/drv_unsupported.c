/* SPDX-License-Identifier: Apache-2.0
 *
 * Weak definitions of public driver functions that no other file defines: programs that refer to
 * them load, and a call returns CUDA_ERROR_NOT_SUPPORTED. A definition of vs_sim_impl_<symbol>
 * (vs_sim_rename.h) replaces the weak one. */
#define NOT_SUPPORTED 801 /* CUDA_ERROR_NOT_SUPPORTED; cuda.h would rename the symbols */

int vs_sim_not_supported(void);
int vs_sim_not_supported(void) { return NOT_SUPPORTED; }

#define FALLBACK(symbol)                           \
    __asm__(".weak vs_sim_impl_" #symbol "\n"      \
            ".hidden vs_sim_impl_" #symbol "\n"    \
            ".set vs_sim_impl_" #symbol ", vs_sim_not_supported\n");
#define VS_SIM_FN(name, version, symbol) FALLBACK(symbol)
#define VS_SIM_FN_PT(name, version, symbol, pt) FALLBACK(symbol) FALLBACK(pt)
#include "generated/vs_sim_entry_table.h"
