/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates, describes and destroys CUDA arrays and mipmapped arrays. Storage is device memory and
 * counted as such. A mipmapped array is one allocation: 512 bytes that represent the whole, then
 * its levels, each with its own range. Not simulated, and refused with CUDA_ERROR_NOT_SUPPORTED:
 * sparse and deferred mapping, planar and block-compressed formats, graphics interop flags. */
#include "simulator/memory/vs_sim_array.h"
#include "simulator/memory/vs_sim_memory.h"

#include <string.h>

#define FLAGS_DONE                                                                      \
    (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | \
     CUDA_ARRAY3D_TEXTURE_GATHER)
#define FLAGS_KNOWN                                                                         \
    (FLAGS_DONE | CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT |              \
     CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)

static struct vs_sim_kept arrays = {.mu = PTHREAD_MUTEX_INITIALIZER};

/* ---- formats ---- */

/* Bytes of one channel, the number of channels that the format implies (0: any), and what they are
 * read as. */
#define F(format, bytes, channels, texel)                             \
    {                                                                 \
        CU_AD_FORMAT_##format, bytes, channels, VRAMSCOPE_SIM_##texel \
    }
static const struct {
    CUarray_format format;
    uint8_t bytes, channels, texel;
} formats[] = {
    F(UNSIGNED_INT8, 1, 0, UNSIGNED), F(UNSIGNED_INT16, 2, 0, UNSIGNED),
    F(UNSIGNED_INT32, 4, 0, UNSIGNED), F(SIGNED_INT8, 1, 0, SIGNED),
    F(SIGNED_INT16, 2, 0, SIGNED), F(SIGNED_INT32, 4, 0, SIGNED),
    F(HALF, 2, 0, FLOAT), F(FLOAT, 4, 0, FLOAT),
    F(UNORM_INT8X1, 1, 1, UNORM), F(UNORM_INT8X2, 1, 2, UNORM), F(UNORM_INT8X4, 1, 4, UNORM),
    F(UNORM_INT16X1, 2, 1, UNORM), F(UNORM_INT16X2, 2, 2, UNORM), F(UNORM_INT16X4, 2, 4, UNORM),
    F(SNORM_INT8X1, 1, 1, SNORM), F(SNORM_INT8X2, 1, 2, SNORM), F(SNORM_INT8X4, 1, 4, SNORM),
    F(SNORM_INT16X1, 2, 1, SNORM), F(SNORM_INT16X2, 2, 2, SNORM), F(SNORM_INT16X4, 2, 4, SNORM),
};

CUresult vs_sim_array_format(CUarray_format format, unsigned channels, size_t *element,
                             unsigned *texel)
{
    if (channels != 1 && channels != 2 && channels != 4)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].format == format) {
            if (formats[i].channels && formats[i].channels != channels)
                return CUDA_ERROR_INVALID_VALUE;
            *element = (size_t)formats[i].bytes * channels;
            if (texel)
                *texel = formats[i].texel;
            return CUDA_SUCCESS;
        }
    bool listed =
        format == CU_AD_FORMAT_NV12 || format == CU_AD_FORMAT_UNORM_INT_101010_2 ||
        (format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar);
    return listed ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

/* ---- extents: cuda.h, the table at cuArray3DCreate ---- */

enum shape { ROW, PLANE, GATHER, BOX, BOX_ALTERNATE, ROWS, PLANES, CUBE, CUBES };

#define A(x) CU_DEVICE_ATTRIBUTE_MAXIMUM_##x
static const struct {
    CUdevice_attribute texture[3], surface[3]; /* 0: no bound, or no such dimension */
} limits[] = {
    [ROW] = {{A(TEXTURE1D_WIDTH)}, {A(SURFACE1D_WIDTH)}},
    [PLANE] = {{A(TEXTURE2D_WIDTH), A(TEXTURE2D_HEIGHT)},
               {A(SURFACE2D_WIDTH), A(SURFACE2D_HEIGHT)}},
    [GATHER] = {{A(TEXTURE2D_GATHER_WIDTH), A(TEXTURE2D_GATHER_HEIGHT)},
                {A(SURFACE2D_WIDTH), A(SURFACE2D_HEIGHT)}},
    [BOX] = {{A(TEXTURE3D_WIDTH), A(TEXTURE3D_HEIGHT), A(TEXTURE3D_DEPTH)},
             {A(SURFACE3D_WIDTH), A(SURFACE3D_HEIGHT), A(SURFACE3D_DEPTH)}},
    [BOX_ALTERNATE] = {{A(TEXTURE3D_WIDTH_ALTERNATE), A(TEXTURE3D_HEIGHT_ALTERNATE),
                        A(TEXTURE3D_DEPTH_ALTERNATE)},
                       {A(SURFACE3D_WIDTH), A(SURFACE3D_HEIGHT), A(SURFACE3D_DEPTH)}},
    [ROWS] = {{A(TEXTURE1D_LAYERED_WIDTH), 0, A(TEXTURE1D_LAYERED_LAYERS)},
              {A(SURFACE1D_LAYERED_WIDTH), 0, A(SURFACE1D_LAYERED_LAYERS)}},
    [PLANES] = {{A(TEXTURE2D_LAYERED_WIDTH), A(TEXTURE2D_LAYERED_HEIGHT),
                 A(TEXTURE2D_LAYERED_LAYERS)},
                {A(SURFACE2D_LAYERED_WIDTH), A(SURFACE2D_LAYERED_HEIGHT),
                 A(SURFACE2D_LAYERED_LAYERS)}},
    [CUBE] = {{A(TEXTURECUBEMAP_WIDTH)}, {A(SURFACECUBEMAP_WIDTH)}},
    [CUBES] = {{A(TEXTURECUBEMAP_LAYERED_WIDTH), 0, A(TEXTURECUBEMAP_LAYERED_LAYERS)},
               {A(SURFACECUBEMAP_LAYERED_WIDTH), 0, A(SURFACECUBEMAP_LAYERED_LAYERS)}},
};
#undef A

static bool within(enum shape shape, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const size_t extent[3] = {d->Width, d->Height, d->Depth};
    for (int i = 0; i < 3; i++) {
        CUdevice_attribute t = limits[shape].texture[i], s = limits[shape].surface[i];
        if (t && extent[i] > (size_t)vs_sim_device_shared_attribute(t))
            return false;
        if (s && (d->Flags & CUDA_ARRAY3D_SURFACE_LDST) &&
            extent[i] > (size_t)vs_sim_device_shared_attribute(s))
            return false;
    }
    return true;
}

static bool extents_ok(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED, gather = d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER;
    if (!d->Width || (gather && (!d->Height || d->Depth)))
        return false;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        return d->Width == d->Height && d->Depth && (layered ? d->Depth % 6 == 0 : d->Depth == 6) &&
               within(layered ? CUBES : CUBE, d);
    if (layered)
        return d->Depth && within(d->Height ? PLANES : ROWS, d);
    if (d->Depth)
        return d->Height && (within(BOX, d) || within(BOX_ALTERNATE, d));
    return within(gather ? GATHER : d->Height ? PLANE : ROW, d);
}

static CUresult check(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t *element)
{
    CUresult e = vs_sim_array_format(d->Format, d->NumChannels, element, NULL);
    if (e)
        return e;
    if (d->Flags & ~(unsigned)FLAGS_KNOWN)
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & ~(unsigned)FLAGS_DONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return extents_ok(d) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static size_t rows_of(const CUDA_ARRAY3D_DESCRIPTOR *d) { return d->Height ? d->Height : 1; }
static size_t planes_of(const CUDA_ARRAY3D_DESCRIPTOR *d) { return d->Depth ? d->Depth : 1; }

/* No overflow: the extents are bounded by 2^17, 2^16 and 2^15, elements by 16 bytes. */
static size_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t element)
{
    return d->Width * rows_of(d) * planes_of(d) * element;
}

/* ---- creation and reuse ---- */

static struct vs_sim_array *array_new(struct vs_sim_array content)
{
    struct vs_sim_array *a = vs_sim_kept_take(&arrays, sizeof *a, NULL);
    *a = content;
    return a;
}

static CUresult array_add(struct vs_sim_context *ctx, struct vs_sim_array *a, uintptr_t base,
                          size_t bytes)
{
    struct vs_sim_range range = {.base = base,
                                 .bytes = bytes,
                                 .kind = VS_SIM_RANGE_ARRAY,
                                 /* levels are freed with the whole */
                                 .ctx = a->is_level ? NULL : ctx,
                                 .array = a,
                                 .device = ctx->device->ordinal};
    return vs_sim_range_add(&range);
}

/* Ends the levels of *whole*. Returns the end of the last one, 0 without any. */
static uintptr_t levels_drop(const struct vs_sim_array *whole)
{
    uintptr_t end = 0;
    struct vs_sim_range level;
    for (unsigned i = 0; i < whole->levels; i++)
        if (whole->level_base[i] && vs_sim_range_remove(whole->level_base[i], 0, &level)) {
            end = level.base + level.bytes;
            vs_sim_kept_give(&arrays, level.array);
        }
    return end;
}

void vs_sim_array_release(const struct vs_sim_range *range)
{
    uintptr_t end = levels_drop(range->array);
    vs_sim_space_free(range->device, range->base, end ? end - range->base : range->bytes);
    vs_sim_kept_give(&arrays, range->array);
}

const struct vs_sim_array *vs_sim_array_of(const void *handle, bool mipmapped,
                                           struct vs_sim_range *range)
{
    struct vs_sim_range r;
    if (!vs_sim_range_at((uintptr_t)handle, VS_SIM_RANGE_ARRAY, &r) ||
        (r.array->levels != 0) != mipmapped)
        return NULL;
    if (range)
        *range = r;
    return r.array;
}

static size_t halved(size_t extent, unsigned times)
{
    return !extent || extent >> times ? extent >> times : 1;
}

static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR out = *d;
    out.Width = halved(d->Width, level);
    out.Height = halved(d->Height, level);
    if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        out.Depth = halved(d->Depth, level);
    return out;
}

/* Storage bytes of a level: base addresses differ even for single bytes. */
static size_t level_bytes(CUDA_ARRAY3D_DESCRIPTOR d, size_t element)
{
    return (bytes_of(&d, element) + VS_SIM_UNIT_BYTES - 1) & ~(size_t)(VS_SIM_UNIT_BYTES - 1);
}

/* *levels*: of a mipmapped array, at most; 0: a plain one. */
static CUresult create(struct vs_sim_context *ctx, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                       unsigned levels, uintptr_t *handle)
{
    size_t element;
    uintptr_t base;
    if (!handle || !desc)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = check(desc, &element);
    if (e)
        return e;
    size_t widest = desc->Width > desc->Height ? desc->Width : desc->Height;
    if (!(desc->Flags & CUDA_ARRAY3D_LAYERED) && desc->Depth > widest)
        widest = desc->Depth;
    unsigned most = 64 - (unsigned)__builtin_clzl(widest);
    levels = levels < most ? levels : most;
    size_t own = levels ? VS_SIM_UNIT_BYTES : bytes_of(desc, element), bytes = own;
    for (unsigned i = 0; i < levels; i++)
        bytes += level_bytes(level_of(desc, i), element);
    if ((e = vs_sim_device_storage(ctx, VS_SIM_FAMILY_ARRAY, bytes, &base)))
        return e;
    struct vs_sim_array *a =
        array_new((struct vs_sim_array){.desc = *desc, .element = element, .levels = levels});
    for (uintptr_t i = 0, at = base + own; i < levels && !e; i++) {
        struct vs_sim_array level = {
            .desc = level_of(desc, (unsigned)i), .element = element, .is_level = true};
        size_t level_size = level_bytes(level.desc, element);
        struct vs_sim_array *added = array_new(level);
        e = array_add(ctx, added, at, level_size);
        if (e)
            vs_sim_kept_give(&arrays, added);
        else
            a->level_base[i] = at;
        at += level_size;
    }
    if (!e)
        e = array_add(ctx, a, base, own);
    if (!e) {
        *handle = base;
        return CUDA_SUCCESS;
    }
    levels_drop(a);
    vs_sim_kept_give(&arrays, a);
    vs_sim_space_free(ctx->device->ordinal, base, bytes);
    return e;
}

static CUresult destroy(struct vs_sim_context *ctx, const void *handle, bool mipmapped)
{
    struct vs_sim_range range;
    const struct vs_sim_array *a = vs_sim_array_of(handle, mipmapped, &range);
    if (!a || a->is_level)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult e = vs_sim_context_sync(range.ctx);
    if (range.ctx != ctx && e == CUDA_SUCCESS)
        e = vs_sim_context_sync(ctx);
    vs_sim_delay_us(vs_sim_spec.free_us);
    if (!vs_sim_range_remove(range.base, range.id, &range))
        return CUDA_ERROR_INVALID_HANDLE; /* another thread was faster */
    vs_sim_memory_release(&range);
    return e;
}

/* ---- the entry points ---- */

VS_SIM_AS(cuArray3DCreate_v2_in,
          (struct vs_sim_context *ctx, CUarray *pHandle,
           const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray),
          create(ctx, pAllocateArray, 0, (uintptr_t *)pHandle))

CUresult cuArrayCreate_v2_in(struct vs_sim_context *ctx, CUarray *pHandle,
                             const CUDA_ARRAY_DESCRIPTOR *a)
{
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR desc = {a->Width, a->Height, 0, a->Format, a->NumChannels, 0};
    return create(ctx, &desc, 0, (uintptr_t *)pHandle);
}

VS_SIM_AS(cuMipmappedArrayCreate_in,
          (struct vs_sim_context *ctx, CUmipmappedArray *pHandle,
           const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc, unsigned int numMipmapLevels),
          create(ctx, pMipmappedArrayDesc, numMipmapLevels ? numMipmapLevels : 1,
                 (uintptr_t *)pHandle))
VS_SIM_AS(cuArrayDestroy_in, (struct vs_sim_context *ctx, CUarray hArray),
          destroy(ctx, hArray, false))
VS_SIM_AS(cuMipmappedArrayDestroy_in,
          (struct vs_sim_context *ctx, CUmipmappedArray hMipmappedArray),
          destroy(ctx, hMipmappedArray, true))

CUresult cuArray3DGetDescriptor_v2_in(CUDA_ARRAY3D_DESCRIPTOR out[static 1], CUarray hArray)
{
    const struct vs_sim_array *a = vs_sim_array_of(hArray, false, NULL);
    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = a->desc;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2_in(CUDA_ARRAY_DESCRIPTOR out[static 1], CUarray hArray)
{
    const struct vs_sim_array *a = vs_sim_array_of(hArray, false, NULL);
    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = (CUDA_ARRAY_DESCRIPTOR){.Width = a->desc.Width,
                                   .Height = a->desc.Height,
                                   .Format = a->desc.Format,
                                   .NumChannels = a->desc.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel_in(CUarray pLevelArray[static 1],
                                     CUmipmappedArray hMipmappedArray, unsigned int level)
{
    const struct vs_sim_array *whole = vs_sim_array_of(hMipmappedArray, true, NULL);
    if (!whole || level >= whole->levels)
        return whole ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *pLevelArray = (CUarray)whole->level_base[level];
    return CUDA_SUCCESS;
}

/* Only planar, sparse or deferred arrays have these properties; such arrays do not exist here, and
 * cuda.h specifies the error for all others. */
static CUresult no_property(const void *handle, bool mipmapped, CUdevice device)
{
    return !vs_sim_array_of(handle, mipmapped, NULL) ? CUDA_ERROR_INVALID_HANDLE
           : !vs_sim_device_find(device)             ? CUDA_ERROR_INVALID_DEVICE
                                                     : CUDA_ERROR_INVALID_VALUE;
}

VS_SIM_AS(cuArrayGetPlane_in,
          (CUarray pPlaneArray[static 1], CUarray hArray, unsigned int planeIdx),
          no_property(hArray, false, 0))
VS_SIM_AS(cuArrayGetSparseProperties_in,
          (CUDA_ARRAY_SPARSE_PROPERTIES out[static 1], CUarray array),
          no_property(array, false, 0))
VS_SIM_AS(cuArrayGetMemoryRequirements_in,
          (CUDA_ARRAY_MEMORY_REQUIREMENTS out[static 1], CUarray array, CUdevice device),
          no_property(array, false, device))
VS_SIM_AS(cuMipmappedArrayGetSparseProperties_in,
          (CUDA_ARRAY_SPARSE_PROPERTIES out[static 1], CUmipmappedArray mipmap),
          no_property(mipmap, true, 0))
VS_SIM_AS(cuMipmappedArrayGetMemoryRequirements_in,
          (CUDA_ARRAY_MEMORY_REQUIREMENTS out[static 1], CUmipmappedArray mipmap, CUdevice device),
          no_property(mipmap, true, device))

/* ---- ends of copies ---- */

CUresult vs_sim_end_array(CUarray handle, const size_t at[3], const size_t box[3],
                          struct vs_sim_end *end, size_t *element)
{
    struct vs_sim_range range;
    const struct vs_sim_array *a = vs_sim_array_of(handle, false, &range);
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = a->desc.Width * a->element;
    const size_t extent[3] = {row, rows_of(&a->desc), planes_of(&a->desc)};
    if (at[0] % a->element || box[0] % a->element)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++)
        if (at[i] > extent[i] || box[i] > extent[i] - at[i])
            return CUDA_ERROR_INVALID_VALUE;
    *element = a->element;
    *end = (struct vs_sim_end){.base = range.base + (at[2] * extent[1] + at[1]) * row + at[0],
                               .pitch = row,
                               .slice = row * extent[1],
                               .array = handle,
                               .at = {at[0], at[1], at[2]},
                               .id = range.id,
                               .memory = VS_SIM_MEMORY_ARRAY,
                               .device = range.device};
    return CUDA_SUCCESS;
}
