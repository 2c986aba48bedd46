/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of elements, which several libraries have: a cudaDataType's size and arithmetic, and numbers of
 * 8 and 16 bits in floating point, since not every compiler has them. */
#include <library_types.h>
#include <math.h>

#include "simulator/libraries/common/vs_library_base.h"

static const struct element_type {
    int bits;
    bool is_complex;
    enum vs_sim_number number;
} types[] = {
#define TYPE(name, bits, number) \
    [CUDA_R_##name] = {bits, false, VS_SIM_##number}, [CUDA_C_##name] = {2 * (bits), true, VS_SIM_##number}
    TYPE(64F, 64, FP64), TYPE(32F, 32, FP32), TYPE(16F, 16, FP16), TYPE(16BF, 16, FP16),
    TYPE(64I, 64, FP32), TYPE(64U, 64, FP32), TYPE(32I, 32, FP32), TYPE(32U, 32, FP32),
    TYPE(16I, 16, FP32), TYPE(16U, 16, FP32), TYPE(8I, 8, INT8), TYPE(8U, 8, INT8),
    TYPE(4I, 4, INT8), TYPE(4U, 4, INT8),
    /* CUDA_R_8F_E4M3, E5M2, UE8M0, CUDA_R_6F_E2M3, E3M2, CUDA_R_4F_E2M1: not in every CUDA 12 */
    [28] = {8, false, VS_SIM_FP8}, [29] = {8, false, VS_SIM_FP8}, [30] = {8, false, VS_SIM_FP32},
    [31] = {6, false, VS_SIM_FP8}, [32] = {6, false, VS_SIM_FP8}, [33] = {4, false, VS_SIM_FP8},
};

static const struct element_type *row_of(int type)
{
    static const struct element_type none = {.number = VS_SIM_FP32};
    return type >= 0 && type < (int)(sizeof types / sizeof *types) ? &types[type] : &none;
}

int vs_library_bits(int type) { return row_of(type)->bits; }
bool vs_library_is_complex(int type) { return row_of(type)->is_complex; }
enum vs_sim_number vs_library_number(int type) { return row_of(type)->number; }

const struct vs_library_narrow vs_library_half = {10, 5, 15, 65504.0, true, false};
const struct vs_library_narrow vs_library_bfloat = {7, 8, 127, 0x1.fep127, true, false};

double vs_library_widen(const struct vs_library_narrow *f, unsigned bits)
{
    unsigned top = (1u << f->exponent) - 1, m = bits & ((1u << f->mantissa) - 1);
    unsigned e = bits >> f->mantissa & top;
    double sign = bits >> (f->mantissa + f->exponent) & 1 ? -1 : 1;
    if (f->infinity && e == top)
        return m ? NAN : sign * INFINITY;
    if (!f->infinity && e == top && m == (1u << f->mantissa) - 1)
        return NAN;
    if (!e)
        return sign * ldexp(m, 1 - f->bias - f->mantissa);
    return sign * ldexp(m | 1u << f->mantissa, (int)e - f->bias - f->mantissa);
}

unsigned vs_library_narrow(const struct vs_library_narrow *f, double value)
{
    unsigned top = (1u << f->exponent) - 1, ones = (1u << f->mantissa) - 1;
    unsigned sign = signbit(value) ? 1u << (f->mantissa + f->exponent) : 0;
    if (isnan(value))
        return sign | top << f->mantissa | (f->infinity ? 1u << (f->mantissa - 1) : ones);
    double size = fabs(value);
    unsigned largest = (f->infinity ? (top - 1) << f->mantissa | ones : top << f->mantissa | (ones - 1));
    unsigned beyond = f->saturate ? largest : top << f->mantissa;
    if (isinf(size))
        return sign | beyond;
    int e = size > 0 ? ilogb(size) : 1 - f->bias;
    e = e < 1 - f->bias ? 1 - f->bias : e;
    double steps = rint(ldexp(size, f->mantissa - e)); /* to nearest even, the default mode */
    if (ldexp(steps, e - f->mantissa) > f->largest)
        return sign | beyond;
    unsigned m = (unsigned)steps; /* a carry into the exponent comes out by the addition */
    return sign | (m >> f->mantissa ? ((unsigned)(e + f->bias - 1) << f->mantissa) + m : m);
}
