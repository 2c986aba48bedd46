/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of reductions. Numbers of 8 and 16 bits are combined in single precision and rounded
 * once, to nearest even (fp8: to the largest finite value beyond the range); wider ones in their own
 * precision. An average is the sum divided by the number of ranks. Real devices round in other
 * orders, so last bits differ. */
#include <math.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define MORE(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))

/* SUM: the type in which sums and products of integers wrap around. */
#define ARITHMETIC(NAME, TYPE, SUM, MAX, MIN)                                                      \
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
    }                                                                                              \
    static void scale_##NAME(const void *scalar, const void *in, size_t count, void *out)          \
    {                                                                                              \
        TYPE factor;                                                                               \
        memcpy(&factor, scalar, sizeof factor);                                                    \
        for (size_t i = 0; i < count; i++)                                                         \
            ((TYPE *)out)[i] = (TYPE)((SUM)((const TYPE *)in)[i] * (SUM)factor);                   \
    }
ARITHMETIC(i8, int8_t, unsigned, MORE, LESS)
ARITHMETIC(u8, uint8_t, unsigned, MORE, LESS)
ARITHMETIC(i32, int32_t, uint32_t, MORE, LESS)
ARITHMETIC(u32, uint32_t, uint32_t, MORE, LESS)
ARITHMETIC(i64, int64_t, uint64_t, MORE, LESS)
ARITHMETIC(u64, uint64_t, uint64_t, MORE, LESS)
ARITHMETIC(f32, float, float, fmaxf, fminf)
ARITHMETIC(f64, double, double, fmax, fmin)

static const struct vs_library_narrow e4m3 = {3, 4, 7, 448.0, false, true};
static const struct vs_library_narrow e5m2 = {2, 5, 15, 57344.0, true, true};

#define WIDE(NAME) .short_name = #NAME, .reduce = reduce_##NAME, .scale = scale_##NAME
static const struct number_type {
    size_t bytes;
    const char *name, *short_name;
    void (*reduce)(int op, const void *const *inputs, int ranks, size_t count, void *out);
    void (*scale)(const void *scalar, const void *in, size_t count, void *out);
    const struct vs_library_narrow *narrow; /* in the place of both */
} types[ncclNumTypes] = {
    [ncclInt8] = {1, "int8", WIDE(i8)},       [ncclUint8] = {1, "uint8", WIDE(u8)},
    [ncclInt32] = {4, "int32", WIDE(i32)},    [ncclUint32] = {4, "uint32", WIDE(u32)},
    [ncclInt64] = {8, "int64", WIDE(i64)},    [ncclUint64] = {8, "uint64", WIDE(u64)},
    [ncclFloat32] = {4, "float32", WIDE(f32)}, [ncclFloat64] = {8, "float64", WIDE(f64)},
    [ncclFloat16] = {2, "float16", "f16", .narrow = &vs_library_half},
    [ncclBfloat16] = {2, "bfloat16", "bf16", .narrow = &vs_library_bfloat},
    [ncclFloat8e4m3] = {1, "float8e4m3", "f8e4m3", .narrow = &e4m3},
    [ncclFloat8e5m2] = {1, "float8e5m2", "f8e5m2", .narrow = &e5m2},
};

size_t vs_nccl_type_bytes(int type)
{
    return type >= 0 && type < ncclNumTypes ? types[type].bytes : 0;
}

const char *vs_nccl_type_name(int type)
{
    return type >= 0 && type < ncclNumTypes ? types[type].name : "unknown type";
}

const char *vs_nccl_type_short(int type) { return types[type].short_name; }

static float read_narrow(const struct number_type *t, const void *at, size_t i)
{
    return (float)vs_library_widen(t->narrow, t->bytes == 1 ? ((const uint8_t *)at)[i] : ((const uint16_t *)at)[i]);
}

static void write_narrow(const struct number_type *t, void *at, size_t i, float value)
{
    unsigned bits = vs_library_narrow(t->narrow, value);
    if (t->bytes == 1)
        ((uint8_t *)at)[i] = (uint8_t)bits;
    else
        ((uint16_t *)at)[i] = (uint16_t)bits;
}

void vs_nccl_reduce(int type, int op, const void *const *inputs, int ranks, size_t count, void *out)
{
    const struct number_type *t = &types[type];
    if (t->reduce)
        t->reduce(op, inputs, ranks, count, out);
    for (size_t i = 0; t->narrow && i < count; i++) {
        float value = read_narrow(t, inputs[0], i);
        for (int r = 1; r < ranks; r++) {
            float next = read_narrow(t, inputs[r], i);
            switch (op) {
            case ncclProd: value *= next; break;
            case ncclMax: value = fmaxf(value, next); break;
            case ncclMin: value = fminf(value, next); break;
            default: value += next; break;
            }
        }
        write_narrow(t, out, i, op == ncclAvg ? value / (float)ranks : value);
    }
}

void vs_nccl_scale(int type, const void *scalar, const void *in, size_t count, void *out)
{
    const struct number_type *t = &types[type];
    if (t->scale)
        t->scale(scalar, in, count, out);
    for (size_t i = 0; t->narrow && i < count; i++)
        write_narrow(t, out, i, read_narrow(t, in, i) * read_narrow(t, scalar, 0));
}
