/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuBLASLt that no other file here defines: "not supported". */
#include "simulator/libraries/common/vs_library_fallback.h"
#include "simulator/libraries/cublaslt/vs_cublaslt_api.h"

const struct vs_library vs_library = {"cuBLASLt", "cublaslt", CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"};

VS_CUBLASLT_FUNCTIONS(VS_LIBRARY_FALLBACK)
