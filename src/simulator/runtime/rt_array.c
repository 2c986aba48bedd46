/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the runtime: converts its channel descriptors to the driver's formats and back. Handles
 * are the driver's. */
#include "simulator/runtime/vs_sim_runtime.h"

/* ---- channels ---- */

/* Kinds that determine the format alone. */
static const struct {
    enum cudaChannelFormatKind kind;
    CUarray_format format;
    uint8_t bits, channels;
} normalized[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1, 8, 1},
    {cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2, 8, 2},
    {cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4, 8, 4},
    {cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1, 16, 1},
    {cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2, 16, 2},
    {cudaChannelFormatKindUnsignedNormalized16X4, CU_AD_FORMAT_UNORM_INT16X4, 16, 4},
    {cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1, 8, 1},
    {cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2, 8, 2},
    {cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4, 8, 4},
    {cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1, 16, 1},
    {cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2, 16, 2},
    {cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4, 16, 4},
};

/* The others depend on the kind and the bits of a channel. */
static const struct {
    enum cudaChannelFormatKind kind;
    CUarray_format format;
    uint8_t bits;
} plain[] = {
    {cudaChannelFormatKindSigned, CU_AD_FORMAT_SIGNED_INT8, 8},
    {cudaChannelFormatKindSigned, CU_AD_FORMAT_SIGNED_INT16, 16},
    {cudaChannelFormatKindSigned, CU_AD_FORMAT_SIGNED_INT32, 32},
    {cudaChannelFormatKindUnsigned, CU_AD_FORMAT_UNSIGNED_INT8, 8},
    {cudaChannelFormatKindUnsigned, CU_AD_FORMAT_UNSIGNED_INT16, 16},
    {cudaChannelFormatKindUnsigned, CU_AD_FORMAT_UNSIGNED_INT32, 32},
    {cudaChannelFormatKindFloat, CU_AD_FORMAT_HALF, 16},
    {cudaChannelFormatKindFloat, CU_AD_FORMAT_FLOAT, 32},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Number of channels of the descriptor: the first ones, of equal width; 0 if invalid. */
static unsigned channels_of(const struct cudaChannelFormatDesc *d)
{
    const int bits[4] = {d->x, d->y, d->z, d->w};
    unsigned count = 0;
    while (count < 4 && bits[count] == d->x)
        count++;
    for (unsigned i = count; i < 4; i++)
        if (bits[i])
            return 0;
    return d->x > 0 && count != 3 ? count : 0;
}

cudaError_t vs_rt_format_of(const struct cudaChannelFormatDesc *d, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    if (d->f == cudaChannelFormatKindNV12 ||
        (d->f >= cudaChannelFormatKindUnsignedBlockCompressed1 &&
         d->f <= cudaChannelFormatKindUnsignedNormalized1010102))
        return cudaErrorNotSupported;
    out->NumChannels = channels_of(d);
    for (size_t i = 0; i < COUNT(normalized) && out->NumChannels; i++)
        if (normalized[i].kind == d->f) {
            out->Format = normalized[i].format;
            return normalized[i].bits == d->x && normalized[i].channels == out->NumChannels
                       ? cudaSuccess
                       : cudaErrorInvalidChannelDescriptor;
        }
    for (size_t i = 0; i < COUNT(plain) && out->NumChannels; i++)
        if (plain[i].kind == d->f && plain[i].bits == d->x) {
            out->Format = plain[i].format;
            return cudaSuccess;
        }
    return cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc vs_rt_channel_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    enum cudaChannelFormatKind kind = cudaChannelFormatKindNone;
    int bits = 0, n = (int)d->NumChannels;
    for (size_t i = 0; i < COUNT(normalized); i++)
        if (normalized[i].format == d->Format)
            kind = normalized[i].kind, bits = normalized[i].bits;
    for (size_t i = 0; i < COUNT(plain); i++)
        if (plain[i].format == d->Format)
            kind = plain[i].kind, bits = plain[i].bits;
    return (struct cudaChannelFormatDesc){bits, n > 1 ? bits : 0, n > 2 ? bits : 0,
                                          n > 3 ? bits : 0, kind};
}

/* ---- arrays ---- */

static cudaError_t descriptor(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    if (!desc)
        return cudaErrorInvalidValue;
    *out = (CUDA_ARRAY3D_DESCRIPTOR){.Width = extent.width,
                                     .Height = extent.height,
                                     .Depth = extent.depth,
                                     .Flags = flags}; /* the driver's values */
    return vs_rt_format_of(desc, out);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned int flags)
{
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray_context(cudaArray_t array[static 1],
                                      const struct cudaChannelFormatDesc *desc,
                                      struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUarray handle;
    cudaError_t e = descriptor(desc, extent, flags, &d);
    if (!e)
        e = vs_rt_error(vs_rt.Array3DCreate(&handle, &d));
    if (!e)
        *array = (cudaArray_t)handle;
    return e;
}

cudaError_t cudaFreeArray_context(cudaArray_t array)
{
    return array ? vs_rt_error(vs_rt.ArrayDestroy((CUarray)array)) : cudaSuccess;
}

static cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR *d)
{
    cudaError_t e = vs_rt_enter_context();
    return e ? e : vs_rt_error(vs_rt.Array3DGetDescriptor(d, (CUarray)array));
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t e = describe(array, &d);
    if (e)
        return vs_rt_result(e);
    if (desc)
        *desc = vs_rt_channel_of(&d);
    if (extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t e = desc ? describe(array, &d) : cudaErrorInvalidValue;
    if (!e)
        *desc = vs_rt_channel_of(&d);
    return vs_rt_result(e);
}

cudaError_t vs_rt_array_shape(cudaArray_const_t array, struct vs_rt_array_shape *shape)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t e = describe(array, &d);
    if (e)
        return e;
    shape->element = (size_t)vs_rt_channel_of(&d).x / 8 * d.NumChannels;
    shape->row = shape->element * d.Width;
    shape->rows = d.Height ? d.Height : 1;
    return cudaSuccess;
}

/* ---- mipmapped arrays ---- */

cudaError_t cudaMallocMipmappedArray_context(cudaMipmappedArray_t mipmappedArray[static 1],
                                             const struct cudaChannelFormatDesc *desc,
                                             struct cudaExtent extent, unsigned int numLevels,
                                             unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUmipmappedArray handle;
    cudaError_t e = descriptor(desc, extent, flags, &d);
    if (!e)
        e = vs_rt_error(vs_rt.MipmappedArrayCreate(&handle, &d, numLevels));
    if (!e)
        *mipmappedArray = (cudaMipmappedArray_t)handle;
    return e;
}

cudaError_t cudaFreeMipmappedArray_context(cudaMipmappedArray_t array)
{
    return array ? vs_rt_error(vs_rt.MipmappedArrayDestroy((CUmipmappedArray)array)) : cudaSuccess;
}
