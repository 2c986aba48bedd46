/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles every exported driver function under the name vs_sim_impl_<symbol>: drv_api.c exports
 * the symbol itself (vs_sim_thunk.h). Pragmas need no prior declaration, and no function can be
 * forgotten; calls from one driver file to another function's definition go straight there.
 * Included before cuda.h, whose macros would be mistaken for the names. */
#ifndef VS_SIM_RENAME_H
#define VS_SIM_RENAME_H

#define VS_SIM_RENAME(symbol) VS_SIM_RENAME_1(redefine_extname symbol vs_sim_impl_##symbol)
#define VS_SIM_RENAME_1(text) _Pragma(#text)
#define VS_SIM_FN(name, version, symbol) VS_SIM_RENAME(symbol)
#define VS_SIM_FN_PT(name, version, symbol, pt) VS_SIM_RENAME(symbol) VS_SIM_RENAME(pt)
#include "generated/vs_sim_entry_table.h"
#undef VS_SIM_FN
#undef VS_SIM_FN_PT

#endif
