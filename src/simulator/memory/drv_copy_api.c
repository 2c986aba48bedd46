/* SPDX-License-Identifier: Apache-2.0
 *
 * The copy entry points: one-dimensional by named direction or by address, peers, and two- and
 * three-dimensional ones described by a structure. */
#include "simulator/memory/vs_sim_array.h"

#include <string.h>

enum side { DEVICE, ANY, ARRAY };

struct copy_place {
    enum side side;
    uintptr_t at; /* address or array handle */
    size_t offset; /* in the first row of the array */
};

#define P(x) ((uintptr_t)(x))

static struct copy_place device(CUdeviceptr p) { return (struct copy_place){DEVICE, P(p), 0}; }
static struct copy_place any(uintptr_t p) { return (struct copy_place){ANY, p, 0}; }
static struct copy_place array(CUarray a, size_t offset) { return (struct copy_place){ARRAY, P(a), offset}; }

static CUresult end_of(const struct copy_place *place, size_t bytes, struct vs_sim_end *end,
                       size_t *element)
{
    const size_t at[3] = {place->offset, 0, 0}, box[3] = {bytes, 1, 1};
    switch (place->side) {
    case ARRAY: return vs_sim_end_array((CUarray)place->at, at, box, end, element);
    case DEVICE: return vs_sim_end_device(place->at, bytes, end);
    default: return vs_sim_end_any(place->at, bytes, end);
    }
}

static CUresult copy_1d(struct copy_place to, struct copy_place from, size_t bytes, CUstream handle,
                        bool async)
{
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy = {.width = bytes, .height = 1, .depth = 1};
    size_t to_element = 0, from_element = 0;
    CUresult e = vs_sim_enter_stream(handle, &stream);
    if (e || !bytes)
        return e;
    if ((e = end_of(&to, bytes, &copy.to, &to_element)) ||
        (e = end_of(&from, bytes, &copy.from, &from_element)))
        return e;
    if (to_element && from_element && to_element != from_element)
        return CUDA_ERROR_INVALID_VALUE;
    return vs_sim_copy_submit(stream->ctx, stream, &copy, async);
}

/* Each direction, synchronous and asynchronous; drv_fallback.c has the per-thread forms. */
#define SYNC_FORM(name, to, from, ...) \
    CUresult name(__VA_ARGS__) { return copy_1d(to, from, ByteCount, NULL, false); }
#define ASYNC_FORM(name, to, from, ...) \
    CUresult name(__VA_ARGS__, CUstream hStream) { return copy_1d(to, from, ByteCount, hStream, true); }
#define BOTH_FORMS(name, async_name, ...) SYNC_FORM(name, __VA_ARGS__) ASYNC_FORM(async_name, __VA_ARGS__)

BOTH_FORMS(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, device(dst), any(P(src)), CUdeviceptr dst,
           const void *src, size_t ByteCount)
BOTH_FORMS(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, any(P(dst)), device(src), void *dst,
           CUdeviceptr src, size_t ByteCount)
BOTH_FORMS(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, device(dst), device(src), CUdeviceptr dst,
           CUdeviceptr src, size_t ByteCount)
BOTH_FORMS(cuMemcpy, cuMemcpyAsync, any(dst), any(src), CUdeviceptr dst, CUdeviceptr src,
           size_t ByteCount)
/* These access the first row of an array, since cuda.h defines them for 1D arrays only. */
BOTH_FORMS(cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2, array(dst, dstOffset), any(P(src)), CUarray dst,
           size_t dstOffset, const void *src, size_t ByteCount)
BOTH_FORMS(cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2, any(P(dst)), array(src, srcOffset), void *dst,
           CUarray src, size_t srcOffset, size_t ByteCount)
SYNC_FORM(cuMemcpyDtoA_v2, array(dst, dstOffset), device(src), CUarray dst, size_t dstOffset,
          CUdeviceptr src, size_t ByteCount)
SYNC_FORM(cuMemcpyAtoD_v2, device(dst), array(src, srcOffset), CUdeviceptr dst, CUarray src,
          size_t srcOffset, size_t ByteCount)
SYNC_FORM(cuMemcpyAtoA_v2, array(dst, dstOffset), array(src, srcOffset), CUarray dst,
          size_t dstOffset, CUarray src, size_t srcOffset, size_t ByteCount)

/* ---- peers ---- */

static CUresult copy_peer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                          size_t bytes, CUstream handle, bool async)
{
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    if (!vs_sim_context_of(to_ctx) || !vs_sim_context_of(from_ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_1d(device(to), device(from), bytes, handle, async);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext,
                      size_t ByteCount)
{
    return copy_peer(dst, dstContext, src, srcContext, ByteCount, NULL, false);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
    return copy_peer(dst, dstContext, src, srcContext, ByteCount, hStream, true);
}

/* ---- two and three dimensions ---- */

struct box_end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

static CUresult box_end(const struct box_end *in, size_t width, size_t height, size_t depth,
                        struct vs_sim_end *end, size_t *element)
{
    *element = 0;
    if (in->type == CU_MEMORYTYPE_ARRAY) {
        const size_t at[3] = {in->x, in->y, in->z}, box[3] = {width, height, depth};
        return vs_sim_end_array(in->array, at, box, end, element);
    }
    if (in->type != CU_MEMORYTYPE_HOST && in->type != CU_MEMORYTYPE_DEVICE &&
        in->type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = in->pitch ? in->pitch : in->x + width;
    size_t rows = in->height ? in->height : in->y + height;
    if (pitch < in->x + width || (depth > 1 && rows < in->y + height))
        return CUDA_ERROR_INVALID_VALUE;
    uintptr_t base = in->type == CU_MEMORYTYPE_HOST ? P(in->host) : (uintptr_t)in->device;
    if (!base)
        return CUDA_ERROR_INVALID_VALUE;
    base += (in->z * rows + in->y) * pitch + in->x;
    size_t span = ((depth - 1) * rows + height - 1) * pitch + width;
    end->pitch = pitch;
    end->slice = pitch * rows;
    return in->type == CU_MEMORYTYPE_DEVICE ? vs_sim_end_device(base, span, end)
                                            : vs_sim_end_any(base, span, end);
}

static CUresult box_ends(const struct box_end *to, const struct box_end *from,
                         struct vs_sim_copy *c)
{
    size_t to_element, from_element;
    CUresult e = box_end(to, c->width, c->height, c->depth, &c->to, &to_element);
    if (!e)
        e = box_end(from, c->width, c->height, c->depth, &c->from, &from_element);
    if (!e && to_element && from_element && to_element != from_element)
        e = CUDA_ERROR_INVALID_VALUE;
    return e;
}

static CUresult copy_box(const struct box_end *to, const struct box_end *from, size_t width,
                         size_t height, size_t depth, CUstream handle, bool async)
{
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy = {.width = width, .height = height, .depth = depth};
    CUresult e = vs_sim_enter_stream(handle, &stream);
    if (e || !width || !height || !depth)
        return e;
    e = box_ends(to, from, &copy);
    return e ? e : vs_sim_copy_submit(stream->ctx, stream, &copy, async);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have the same names for these fields. */
#define BOX_ENDS(c)                                                                            \
    struct box_end from = {(c)->srcMemoryType, (c)->srcHost,     (c)->srcDevice, \
                           (c)->srcArray,      (c)->srcXInBytes, (c)->srcY,      \
                           (c)->srcZ,          (c)->srcPitch,    (c)->srcHeight}; \
    struct box_end to = {(c)->dstMemoryType, (c)->dstHost,     (c)->dstDevice, \
                         (c)->dstArray,      (c)->dstXInBytes, (c)->dstY,      \
                         (c)->dstZ,          (c)->dstPitch,    (c)->dstHeight}

CUresult vs_sim_copy_describe(const CUDA_MEMCPY3D *c, struct vs_sim_copy *copy)
{
    if (c->srcLOD || c->dstLOD || !c->WidthInBytes || !c->Height || !c->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    BOX_ENDS(c);
    *copy = (struct vs_sim_copy){
        .width = c->WidthInBytes, .height = c->Height, .depth = c->Depth, .async = true};
    return box_ends(&to, &from, copy);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream handle, bool async)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    struct box_end from = {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                           c->srcY,          0,          c->srcPitch,  0};
    struct box_end to = {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                         c->dstY,          0,          c->dstPitch,  0};
    return copy_box(&to, &from, c->WidthInBytes, c->Height, 1, handle, async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy) { return copy_2d(pCopy, NULL, false); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, false);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, true);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream handle, bool async)
{
    if (!c || c->srcLOD || c->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    BOX_ENDS(c);
    return copy_box(&to, &from, c->WidthInBytes, c->Height, c->Depth, handle, async);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy) { return copy_3d(pCopy, NULL, false); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(pCopy, hStream, true);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream handle, bool async)
{
    if (!c || c->srcLOD || c->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    BOX_ENDS(c);
    return copy_box(&to, &from, c->WidthInBytes, c->Height, c->Depth, handle, async);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return copy_3d_peer(pCopy, NULL, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return copy_3d_peer(pCopy, hStream, true);
}
