/* SPDX-License-Identifier: Apache-2.0
 *
 * Managed memory. Host and simulated device share the bytes; what is simulated is
 * where an allocation is resident, which is what counts against a device: nowhere
 * at first, on a device after a prefetch to it (as long as it has room), off it
 * after a prefetch to the host. Whole allocations move, not pages. */
#include "simulator/vs_sim_driver.h"

#include <string.h>

#define NOWHERE (-2)

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    struct vs_sim_context *ctx;
    CUresult e = vs_sim_enter_context(&ctx);
    if (e)
        return e;
    if (!dptr || !bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = vs_sim_fault_alloc(VS_SIM_FAMILY_MANAGED)))
        return e;
    void *pages = vs_sim_host_map(bytesize);
    if (!pages)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct vs_sim_range range = {.base = (uintptr_t)pages,
                                 .bytes = bytesize,
                                 .kind = VS_SIM_RANGE_MANAGED,
                                 .ctx = ctx,
                                 .flags = flags,
                                 .device = ctx->device->ordinal,
                                 .resident = -1,
                                 .preferred = NOWHERE,
                                 .prefetched = NOWHERE};
    e = vs_sim_range_add(&range);
    if (e)
        vs_sim_host_unmap(pages, bytesize);
    else
        *dptr = range.base;
    return e;
}

static bool managed_at(CUdeviceptr address, size_t bytes, struct vs_sim_range *range)
{
    return vs_sim_range_covers(address, bytes, range) && range->kind == VS_SIM_RANGE_MANAGED;
}

static void move_to(struct vs_sim_range *range, int device)
{
    if (range->resident >= 0 && range->resident != device) {
        vs_sim_space_uncharge(range->resident, range->bytes);
        range->resident = -1;
    }
    if (device >= 0 && range->resident < 0 && vs_sim_space_charge(device, range->bytes))
        range->resident = device;
    range->prefetched = device < 0 ? CU_DEVICE_CPU : device;
    vs_sim_range_update(range);
}

/* The move counts from the call on; in the stream it leaves an ordering mark. */
static CUresult prefetch(CUdeviceptr address, size_t bytes, int device, CUstream handle,
                         bool per_thread)
{
    struct vs_sim_context *ctx;
    struct vs_sim_range range;
    struct vs_sim_stream *stream;
    CUresult e = vs_sim_enter_context(&ctx);
    if (!e)
        e = vs_sim_stream_of(ctx, handle, per_thread, &stream);
    if (!e)
        e = vs_sim_not_capturing(stream);
    if (e)
        return e;
    if (!bytes || !managed_at(address, bytes, &range))
        return CUDA_ERROR_INVALID_VALUE;
    if (device != CU_DEVICE_CPU && !vs_sim_device_find(device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_NOTHING);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    move_to(&range, device == CU_DEVICE_CPU ? -1 : device);
    return vs_sim_submit(stream, op, NULL);
}

static CUresult device_of(CUmemLocation location, int *device)
{
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: *device = location.id; return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: *device = CU_DEVICE_CPU; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    return prefetch(devPtr, count, dstDevice, hStream, false);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                 CUstream hStream)
{
    return prefetch(devPtr, count, dstDevice, hStream, true);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                               unsigned int flags, CUstream hStream)
{
    int device;
    CUresult e = flags ? CUDA_ERROR_INVALID_VALUE : device_of(location, &device);
    return e ? e : prefetch(devPtr, count, device, hStream, false);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                    unsigned int flags, CUstream hStream)
{
    int device;
    CUresult e = flags ? CUDA_ERROR_INVALID_VALUE : device_of(location, &device);
    return e ? e : prefetch(devPtr, count, device, hStream, true);
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    struct vs_sim_context *ctx;
    struct vs_sim_range range;
    CUresult e = vs_sim_enter_context(&ctx);
    if (e)
        return e;
    if (!count || !managed_at(devPtr, count, &range))
        return CUDA_ERROR_INVALID_VALUE;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: range.read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: range.read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        if (device != CU_DEVICE_CPU && !vs_sim_device_find(device))
            return CUDA_ERROR_INVALID_DEVICE;
        range.preferred = device;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: range.preferred = NOWHERE; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: /* everything is reachable from everywhere */
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    vs_sim_range_update(&range);
    return CUDA_SUCCESS;
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                        CUmemLocation location)
{
    int device = 0;
    bool located = advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
                   advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                   advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION; /* the others ignore it */
    CUresult e = located ? device_of(location, &device) : CUDA_SUCCESS;
    return e ? e : cuMemAdvise(devPtr, count, advice, device);
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count)
{
    struct vs_sim_context *ctx;
    struct vs_sim_range range;
    CUresult e = vs_sim_enter_context(&ctx);
    if (e)
        return e;
    if (!data || dataSize != sizeof(int) || !count || !managed_at(devPtr, count, &range))
        return CUDA_ERROR_INVALID_VALUE;
    int value;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = range.read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: value = range.preferred; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: value = range.prefetched; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count)
{
    if (!data || !dataSizes || !attributes || !numAttributes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numAttributes; i++) {
        CUresult e = cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
        if (e)
            return e;
    }
    return CUDA_SUCCESS;
}

static CUresult attach(CUstream handle, CUdeviceptr dptr, size_t length, unsigned flags,
                       bool per_thread)
{
    struct vs_sim_context *ctx;
    struct vs_sim_stream *stream;
    struct vs_sim_range range;
    CUresult e = vs_sim_enter_context(&ctx);
    if (!e)
        e = vs_sim_stream_of(ctx, handle, per_thread, &stream);
    if (!e)
        e = vs_sim_not_capturing(stream);
    if (e)
        return e;
    if (!vs_sim_range_find(dptr, &range) || range.kind != VS_SIM_RANGE_MANAGED || !flags ||
        flags > CU_MEM_ATTACH_SINGLE || (length && length != range.bytes) ||
        (flags == CU_MEM_ATTACH_SINGLE && stream->legacy))
        return CUDA_ERROR_INVALID_VALUE;
    range.flags = flags;
    vs_sim_range_update(&range);
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_NOTHING);
    return op ? vs_sim_submit(stream, op, NULL) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                unsigned int flags)
{
    return attach(hStream, dptr, length, flags, false);
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream hStream, CUdeviceptr dptr, size_t length,
                                     unsigned int flags)
{
    return attach(hStream, dptr, length, flags, true);
}
