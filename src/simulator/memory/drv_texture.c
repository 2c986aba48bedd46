/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects. An object is a slot that describes where its elements are and how
 * they are read; the host functions of kernels find it by its handle (vramscopeSimTexture) and read
 * the memory themselves. Slots are never freed, and their handles never repeat, so that a stale
 * handle is recognised. Not simulated, and refused with CUDA_ERROR_NOT_SUPPORTED: resource views
 * other than none. */
#include "simulator/memory/vs_sim_array.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>

#define CHUNK 256 /* slots */
#define CHUNKS 4096
#define FLAGS_KNOWN                                                                              \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |                 \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)
#define INDEX_BITS 20
_Static_assert(CHUNK * CHUNKS == 1 << INDEX_BITS, "an index fits into a handle");

struct texture_slot {
    _Atomic uint64_t handle; /* 0: unused; its release publishes the rest */
    struct vramscope_sim_texture view;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    uint32_t next_unused; /* index + 1 */
};

static pthread_mutex_t slots_mu = PTHREAD_MUTEX_INITIALIZER;
static struct texture_slot *_Atomic chunks[CHUNKS];
static uint32_t slot_count, unused; /* guarded by slots_mu; unused: index + 1 */
static uint64_t serial;             /* guarded by slots_mu */

static struct texture_slot *slot_at(uint32_t index)
{
    struct texture_slot *chunk = index < CHUNK * CHUNKS ? chunks[index / CHUNK] : NULL;
    return chunk ? &chunk[index % CHUNK] : NULL;
}

static struct texture_slot *slot_find(uint64_t handle, bool surface)
{
    struct texture_slot *s = slot_at((uint32_t)(handle & ((1u << INDEX_BITS) - 1)));
    return s && handle && atomic_load(&s->handle) == handle && (s->view.surface != 0) == surface
               ? s
               : NULL;
}

/* ---- what a resource describes ---- */

static CUresult set_format(struct vramscope_sim_texture *v, CUarray_format format,
                           unsigned channels)
{
    size_t element;
    unsigned texel;
    CUresult e = vs_sim_array_format(format, channels, &element, &texel);
    if (e)
        return e;
    v->channels = channels;
    v->channel_bytes = (unsigned)(element / channels);
    v->texel = texel;
    return CUDA_SUCCESS;
}

static struct vramscope_sim_level level_of(const struct vs_sim_array *a, uintptr_t base)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &a->desc;
    size_t pitch = d->Width * a->element;
    return (struct vramscope_sim_level){.base = (char *)base,
                                        .pitch = pitch,
                                        .slice = pitch * (d->Height ? d->Height : 1),
                                        .width = (unsigned)d->Width,
                                        .height = (unsigned)d->Height,
                                        .depth = (unsigned)d->Depth};
}

static CUresult view_array(struct vramscope_sim_texture *v, const void *handle, bool mipmapped)
{
    _Static_assert(sizeof v->level / sizeof v->level[0] == VS_SIM_MIP_LEVELS,
                   "room for each level");
    struct vs_sim_range range;
    const struct vs_sim_array *a = vs_sim_array_of(handle, mipmapped, &range);
    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    v->layered = (a->desc.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    v->cubemap = (a->desc.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    v->levels = mipmapped ? a->levels : 1;
    v->level[0] = level_of(a, range.base);
    for (unsigned i = 0; i < a->levels; i++) {
        const struct vs_sim_array *level = vs_sim_array_of((void *)a->level_base[i], false, NULL);
        if (!level)
            return CUDA_ERROR_INVALID_HANDLE;
        v->level[i] = level_of(level, a->level_base[i]);
    }
    return set_format(v, a->desc.Format, a->desc.NumChannels);
}

static bool at_most(uint64_t n, CUdevice_attribute most)
{
    return n <= (uint64_t)vs_sim_device_shared_attribute(most);
}

static bool aligned_to(uint64_t n, CUdevice_attribute alignment)
{
    return n % (uint64_t)vs_sim_device_shared_attribute(alignment) == 0;
}

/* Rows of *pitch* bytes; *height* 0: one row without a pitch. */
static CUresult view_memory(struct vramscope_sim_texture *v, CUdeviceptr at, size_t width,
                            size_t height, size_t pitch)
{
    bool flat = !height;
    if (!at || !width || !aligned_to(at, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) ||
        !at_most(width, flat ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH
                             : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH))
        return CUDA_ERROR_INVALID_VALUE;
    if (!flat && (!at_most(height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
                  !at_most(pitch, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH) ||
                  pitch < width * v->channels * v->channel_bytes ||
                  !aligned_to(pitch, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)))
        return CUDA_ERROR_INVALID_VALUE;
    v->linear = flat;
    v->levels = 1;
    v->level[0] = (struct vramscope_sim_level){.base = (char *)at,
                                               .pitch = pitch,
                                               .slice = pitch * height,
                                               .width = (unsigned)width,
                                               .height = (unsigned)height};
    return CUDA_SUCCESS;
}

static CUresult view_resource(struct vramscope_sim_texture *v, const CUDA_RESOURCE_DESC *r)
{
    CUresult e;
    if (r->flags || (v->surface && r->resType != CU_RESOURCE_TYPE_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY: return view_array(v, r->res.array.hArray, false);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return view_array(v, r->res.mipmap.hMipmappedArray, true);
    case CU_RESOURCE_TYPE_LINEAR:
        e = set_format(v, r->res.linear.format, r->res.linear.numChannels);
        return e ? e
                 : view_memory(v, r->res.linear.devPtr,
                               r->res.linear.sizeInBytes / (v->channels * v->channel_bytes), 0, 0);
    case CU_RESOURCE_TYPE_PITCH2D:
        e = set_format(v, r->res.pitch2D.format, r->res.pitch2D.numChannels);
        if (!e && !r->res.pitch2D.height)
            e = CUDA_ERROR_INVALID_VALUE;
        return e ? e
                 : view_memory(v, r->res.pitch2D.devPtr, r->res.pitch2D.width,
                               r->res.pitch2D.height, r->res.pitch2D.pitchInBytes);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult view_sampling(struct vramscope_sim_texture *v, const CUDA_TEXTURE_DESC *t)
{
    for (int i = 0; i < 3; i++) {
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        v->address_mode[i] = (unsigned)t->addressMode[i];
    }
    if ((unsigned)t->filterMode > CU_TR_FILTER_MODE_LINEAR || t->flags & ~(unsigned)FLAGS_KNOWN ||
        (unsigned)t->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    bool integers = (v->texel == VRAMSCOPE_SIM_UNSIGNED || v->texel == VRAMSCOPE_SIM_SIGNED) &&
                    (t->flags & CU_TRSF_READ_AS_INTEGER || v->channel_bytes == 4);
    if (integers && t->filterMode == CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE; /* the guide: only floating-point values are filtered */
    v->filter_mode = (unsigned)t->filterMode;
    v->mipmap_filter_mode = (unsigned)t->mipmapFilterMode;
    v->flags = t->flags;
    v->bias = t->mipmapLevelBias;
    v->min_level = t->minMipmapLevelClamp;
    v->max_level = t->maxMipmapLevelClamp;
    for (int i = 0; i < 4; i++)
        v->border[i] = t->borderColor[i];
    return CUDA_SUCCESS;
}

/* ---- objects ---- */

static struct texture_slot *slot_new_locked(uint32_t *index)
{
    if (unused) {
        *index = unused - 1;
        struct texture_slot *s = slot_at(*index);
        unused = s->next_unused;
        return s;
    }
    if (slot_count == CHUNK * CHUNKS)
        return NULL;
    if (slot_count % CHUNK == 0)
        chunks[slot_count / CHUNK] = vs_sim_need(calloc(CHUNK, sizeof(struct texture_slot)));
    *index = slot_count++;
    return slot_at(*index);
}

static CUresult create(unsigned long long *object, const CUDA_RESOURCE_DESC *resource,
                       const CUDA_TEXTURE_DESC *texture)
{
    struct vs_sim_context *ctx;
    struct vramscope_sim_texture view = {.surface = !texture};
    uint32_t index;
    CUresult e = vs_sim_enter_context(&ctx);
    if (e)
        return e;
    if (!object || !resource)
        return CUDA_ERROR_INVALID_VALUE;
    e = view_resource(&view, resource);
    if (!e && texture)
        e = view_sampling(&view, texture);
    if (e)
        return e;
    pthread_mutex_lock(&slots_mu);
    struct texture_slot *s = slot_new_locked(&index);
    if (s) {
        s->view = view;
        s->resource = *resource;
        if (texture)
            s->texture = *texture;
        *object = ++serial << INDEX_BITS | index;
        atomic_store(&s->handle, *object);
    }
    pthread_mutex_unlock(&slots_mu);
    return s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult destroy(unsigned long long object, bool surface)
{
    pthread_mutex_lock(&slots_mu);
    struct texture_slot *s = slot_find(object, surface);
    if (s) {
        uint32_t index = (uint32_t)(object & ((1u << INDEX_BITS) - 1));
        atomic_store(&s->handle, 0);
        s->next_unused = unused;
        unused = index + 1;
    }
    pthread_mutex_unlock(&slots_mu);
    return s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Copies what an object was created with; *resource* or *texture* may be NULL. */
static CUresult describe(unsigned long long object, bool surface, CUDA_RESOURCE_DESC *resource,
                         CUDA_TEXTURE_DESC *texture)
{
    pthread_mutex_lock(&slots_mu);
    struct texture_slot *s = slot_find(object, surface);
    if (s && resource)
        *resource = s->resource;
    if (s && texture)
        *texture = s->texture;
    pthread_mutex_unlock(&slots_mu);
    return s && (resource || texture) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    if (!pTexDesc)
        return CUDA_ERROR_INVALID_VALUE;
    if (pResViewDesc && pResViewDesc->format != CU_RES_VIEW_FORMAT_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pTexObject, pResDesc, pTexDesc);
}

VS_SIM_AS(cuTexObjectDestroy_in, (CUtexObject texObject), destroy(texObject, false))
VS_SIM_AS(cuTexObjectGetResourceDesc_in, (CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject),
          describe(texObject, false, pResDesc, NULL))
VS_SIM_AS(cuTexObjectGetTextureDesc_in, (CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject),
          describe(texObject, false, NULL, pTexDesc))

/* cuda.h: an error if no resource view was specified, and none ever is here. */
CUresult cuTexObjectGetResourceViewDesc_in(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                           CUtexObject texObject)
{
    CUDA_TEXTURE_DESC texture;
    CUresult e = describe(texObject, false, NULL, &texture);
    return e ? e : CUDA_ERROR_INVALID_VALUE;
}

VS_SIM_AS(cuSurfObjectCreate, (CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc),
          create(pSurfObject, pResDesc, NULL))
VS_SIM_AS(cuSurfObjectDestroy_in, (CUsurfObject surfObject), destroy(surfObject, true))
VS_SIM_AS(cuSurfObjectGetResourceDesc_in, (CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject),
          describe(surfObject, true, pResDesc, NULL))

/* The same for every format that a texture can have. */
CUresult cuDeviceGetTexture1DLinearMaxWidth_entered(size_t maxWidthInElements[static 1],
                                                    CUarray_format format, unsigned numChannels,
                                                    CUdevice dev)
{
    size_t element;
    CUresult e = vs_sim_device_find(dev) ? vs_sim_array_format(format, numChannels, &element, NULL)
                                         : CUDA_ERROR_INVALID_DEVICE;
    if (!e)
        *maxWidthInElements = (size_t)vs_sim_device_shared_attribute(
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    return e;
}

/* ---- found by dlsym: vramscope_simulator.h describes it ---- */

const struct vramscope_sim_texture *vramscopeSimTexture(unsigned long long object);
VS_SIM_EXPORT const struct vramscope_sim_texture *vramscopeSimTexture(unsigned long long object)
{
    struct texture_slot *s = slot_find(object, false);
    if (!s)
        s = slot_find(object, true);
    return s ? &s->view : NULL;
}
