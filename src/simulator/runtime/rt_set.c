/* SPDX-License-Identifier: Apache-2.0
 *
 * Memsets of boxes in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

static cudaError_t set_2d(void *to, size_t pitch, int value, size_t width, size_t height,
                          struct vs_rt_way way)
{
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    if (way.async)
        return vs_rt_error(vs_rt.MemsetD2D8Async((CUdeviceptr)to, pitch, (unsigned char)value, width, height,
                                                 way.stream));
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
