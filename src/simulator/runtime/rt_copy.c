/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of the runtime, converted to the driver's by direction. */
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

cudaError_t vs_rt_memcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                         struct vs_rt_way way)
{
    cudaError_t e = vs_rt_kind_ok(kind) ? vs_rt_enter_context() : cudaErrorInvalidMemcpyDirection;
    if (e)
        return e;
    return vs_rt_error(way.async ? copy_async(to, from, bytes, kind, way.stream)
                                 : copy_sync(to, from, bytes, kind, way.per_thread));
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

cudaError_t vs_rt_copy_box_2d(const CUDA_MEMCPY2D *c, struct vs_rt_way way)
{
    if (way.async)
        return vs_rt_error(vs_rt.Memcpy2DAsync(c, way.stream));
    return vs_rt_error((way.per_thread ? vs_rt.Memcpy2DUnaligned_ptds : vs_rt.Memcpy2DUnaligned)(c));
}

cudaError_t vs_rt_memcpy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind,
                            struct vs_rt_way way)
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
    return vs_rt_copy_box_2d(&c, way);
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
    if (way.async)
        return vs_rt_error(vs_rt.Memcpy3DPeerAsync(&c, way.stream));
    return vs_rt_error((way.per_thread ? vs_rt.Memcpy3DPeer_ptds : vs_rt.Memcpy3DPeer)(&c));
}
