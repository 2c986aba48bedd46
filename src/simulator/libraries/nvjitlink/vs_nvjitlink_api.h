/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of nvjitlink, written by scripts/library_tables.py from the
 * headers of nvjitlink 12.4.127 (CUDA 12) and nvjitlink 13.5.37 (CUDA 13). Do not edit. */
#ifndef VS_NVJITLINK_API_H
#define VS_NVJITLINK_API_H

#include "generated/vs_nvjitlink_rows.h" /* VS_NVJITLINK_FUNCTIONS */

enum {
    NVJITLINK_SUCCESS = 0, NVJITLINK_ERROR_MISSING_ARCH = 2, NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_INTERNAL = 6, NVJITLINK_INPUT_PTX = 2,
};

#endif
