/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of matrices and vectors: the arithmetic that multiplies them, and their values on the
 * CPU. */
#include "simulator/libraries/cublas/vs_blas.h"

bool vs_blas_is_computed(int type)
{
    switch (type) {
    case CUDA_R_16F: case CUDA_R_16BF: case CUDA_R_32F: case CUDA_R_64F: case CUDA_C_32F:
    case CUDA_C_64F: case CUDA_R_8I: case CUDA_R_32I: return true;
    default: return false;
    }
}

enum vs_sim_number vs_blas_number(int type, int math)
{
    enum vs_sim_number number = vs_library_number(type);
    return number == VS_SIM_FP32 && (math & 15) == CUBLAS_TF32_TENSOR_OP_MATH ? VS_SIM_TF32 : number;
}

double complex vs_blas_load(const void *base, int type, int64_t i)
{
    switch (type) {
    case CUDA_R_32F: return ((const float *)base)[i];
    case CUDA_R_64F: return ((const double *)base)[i];
    case CUDA_C_32F: return ((const float complex *)base)[i];
    case CUDA_C_64F: return ((const double complex *)base)[i];
    case CUDA_R_8I: return ((const int8_t *)base)[i];
    case CUDA_R_32I: return ((const int32_t *)base)[i];
    case CUDA_R_16F: return vs_library_widen(&vs_library_half, ((const uint16_t *)base)[i]);
    default: return vs_library_widen(&vs_library_bfloat, ((const uint16_t *)base)[i]);
    }
}

void vs_blas_store(void *base, int type, int64_t i, double complex v)
{
    switch (type) {
    case CUDA_R_32F: ((float *)base)[i] = (float)creal(v); break;
    case CUDA_R_64F: ((double *)base)[i] = creal(v); break;
    case CUDA_C_32F: ((float complex *)base)[i] = (float complex)v; break;
    case CUDA_C_64F: ((double complex *)base)[i] = v; break;
    case CUDA_R_8I: ((int8_t *)base)[i] = (int8_t)creal(v); break;
    case CUDA_R_32I: ((int32_t *)base)[i] = (int32_t)creal(v); break;
    case CUDA_R_16F:
        ((uint16_t *)base)[i] = (uint16_t)vs_library_narrow(&vs_library_half, creal(v));
        break;
    default: ((uint16_t *)base)[i] = (uint16_t)vs_library_narrow(&vs_library_bfloat, creal(v)); break;
    }
}
