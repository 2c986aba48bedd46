/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates, describes and destroys CUDA arrays and mipmapped arrays. Storage is device memory and
 * counted as such. A mipmapped array is one allocation: 512 bytes that represent the whole, then
 * its levels, each with its own range. Not simulated, and refused with CUDA_ERROR_NOT_SUPPORTED:
 * sparse and deferred mapping, planar and block-compressed formats, graphics interop flags. */
#include "simulator/memory/vs_sim_array.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>

#define FLAGS_DONE                                                                      \
    (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | \
     CUDA_ARRAY3D_TEXTURE_GATHER)
#define FLAGS_KNOWN                                                                         \
    (FLAGS_DONE | CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT |              \
     CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)

static pthread_mutex_t unused_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_array *unused; /* guarded by unused_mu; never returned to malloc */

/* ---- formats ---- */

/* Bytes of one channel, and the number of channels that the format implies (0: any). */
static const struct {
    CUarray_format format;
    uint8_t bytes, channels;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1, 0},  {CU_AD_FORMAT_UNSIGNED_INT16, 2, 0},
    {CU_AD_FORMAT_UNSIGNED_INT32, 4, 0}, {CU_AD_FORMAT_SIGNED_INT8, 1, 0},
    {CU_AD_FORMAT_SIGNED_INT16, 2, 0},   {CU_AD_FORMAT_SIGNED_INT32, 4, 0},
    {CU_AD_FORMAT_HALF, 2, 0},           {CU_AD_FORMAT_FLOAT, 4, 0},
    {CU_AD_FORMAT_UNORM_INT8X1, 1, 1},   {CU_AD_FORMAT_UNORM_INT8X2, 1, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, 1, 4},   {CU_AD_FORMAT_UNORM_INT16X1, 2, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, 2, 2},  {CU_AD_FORMAT_UNORM_INT16X4, 2, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, 1, 1},   {CU_AD_FORMAT_SNORM_INT8X2, 1, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, 1, 4},   {CU_AD_FORMAT_SNORM_INT16X1, 2, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, 2, 2},  {CU_AD_FORMAT_SNORM_INT16X4, 2, 4},
};

static bool format_listed_but_not_done(CUarray_format format)
{
    switch ((unsigned)format) {
    case CU_AD_FORMAT_NV12:
    case CU_AD_FORMAT_UNORM_INT_101010_2: return true;
    default:
        return format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar;
    }
}

CUresult vs_sim_array_element(CUarray_format format, unsigned channels, size_t *element)
{
    if (channels != 1 && channels != 2 && channels != 4)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].format == format) {
            if (formats[i].channels && formats[i].channels != channels)
                return CUDA_ERROR_INVALID_VALUE;
            *element = (size_t)formats[i].bytes * channels;
            return CUDA_SUCCESS;
        }
    return format_listed_but_not_done(format) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
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
    CUresult e = vs_sim_array_element(d->Format, d->NumChannels, element);
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

static struct vs_sim_array *array_new(const CUDA_ARRAY3D_DESCRIPTOR *desc, size_t element)
{
    pthread_mutex_lock(&unused_mu);
    struct vs_sim_array *a = unused;
    if (a)
        unused = a->next;
    pthread_mutex_unlock(&unused_mu);
    if (!a && !(a = malloc(sizeof *a)))
        return NULL;
    *a = (struct vs_sim_array){.desc = *desc, .element = element};
    return a;
}

static void array_drop(struct vs_sim_array *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&unused_mu);
    a->next = unused;
    unused = a;
    pthread_mutex_unlock(&unused_mu);
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

void vs_sim_array_release(const struct vs_sim_range *range)
{
    struct vs_sim_array *whole = range->array;
    size_t bytes = range->bytes;
    for (unsigned i = 0; i < whole->levels; i++) {
        struct vs_sim_range level;
        if (!whole->level_base[i] || !vs_sim_range_remove(whole->level_base[i], 0, &level))
            continue;
        bytes = level.base + level.bytes - range->base;
        array_drop(level.array);
    }
    vs_sim_space_free(range->device, range->base, bytes);
    array_drop(whole);
}

bool vs_sim_array_of(CUarray handle, struct vs_sim_array *array, struct vs_sim_range *range)
{
    struct vs_sim_range r;
    if (!vs_sim_range_find((uintptr_t)handle, &r) || r.base != (uintptr_t)handle ||
        r.kind != VS_SIM_RANGE_ARRAY || r.array->levels)
        return false;
    if (array)
        *array = *r.array;
    if (range)
        *range = r;
    return true;
}

static CUresult create(const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *handle)
{
    struct vs_sim_context *ctx;
    size_t element;
    uintptr_t base;
    CUresult e = vs_sim_enter_context(&ctx);
    if (e)
        return e;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = check(desc, &element)))
        return e;
    size_t bytes = bytes_of(desc, element);
    if ((e = vs_sim_device_storage(ctx, VS_SIM_FAMILY_ARRAY, bytes, &base)))
        return e;
    struct vs_sim_array *a = array_new(desc, element);
    e = a ? array_add(ctx, a, base, bytes) : CUDA_ERROR_OUT_OF_MEMORY;
    if (e) {
        vs_sim_space_free(ctx->device->ordinal, base, bytes);
        array_drop(a);
        return e;
    }
    *handle = (CUarray)base;
    return CUDA_SUCCESS;
}

static CUresult destroy(struct vs_sim_context *ctx, uintptr_t handle, bool mipmapped)
{
    struct vs_sim_range range;
    if (!vs_sim_range_find(handle, &range) || range.base != handle ||
        range.kind != VS_SIM_RANGE_ARRAY || range.array->is_level ||
        (range.array->levels != 0) != mipmapped)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult e = vs_sim_context_sync(range.ctx);
    if (range.ctx != ctx && e == CUDA_SUCCESS)
        e = vs_sim_context_sync(ctx);
    vs_sim_delay_us(vs_sim_spec.free_us);
    if (!vs_sim_range_remove(handle, range.id, &range))
        return CUDA_ERROR_INVALID_HANDLE; /* another thread was faster */
    vs_sim_memory_release(&range);
    return e;
}

/* ---- arrays ---- */

CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    return pAllocateArray ? create(pAllocateArray, pHandle) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    const CUDA_ARRAY_DESCRIPTOR *a = pAllocateArray;
    return a ? create(&(CUDA_ARRAY3D_DESCRIPTOR){a->Width, a->Height, 0, a->Format, a->NumChannels, 0}, pHandle)
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayDestroy_in(struct vs_sim_context *ctx, CUarray hArray)
{
    return destroy(ctx, (uintptr_t)hArray, false);
}

static CUresult describe(CUarray handle, struct vs_sim_array *a)
{
    return vs_sim_array_of(handle, a, NULL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuArray3DGetDescriptor_v2_in(CUDA_ARRAY3D_DESCRIPTOR pArrayDescriptor[static 1],
                                      CUarray hArray)
{
    struct vs_sim_array a;
    CUresult e = describe(hArray, &a);
    if (e == CUDA_SUCCESS)
        *pArrayDescriptor = a.desc;
    return e;
}

CUresult cuArrayGetDescriptor_v2_in(CUDA_ARRAY_DESCRIPTOR pArrayDescriptor[static 1],
                                    CUarray hArray)
{
    struct vs_sim_array a;
    CUresult e = describe(hArray, &a);
    if (e == CUDA_SUCCESS)
        *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = a.desc.Width,
                                                    .Height = a.desc.Height,
                                                    .Format = a.desc.Format,
                                                    .NumChannels = a.desc.NumChannels};
    return e;
}

/* Only planar, sparse or deferred arrays have these properties; such arrays do not exist here, and
 * cuda.h specifies the error for all others. */

CUresult cuArrayGetPlane_in(CUarray pPlaneArray[static 1], CUarray hArray, unsigned int planeIdx)
{
    struct vs_sim_array a;
    CUresult e = describe(hArray, &a);
    return e ? e : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetSparseProperties_in(CUDA_ARRAY_SPARSE_PROPERTIES out[static 1],
                                       CUarray array)
{
    struct vs_sim_array a;
    CUresult e = describe(array, &a);
    return e ? e : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetMemoryRequirements_in(CUDA_ARRAY_MEMORY_REQUIREMENTS out[static 1],
                                         CUarray array, CUdevice device)
{
    struct vs_sim_array a;
    CUresult e = describe(array, &a);
    if (!e && !vs_sim_device_find(device))
        e = CUDA_ERROR_INVALID_DEVICE;
    return e ? e : CUDA_ERROR_INVALID_VALUE;
}

/* ---- mipmapped arrays ---- */

static unsigned levels_max(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t widest = d->Width > d->Height ? d->Width : d->Height;
    if (!(d->Flags & CUDA_ARRAY3D_LAYERED) && d->Depth > widest)
        widest = d->Depth;
    unsigned levels = 1;
    while (widest >>= 1)
        levels++;
    return levels;
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
static size_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t element)
{
    return (bytes_of(d, element) + VS_SIM_UNIT_BYTES - 1) & ~(size_t)(VS_SIM_UNIT_BYTES - 1);
}

static CUresult levels_add(struct vs_sim_context *ctx, struct vs_sim_array *whole, uintptr_t at)
{
    for (unsigned i = 0; i < whole->levels; i++) {
        CUDA_ARRAY3D_DESCRIPTOR desc = level_of(&whole->desc, i);
        struct vs_sim_array *level = array_new(&desc, whole->element);
        if (!level)
            return CUDA_ERROR_OUT_OF_MEMORY;
        level->is_level = true;
        size_t bytes = level_bytes(&desc, whole->element);
        CUresult e = array_add(ctx, level, at, bytes);
        if (e) {
            array_drop(level);
            return e;
        }
        whole->level_base[i] = at;
        at += bytes;
    }
    return CUDA_SUCCESS;
}

static CUresult mipmap_create(struct vs_sim_context *ctx, struct vs_sim_array *whole,
                              uintptr_t *base)
{
    size_t bytes = VS_SIM_UNIT_BYTES;
    for (unsigned i = 0; i < whole->levels; i++) {
        CUDA_ARRAY3D_DESCRIPTOR desc = level_of(&whole->desc, i);
        bytes += level_bytes(&desc, whole->element);
    }
    CUresult e = vs_sim_device_storage(ctx, VS_SIM_FAMILY_ARRAY, bytes, base);
    if (e)
        return e;
    e = levels_add(ctx, whole, *base + VS_SIM_UNIT_BYTES);
    if (!e)
        e = array_add(ctx, whole, *base, VS_SIM_UNIT_BYTES);
    if (!e)
        return CUDA_SUCCESS;
    for (unsigned i = 0; i < whole->levels; i++) {
        struct vs_sim_range level;
        if (whole->level_base[i] && vs_sim_range_remove(whole->level_base[i], 0, &level))
            array_drop(level.array);
    }
    vs_sim_space_free(ctx->device->ordinal, *base, bytes);
    return e;
}

CUresult cuMipmappedArrayCreate_in(struct vs_sim_context *ctx, CUmipmappedArray *pHandle,
                                   const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                   unsigned int numMipmapLevels)
{
    size_t element;
    uintptr_t base;
    CUresult e;
    if (!pHandle || !pMipmappedArrayDesc)
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = check(pMipmappedArrayDesc, &element)))
        return e;
    struct vs_sim_array *whole = array_new(pMipmappedArrayDesc, element);
    if (!whole)
        return CUDA_ERROR_OUT_OF_MEMORY;
    unsigned max = levels_max(pMipmappedArrayDesc);
    whole->levels = !numMipmapLevels ? 1 : numMipmapLevels > max ? max : numMipmapLevels;
    e = mipmap_create(ctx, whole, &base);
    if (e)
        array_drop(whole);
    else
        *pHandle = (CUmipmappedArray)base;
    return e;
}

CUresult cuMipmappedArrayDestroy_in(struct vs_sim_context *ctx, CUmipmappedArray hMipmappedArray)
{
    return destroy(ctx, (uintptr_t)hMipmappedArray, true);
}

static CUresult mipmap_of(CUmipmappedArray handle, struct vs_sim_array *whole)
{
    struct vs_sim_range range;
    if (!vs_sim_range_find((uintptr_t)handle, &range) || range.base != (uintptr_t)handle ||
        range.kind != VS_SIM_RANGE_ARRAY || !range.array->levels)
        return CUDA_ERROR_INVALID_HANDLE;
    *whole = *range.array;
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel_in(CUarray pLevelArray[static 1],
                                     CUmipmappedArray hMipmappedArray, unsigned int level)
{
    struct vs_sim_array whole;
    CUresult e = mipmap_of(hMipmappedArray, &whole);
    if (e)
        return e;
    if (level >= whole.levels)
        return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = (CUarray)whole.level_base[level];
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetSparseProperties_in(CUDA_ARRAY_SPARSE_PROPERTIES out[static 1],
                                                CUmipmappedArray mipmap)
{
    struct vs_sim_array whole;
    CUresult e = mipmap_of(mipmap, &whole);
    return e ? e : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMipmappedArrayGetMemoryRequirements_in(CUDA_ARRAY_MEMORY_REQUIREMENTS out[static 1],
                                                  CUmipmappedArray mipmap, CUdevice device)
{
    struct vs_sim_array whole;
    CUresult e = mipmap_of(mipmap, &whole);
    if (!e && !vs_sim_device_find(device))
        e = CUDA_ERROR_INVALID_DEVICE;
    return e ? e : CUDA_ERROR_INVALID_VALUE;
}

/* ---- ends of copies ---- */

CUresult vs_sim_end_array(CUarray handle, const size_t at[3], const size_t box[3],
                          struct vs_sim_end *end, size_t *element)
{
    struct vs_sim_array a;
    struct vs_sim_range range;
    if (!vs_sim_array_of(handle, &a, &range))
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = a.desc.Width * a.element;
    const size_t extent[3] = {row, rows_of(&a.desc), planes_of(&a.desc)};
    if (at[0] % a.element || box[0] % a.element)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++)
        if (at[i] > extent[i] || box[i] > extent[i] - at[i])
            return CUDA_ERROR_INVALID_VALUE;
    *element = a.element;
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
