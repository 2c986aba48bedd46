/* SPDX-License-Identifier: Apache-2.0
 *
 * The copy entry points. Each describes its copy as two ends of a box: by address or by a position
 * in an array. Batches: all copies are checked before the first is queued, then they run one after
 * the other in the stream. The batch determines when a source is read, not whether its memory is
 * pageable: in stream order, or, for access during the call, before it returns. Location hints have
 * no effect. */
#include "simulator/memory/vs_sim_array.h"

struct box_end {
    CUmemorytype type;
    uintptr_t at; /* address or array handle */
    size_t x, y, z, pitch, height; /* 0: pitch and height of the box */
};

struct copy_way {
    CUstream stream;
    bool async;
};

static CUresult box_end(const struct box_end *in, const struct vs_sim_copy *c,
                        struct vs_sim_end *end, size_t *element)
{
    size_t slice, span;
    *element = 0;
    if (in->type == CU_MEMORYTYPE_ARRAY) {
        const size_t at[3] = {in->x, in->y, in->z}, box[3] = {c->width, c->height, c->depth};
        return vs_sim_end_array((CUarray)in->at, at, box, end, element);
    }
    if (in->type != CU_MEMORYTYPE_HOST && in->type != CU_MEMORYTYPE_DEVICE &&
        in->type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = in->pitch ? in->pitch : in->x + c->width;
    size_t rows = in->height ? in->height : in->y + c->height;
    if (!in->at || pitch < in->x + c->width || (c->depth > 1 && rows < in->y + c->height) ||
        __builtin_mul_overflow(pitch, rows, &slice) ||
        __builtin_mul_overflow(slice, c->depth, &span))
        return CUDA_ERROR_INVALID_VALUE;
    uintptr_t base = in->at + (in->z * rows + in->y) * pitch + in->x;
    span = (c->depth - 1) * slice + (c->height - 1) * pitch + c->width;
    end->pitch = pitch;
    end->slice = slice;
    return in->type == CU_MEMORYTYPE_DEVICE ? vs_sim_end_device(base, span, end)
                                            : vs_sim_end_any(base, span, end);
}

static CUresult box_ends(const struct box_end *to, const struct box_end *from,
                         struct vs_sim_copy *c)
{
    size_t to_element, from_element;
    CUresult e = box_end(to, c, &c->to, &to_element);
    if (!e)
        e = box_end(from, c, &c->from, &from_element);
    if (!e && to_element && from_element && to_element != from_element)
        e = CUDA_ERROR_INVALID_VALUE;
    return e;
}

static CUresult copy_box(struct box_end to, struct box_end from, size_t width, size_t height,
                         size_t depth, struct copy_way way)
{
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy = {.width = width, .height = height, .depth = depth};
    CUresult e = vs_sim_enter_stream(way.stream, &stream);
    if (e || !width || !height || !depth)
        return e;
    e = box_ends(&to, &from, &copy);
    return e ? e : vs_sim_copy_submit(stream->ctx, stream, &copy, way.async);
}

/* Each form, synchronous and asynchronous; drv_fallback.c has the per-thread forms. */
#define SYNC_FORM(name, call, ...)                       \
    CUresult name(__VA_ARGS__)                           \
    {                                                    \
        const struct copy_way way = {NULL, false};       \
        return call;                                     \
    }
#define BOTH_FORMS(name, async_name, call, ...)          \
    SYNC_FORM(name, call, __VA_ARGS__)                   \
    CUresult async_name(__VA_ARGS__, CUstream hStream)   \
    {                                                    \
        const struct copy_way way = {hStream, true};     \
        return call;                                     \
    }

/* ---- one dimension ---- */

#define P(x) ((uintptr_t)(x))

static struct box_end device(CUdeviceptr p)
{
    return (struct box_end){.type = CU_MEMORYTYPE_DEVICE, .at = p};
}

static struct box_end any(uintptr_t p)
{
    return (struct box_end){.type = CU_MEMORYTYPE_UNIFIED, .at = p};
}

/* The first row of an array, since cuda.h defines these copies for 1D arrays only. */
static struct box_end array(CUarray a, size_t x)
{
    return (struct box_end){.type = CU_MEMORYTYPE_ARRAY, .at = P(a), .x = x};
}

#define COPY_1D(to, from) copy_box(to, from, ByteCount, 1, 1, way)

BOTH_FORMS(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, COPY_1D(device(dst), any(P(src))),
           CUdeviceptr dst, const void *src, size_t ByteCount)
BOTH_FORMS(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, COPY_1D(any(P(dst)), device(src)), void *dst,
           CUdeviceptr src, size_t ByteCount)
BOTH_FORMS(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, COPY_1D(device(dst), device(src)),
           CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
BOTH_FORMS(cuMemcpy, cuMemcpyAsync, COPY_1D(any(dst), any(src)), CUdeviceptr dst, CUdeviceptr src,
           size_t ByteCount)
BOTH_FORMS(cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2, COPY_1D(array(dst, dstOffset), any(P(src))),
           CUarray dst, size_t dstOffset, const void *src, size_t ByteCount)
BOTH_FORMS(cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2, COPY_1D(any(P(dst)), array(src, srcOffset)),
           void *dst, CUarray src, size_t srcOffset, size_t ByteCount)
SYNC_FORM(cuMemcpyDtoA_v2, COPY_1D(array(dst, dstOffset), device(src)), CUarray dst,
          size_t dstOffset, CUdeviceptr src, size_t ByteCount)
SYNC_FORM(cuMemcpyAtoD_v2, COPY_1D(device(dst), array(src, srcOffset)), CUdeviceptr dst,
          CUarray src, size_t srcOffset, size_t ByteCount)
SYNC_FORM(cuMemcpyAtoA_v2, COPY_1D(array(dst, dstOffset), array(src, srcOffset)), CUarray dst,
          size_t dstOffset, CUarray src, size_t srcOffset, size_t ByteCount)

static CUresult copy_peer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                          size_t bytes, struct copy_way way)
{
    CUresult e = vs_sim_enter();
    if (!e && (!vs_sim_context_of(to_ctx) || !vs_sim_context_of(from_ctx)))
        e = CUDA_ERROR_INVALID_CONTEXT;
    return e ? e : copy_box(device(to), device(from), bytes, 1, 1, way);
}

BOTH_FORMS(cuMemcpyPeer, cuMemcpyPeerAsync,
           copy_peer(dst, dstContext, src, srcContext, ByteCount, way), CUdeviceptr dst,
           CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t ByteCount)

/* ---- two and three dimensions ---- */

/* CUDA_MEMCPY2D, CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have the same names for these fields. */
#define BOX_END(c, side, z, height)                                                              \
    ((struct box_end){(c)->side##MemoryType,                                                     \
                      (c)->side##MemoryType == CU_MEMORYTYPE_HOST    ? P((c)->side##Host)        \
                      : (c)->side##MemoryType == CU_MEMORYTYPE_ARRAY ? P((c)->side##Array)       \
                                                                     : P((c)->side##Device),     \
                      (c)->side##XInBytes, (c)->side##Y, z, (c)->side##Pitch, height})
#define BOX_FROM(c) BOX_END(c, src, (c)->srcZ, (c)->srcHeight)
#define BOX_TO(c) BOX_END(c, dst, (c)->dstZ, (c)->dstHeight)
#define COPY_2D(c)                                                                               \
    (c) ? copy_box(BOX_END(c, dst, 0, 0), BOX_END(c, src, 0, 0), (c)->WidthInBytes, (c)->Height, \
                   1, way)                                                                       \
        : CUDA_ERROR_INVALID_VALUE
#define COPY_3D(c)                                                                               \
    (c) && !(c)->srcLOD && !(c)->dstLOD                                                          \
        ? copy_box(BOX_TO(c), BOX_FROM(c), (c)->WidthInBytes, (c)->Height, (c)->Depth, way)      \
        : CUDA_ERROR_INVALID_VALUE

SYNC_FORM(cuMemcpy2DUnaligned_v2, COPY_2D(pCopy), const CUDA_MEMCPY2D *pCopy)
BOTH_FORMS(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, COPY_2D(pCopy), const CUDA_MEMCPY2D *pCopy)
BOTH_FORMS(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, COPY_3D(pCopy), const CUDA_MEMCPY3D *pCopy)
BOTH_FORMS(cuMemcpy3DPeer, cuMemcpy3DPeerAsync, COPY_3D(pCopy), const CUDA_MEMCPY3D_PEER *pCopy)

CUresult vs_sim_copy_describe(const CUDA_MEMCPY3D *c, struct vs_sim_copy *copy)
{
    if (c->srcLOD || c->dstLOD || !c->WidthInBytes || !c->Height || !c->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    *copy = (struct vs_sim_copy){
        .width = c->WidthInBytes, .height = c->Height, .depth = c->Depth, .async = true};
    return box_ends(&BOX_TO(c), &BOX_FROM(c), copy);
}

/* ---- batches ---- */

struct copy_batch {
    size_t count;
    const CUDA_MEMCPY3D_BATCH_OP *boxes; /* NULL: the lists */
    const CUdeviceptr *to, *from;
    const size_t *bytes;
    const CUmemcpyAttributes *attrs;
    const size_t *first; /* of the copies that each attribute applies to */
    size_t attr_count;
};

static bool order_ok(CUmemcpySrcAccessOrder order, unsigned flags)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           flags <= CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}

static CUresult list_check(const struct copy_batch *l)
{
    if (!l->to || !l->from || !l->bytes || !l->count || !l->attrs || !l->first || !l->attr_count ||
        l->attr_count > l->count || l->first[0])
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < l->attr_count; k++)
        if (!order_ok(l->attrs[k].srcAccessOrder, l->attrs[k].flags) || l->first[k] >= l->count ||
            (k && l->first[k] <= l->first[k - 1]))
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Stores the element size of *o* in *element*; 0 for a pointer. */
static CUresult element_of(const CUmemcpy3DOperand *o, size_t *element)
{
    const struct vs_sim_array *a = o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY
                                       ? vs_sim_array_of(o->op.array.array, false, NULL)
                                       : NULL;
    *element = a ? a->element : 0;
    return a || o->type == CU_MEMCPY_OPERAND_TYPE_POINTER ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The end that *o* describes in elements. */
static CUresult operand_end(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element,
                            struct box_end *end)
{
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const CUoffset3D *at = &o->op.array.offset;
        *end = array(o->op.array.array, 0);
        end->y = at->y;
        end->z = at->z;
        return __builtin_mul_overflow(at->x, element, &end->x) ? CUDA_ERROR_INVALID_VALUE
                                                               : CUDA_SUCCESS;
    }
    size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width;
    *end = any(o->op.ptr.ptr);
    end->height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
    return row < extent->width || end->height < extent->height ||
                   __builtin_mul_overflow(row, element, &end->pitch)
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

static CUresult box_of(const CUDA_MEMCPY3D_BATCH_OP *op, struct vs_sim_copy *copy)
{
    struct box_end ends[2];
    size_t to, from;
    CUresult e = element_of(&op->dst, &to);
    if (!e)
        e = element_of(&op->src, &from);
    if (e)
        return e;
    size_t element = to ? to : from ? from : 1;
    *copy =
        (struct vs_sim_copy){.height = op->extent.height, .depth = op->extent.depth, .async = true};
    if ((to && from && to != from) || !op->extent.width || !copy->height || !copy->depth ||
        __builtin_mul_overflow(op->extent.width, element, &copy->width) ||
        !order_ok(op->srcAccessOrder, op->flags) ||
        operand_end(&op->dst, &op->extent, element, &ends[0]) ||
        operand_end(&op->src, &op->extent, element, &ends[1]))
        return CUDA_ERROR_INVALID_VALUE;
    return box_ends(&ends[0], &ends[1], copy);
}

/* *bad*: index of the invalid copy, SIZE_MAX if the error is not in one. */
static CUresult batch(const struct copy_batch *b, unsigned long long flags, CUstream handle,
                      size_t *bad)
{
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy;
    CUresult e = vs_sim_enter_stream(handle, &stream);
    if (bad)
        *bad = SIZE_MAX;
    if (!e)
        e = vs_sim_not_capturing(stream);
    if (!e && (stream->legacy || flags || !b->count)) /* cuda.h: "Must not be legacy NULL stream" */
        e = CUDA_ERROR_INVALID_VALUE;
    if (!e && !b->boxes)
        e = list_check(b);
    for (size_t turn = 0, k = 0; turn < 2; turn++, k = 0)
        for (size_t i = 0; i < b->count && !e; i++) {
            CUmemcpySrcAccessOrder order;
            if (b->boxes) {
                order = b->boxes[i].srcAccessOrder;
                e = box_of(&b->boxes[i], &copy);
            } else {
                k += k + 1 < b->attr_count && b->first[k + 1] <= i;
                order = b->attrs[k].srcAccessOrder;
                copy = (struct vs_sim_copy){
                    .width = b->bytes[i], .height = 1, .depth = 1, .async = true};
                struct box_end to = any(b->to[i]), from = any(b->from[i]);
                e = copy.width ? box_ends(&to, &from, &copy) : CUDA_ERROR_INVALID_VALUE;
            }
            if (e && !turn && bad)
                *bad = i;
            if (e || !turn)
                continue;
            struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_COPY);
            op->u.copy = copy;
            op->correlation = vs_sim_correlate(VS_SIM_ACTIVITY_COPY);
            e = order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
                    ? vs_sim_run_now(stream, op)
                    : vs_sim_submit(stream, op, NULL);
        }
    return e;
}

/* The first forms also report the failed copy. */
CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                            size_t *failIdx, CUstream hStream)
{
    struct copy_batch b = {count, NULL, dsts, srcs, sizes, attrs, attrsIdxs, numAttrs};
    return batch(&b, 0, hStream, failIdx);
}

VS_SIM_AS(cuMemcpyBatchAsync_v2,
          (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
           CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream),
          cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream))

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                              unsigned long long flags, CUstream hStream)
{
    struct copy_batch b = {.count = numOps, .boxes = opList};
    return batch(&b, flags, hStream, failIdx);
}

VS_SIM_AS(cuMemcpy3DBatchAsync_v2,
          (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
           CUstream hStream),
          cuMemcpy3DBatchAsync(numOps, opList, NULL, flags, hStream))
