/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of cusolver, written by scripts/library_tables.py from the
 * headers of cusolver 11.6.1.9 (CUDA 12) and cusolver 12.4.1.2 (CUDA 13). Do not edit. */
#ifndef VS_CUSOLVER_API_H
#define VS_CUSOLVER_API_H

#include "generated/vs_cusolver_rows.h" /* VS_CUSOLVER_FUNCTIONS */

enum {
    CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVER_DETERMINISTIC_RESULTS = 1,
    CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 2, CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1, CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3, CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_NOT_SUPPORTED = 9, CUSOLVER_EIG_MODE_VECTOR = 1,
};

#define CUSOLVER_VER_MAJOR 12
#define CUSOLVER_VER_MINOR 4
#define CUSOLVER_VER_PATCH 1

#endif
