/* SPDX-License-Identifier: Apache-2.0
 *
 * Memsets of the runtime: bytes, rows and boxes. */
#include "simulator/runtime/vs_sim_runtime.h"

typedef CUdeviceptr D;

static cudaError_t set_1d(void *to, int value, size_t count, cudaStream_t stream, bool per_thread,
                          bool async)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    if (async)
        return vs_rt_error(vs_rt.MemsetD8Async((D)to, (unsigned char)value, count,
                                               stream));
    return vs_rt_error(
        (per_thread ? vs_rt.MemsetD8_ptds : vs_rt.MemsetD8)((D)to, (unsigned char)value, count));
}

static cudaError_t set_2d(void *to, size_t pitch, int value, size_t width, size_t height,
                          cudaStream_t stream, bool per_thread, bool async)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    if (async)
        return vs_rt_error(vs_rt.MemsetD2D8Async((D)to, pitch, (unsigned char)value, width, height,
                                                 stream));
    return vs_rt_error((per_thread ? vs_rt.MemsetD2D8_ptds : vs_rt.MemsetD2D8)(
        (D)to, pitch, (unsigned char)value, width, height));
}

static cudaError_t set_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                          cudaStream_t stream, bool per_thread, bool async)
{
    if (extent.height > to.ysize && extent.depth > 1)
        return cudaErrorInvalidValue;
    if (extent.height == to.ysize) /* the planes are adjacent */
        return set_2d(to.ptr, to.pitch, value, extent.width, extent.height * extent.depth, stream,
                      per_thread, async);
    cudaError_t e = cudaSuccess;
    for (size_t z = 0; z < extent.depth && !e; z++)
        e = set_2d((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width,
                   extent.height, stream, per_thread, async);
    return e;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    return vs_rt_result(set_1d(devPtr, value, count, NULL, false, false));
}

cudaError_t cudaMemset_ptds(void *devPtr, int value, size_t count)
{
    return vs_rt_result(set_1d(devPtr, value, count, NULL, true, false));
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return vs_rt_result(set_1d(devPtr, value, count, stream, false, true));
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return vs_rt_result(set_2d(devPtr, pitch, value, width, height, NULL, false, false));
}

cudaError_t cudaMemset2D_ptds(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return vs_rt_result(set_2d(devPtr, pitch, value, width, height, NULL, true, false));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return vs_rt_result(set_2d(devPtr, pitch, value, width, height, stream, false, true));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    return vs_rt_result(set_3d(pitchedDevPtr, value, extent, NULL, false, false));
}

cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent)
{
    return vs_rt_result(set_3d(pitchedDevPtr, value, extent, NULL, true, false));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    return vs_rt_result(set_3d(pitchedDevPtr, value, extent, stream, false, true));
}
