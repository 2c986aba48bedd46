/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of copies: all are checked before the first is queued, then they run one after the other
 * in the stream. The batch determines when a source is read, not whether its memory is pageable: in
 * stream order, or, for access during the call, before it returns. Location hints have no effect.
 */
#include "simulator/memory/vs_sim_array.h"

static CUresult enter(CUstream handle, struct vs_sim_stream **stream)
{
    CUresult e = vs_sim_enter_stream(handle, stream);
    if (!e)
        e = vs_sim_not_capturing(*stream);
    if (!e && (*stream)->legacy) /* cuda.h: "Must not be legacy NULL stream" */
        e = CUDA_ERROR_INVALID_VALUE;
    return e;
}

static bool order_ok(CUmemcpySrcAccessOrder order, unsigned flags)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           flags <= CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}

static CUresult queue(struct vs_sim_stream *stream, const struct vs_sim_copy *copy,
                      CUmemcpySrcAccessOrder order)
{
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_COPY);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->u.copy = *copy;
    op->correlation = vs_sim_correlate(VS_SIM_ACTIVITY_COPY);
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? vs_sim_run_now(stream, op)
                                                               : vs_sim_submit(stream, op, NULL);
}

/* ---- one dimension ---- */

struct copy_batch_list {
    const CUdeviceptr *to, *from;
    const size_t *bytes;
    size_t count;
    const CUmemcpyAttributes *attrs;
    const size_t *first; /* of the copies that each attribute applies to */
    size_t attr_count;
};

static CUresult copy_of(const struct copy_batch_list *l, size_t i, struct vs_sim_copy *copy)
{
    *copy = (struct vs_sim_copy){.width = l->bytes[i], .height = 1, .depth = 1, .async = true};
    if (!l->bytes[i])
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = vs_sim_end_any(l->to[i], l->bytes[i], &copy->to);
    return e ? e : vs_sim_end_any(l->from[i], l->bytes[i], &copy->from);
}

static CUresult list_check(const struct copy_batch_list *l, size_t *bad)
{
    struct vs_sim_copy copy;
    if (!l->to || !l->from || !l->bytes || !l->count || !l->attrs || !l->first || !l->attr_count ||
        l->attr_count > l->count || l->first[0])
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < l->attr_count; k++)
        if (!order_ok(l->attrs[k].srcAccessOrder, l->attrs[k].flags) || l->first[k] >= l->count ||
            (k && l->first[k] <= l->first[k - 1]))
            return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < l->count; i++) {
        CUresult e = copy_of(l, i, &copy);
        if (e) {
            *bad = i;
            return e;
        }
    }
    return CUDA_SUCCESS;
}

/* *bad*: index of the invalid copy, SIZE_MAX if the error is not in one. */
static CUresult batch(const struct copy_batch_list *l, CUstream handle, size_t *bad)
{
    struct vs_sim_stream *stream;
    size_t unused;
    bad = bad ? bad : &unused;
    *bad = SIZE_MAX;
    CUresult e = enter(handle, &stream);
    if (!e)
        e = list_check(l, bad);
    for (size_t i = 0, k = 0; i < l->count && !e; i++) {
        struct vs_sim_copy copy;
        while (k + 1 < l->attr_count && l->first[k + 1] <= i)
            k++;
        e = copy_of(l, i, &copy);
        if (!e)
            e = queue(stream, &copy, l->attrs[k].srcAccessOrder);
    }
    return e;
}

/* ---- three dimensions ---- */

static CUresult pointer_end(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element,
                            struct vs_sim_end *end)
{
    size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width;
    size_t rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
    size_t pitch, slice, span;
    if (row < extent->width || rows < extent->height ||
        __builtin_mul_overflow(row, element, &pitch) ||
        __builtin_mul_overflow(pitch, rows, &slice) ||
        __builtin_mul_overflow(slice, extent->depth, &span))
        return CUDA_ERROR_INVALID_VALUE;
    span = (extent->depth - 1) * slice + (extent->height - 1) * pitch + extent->width * element;
    end->pitch = pitch;
    end->slice = slice;
    return vs_sim_end_any(o->op.ptr.ptr, span, end);
}

/* Stores the element size of *o* in *element*; 0 for a pointer. */
static CUresult element_of(const CUmemcpy3DOperand *o, size_t *element)
{
    struct vs_sim_array array;
    *element = 0;
    if (o->type == CU_MEMCPY_OPERAND_TYPE_POINTER)
        return CUDA_SUCCESS;
    if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY ||
        !vs_sim_array_of(o->op.array.array, &array, NULL))
        return CUDA_ERROR_INVALID_VALUE;
    *element = array.element;
    return CUDA_SUCCESS;
}

static CUresult end_of(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element,
                       struct vs_sim_end *end)
{
    if (o->type == CU_MEMCPY_OPERAND_TYPE_POINTER)
        return pointer_end(o, extent, element, end);
    const CUoffset3D *at = &o->op.array.offset;
    size_t x;
    if (__builtin_mul_overflow(at->x, element, &x))
        return CUDA_ERROR_INVALID_VALUE;
    return vs_sim_end_array(o->op.array.array, (const size_t[]){x, at->y, at->z},
                            (const size_t[]){extent->width * element, extent->height,
                                             extent->depth},
                            end, &element);
}

static CUresult box_of(const CUDA_MEMCPY3D_BATCH_OP *op, struct vs_sim_copy *copy)
{
    size_t to, from, bytes;
    CUresult e = element_of(&op->dst, &to);
    if (!e)
        e = element_of(&op->src, &from);
    if (e)
        return e;
    size_t element = to ? to : from ? from : 1;
    if ((to && from && to != from) || !op->extent.width || !op->extent.height ||
        !op->extent.depth || __builtin_mul_overflow(op->extent.width, element, &bytes) ||
        !order_ok(op->srcAccessOrder, op->flags))
        return CUDA_ERROR_INVALID_VALUE;
    *copy = (struct vs_sim_copy){
        .width = bytes, .height = op->extent.height, .depth = op->extent.depth, .async = true};
    e = end_of(&op->dst, &op->extent, element, &copy->to);
    return e ? e : end_of(&op->src, &op->extent, element, &copy->from);
}

static CUresult batch_3d(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, unsigned long long flags,
                         CUstream handle, size_t *bad)
{
    struct vs_sim_stream *stream;
    struct vs_sim_copy copy;
    size_t unused;
    bad = bad ? bad : &unused;
    *bad = SIZE_MAX;
    CUresult e = enter(handle, &stream);
    if (!e && (!ops || !count || flags))
        e = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !e; i++) {
        e = box_of(&ops[i], &copy);
        if (e)
            *bad = i;
    }
    for (size_t i = 0; i < count && !e; i++)
        if (!(e = box_of(&ops[i], &copy)))
            e = queue(stream, &copy, ops[i].srcAccessOrder);
    return e;
}

/* ---- the entry points: the first forms also report the failed copy ---- */

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                            size_t *failIdx, CUstream hStream)
{
    struct copy_batch_list l = {dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs};
    return batch(&l, hStream, failIdx);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                               CUstream hStream)
{
    struct copy_batch_list l = {dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs};
    return batch(&l, hStream, NULL);
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                              unsigned long long flags, CUstream hStream)
{
    return batch_3d(opList, numOps, flags, hStream, failIdx);
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                 unsigned long long flags, CUstream hStream)
{
    return batch_3d(opList, numOps, flags, hStream, NULL);
}
