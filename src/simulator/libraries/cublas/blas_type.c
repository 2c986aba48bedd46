/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of matrices and vectors: the arithmetic that multiplies them, and their values on the
 * CPU. Half precision and bfloat16 are converted here, since not every compiler has
 * them. */
#include <math.h>
#include <string.h>

#include "simulator/libraries/cublas/vs_blas.h"

bool vs_blas_is_complex(int type)
{
    switch (type) {
    case CUDA_C_16F: case CUDA_C_16BF: case CUDA_C_32F: case CUDA_C_64F: case CUDA_C_8I:
    case CUDA_C_8U: return true;
    default: return false;
    }
}

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
    switch (type) {
    case CUDA_R_64F: case CUDA_C_64F: return VS_SIM_FP64;
    case CUDA_R_16F: case CUDA_C_16F: case CUDA_R_16BF: case CUDA_C_16BF: return VS_SIM_FP16;
    case CUDA_R_8I: case CUDA_R_8U: case CUDA_C_8I: case CUDA_C_8U: case CUDA_R_4I: case CUDA_R_4U:
        return VS_SIM_INT8;
    case 28: case 29: case 31: case 32: case 33: return VS_SIM_FP8;
    default: return (math & 15) == CUBLAS_TF32_TENSOR_OP_MATH ? VS_SIM_TF32 : VS_SIM_FP32;
    }
}

static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return h & 0x8000 ? -v : v;
}

static uint16_t half_of(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (isnan(v))
        return sign | 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    if (a < ldexp(1, -14))
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(a, 24)));
    int e = ilogb(a); /* a fraction that rounds up to 2048 carries into the exponent */
    return (uint16_t)(sign | (uint16_t)(((e + 14) << 10) + (int)nearbyint(ldexp(a, 10 - e))));
}

static uint16_t bfloat_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v))
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
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
    case CUDA_R_16F: return half_value(((const uint16_t *)base)[i]);
    default: break;
    }
    uint32_t bits = (uint32_t)((const uint16_t *)base)[i] << 16; /* bfloat16 */
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
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
    case CUDA_R_16F: ((uint16_t *)base)[i] = half_of(creal(v)); break;
    default: ((uint16_t *)base)[i] = bfloat_of((float)creal(v)); break;
    }
}
