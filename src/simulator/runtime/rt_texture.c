/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects of the runtime: converts its descriptors to the driver's and back.
 * Handles are the driver's. rt_major.c has the forms of CUDA 11 and 12. */
#include "simulator/runtime/vs_sim_runtime.h"

/* ---- resources ---- */

static cudaError_t format_to(const struct cudaChannelFormatDesc *d, CUarray_format *format,
                             unsigned *channels)
{
    CUDA_ARRAY3D_DESCRIPTOR a;
    cudaError_t e = vs_rt_format_of(d, &a);
    if (e)
        return e;
    *format = a.Format;
    *channels = a.NumChannels;
    return cudaSuccess;
}

static struct cudaChannelFormatDesc format_from(CUarray_format format, unsigned channels)
{
    return vs_rt_channel_of(&(CUDA_ARRAY3D_DESCRIPTOR){.Format = format, .NumChannels = channels});
}

static cudaError_t resource_to(const struct cudaResourceDesc *d, CUDA_RESOURCE_DESC *to)
{
    *to = (CUDA_RESOURCE_DESC){.flags = d->flags};
    switch (d->resType) {
    case cudaResourceTypeArray:
        to->resType = CU_RESOURCE_TYPE_ARRAY;
        to->res.array.hArray = (CUarray)d->res.array.array;
        return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
        to->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)d->res.mipmap.mipmap;
        return cudaSuccess;
    case cudaResourceTypeLinear:
        to->resType = CU_RESOURCE_TYPE_LINEAR;
        to->res.linear.devPtr = (CUdeviceptr)d->res.linear.devPtr;
        to->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        return format_to(&d->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        to->resType = CU_RESOURCE_TYPE_PITCH2D;
        to->res.pitch2D.devPtr = (CUdeviceptr)d->res.pitch2D.devPtr;
        to->res.pitch2D.width = d->res.pitch2D.width;
        to->res.pitch2D.height = d->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        return format_to(&d->res.pitch2D.desc, &to->res.pitch2D.format,
                         &to->res.pitch2D.numChannels);
    default: return cudaErrorInvalidValue;
    }
}

static void resource_from(const CUDA_RESOURCE_DESC *d, struct cudaResourceDesc *to)
{
    *to = (struct cudaResourceDesc){.flags = d->flags};
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->resType = cudaResourceTypeArray;
        to->res.array.array = (cudaArray_t)d->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->resType = cudaResourceTypeMipmappedArray;
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)d->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->resType = cudaResourceTypeLinear;
        to->res.linear.devPtr = (void *)d->res.linear.devPtr;
        to->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        to->res.linear.desc = format_from(d->res.linear.format, d->res.linear.numChannels);
        break;
    default:
        to->resType = cudaResourceTypePitch2D;
        to->res.pitch2D.devPtr = (void *)d->res.pitch2D.devPtr;
        to->res.pitch2D.width = d->res.pitch2D.width;
        to->res.pitch2D.height = d->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        to->res.pitch2D.desc = format_from(d->res.pitch2D.format, d->res.pitch2D.numChannels);
    }
}

/* ---- textures ---- */

/* What both descriptors say in the same words. */
#define SAME(filter, address)                                                                      \
    .filterMode = (filter)d->filterMode, .maxAnisotropy = d->maxAnisotropy,                        \
    .mipmapFilterMode = (filter)d->mipmapFilterMode, .mipmapLevelBias = d->mipmapLevelBias,        \
    .minMipmapLevelClamp = d->minMipmapLevelClamp, .maxMipmapLevelClamp = d->maxMipmapLevelClamp,  \
    .addressMode = {(address)d->addressMode[0], (address)d->addressMode[1],                        \
                    (address)d->addressMode[2]},                                                   \
    .borderColor = {d->borderColor[0], d->borderColor[1], d->borderColor[2], d->borderColor[3]}

static CUDA_TEXTURE_DESC texture_to(const struct cudaTextureDesc *d)
{
    CUDA_TEXTURE_DESC to = {SAME(CUfilter_mode, CUaddress_mode)};
    to.flags = (d->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
               (d->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
               (d->sRGB ? CU_TRSF_SRGB : 0u) |
               (d->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
               (d->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
    return to;
}

static struct cudaTextureDesc texture_from(const CUDA_TEXTURE_DESC *d)
{
    return (struct cudaTextureDesc){
        SAME(enum cudaTextureFilterMode, enum cudaTextureAddressMode),
        .readMode = d->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                       : cudaReadModeNormalizedFloat,
        .sRGB = (d->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (d->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .disableTrilinearOptimization = (d->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamlessCubemap = (d->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0};
}

/* The channels of an array, or those that the descriptor gives; kind None if unknown. */
static struct cudaChannelFormatDesc channels_of(const CUDA_RESOURCE_DESC *r)
{
    CUDA_ARRAY3D_DESCRIPTOR a = {.NumChannels = 0};
    CUarray array = r->resType == CU_RESOURCE_TYPE_ARRAY ? r->res.array.hArray : NULL;
    if (r->resType == CU_RESOURCE_TYPE_LINEAR)
        return format_from(r->res.linear.format, r->res.linear.numChannels);
    if (r->resType == CU_RESOURCE_TYPE_PITCH2D)
        return format_from(r->res.pitch2D.format, r->res.pitch2D.numChannels);
    if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
        vs_rt.MipmappedArrayGetLevel(&array, r->res.mipmap.hMipmappedArray, 0))
        array = NULL;
    if (!array || vs_rt.Array3DGetDescriptor(&a, array))
        return (struct cudaChannelFormatDesc){.f = cudaChannelFormatKindNone};
    return vs_rt_channel_of(&a);
}

/* Settings that have an error of their own (driver_types.h): integers cannot be filtered, and those
 * of 32 bits not be read as fractions. */
static cudaError_t check_reading(const CUDA_RESOURCE_DESC *r, const struct cudaTextureDesc *t)
{
    struct cudaChannelFormatDesc d = channels_of(r);
    if (d.f != cudaChannelFormatKindSigned && d.f != cudaChannelFormatKindUnsigned)
        return cudaSuccess;
    if (t->readMode == cudaReadModeNormalizedFloat)
        return d.x == 32 ? cudaErrorInvalidNormSetting : cudaSuccess;
    return t->filterMode == cudaFilterModeLinear ? cudaErrorInvalidFilterSetting : cudaSuccess;
}

cudaError_t cudaCreateTextureObject_context(cudaTextureObject_t *pTexObject,
                                            const struct cudaResourceDesc *pResDesc,
                                            const struct cudaTextureDesc *pTexDesc,
                                            const struct cudaResourceViewDesc *pResViewDesc)
{
    CUDA_RESOURCE_DESC resource;
    if (!pResDesc || !pTexDesc)
        return cudaErrorInvalidValue;
    cudaError_t e = resource_to(pResDesc, &resource);
    if (!e)
        e = check_reading(&resource, pTexDesc);
    if (!e && pResViewDesc && pResViewDesc->format != cudaResViewFormatNone)
        e = cudaErrorNotSupported;
    if (!e) {
        CUDA_TEXTURE_DESC texture = texture_to(pTexDesc);
        e = vs_rt_error(vs_rt.TexObjectCreate(pTexObject, &resource, &texture, NULL));
    }
    return e;
}

cudaError_t cudaGetTextureObjectResourceDesc_context(struct cudaResourceDesc pResDesc[static 1],
                                                     cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC resource;
    cudaError_t e = vs_rt_error(vs_rt.TexObjectGetResourceDesc(&resource, texObject));
    if (!e)
        resource_from(&resource, pResDesc);
    return e;
}

cudaError_t cudaGetTextureObjectTextureDesc_context(struct cudaTextureDesc pTexDesc[static 1],
                                                     cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC texture;
    cudaError_t e = vs_rt_error(vs_rt.TexObjectGetTextureDesc(&texture, texObject));
    if (!e)
        *pTexDesc = texture_from(&texture);
    return e;
}

/* Fails for every object, because none has a resource view. */
cudaError_t cudaGetTextureObjectResourceViewDesc_context(
    struct cudaResourceViewDesc pResViewDesc[static 1], cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_VIEW_DESC view;
    return vs_rt_error(vs_rt.TexObjectGetResourceViewDesc(&view, texObject));
}

/* ---- surfaces ---- */

cudaError_t cudaCreateSurfaceObject_context(cudaSurfaceObject_t *pSurfObject,
                                            const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC resource;
    CUsurfObject object;
    if (!pSurfObject || !pResDesc)
        return cudaErrorInvalidValue;
    cudaError_t e = resource_to(pResDesc, &resource);
    if (!e)
        e = vs_rt_error(vs_rt.SurfObjectCreate(&object, &resource));
    if (!e)
        *pSurfObject = object;
    return e;
}

cudaError_t cudaGetSurfaceObjectResourceDesc_context(struct cudaResourceDesc pResDesc[static 1],
                                                     cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC resource;
    cudaError_t e = vs_rt_error(vs_rt.SurfObjectGetResourceDesc(&resource, surfObject));
    if (!e)
        resource_from(&resource, pResDesc);
    return e;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth_driver(
    size_t *maxWidthInElements, const struct cudaChannelFormatDesc *fmtDesc, int device)
{
    CUarray_format format;
    unsigned channels;
    if (!maxWidthInElements || !fmtDesc)
        return cudaErrorInvalidValue;
    cudaError_t e = format_to(fmtDesc, &format, &channels);
    if (!e)
        e = vs_rt_error(
            vs_rt.DeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, channels, device));
    return e;
}
