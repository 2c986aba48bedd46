/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of cufft, written by scripts/library_tables.py from the
 * headers of cufft 11.2.1.3 (CUDA 12) and cufft 12.5.0.14 (CUDA 13). Do not edit. */
#ifndef VS_CUFFT_API_H
#define VS_CUFFT_API_H

#include "generated/vs_cufft_rows.h" /* VS_CUFFT_FUNCTIONS */

enum {
    CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN = 1, CUFFT_ALLOC_FAILED = 2, CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4, CUFFT_EXEC_FAILED = 6, CUFFT_SETUP_FAILED = 7, CUFFT_INVALID_SIZE = 8,
    CUFFT_NO_WORKSPACE = 13, CUFFT_NOT_SUPPORTED = 16, CUFFT_R2C = 42, CUFFT_C2R = 44,
    CUFFT_C2C = 41, CUFFT_D2Z = 106, CUFFT_Z2D = 108, CUFFT_Z2Z = 105,
};

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 5
#define CUFFT_VER_PATCH 0

#endif
