/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor map objects of devices from compute capability 9.0 on: the arguments are checked as cuda.h
 * documents ("Tensor Map Object Managment") and stored. The layout of the object is this driver's
 * own, since only device code and cuTensorMapReplaceAddress read it, and device code does not run
 * here. */
#include "simulator/driver/vs_sim_driver.h"

#include <string.h>

#define MAP_MARK 0x7673544du
#define RANK_MAX 5
#define DIMENSION_MAX (UINT64_C(1) << 32)
#define STRIDE_MAX (UINT64_C(1) << 40)

struct tensor_map { /* what the 128 opaque bytes contain */
    uint64_t address;
    uint32_t mark;
    uint8_t type, rank, interleave, swizzle, promotion, fill, mode;
    uint8_t element_strides[RANK_MAX];
    uint32_t last[RANK_MAX]; /* size of each dimension, less one */
    uint64_t strides[RANK_MAX - 1];
    uint16_t box[RANK_MAX];
    int16_t lower[3], upper[3];
    uint16_t channels, pixels;
};
_Static_assert(sizeof(struct tensor_map) <= sizeof(CUtensorMap), "a tensor map has 128 bytes");

struct map_shape { /* the arguments that all forms have */
    CUtensorMap *out;
    unsigned type, rank;
    void *address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *element_strides;
    unsigned interleave, swizzle, promotion, fill;
};

static bool in_pieces_of_16(unsigned type) /* with gaps in shared memory */
{
    return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

/* Bits of an element in shared memory. */
static unsigned bits_of(unsigned type)
{
    static const uint8_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 8, 8};
    return bits[type];
}

static bool is_float(unsigned type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* NULL is aligned: programs whose device code sets the address later pass it. */
static bool address_ok(unsigned interleave, unsigned type, const void *address)
{
    bool wide = interleave == CU_TENSOR_MAP_INTERLEAVE_32B || in_pieces_of_16(type);
    return (uintptr_t)address % (wide ? 32 : 16) == 0;
}

static bool swizzle_ok(const struct map_shape *s)
{
    if (s->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ||
        (s->interleave == CU_TENSOR_MAP_INTERLEAVE_32B &&
         s->swizzle != CU_TENSOR_MAP_SWIZZLE_32B))
        return false;
    bool common = s->swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ||
                  s->swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                  s->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    if (s->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B)
        return common;
    if (s->type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return s->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
               (common || s->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
    return true;
}

static bool dims_ok(const struct map_shape *s)
{
    bool pieces = in_pieces_of_16(s->type);
    unsigned align = s->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || pieces ? 32 : 16;
    for (unsigned i = 0; i < s->rank; i++)
        if (!s->dims[i] || s->dims[i] > DIMENSION_MAX)
            return false;
    for (unsigned i = 0; i + 1 < s->rank; i++)
        if (s->strides[i] % align || s->strides[i] >= STRIDE_MAX)
            return false;
    /* the first element stride is ignored without interleaving */
    for (unsigned i = s->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE; i < s->rank; i++)
        if (!s->element_strides[i] || s->element_strides[i] > 8)
            return false;
    if (pieces)
        return s->dims[0] % 128 == 0;
    return s->type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || s->dims[0] % 2 == 0;
}

static bool shape_ok(const struct map_shape *s)
{
    return s->out && (uintptr_t)s->out % 64 == 0 &&
           s->type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && s->rank >= 1 &&
           s->rank <= RANK_MAX && s->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           (s->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || s->rank >= 3) &&
           address_ok(s->interleave, s->type, s->address) && s->dims && s->element_strides &&
           (s->strides || s->rank == 1) && dims_ok(s) && swizzle_ok(s) &&
           s->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           s->fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
           (!s->fill || is_float(s->type));
}

/* The inner dimension of the box, *elements* long, must fit the swizzling pattern. */
static bool inner_ok(const struct map_shape *s, uint64_t elements)
{
    static const unsigned most[] = {0, 32, 64, 128, 128, 128, 128};
    return s->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || !most[s->swizzle] ||
           elements * bits_of(s->type) / 8 <= most[s->swizzle];
}

static CUresult map_enter(int major)
{
    CUresult e = vs_sim_enter();
    return !e && vs_sim_spec.preset->major < major ? CUDA_ERROR_NOT_SUPPORTED : e;
}

static void map_describe(struct tensor_map *m, const struct map_shape *s)
{
    memset(m, 0, sizeof *m);
    m->address = (uintptr_t)s->address;
    m->mark = MAP_MARK;
    m->type = (uint8_t)s->type;
    m->rank = (uint8_t)s->rank;
    m->interleave = (uint8_t)s->interleave;
    m->swizzle = (uint8_t)s->swizzle;
    m->promotion = (uint8_t)s->promotion;
    m->fill = (uint8_t)s->fill;
    for (unsigned i = 0; i < s->rank; i++) {
        m->last[i] = (uint32_t)(s->dims[i] - 1);
        m->element_strides[i] = (uint8_t)s->element_strides[i];
    }
    for (unsigned i = 0; i + 1 < s->rank; i++)
        m->strides[i] = s->strides[i];
}

static void map_store(CUtensorMap *out, const struct tensor_map *m)
{
    memset(out, 0, sizeof *out);
    memcpy(out, m, sizeof *m);
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void *globalAddress,
                                const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill)
{
    struct map_shape s = {tensorMap,     tensorDataType, tensorRank, globalAddress, globalDim,
                          globalStrides, elementStrides, interleave, swizzle,       l2Promotion,
                          oobFill};
    struct tensor_map m;
    CUresult e = map_enter(9);
    if (e)
        return e;
    if (!shape_ok(&s) || !boxDim || (in_pieces_of_16(s.type) && boxDim[0] != 128) ||
        (s.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
         boxDim[0] * (uint64_t)bits_of(s.type) % (16 * 8)) ||
        !inner_ok(&s, boxDim[0]))
        return CUDA_ERROR_INVALID_VALUE;
    map_describe(&m, &s);
    for (unsigned i = 0; i < s.rank; i++) {
        if (!boxDim[i] || boxDim[i] > 256)
            return CUDA_ERROR_INVALID_VALUE;
        m.box[i] = (uint16_t)boxDim[i];
    }
    map_store(tensorMap, &m);
    return CUDA_SUCCESS;
}

/* ---- convolutions ---- */

/* The first *count* offsets of a corner, each in a range that depends on the rank. The area of the box
 * is not checked: the order of its dimensions is not documented. */
static bool corner_ok(const int *corner, unsigned count, int16_t out[3])
{
    static const int most[] = {32767, 127, 15};
    for (unsigned i = 0; i < count; i++) {
        if (corner[i] < -most[count - 1] - 1 || corner[i] > most[count - 1])
            return false;
        out[i] = (int16_t)corner[i];
    }
    return true;
}

static bool column_ok(const struct map_shape *s, unsigned channels, unsigned pixels)
{
    return s->rank >= 3 && channels && channels <= 256 && pixels && pixels <= 1024 &&
           (!in_pieces_of_16(s->type) || channels == 128) && inner_ok(s, channels);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                 cuuint32_t tensorRank, void *globalAddress,
                                 const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                 const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner,
                                 cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill)
{
    struct map_shape s = {tensorMap,     tensorDataType, tensorRank, globalAddress, globalDim,
                          globalStrides, elementStrides, interleave, swizzle,       l2Promotion,
                          oobFill};
    struct tensor_map m;
    CUresult e = map_enter(9);
    if (e)
        return e;
    if (!shape_ok(&s) || !pixelBoxLowerCorner || !pixelBoxUpperCorner ||
        !column_ok(&s, channelsPerPixel, pixelsPerColumn))
        return CUDA_ERROR_INVALID_VALUE;
    map_describe(&m, &s);
    if (!corner_ok(pixelBoxLowerCorner, s.rank - 2, m.lower) ||
        !corner_ok(pixelBoxUpperCorner, s.rank - 2, m.upper))
        return CUDA_ERROR_INVALID_VALUE;
    m.channels = (uint16_t)channelsPerPixel;
    m.pixels = (uint16_t)pixelsPerColumn;
    map_store(tensorMap, &m);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                     cuuint32_t tensorRank, void *globalAddress,
                                     const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                     int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth,
                                     cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                     const cuuint32_t *elementStrides,
                                     CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion l2Promotion,
                                     CUtensorMapFloatOOBfill oobFill)
{
    struct map_shape s = {tensorMap,     tensorDataType, tensorRank, globalAddress, globalDim,
                          globalStrides, elementStrides, interleave, swizzle,       l2Promotion,
                          oobFill};
    struct tensor_map m;
    CUresult e = map_enter(10);
    if (e)
        return e;
    bool counted = mode != CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128; /* else pixels are ignored */
    if (!shape_ok(&s) || (unsigned)mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 ||
        (swizzle != CU_TENSOR_MAP_SWIZZLE_64B && swizzle != CU_TENSOR_MAP_SWIZZLE_128B &&
         swizzle != CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B) ||
        !column_ok(&s, channelsPerPixel, counted ? pixelsPerColumn : 1))
        return CUDA_ERROR_INVALID_VALUE;
    map_describe(&m, &s);
    if (!corner_ok(&pixelBoxLowerCornerWidth, 1, m.lower) ||
        !corner_ok(&pixelBoxUpperCornerWidth, 1, m.upper))
        return CUDA_ERROR_INVALID_VALUE;
    m.mode = (uint8_t)(mode + 1);
    m.channels = (uint16_t)channelsPerPixel;
    m.pixels = (uint16_t)(counted ? pixelsPerColumn : 0);
    map_store(tensorMap, &m);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct tensor_map m;
    CUresult e = map_enter(9);
    if (e)
        return e;
    if (!tensorMap || (uintptr_t)tensorMap % 64)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&m, tensorMap, sizeof m);
    if (m.mark != MAP_MARK || !address_ok(m.interleave, m.type, globalAddress))
        return CUDA_ERROR_INVALID_VALUE;
    m.address = (uintptr_t)globalAddress;
    map_store(tensorMap, &m);
    return CUDA_SUCCESS;
}
