/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS handles and their settings. The first one on a device takes the memory of the library's kernels
 * there, by the table of sizes (docs/simulator.md). */
#include "simulator/libraries/cublas/vs_blas.h"
#include "simulator/libraries/cublaslt/vs_blas_handle.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define WORKSPACE_ALIGNMENT 256

int cublasCreate_v2(struct cublasContext **handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_library_use_device())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!vs_library_load())
        return CUBLAS_STATUS_ALLOC_FAILED;
    struct cublasContext *h = vs_library_new(VS_BLAS_HANDLE, sizeof *h);
    if (!h)
        return CUBLAS_STATUS_ALLOC_FAILED;
    if (!vramscopeSimBlasHandle(h, true)) {
        vs_library_delete(h, VS_BLAS_HANDLE);
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    h->special_values = 0xFFFF; /* all, the default of cublasSetEmulationSpecialValuesSupport */
    *handle = h;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasDestroy_v2(struct cublasContext *h)
{
    if (vs_library_object(h, VS_BLAS_HANDLE))
        vramscopeSimBlasHandle(h, false);
    return vs_library_delete(h, VS_BLAS_HANDLE) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* cuBLAS, cublasSetStream: returns to the default workspace. */
int cublasSetStream_v2(struct cublasContext *h, CUstream stream)
{
    VS_BLAS_CHECK(h, false);
    h->stream = stream;
    h->workspace = NULL;
    h->workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasSetWorkspace_v2(struct cublasContext *h, void *workspace, size_t bytes)
{
    VS_BLAS_CHECK(h, (uintptr_t)workspace % WORKSPACE_ALIGNMENT);
    h->workspace = workspace;
    h->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

#define GET(name, T, field)                                                                        \
    int cublasGet##name(struct cublasContext *h, T *value)                                         \
    {                                                                                              \
        VS_BLAS_CHECK(h, !value);                                                                  \
        *value = h->field;                                                                         \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
#define GET_AND_SET(name, suffix, T, field, good)                                                  \
    GET(name##suffix, T, field)                                                                    \
    int cublasSet##name##suffix(struct cublasContext *h, T value)                                  \
    {                                                                                              \
        VS_BLAS_CHECK(h, !(good));                                                                 \
        h->field = value;                                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
static bool is_math_mode(int mode)
{
    int known = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION | 15, low = mode & 15;
    return !(mode & ~known) && low <= CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH &&
           (low <= CUBLAS_FP32_EMULATED_BF16X9_MATH || low == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
}

GET(Stream_v2, CUstream, stream)
GET_AND_SET(PointerMode, _v2, int, pointer_mode,
            value == CUBLAS_POINTER_MODE_HOST || value == CUBLAS_POINTER_MODE_DEVICE)
GET_AND_SET(AtomicsMode, , int, atomics_mode,
            value == CUBLAS_ATOMICS_ALLOWED || value == CUBLAS_ATOMICS_NOT_ALLOWED)
GET_AND_SET(MathMode, , int, math_mode, is_math_mode(value))
GET_AND_SET(SmCountTarget, , int, sm_count_target,
            value >= 0 && value <= vs_library_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))
GET_AND_SET(EmulationStrategy, , int, emulation_strategy,
            value >= CUBLAS_EMULATION_STRATEGY_DEFAULT && value <= CUBLAS_EMULATION_STRATEGY_EAGER)
GET_AND_SET(EmulationSpecialValuesSupport, , int, special_values, value >= 0 && value <= 0xFFFF)
GET_AND_SET(FixedPointEmulationMantissaControl, , int, mantissa_control, value == 0 || value == 1)
GET_AND_SET(FixedPointEmulationMaxMantissaBitCount, , int, mantissa_bits_max, value >= 0)
GET_AND_SET(FixedPointEmulationMantissaBitOffset, , int, mantissa_offset, true)
GET_AND_SET(FixedPointEmulationMantissaBitCountPointer, , int *, mantissa_bits, true)
