/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays and physical memory handles go to the driver unrecorded for their
 * bytes; when the driver has no memory left while the cache holds some, the
 * cache gives way and the call is made once more, as it would have succeeded
 * without us. */
#include "intercept/hook.h"
#include "intercept/process.h"
#include "intercept/tracker.h"

static bool room_made(CUresult r)
{
    if (r != CUDA_ERROR_OUT_OF_MEMORY || !vs_hook_active())
        return false;
    vs_thread.inside++;
    const struct vs_context *context = vs_context_current();
    bool made = context && vs_context_make_room(context->device) > 0;
    vs_thread.inside--;
    return made;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    CUresult r = VS_REAL(cuArrayCreate_v2, array, desc);
    return room_made(r) ? VS_REAL(cuArrayCreate_v2, array, desc) : r;
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    CUresult r = VS_REAL(cuArray3DCreate_v2, array, desc);
    return room_made(r) ? VS_REAL(cuArray3DCreate_v2, array, desc) : r;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                unsigned levels)
{
    CUresult r = VS_REAL(cuMipmappedArrayCreate, array, desc, levels);
    return room_made(r) ? VS_REAL(cuMipmappedArrayCreate, array, desc, levels) : r;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult r = VS_REAL(cuMemCreate, handle, bytes, prop, flags);
    return room_made(r) ? VS_REAL(cuMemCreate, handle, bytes, prop, flags) : r;
}
