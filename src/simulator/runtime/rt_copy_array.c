/* SPDX-License-Identifier: Apache-2.0
 *
 * Two-dimensional copies of the runtime with arrays. The older family without "2D" counts bytes
 * from a position in the array on, row after row: at most three boxes, the rest of a row, whole
 * rows and the start of a row. */
#include "simulator/runtime/vs_sim_runtime.h"

typedef CUdeviceptr D;

struct how {
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool per_thread, async;
};

static cudaError_t enter(const struct how *how)
{
    return vs_rt_kind_ok(how->kind) ? vs_rt_enter_context() : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t run(const CUDA_MEMCPY2D *c, const struct how *how)
{
    return vs_rt_copy_box_2d(c, how->stream, how->per_thread, how->async);
}

static cudaError_t to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                            size_t width, size_t height, const struct how *how)
{
    CUmemorytype unused;
    CUDA_MEMCPY2D c = {.srcHost = from,
                       .srcDevice = (D)from,
                       .srcPitch = pitch,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = (CUarray)to,
                       .dstXInBytes = x,
                       .dstY = y,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = enter(how);
    if (e)
        return e;
    if (width > pitch)
        return cudaErrorInvalidPitchValue;
    vs_rt_types_of(how->kind, &unused, &c.srcMemoryType);
    return run(&c, how);
}

static cudaError_t from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                              size_t width, size_t height, const struct how *how)
{
    CUmemorytype unused;
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = (CUarray)from,
                       .srcXInBytes = x,
                       .srcY = y,
                       .dstHost = to,
                       .dstDevice = (D)to,
                       .dstPitch = pitch,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = enter(how);
    if (e)
        return e;
    if (width > pitch)
        return cudaErrorInvalidPitchValue;
    vs_rt_types_of(how->kind, &c.dstMemoryType, &unused);
    return run(&c, how);
}

struct runtime_copy_array_place { /* in an array */
    cudaArray_const_t array;
    size_t x, y;
};

static cudaError_t between(struct runtime_copy_array_place to, struct runtime_copy_array_place from, size_t width, size_t height,
                           const struct how *how)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = (CUarray)from.array,
                       .srcXInBytes = from.x,
                       .srcY = from.y,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = (CUarray)to.array,
                       .dstXInBytes = to.x,
                       .dstY = to.y,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = enter(how);
    return e ? e : run(&c, how);
}

/* ---- by count of bytes ---- */

/* The next box of *count* bytes from *x* on: whole rows if it begins with one. */
static void next_box(size_t x, size_t row, size_t count, size_t *width, size_t *height)
{
    *height = 1;
    if (x || count < row) {
        *width = count < row - x ? count : row - x;
    } else {
        *width = row;
        *height = count / row;
    }
}

/* Are *count* bytes from there on inside the array? Otherwise nothing is copied. */
static cudaError_t counted_in(struct runtime_copy_array_place p, size_t count, struct vs_rt_array_shape *shape)
{
    cudaError_t e = vs_rt_array_shape(p.array, shape);
    if (e || !count)
        return e;
    if (p.x >= shape->row || p.y >= shape->rows ||
        count > (shape->rows - p.y) * shape->row - p.x)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static cudaError_t count_copy(cudaArray_const_t array, size_t x, size_t y, void *other,
                              size_t count, bool into, const struct how *how)
{
    struct vs_rt_array_shape shape;
    size_t width, height;
    cudaError_t e = enter(how);
    if (!e)
        e = counted_in((struct runtime_copy_array_place){array, x, y}, count, &shape);
    for (char *at = other; count && !e; at += width * height, count -= width * height) {
        next_box(x, shape.row, count, &width, &height);
        e = into ? to_array((cudaArray_t)array, x, y, at, width, width, height, how)
                 : from_array(at, width, array, x, y, width, height, how);
        y += x + width == shape.row ? height : 0;
        x = 0;
    }
    return e;
}

static cudaError_t count_between(struct runtime_copy_array_place to, struct runtime_copy_array_place from, size_t count,
                                 const struct how *how)
{
    struct vs_rt_array_shape into, out_of;
    cudaError_t e = enter(how);
    if (!e)
        e = counted_in(to, count, &into);
    if (!e)
        e = counted_in(from, count, &out_of);
    while (count && !e) {
        size_t width = into.row - to.x;
        width = width < out_of.row - from.x ? width : out_of.row - from.x;
        width = width < count ? width : count;
        e = between(to, from, width, 1, how);
        count -= width;
        to.x += width, from.x += width;
        if (to.x == into.row)
            to.x = 0, to.y++;
        if (from.x == out_of.row)
            from.x = 0, from.y++;
    }
    return e;
}

/* ---- the entry points ---- */

/* Synchronous: with the legacy and the per-thread default stream. */
#define SYNC(name, call, ...)                                     \
    cudaError_t name(__VA_ARGS__, enum cudaMemcpyKind kind)       \
    {                                                             \
        struct how how = {kind, NULL, false, false};              \
        return vs_rt_result(call);                                \
    }                                                             \
    cudaError_t name##_ptds(__VA_ARGS__, enum cudaMemcpyKind kind) \
    {                                                             \
        struct how how = {kind, NULL, true, false};               \
        return vs_rt_result(call);                                \
    }

#define ASYNC(name, call, ...)                                                         \
    cudaError_t name##Async(__VA_ARGS__, enum cudaMemcpyKind kind, cudaStream_t stream) \
    {                                                                                  \
        struct how how = {kind, stream, false, true};                                  \
        return vs_rt_result(call);                                                     \
    }

#define BOTH(...) SYNC(__VA_ARGS__) ASYNC(__VA_ARGS__)

BOTH(cudaMemcpy2DToArray, to_array(dst, wOffset, hOffset, src, spitch, width, height, &how),
     cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
     size_t height)
BOTH(cudaMemcpy2DFromArray, from_array(dst, dpitch, src, wOffset, hOffset, width, height, &how),
     void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
     size_t height)
SYNC(cudaMemcpy2DArrayToArray,
     between((struct runtime_copy_array_place){dst, wOffsetDst, hOffsetDst},
             (struct runtime_copy_array_place){src, wOffsetSrc, hOffsetSrc}, width, height, &how),
     cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
     size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height)
BOTH(cudaMemcpyToArray, count_copy(dst, wOffset, hOffset, (void *)src, count, true, &how),
     cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count)
BOTH(cudaMemcpyFromArray, count_copy(src, wOffset, hOffset, dst, count, false, &how), void *dst,
     cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count)
SYNC(cudaMemcpyArrayToArray,
     count_between((struct runtime_copy_array_place){dst, wOffsetDst, hOffsetDst},
                   (struct runtime_copy_array_place){src, wOffsetSrc, hOffsetSrc}, count, &how),
     cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
     size_t wOffsetSrc, size_t hOffsetSrc, size_t count)
