/* SPDX-License-Identifier: Apache-2.0
 *
 * Weak definitions of public CUPTI functions that no other file defines: tools that refer to them
 * load, and a call returns CUPTI_ERROR_NOT_SUPPORTED. A real definition replaces the weak one. */
/* CUPTI_ERROR_NOT_SUPPORTED; cupti.h declares these symbols with other types */
#define NOT_SUPPORTED 27

extern int vs_cupti_result(int result); /* CUptiResult is an int-sized enum in this ABI */

int vs_cupti_not_supported(void);
int vs_cupti_not_supported(void) { return vs_cupti_result(NOT_SUPPORTED); }

#define VS_CUPTI_API(symbol)                      \
    __asm__(".weak " #symbol "\n"                 \
            ".type " #symbol ", %function\n"      \
            ".set " #symbol ", vs_cupti_not_supported\n");
#include "generated/vs_sim_cupti_table.h"
