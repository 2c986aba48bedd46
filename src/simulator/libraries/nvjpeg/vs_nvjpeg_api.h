/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of nvjpeg, written by scripts/library_tables.py from the
 * headers of nvjpeg 12.4.0.76 (CUDA 12) and nvjpeg 13.3.2.43 (CUDA 13). Do not edit. */
#ifndef VS_NVJPEG_API_H
#define VS_NVJPEG_API_H

#include "generated/vs_nvjpeg_rows.h" /* VS_NVJPEG_FUNCTIONS */

enum {
    NVJPEG_STATUS_SUCCESS = 0, NVJPEG_STATUS_NOT_INITIALIZED = 1,
    NVJPEG_STATUS_INVALID_PARAMETER = 2, NVJPEG_STATUS_BAD_JPEG = 3,
    NVJPEG_STATUS_ALLOCATOR_FAILURE = 5, NVJPEG_STATUS_EXECUTION_FAILED = 6,
    NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED = 9, NVJPEG_CSS_444 = 0, NVJPEG_CSS_422 = 1,
    NVJPEG_CSS_420 = 2, NVJPEG_CSS_440 = 3, NVJPEG_CSS_411 = 4, NVJPEG_CSS_410 = 5,
    NVJPEG_CSS_GRAY = 6, NVJPEG_OUTPUT_RGBI = 5, NVJPEG_OUTPUT_BGRI = 6,
};

#define NVJPEG_VER_MAJOR 13
#define NVJPEG_VER_MINOR 3
#define NVJPEG_VER_PATCH 2

typedef struct {
    unsigned char *channel[4];
    unsigned long pitch[4];
} nvjpegImage_t;
_Static_assert(sizeof(nvjpegImage_t) == 64, "layout of nvjpegImage_t");

#endif
