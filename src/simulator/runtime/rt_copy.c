/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and memsets of the runtime, converted to the driver's by direction. The older family of
 * copies with arrays, without "2D", counts bytes from a position in the array on, row after row: at
 * most three boxes, the rest of a row, whole rows and the start of a row. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

typedef CUdeviceptr D;

static cudaError_t enter(enum cudaMemcpyKind kind)
{
    bool known = (unsigned)kind <= cudaMemcpyDefault;
    return known ? vs_rt_enter_context() : cudaErrorInvalidMemcpyDirection;
}

/* ---- one dimension ---- */

cudaError_t vs_rt_memcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                         struct vs_rt_way way)
{
    cudaError_t e = enter(kind);
    if (e)
        return e;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return vs_rt_error(way.async ? vs_rt.MemcpyHtoDAsync((D)to, from, bytes, way.stream)
                           : way.per_thread ? vs_rt.MemcpyHtoD_ptds((D)to, from, bytes)
                                            : vs_rt.MemcpyHtoD((D)to, from, bytes));
    case cudaMemcpyDeviceToHost:
        return vs_rt_error(way.async ? vs_rt.MemcpyDtoHAsync(to, (D)from, bytes, way.stream)
                           : way.per_thread ? vs_rt.MemcpyDtoH_ptds(to, (D)from, bytes)
                                            : vs_rt.MemcpyDtoH(to, (D)from, bytes));
    case cudaMemcpyDeviceToDevice:
        return vs_rt_error(way.async ? vs_rt.MemcpyDtoDAsync((D)to, (D)from, bytes, way.stream)
                           : way.per_thread ? vs_rt.MemcpyDtoD_ptds((D)to, (D)from, bytes)
                                            : vs_rt.MemcpyDtoD((D)to, (D)from, bytes));
    default: /* host to host, and by address */
        return vs_rt_error(way.async ? vs_rt.MemcpyAsync((D)to, (D)from, bytes, way.stream)
                           : way.per_thread ? vs_rt.Memcpy_ptds((D)to, (D)from, bytes)
                                            : vs_rt.Memcpy((D)to, (D)from, bytes));
    }
}

static cudaError_t peer_contexts(int to_device, int from_device, CUcontext *to, CUcontext *from)
{
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_context_of(to_device, to);
    return e ? e : vs_rt_context_of(from_device, from);
}

cudaError_t cudaMemcpyPeer_context(void *dst, int dstDevice, const void *src, int srcDevice,
                                   size_t count)
{
    CUcontext to, from;
    cudaError_t e = peer_contexts(dstDevice, srcDevice, &to, &from);
    return e ? e : vs_rt_error(vs_rt.MemcpyPeer((D)dst, to, (D)src, from, count));
}

cudaError_t cudaMemcpyPeerAsync_context(void *dst, int dstDevice, const void *src, int srcDevice,
                                        size_t count, cudaStream_t stream)
{
    CUcontext to, from;
    cudaError_t e = peer_contexts(dstDevice, srcDevice, &to, &from);
    return e ? e : vs_rt_error(vs_rt.MemcpyPeerAsync((D)dst, to, (D)src, from, count, stream));
}

/* ---- device variables ---- */

cudaError_t vs_rt_symbol_part(const void *symbol, size_t offset, size_t bytes,
                              enum cudaMemcpyKind kind, enum cudaMemcpyKind host, char **at)
{
    CUdeviceptr address;
    size_t size;
    if (kind != host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t e = vs_rt_symbol(symbol, &address, &size);
    if (e)
        return e;
    if (offset > size || bytes > size - offset)
        return cudaErrorInvalidValue;
    *at = (char *)address + offset;
    return cudaSuccess;
}

cudaError_t vs_rt_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                            enum cudaMemcpyKind kind, struct vs_rt_way way)
{
    char *at;
    cudaError_t e = vs_rt_symbol_part(symbol, offset, bytes, kind, cudaMemcpyHostToDevice, &at);
    return e ? e : vs_rt_memcpy(at, from, bytes, kind, way);
}

cudaError_t vs_rt_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                              enum cudaMemcpyKind kind, struct vs_rt_way way)
{
    char *at;
    cudaError_t e = vs_rt_symbol_part(symbol, offset, bytes, kind, cudaMemcpyDeviceToHost, &at);
    return e ? e : vs_rt_memcpy(to, at, bytes, kind, way);
}

/* ---- two dimensions ---- */

static void types_of(enum cudaMemcpyKind kind, CUmemorytype *to, CUmemorytype *from)
{
    *to = *from = CU_MEMORYTYPE_UNIFIED;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        *from = CU_MEMORYTYPE_HOST;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        *to = CU_MEMORYTYPE_HOST;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice)
        *to = CU_MEMORYTYPE_DEVICE;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)
        *from = CU_MEMORYTYPE_DEVICE;
}

struct end_2d { /* memory, or a position in an array */
    const void *at;
    size_t pitch;
    bool in_array; /* also if *array* is NULL, which the driver refuses */
    cudaArray_const_t array;
    size_t x, y;
};

static cudaError_t copy_2d(struct end_2d to, struct end_2d from, size_t width, size_t height,
                           enum cudaMemcpyKind kind, struct vs_rt_way way)
{
    CUDA_MEMCPY2D c = {.srcXInBytes = from.x,
                       .srcY = from.y,
                       .srcHost = from.at,
                       .srcDevice = (D)from.at,
                       .srcArray = (CUarray)from.array,
                       .srcPitch = from.pitch,
                       .dstXInBytes = to.x,
                       .dstY = to.y,
                       .dstHost = (void *)to.at,
                       .dstDevice = (D)to.at,
                       .dstArray = (CUarray)to.array,
                       .dstPitch = to.pitch,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = enter(kind);
    if (e)
        return e;
    if ((!to.in_array && width > to.pitch) || (!from.in_array && width > from.pitch))
        return cudaErrorInvalidPitchValue;
    if ((to.in_array && !to.array) || (from.in_array && !from.array))
        return cudaErrorInvalidResourceHandle;
    types_of(kind, &c.dstMemoryType, &c.srcMemoryType);
    if (to.in_array)
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    if (from.in_array)
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    if (way.async)
        return vs_rt_error(vs_rt.Memcpy2DAsync(&c, way.stream));
    return vs_rt_error(
        (way.per_thread ? vs_rt.Memcpy2DUnaligned_ptds : vs_rt.Memcpy2DUnaligned)(&c));
}

static struct end_2d memory(const void *at, size_t pitch)
{
    return (struct end_2d){.at = at, .pitch = pitch};
}

static struct end_2d in_array(cudaArray_const_t array, size_t x, size_t y)
{
    return (struct end_2d){.in_array = true, .array = array, .x = x, .y = y};
}

VS_RT_AS(vs_rt_memcpy_2d,
         (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
          size_t height, enum cudaMemcpyKind kind, struct vs_rt_way way),
         copy_2d(memory(to, to_pitch), memory(from, from_pitch), width, height, kind, way))
VS_RT_AS(vs_rt_memcpy_2d_to_array,
         (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
          size_t height, enum cudaMemcpyKind kind, struct vs_rt_way way),
         copy_2d(in_array(to, x, y), memory(from, pitch), width, height, kind, way))
VS_RT_AS(vs_rt_memcpy_2d_from_array,
         (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
          size_t height, enum cudaMemcpyKind kind, struct vs_rt_way way),
         copy_2d(memory(to, pitch), in_array(from, x, y), width, height, kind, way))
VS_RT_AS(vs_rt_memcpy_2d_array_to_array,
         (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
          size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind,
          struct vs_rt_way way),
         copy_2d(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind,
                 way))

/* ---- by count of bytes ---- */

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
        bool whole = !x && count >= shape.row; /* rows */
        width = whole ? shape.row : count < shape.row - x ? count : shape.row - x;
        height = whole ? count / shape.row : 1;
        e = into ? vs_rt_memcpy_2d_to_array((cudaArray_t)array, x, y, at, width, width, height,
                                            kind, way)
                 : vs_rt_memcpy_2d_from_array(at, width, array, x, y, width, height, kind, way);
        y += x + width == shape.row ? height : 0;
        x = 0;
    }
    return e;
}

VS_RT_AS(vs_rt_memcpy_to_array,
         (cudaArray_t to, size_t x, size_t y, const void *from, size_t count,
          enum cudaMemcpyKind kind, struct vs_rt_way way),
         count_copy(to, x, y, (void *)from, count, true, kind, way))
VS_RT_AS(vs_rt_memcpy_from_array,
         (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
          enum cudaMemcpyKind kind, struct vs_rt_way way),
         count_copy(from, x, y, to, count, false, kind, way))

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

/* ---- three dimensions ---- */

/* Each end is an array or a pointer, never both. Positions in an array are in elements, elsewhere
 * in bytes. Stores the element size of an array, or 1, in *element*. */
static cudaError_t ends_3d(cudaArray_t to_array, const void *to, cudaArray_t from_array,
                           const void *from, size_t *element)
{
    struct vs_rt_array_shape shapes[2] = {{.element = 1}, {.element = 1}};
    if (!to_array == !to)
        return cudaErrorInvalidValue;
    cudaError_t e = to_array ? vs_rt_array_shape(to_array, &shapes[0]) : cudaSuccess;
    if (!e && !from_array == !from)
        e = cudaErrorInvalidValue;
    if (!e && from_array)
        e = vs_rt_array_shape(from_array, &shapes[1]);
    if (!e && to_array && from_array && shapes[0].element != shapes[1].element)
        e = cudaErrorInvalidValue;
    *element = shapes[to_array ? 0 : 1].element;
    return e;
}

cudaError_t vs_rt_describe_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
    size_t element;
    if (!p)
        return cudaErrorInvalidValue;
    if ((unsigned)p->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t e = ends_3d(p->dstArray, p->dstPtr.ptr, p->srcArray, p->srcPtr.ptr, &element);
    if (e)
        return e;
    *c = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x * (p->srcArray ? element : 1),
                         .srcY = p->srcPos.y,
                         .srcZ = p->srcPos.z,
                         .srcHost = p->srcPtr.ptr,
                         .srcDevice = (D)p->srcPtr.ptr,
                         .srcPitch = p->srcPtr.pitch,
                         .srcHeight = p->srcPtr.ysize,
                         .srcArray = (CUarray)p->srcArray,
                         .dstXInBytes = p->dstPos.x * (p->dstArray ? element : 1),
                         .dstY = p->dstPos.y,
                         .dstZ = p->dstPos.z,
                         .dstArray = (CUarray)p->dstArray,
                         .dstHost = p->dstPtr.ptr,
                         .dstDevice = (D)p->dstPtr.ptr,
                         .dstPitch = p->dstPtr.pitch,
                         .dstHeight = p->dstPtr.ysize,
                         .WidthInBytes = p->extent.width * element,
                         .Height = p->extent.height,
                         .Depth = p->extent.depth};
    types_of(p->kind, &c->dstMemoryType, &c->srcMemoryType);
    if (p->srcArray)
        c->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    if (p->dstArray)
        c->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    return cudaSuccess;
}

static enum cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from)
{
    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    bool to_host = to == CU_MEMORYTYPE_HOST, from_host = from == CU_MEMORYTYPE_HOST;
    return to_host ? (from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost)
                   : (from_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice);
}

static void *pointer_of(CUmemorytype type, const void *host, D device)
{
    return type == CU_MEMORYTYPE_ARRAY  ? NULL
           : type == CU_MEMORYTYPE_HOST ? (void *)host
                                        : (void *)device;
}

cudaError_t vs_rt_params_3d(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p)
{
    cudaArray_t to = c->dstMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)c->dstArray : NULL;
    cudaArray_t from = c->srcMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)c->srcArray : NULL;
    void *to_at = pointer_of(c->dstMemoryType, c->dstHost, c->dstDevice);
    void *from_at = pointer_of(c->srcMemoryType, c->srcHost, c->srcDevice);
    size_t element;
    cudaError_t e = ends_3d(to, to_at, from, from_at, &element);
    if (e)
        return e;
    *p = (struct cudaMemcpy3DParms){
        .srcArray = from,
        .srcPos = {c->srcXInBytes / (from ? element : 1), c->srcY, c->srcZ},
        .srcPtr = {from_at, c->srcPitch, c->WidthInBytes, c->srcHeight},
        .dstArray = to,
        .dstPos = {c->dstXInBytes / (to ? element : 1), c->dstY, c->dstZ},
        .dstPtr = {to_at, c->dstPitch, c->WidthInBytes, c->dstHeight},
        .extent = {c->WidthInBytes / element, c->Height, c->Depth},
        .kind = kind_of(c->dstMemoryType, c->srcMemoryType)};
    return cudaSuccess;
}

cudaError_t vs_rt_memcpy_3d(const struct cudaMemcpy3DParms *p, struct vs_rt_way way)
{
    CUDA_MEMCPY3D c;
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_describe_3d(p, &c);
    if (e)
        return e;
    if (way.async)
        return vs_rt_error(vs_rt.Memcpy3DAsync(&c, way.stream));
    return vs_rt_error((way.per_thread ? vs_rt.Memcpy3D_ptds : vs_rt.Memcpy3D)(&c));
}

cudaError_t vs_rt_memcpy_3d_peer(const struct cudaMemcpy3DPeerParms *p, struct vs_rt_way way)
{
    union { /* the same but for the contexts */
        CUDA_MEMCPY3D plain;
        CUDA_MEMCPY3D_PEER peer;
    } c;
    _Static_assert(sizeof c.plain == sizeof c.peer,
                   "contexts are where the other has reserved fields");
    if (!p)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms all = {.srcArray = p->srcArray,
                                    .srcPos = p->srcPos,
                                    .srcPtr = p->srcPtr,
                                    .dstArray = p->dstArray,
                                    .dstPos = p->dstPos,
                                    .dstPtr = p->dstPtr,
                                    .extent = p->extent,
                                    .kind = cudaMemcpyDeviceToDevice};
    CUcontext to, from;
    cudaError_t e = peer_contexts(p->dstDevice, p->srcDevice, &to, &from);
    if (!e)
        e = vs_rt_describe_3d(&all, &c.plain);
    if (e)
        return e;
    c.peer.srcContext = from;
    c.peer.dstContext = to;
    if (way.async)
        return vs_rt_error(vs_rt.Memcpy3DPeerAsync(&c.peer, way.stream));
    return vs_rt_error((way.per_thread ? vs_rt.Memcpy3DPeer_ptds : vs_rt.Memcpy3DPeer)(&c.peer));
}

/* ---- memsets of boxes ---- */

static cudaError_t set_2d(void *to, size_t pitch, int value, size_t width, size_t height,
                          struct vs_rt_way way)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    if (way.async)
        return vs_rt_error(vs_rt.MemsetD2D8Async((CUdeviceptr)to, pitch, (unsigned char)value,
                                                 width, height, way.stream));
    return vs_rt_error((way.per_thread ? vs_rt.MemsetD2D8_ptds : vs_rt.MemsetD2D8)(
        (CUdeviceptr)to, pitch, (unsigned char)value, width, height));
}

cudaError_t vs_rt_memset_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                            struct vs_rt_way way)
{
    if (extent.height > to.ysize && extent.depth > 1)
        return cudaErrorInvalidValue;
    if (extent.height == to.ysize) /* the planes are adjacent */
        return set_2d(to.ptr, to.pitch, value, extent.width, extent.height * extent.depth, way);
    cudaError_t e = cudaSuccess;
    for (size_t z = 0; z < extent.depth && !e; z++)
        e = set_2d((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width,
                   extent.height, way);
    return e;
}
