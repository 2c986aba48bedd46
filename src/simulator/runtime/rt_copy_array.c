/* SPDX-License-Identifier: Apache-2.0
 *
 * Two-dimensional copies of the runtime with arrays. The older family without "2D" counts bytes
 * from a position in the array on, row after row: at most three boxes, the rest of a row, whole
 * rows and the start of a row. */
#include "simulator/runtime/vs_sim_runtime.h"

typedef CUdeviceptr D;

static cudaError_t enter(enum cudaMemcpyKind kind)
{
    return vs_rt_kind_ok(kind) ? vs_rt_enter_context() : cudaErrorInvalidMemcpyDirection;
}

cudaError_t vs_rt_memcpy_2d_to_array(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, struct vs_rt_way way)
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
    cudaError_t e = enter(kind);
    if (e)
        return e;
    if (width > pitch)
        return cudaErrorInvalidPitchValue;
    vs_rt_types_of(kind, &unused, &c.srcMemoryType);
    return vs_rt_copy_box_2d(&c, way);
}

cudaError_t vs_rt_memcpy_2d_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, struct vs_rt_way way)
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
    cudaError_t e = enter(kind);
    if (e)
        return e;
    if (width > pitch)
        return cudaErrorInvalidPitchValue;
    vs_rt_types_of(kind, &c.dstMemoryType, &unused);
    return vs_rt_copy_box_2d(&c, way);
}

cudaError_t vs_rt_memcpy_2d_array_to_array(cudaArray_t to, size_t to_x, size_t to_y,
                                           cudaArray_const_t from, size_t from_x, size_t from_y,
                                           size_t width, size_t height, enum cudaMemcpyKind kind,
                                           struct vs_rt_way way)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = (CUarray)from,
                       .srcXInBytes = from_x,
                       .srcY = from_y,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = (CUarray)to,
                       .dstXInBytes = to_x,
                       .dstY = to_y,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = enter(kind);
    return e ? e : vs_rt_copy_box_2d(&c, way);
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
static cudaError_t counted_in(cudaArray_const_t array, size_t x, size_t y, size_t count,
                              struct vs_rt_array_shape *shape)
{
    cudaError_t e = vs_rt_array_shape(array, shape);
    if (e || !count)
        return e;
    if (x >= shape->row || y >= shape->rows || count > (shape->rows - y) * shape->row - x)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static cudaError_t count_copy(cudaArray_const_t array, size_t x, size_t y, void *other,
                              size_t count, bool into, enum cudaMemcpyKind kind,
                              struct vs_rt_way way)
{
    struct vs_rt_array_shape shape;
    size_t width, height;
    cudaError_t e = enter(kind);
    if (!e)
        e = counted_in(array, x, y, count, &shape);
    for (char *at = other; count && !e; at += width * height, count -= width * height) {
        next_box(x, shape.row, count, &width, &height);
        e = into ? vs_rt_memcpy_2d_to_array((cudaArray_t)array, x, y, at, width, width, height,
                                            kind, way)
                 : vs_rt_memcpy_2d_from_array(at, width, array, x, y, width, height, kind, way);
        y += x + width == shape.row ? height : 0;
        x = 0;
    }
    return e;
}

cudaError_t vs_rt_memcpy_to_array(cudaArray_t to, size_t x, size_t y, const void *from,
                                  size_t count, enum cudaMemcpyKind kind, struct vs_rt_way way)
{
    return count_copy(to, x, y, (void *)from, count, true, kind, way);
}

cudaError_t vs_rt_memcpy_from_array(void *to, cudaArray_const_t from, size_t x, size_t y,
                                    size_t count, enum cudaMemcpyKind kind, struct vs_rt_way way)
{
    return count_copy(from, x, y, to, count, false, kind, way);
}

cudaError_t vs_rt_memcpy_array_to_array(cudaArray_t to, size_t to_x, size_t to_y,
                                        cudaArray_const_t from, size_t from_x, size_t from_y,
                                        size_t count, enum cudaMemcpyKind kind,
                                        struct vs_rt_way way)
{
    struct vs_rt_array_shape into, out_of;
    cudaError_t e = enter(kind);
    if (!e)
        e = counted_in(to, to_x, to_y, count, &into);
    if (!e)
        e = counted_in(from, from_x, from_y, count, &out_of);
    while (count && !e) {
        size_t width = into.row - to_x;
        width = width < out_of.row - from_x ? width : out_of.row - from_x;
        width = width < count ? width : count;
        e = vs_rt_memcpy_2d_array_to_array(to, to_x, to_y, from, from_x, from_y, width, 1, kind,
                                           way);
        count -= width;
        to_x += width, from_x += width;
        if (to_x == into.row)
            to_x = 0, to_y++;
        if (from_x == out_of.row)
            from_x = 0, from_y++;
    }
    return e;
}
