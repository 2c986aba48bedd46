/* SPDX-License-Identifier: Apache-2.0
 *
 * What cuBLAS tells cuBLASLt: its handles, each of which a program may pass to cuBLASLt as a handle
 * (cuBLAS documentation, cublasLtHandle_t). */
#ifndef VS_BLAS_HANDLE_H
#define VS_BLAS_HANDLE_H

#include "simulator/libraries/common/vs_library_base.h"

/* vramscopeSimBlasHandle: *handle* of cuBLAS exists from now on, or (live false) no longer. Any
 * thread. */
VS_LIBRARY_EXPORT void vramscopeSimBlasHandle(const void *handle, bool live);

#endif
