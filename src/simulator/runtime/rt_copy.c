/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and memsets of the runtime, converted to the driver's by direction. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

typedef CUdeviceptr D;

/* ---- one dimension ---- */

static CUresult copy_sync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                          bool per_thread)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return (per_thread ? vs_rt.MemcpyHtoD_ptds : vs_rt.MemcpyHtoD)((D)to, from, bytes);
    case cudaMemcpyDeviceToHost:
        return (per_thread ? vs_rt.MemcpyDtoH_ptds : vs_rt.MemcpyDtoH)(to, (D)from, bytes);
    case cudaMemcpyDeviceToDevice:
        return (per_thread ? vs_rt.MemcpyDtoD_ptds : vs_rt.MemcpyDtoD)((D)to, (D)from, bytes);
    default: /* host to host, and by address */
        return (per_thread ? vs_rt.Memcpy_ptds : vs_rt.Memcpy)((D)to, (D)from, bytes);
    }
}

static CUresult copy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                           CUstream stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice: return vs_rt.MemcpyHtoDAsync((D)to, from, bytes, stream);
    case cudaMemcpyDeviceToHost: return vs_rt.MemcpyDtoHAsync(to, (D)from, bytes, stream);
    case cudaMemcpyDeviceToDevice: return vs_rt.MemcpyDtoDAsync((D)to, (D)from, bytes, stream);
    default: return vs_rt.MemcpyAsync((D)to, (D)from, bytes, stream);
    }
}

cudaError_t vs_rt_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream, bool per_thread, bool async)
{
    cudaError_t e = vs_rt_kind_ok(kind) ? vs_rt_enter_context() : cudaErrorInvalidMemcpyDirection;
    if (e)
        return e;
    return vs_rt_error(async ? copy_async(to, from, bytes, kind, stream)
                             : copy_sync(to, from, bytes, kind, per_thread));
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return vs_rt_result(vs_rt_copy(dst, src, count, kind, NULL, false, false));
}

cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return vs_rt_result(vs_rt_copy(dst, src, count, kind, NULL, true, false));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return vs_rt_result(vs_rt_copy(dst, src, count, kind, stream, false, true));
}

static cudaError_t peer_contexts(int to_device, int from_device, CUcontext *to, CUcontext *from)
{
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_context_of(to_device, to);
    return e ? e : vs_rt_context_of(from_device, from);
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    CUcontext to, from;
    cudaError_t e = peer_contexts(dstDevice, srcDevice, &to, &from);
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.MemcpyPeer((D)dst, to, (D)src, from, count)));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    CUcontext to, from;
    cudaError_t e = peer_contexts(dstDevice, srcDevice, &to, &from);
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.MemcpyPeerAsync((D)dst, to, (D)src, from, count, stream)));
}

/* ---- device variables ---- */

static cudaError_t copy_symbol(const void *symbol, void *other, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, bool to_symbol, cudaStream_t stream,
                               bool per_thread, bool async)
{
    CUdeviceptr address;
    size_t size;
    enum cudaMemcpyKind host = to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (kind != host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t e = vs_rt_symbol(symbol, &address, &size);
    if (e)
        return e;
    if (offset > size || bytes > size - offset)
        return cudaErrorInvalidValue;
    char *at = (char *)address + offset;
    return to_symbol ? vs_rt_copy(at, other, bytes, kind, stream, per_thread, async)
                     : vs_rt_copy(other, at, bytes, kind, stream, per_thread, async);
}

#define SYMBOL_FORMS(name, to_symbol, first, second)                                              \
    cudaError_t name(first, second, size_t count, size_t offset, enum cudaMemcpyKind kind)        \
    {                                                                                             \
        return vs_rt_result(copy_symbol(symbol, (void *)other, count, offset, kind, to_symbol,    \
                                        NULL, false, false));                                     \
    }                                                                                             \
    cudaError_t name##_ptds(first, second, size_t count, size_t offset, enum cudaMemcpyKind kind) \
    {                                                                                             \
        return vs_rt_result(copy_symbol(symbol, (void *)other, count, offset, kind, to_symbol,    \
                                        NULL, true, false));                                      \
    }                                                                                             \
    cudaError_t name##Async(first, second, size_t count, size_t offset, enum cudaMemcpyKind kind, \
                            cudaStream_t stream)                                                  \
    {                                                                                             \
        return vs_rt_result(copy_symbol(symbol, (void *)other, count, offset, kind, to_symbol,    \
                                        stream, false, true));                                    \
    }

SYMBOL_FORMS(cudaMemcpyToSymbol, true, const void *symbol, const void *other)
SYMBOL_FORMS(cudaMemcpyFromSymbol, false, void *other, const void *symbol)

/* ---- two dimensions ---- */

void vs_rt_types_of(enum cudaMemcpyKind kind, CUmemorytype *to, CUmemorytype *from)
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

cudaError_t vs_rt_copy_box_2d(const CUDA_MEMCPY2D *c, cudaStream_t stream, bool per_thread,
                              bool async)
{
    if (async)
        return vs_rt_error(vs_rt.Memcpy2DAsync(c, stream));
    return vs_rt_error((per_thread ? vs_rt.Memcpy2DUnaligned_ptds : vs_rt.Memcpy2DUnaligned)(c));
}

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, enum cudaMemcpyKind kind,
                           cudaStream_t stream, bool per_thread, bool async)
{
    CUDA_MEMCPY2D c = {.srcHost = from,
                       .srcDevice = (D)from,
                       .srcPitch = from_pitch,
                       .dstHost = to,
                       .dstDevice = (D)to,
                       .dstPitch = to_pitch,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = vs_rt_kind_ok(kind) ? vs_rt_enter_context() : cudaErrorInvalidMemcpyDirection;
    if (e)
        return e;
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidPitchValue;
    vs_rt_types_of(kind, &c.dstMemoryType, &c.srcMemoryType);
    return vs_rt_copy_box_2d(&c, stream, per_thread, async);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    return vs_rt_result(copy_2d(dst, dpitch, src, spitch, width, height, kind, NULL, false, false));
}

cudaError_t cudaMemcpy2D_ptds(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return vs_rt_result(copy_2d(dst, dpitch, src, spitch, width, height, kind, NULL, true, false));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return vs_rt_result(
        copy_2d(dst, dpitch, src, spitch, width, height, kind, stream, false, true));
}

/* ---- three dimensions ---- */

/* One end: an array or a pointer, never both. Positions in an array are in elements of *element*
 * bytes; elsewhere in bytes. */
static cudaError_t end_3d(cudaArray_t array, const void *pointer, size_t *element)
{
    struct vs_rt_array_shape shape = {.element = 1};
    if (!array == !pointer)
        return cudaErrorInvalidValue;
    cudaError_t e = array ? vs_rt_array_shape(array, &shape) : cudaSuccess;
    *element = shape.element;
    return e;
}

/* Both ends; stores the element size of an array, or 1, in *element*. */
static cudaError_t ends_3d(cudaArray_t to_array, const void *to, cudaArray_t from_array,
                           const void *from, size_t *element)
{
    size_t to_element, from_element;
    cudaError_t e = end_3d(to_array, to, &to_element);
    if (!e)
        e = end_3d(from_array, from, &from_element);
    if (e)
        return e;
    if (to_array && from_array && to_element != from_element)
        return cudaErrorInvalidValue;
    *element = to_array ? to_element : from_element;
    return cudaSuccess;
}

cudaError_t vs_rt_describe_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
    size_t element;
    if (!p)
        return cudaErrorInvalidValue;
    if (!vs_rt_kind_ok(p->kind))
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
    vs_rt_types_of(p->kind, &c->dstMemoryType, &c->srcMemoryType);
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

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool per_thread,
                           bool async)
{
    CUDA_MEMCPY3D c;
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_describe_3d(p, &c);
    if (e)
        return e;
    if (async)
        return vs_rt_error(vs_rt.Memcpy3DAsync(&c, stream));
    return vs_rt_error((per_thread ? vs_rt.Memcpy3D_ptds : vs_rt.Memcpy3D)(&c));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return vs_rt_result(copy_3d(p, NULL, false, false));
}

cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p)
{
    return vs_rt_result(copy_3d(p, NULL, true, false));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return vs_rt_result(copy_3d(p, stream, false, true));
}

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                                bool per_thread, bool async)
{
    CUcontext to, from;
    size_t element;
    if (!p)
        return cudaErrorInvalidValue;
    cudaError_t e = peer_contexts(p->dstDevice, p->srcDevice, &to, &from);
    if (!e)
        e = ends_3d(p->dstArray, p->dstPtr.ptr, p->srcArray, p->srcPtr.ptr, &element);
    if (e)
        return e;
    CUDA_MEMCPY3D_PEER c = {.srcXInBytes = p->srcPos.x * (p->srcArray ? element : 1),
                            .srcY = p->srcPos.y,
                            .srcZ = p->srcPos.z,
                            .srcMemoryType =
                                p->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE,
                            .srcArray = (CUarray)p->srcArray,
                            .srcDevice = (D)p->srcPtr.ptr,
                            .srcContext = from,
                            .srcPitch = p->srcPtr.pitch,
                            .srcHeight = p->srcPtr.ysize,
                            .dstXInBytes = p->dstPos.x * (p->dstArray ? element : 1),
                            .dstY = p->dstPos.y,
                            .dstZ = p->dstPos.z,
                            .dstMemoryType =
                                p->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE,
                            .dstArray = (CUarray)p->dstArray,
                            .dstDevice = (D)p->dstPtr.ptr,
                            .dstContext = to,
                            .dstPitch = p->dstPtr.pitch,
                            .dstHeight = p->dstPtr.ysize,
                            .WidthInBytes = p->extent.width * element,
                            .Height = p->extent.height,
                            .Depth = p->extent.depth};
    if (async)
        return vs_rt_error(vs_rt.Memcpy3DPeerAsync(&c, stream));
    return vs_rt_error((per_thread ? vs_rt.Memcpy3DPeer_ptds : vs_rt.Memcpy3DPeer)(&c));
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return vs_rt_result(copy_3d_peer(p, NULL, false, false));
}

cudaError_t cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *p)
{
    return vs_rt_result(copy_3d_peer(p, NULL, true, false));
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return vs_rt_result(copy_3d_peer(p, stream, false, true));
}
