/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuBLAS that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cublas/vs_cublas_api.h"

const struct vs_library vs_library = {"cuBLAS", "cublas", CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"};

VS_CUBLAS_FUNCTIONS(VS_LIBRARY_FALLBACK)
