/* SPDX-License-Identifier: Apache-2.0
 *
 * The copy entry points: one-dimensional by named direction or by address, peers, and two- and
 * three-dimensional ones described by a structure. */
#include "simulator/memory/vs_sim_array.h"

#include <string.h>

enum copy_api_side { DEVICE, HOST, ANY };

static CUresult end_of(enum copy_api_side side, uintptr_t address, size_t bytes, struct vs_sim_end *end)
{
    return side == DEVICE ? vs_sim_end_device(address, bytes, end)
                          : vs_sim_end_any(address, bytes, end);
}

static CUresult copy_1d(uintptr_t to, enum copy_api_side to_side, uintptr_t from,
                        enum copy_api_side from_side, size_t bytes, CUstream handle, bool async)
{
    struct vs_sim_context *ctx;
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy = {.width = bytes, .height = 1, .depth = 1};
    CUresult e = vs_sim_enter_context(&ctx);
    if (!e)
        e = vs_sim_stream_of(ctx, handle, &stream);
    if (e || !bytes)
        return e;
    if ((e = end_of(to_side, to, bytes, &copy.to)) ||
        (e = end_of(from_side, from, bytes, &copy.from)))
        return e;
    return vs_sim_copy_submit(stream->ctx, stream, &copy, async);
}

#define P(x) ((uintptr_t)(x))

/* Each direction: synchronous, with the legacy and with the per-thread default stream, and
 * asynchronous. */
#define COPY_FORMS(name, async_name, to_type, to_side, from_type, from_side)                   \
    CUresult name(to_type dst, from_type src, size_t ByteCount)                                \
    {                                                                                          \
        return copy_1d(P(dst), to_side, P(src), from_side, ByteCount, NULL, false);     \
    }                                                                                          \
    CUresult name##_ptds(to_type dst, from_type src, size_t ByteCount)                         \
    {                                                                                          \
        return copy_1d(P(dst), to_side, P(src), from_side, ByteCount, CU_STREAM_PER_THREAD, false);      \
    }                                                                                          \
    CUresult async_name(to_type dst, from_type src, size_t ByteCount, CUstream hStream)        \
    {                                                                                          \
        return copy_1d(P(dst), to_side, P(src), from_side, ByteCount, hStream, true);   \
    }

COPY_FORMS(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, CUdeviceptr, DEVICE, const void *, ANY)
COPY_FORMS(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, void *, ANY, CUdeviceptr, DEVICE)
COPY_FORMS(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, CUdeviceptr, DEVICE, CUdeviceptr, DEVICE)
COPY_FORMS(cuMemcpy, cuMemcpyAsync, CUdeviceptr, ANY, CUdeviceptr, ANY)

/* ---- peers ---- */

static CUresult copy_peer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                          size_t bytes, CUstream handle, bool async)
{
    CUresult e = vs_sim_enter();
    if (e)
        return e;
    if (!vs_sim_context_of(to_ctx) || !vs_sim_context_of(from_ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_1d(to, DEVICE, from, DEVICE, bytes, handle, async);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext,
                      size_t ByteCount)
{
    return copy_peer(dst, dstContext, src, srcContext, ByteCount, NULL, false);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src,
                           CUcontext srcContext, size_t ByteCount)
{
    return copy_peer(dst, dstContext, src, srcContext, ByteCount, CU_STREAM_PER_THREAD, false);
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
    return end_of(in->type == CU_MEMORYTYPE_DEVICE ? DEVICE : ANY, base, span, end);
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
    struct vs_sim_context *ctx;
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy = {.width = width, .height = height, .depth = depth};
    CUresult e = vs_sim_enter_context(&ctx);
    if (!e)
        e = vs_sim_stream_of(ctx, handle, &stream);
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
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, CU_STREAM_PER_THREAD, false);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, false);
}
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, CU_STREAM_PER_THREAD, false);
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
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(pCopy, CU_STREAM_PER_THREAD, false);
}
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
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return copy_3d_peer(pCopy, CU_STREAM_PER_THREAD, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return copy_3d_peer(pCopy, hStream, true);
}
