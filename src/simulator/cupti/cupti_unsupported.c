/* SPDX-License-Identifier: Apache-2.0
 *
 * What a public CUPTI function does that no other file defines: tools which mention it
 * load, and a call returns CUPTI_ERROR_NOT_SUPPORTED. The fallback is weak, so a
 * definition takes its place. */
#define NOT_SUPPORTED 27 /* CUPTI_ERROR_NOT_SUPPORTED; cupti.h declares the symbols otherwise */

extern int vs_cupti_result(int result); /* CUptiResult is an int-sized enum in this ABI */

int vs_cupti_not_supported(void);
int vs_cupti_not_supported(void) { return vs_cupti_result(NOT_SUPPORTED); }

#define VS_CUPTI_API(symbol)                      \
    __asm__(".weak " #symbol "\n"                 \
            ".type " #symbol ", %function\n"      \
            ".set " #symbol ", vs_cupti_not_supported\n");
#include "generated/vs_sim_cupti_table.h"
