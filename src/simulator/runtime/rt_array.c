/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the runtime: converts its channel descriptors to the driver's formats and back. Handles
 * are the driver's. */
#include "simulator/runtime/vs_sim_runtime.h"

/* ---- channels ---- */

/* The bits of a channel, and the number of channels that the kind implies (0: any). */
#define NORMALIZED(kind, format, bits, channels)                                                    \
    {cudaChannelFormatKind##kind##Normalized##bits##X##channels,                                    \
     CU_AD_FORMAT_##format##_INT##bits##X##channels, bits, channels}
static const struct {
    enum cudaChannelFormatKind kind;
    CUarray_format format;
    uint8_t bits, channels;
} formats[] = {
    {cudaChannelFormatKindSigned, CU_AD_FORMAT_SIGNED_INT8, 8, 0},
    {cudaChannelFormatKindSigned, CU_AD_FORMAT_SIGNED_INT16, 16, 0},
    {cudaChannelFormatKindSigned, CU_AD_FORMAT_SIGNED_INT32, 32, 0},
    {cudaChannelFormatKindUnsigned, CU_AD_FORMAT_UNSIGNED_INT8, 8, 0},
    {cudaChannelFormatKindUnsigned, CU_AD_FORMAT_UNSIGNED_INT16, 16, 0},
    {cudaChannelFormatKindUnsigned, CU_AD_FORMAT_UNSIGNED_INT32, 32, 0},
    {cudaChannelFormatKindFloat, CU_AD_FORMAT_HALF, 16, 0},
    {cudaChannelFormatKindFloat, CU_AD_FORMAT_FLOAT, 32, 0},
    NORMALIZED(Unsigned, UNORM, 8, 1), NORMALIZED(Unsigned, UNORM, 8, 2), NORMALIZED(Unsigned, UNORM, 8, 4),
    NORMALIZED(Unsigned, UNORM, 16, 1), NORMALIZED(Unsigned, UNORM, 16, 2), NORMALIZED(Unsigned, UNORM, 16, 4),
    NORMALIZED(Signed, SNORM, 8, 1), NORMALIZED(Signed, SNORM, 8, 2), NORMALIZED(Signed, SNORM, 8, 4),
    NORMALIZED(Signed, SNORM, 16, 1), NORMALIZED(Signed, SNORM, 16, 2), NORMALIZED(Signed, SNORM, 16, 4),
};
#define FORMATS (sizeof formats / sizeof formats[0])

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
    for (size_t i = 0; i < FORMATS && out->NumChannels; i++)
        if (formats[i].kind == d->f && formats[i].bits == d->x &&
            (!formats[i].channels || formats[i].channels == out->NumChannels)) {
            out->Format = formats[i].format;
            return cudaSuccess;
        }
    return cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc vs_rt_channel_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    enum cudaChannelFormatKind kind = cudaChannelFormatKindNone;
    int bits = 0, n = (int)d->NumChannels;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].format == d->Format)
            kind = formats[i].kind, bits = formats[i].bits;
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

VS_RT_AS(cudaFreeArray_context, (cudaArray_t array),
         array ? vs_rt_error(vs_rt.ArrayDestroy((CUarray)array)) : cudaSuccess)

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

VS_RT_AS(cudaFreeMipmappedArray_context, (cudaMipmappedArray_t array),
         array ? vs_rt_error(vs_rt.MipmappedArrayDestroy((CUmipmappedArray)array)) : cudaSuccess)
