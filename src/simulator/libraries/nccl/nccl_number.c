/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of reductions. Numbers of 8 and 16 bits are combined in single precision and rounded
 * once, to nearest even (fp8: to the largest finite value beyond the range); wider ones in their own
 * precision. An average is the sum divided by the number of ranks. Real devices round in other
 * orders, so last bits differ. */
#include <math.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

static const struct {
    size_t bytes;
    const char *name;
} types[ncclNumTypes] = {
    [ncclInt8] = {1, "int8"},       [ncclUint8] = {1, "uint8"},
    [ncclInt32] = {4, "int32"},     [ncclUint32] = {4, "uint32"},
    [ncclInt64] = {8, "int64"},     [ncclUint64] = {8, "uint64"},
    [ncclFloat16] = {2, "float16"}, [ncclFloat32] = {4, "float32"},
    [ncclFloat64] = {8, "float64"}, [ncclBfloat16] = {2, "bfloat16"},
    [ncclFloat8e4m3] = {1, "float8e4m3"}, [ncclFloat8e5m2] = {1, "float8e5m2"},
};

size_t vs_nccl_type_bytes(int type)
{
    return type >= 0 && type < ncclNumTypes ? types[type].bytes : 0;
}

const char *vs_nccl_type_name(int type)
{
    return type >= 0 && type < ncclNumTypes ? types[type].name : "unknown type";
}

/* ---- narrow floating-point numbers ---- */

/* The layout of a format: bits of the mantissa, bias of the exponent, largest finite value, and
 * whether the largest exponent stands for infinity (else only all ones are a NaN). */
struct narrow {
    int mantissa, exponent, bias;
    float largest;
    bool infinity, saturate;
};

static const struct narrow half = {10, 5, 15, 65504.0f, true, false};
static const struct narrow brain = {7, 8, 127, 3.3895314e38f, true, false};
static const struct narrow e4m3 = {3, 4, 7, 448.0f, false, true};
static const struct narrow e5m2 = {2, 5, 15, 57344.0f, true, true};

static const struct narrow *narrow_of(int type)
{
    switch (type) {
    case ncclFloat16: return &half;
    case ncclBfloat16: return &brain;
    case ncclFloat8e4m3: return &e4m3;
    case ncclFloat8e5m2: return &e5m2;
    default: return NULL;
    }
}

static float widen(const struct narrow *f, unsigned bits)
{
    unsigned top = (1u << f->exponent) - 1, m = bits & ((1u << f->mantissa) - 1);
    unsigned e = bits >> f->mantissa & top;
    float sign = bits >> (f->mantissa + f->exponent) & 1 ? -1.0f : 1.0f;
    if (f->infinity && e == top)
        return m ? NAN : sign * INFINITY;
    if (!f->infinity && e == top && m == (1u << f->mantissa) - 1)
        return NAN;
    if (!e)
        return sign * ldexpf((float)m, 1 - f->bias - f->mantissa);
    return sign * ldexpf((float)(m | 1u << f->mantissa), (int)e - f->bias - f->mantissa);
}

static unsigned round_to(const struct narrow *f, float value)
{
    unsigned top = (1u << f->exponent) - 1, ones = (1u << f->mantissa) - 1;
    unsigned sign = signbit(value) ? 1u << (f->mantissa + f->exponent) : 0;
    if (isnan(value))
        return sign | top << f->mantissa | (f->infinity ? 1u << (f->mantissa - 1) : ones);
    float size = fabsf(value);
    unsigned largest = (f->infinity ? (top - 1) << f->mantissa | ones : top << f->mantissa | (ones - 1));
    unsigned beyond = f->saturate ? largest : top << f->mantissa;
    if (isinf(size))
        return sign | beyond;
    int e = size > 0 ? ilogbf(size) : 1 - f->bias;
    e = e < 1 - f->bias ? 1 - f->bias : e;
    float steps = rintf(ldexpf(size, f->mantissa - e)); /* to nearest even, the default mode */
    if (ldexpf(steps, e - f->mantissa) > f->largest)
        return sign | beyond;
    unsigned m = (unsigned)steps; /* a carry into the exponent comes out by the addition */
    return sign | (m >> f->mantissa ? ((unsigned)(e + f->bias - 1) << f->mantissa) + m : m);
}

static float read_narrow(int type, const void *at, size_t i)
{
    uint16_t two;
    if (vs_nccl_type_bytes(type) == 1)
        return widen(narrow_of(type), ((const unsigned char *)at)[i]);
    memcpy(&two, (const unsigned char *)at + 2 * i, 2);
    return widen(narrow_of(type), two);
}

static void write_narrow(int type, void *at, size_t i, float value)
{
    unsigned bits = round_to(narrow_of(type), value);
    uint16_t two = (uint16_t)bits;
    if (vs_nccl_type_bytes(type) == 1)
        ((unsigned char *)at)[i] = (unsigned char)bits;
    else
        memcpy((unsigned char *)at + 2 * i, &two, 2);
}

/* ---- reductions ---- */

#define MORE(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))

/* SUM: the type in which sums and products of integers wrap around. */
#define REDUCE(NAME, TYPE, SUM, MAX, MIN)                                                          \
    static void reduce_##NAME(int op, const void *const *inputs, int ranks, size_t count, void *out) \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            TYPE value = ((const TYPE *)inputs[0])[i];                                             \
            for (int r = 1; r < ranks; r++) {                                                      \
                TYPE next = ((const TYPE *)inputs[r])[i];                                          \
                switch (op) {                                                                      \
                case ncclProd: value = (TYPE)((SUM)value * (SUM)next); break;                      \
                case ncclMax: value = MAX(value, next); break;                                     \
                case ncclMin: value = MIN(value, next); break;                                     \
                default: value = (TYPE)((SUM)value + (SUM)next); break;                            \
                }                                                                                  \
            }                                                                                      \
            ((TYPE *)out)[i] = op == ncclAvg ? (TYPE)(value / (TYPE)ranks) : value;                \
        }                                                                                          \
    }
REDUCE(i8, int8_t, unsigned, MORE, LESS)
REDUCE(u8, uint8_t, unsigned, MORE, LESS)
REDUCE(i32, int32_t, uint32_t, MORE, LESS)
REDUCE(u32, uint32_t, uint32_t, MORE, LESS)
REDUCE(i64, int64_t, uint64_t, MORE, LESS)
REDUCE(u64, uint64_t, uint64_t, MORE, LESS)
REDUCE(f32, float, float, fmaxf, fminf)
REDUCE(f64, double, double, fmax, fmin)

static void reduce_narrow(int type, int op, const void *const *inputs, int ranks, size_t count,
                          void *out)
{
    for (size_t i = 0; i < count; i++) {
        float value = read_narrow(type, inputs[0], i);
        for (int r = 1; r < ranks; r++) {
            float next = read_narrow(type, inputs[r], i);
            switch (op) {
            case ncclProd: value *= next; break;
            case ncclMax: value = fmaxf(value, next); break;
            case ncclMin: value = fminf(value, next); break;
            default: value += next; break;
            }
        }
        write_narrow(type, out, i, op == ncclAvg ? value / (float)ranks : value);
    }
}

void vs_nccl_reduce(int type, int op, const void *const *inputs, int ranks, size_t count, void *out)
{
    switch (type) {
    case ncclInt8: reduce_i8(op, inputs, ranks, count, out); break;
    case ncclUint8: reduce_u8(op, inputs, ranks, count, out); break;
    case ncclInt32: reduce_i32(op, inputs, ranks, count, out); break;
    case ncclUint32: reduce_u32(op, inputs, ranks, count, out); break;
    case ncclInt64: reduce_i64(op, inputs, ranks, count, out); break;
    case ncclUint64: reduce_u64(op, inputs, ranks, count, out); break;
    case ncclFloat32: reduce_f32(op, inputs, ranks, count, out); break;
    case ncclFloat64: reduce_f64(op, inputs, ranks, count, out); break;
    default: reduce_narrow(type, op, inputs, ranks, count, out); break;
    }
}

#define SCALE(TYPE, SUM)                                                                           \
    do {                                                                                           \
        TYPE factor;                                                                               \
        memcpy(&factor, scalar, sizeof factor);                                                    \
        for (size_t i = 0; i < count; i++)                                                         \
            ((TYPE *)out)[i] = (TYPE)((SUM)((const TYPE *)in)[i] * (SUM)factor);                   \
    } while (0)

void vs_nccl_scale(int type, const void *scalar, const void *in, size_t count, void *out)
{
    switch (type) {
    case ncclInt8: SCALE(int8_t, unsigned); break;
    case ncclUint8: SCALE(uint8_t, unsigned); break;
    case ncclInt32: SCALE(int32_t, uint32_t); break;
    case ncclUint32: SCALE(uint32_t, uint32_t); break;
    case ncclInt64: SCALE(int64_t, uint64_t); break;
    case ncclUint64: SCALE(uint64_t, uint64_t); break;
    case ncclFloat32: SCALE(float, float); break;
    case ncclFloat64: SCALE(double, double); break;
    default:
        for (size_t i = 0; i < count; i++)
            write_narrow(type, out, i, read_narrow(type, in, i) * read_narrow(type, scalar, 0));
    }
}
