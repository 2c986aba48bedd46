/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry points for managed memory: allocation, prefetch, discard, advice and range attributes.
 * drv_residency.c tracks the location of pages. A prefetch moves pages in its stream's order; the
 * attributes report its destination immediately, as cuda.h specifies. */
#define _GNU_SOURCE /* getcpu */
#include "simulator/memory/vs_sim_managed.h"
#include "simulator/memory/vs_sim_memory.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

CUresult cuMemAllocManaged_in(struct vs_sim_context *ctx, CUdeviceptr *dptr, size_t bytesize,
                              unsigned int flags)
{
    CUresult e;
    if (!dptr || !bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = vs_sim_fault_alloc(VS_SIM_FAMILY_MANAGED)))
        return e;
    struct vs_sim_range range = {
        .bytes = bytesize, .ctx = ctx, .flags = flags, .device = ctx->device->ordinal};
    e = vs_sim_managed_add(&range);
    if (e == CUDA_SUCCESS)
        *dptr = range.base;
    return e;
}

/* ---- places ---- */

static CUresult place_of(CUmemLocation location, int *place)
{
    unsigned cpu, node = 0;
    char path[64];
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        *place = location.id;
        return vs_sim_device_find(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST: *place = CU_DEVICE_CPU; return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        *place = VS_SIM_NUMA(location.id);
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", location.id);
        return location.id == 0 || (location.id > 0 && !access(path, F_OK))
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        getcpu(&cpu, &node);
        *place = VS_SIM_NUMA((int)node);
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The older forms: an ordinal, or CU_DEVICE_CPU. */
static CUmemLocation location_of(CUdevice device)
{
    return (CUmemLocation){.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                                           : CU_MEM_LOCATION_TYPE_DEVICE,
                           .id = device};
}

/* ---- moving ---- */

static bool is_managed(CUdeviceptr address, size_t bytes, struct vs_sim_range *range)
{
    return bytes && vs_sim_range_covers(address, bytes, range) &&
           range->kind == VS_SIM_RANGE_MANAGED;
}

/* Queues one move; CU_DEVICE_INVALID discards. */
static CUresult move(struct vs_sim_stream *stream, CUdeviceptr address, size_t bytes, int place)
{
    struct vs_sim_range range;
    if (!is_managed(address, bytes, &range))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_MOVE);
    op->u.move = (struct vs_sim_managed_span){.base = range.base,
                                              .id = range.id,
                                              .offset = address - range.base,
                                              .bytes = bytes,
                                              .place = place};
    CUresult e = place == CU_DEVICE_INVALID
                     ? CUDA_SUCCESS
                     : vs_sim_managed_advise(address, bytes, VS_SIM_PREFETCHED, place);
    if (!e)
        return vs_sim_submit(stream, op, NULL);
    vs_sim_op_drop(stream, op);
    return e;
}

CUresult cuMemPrefetchAsync_v2_in(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                  unsigned int flags, struct vs_sim_stream *stream)
{
    int place;
    CUresult e = vs_sim_not_capturing(stream);
    if (!e)
        e = flags ? CUDA_ERROR_INVALID_VALUE : place_of(location, &place);
    return e ? e : move(stream, devPtr, count, place);
}

VS_SIM_AS(cuMemPrefetchAsync,
          (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),
          cuMemPrefetchAsync_v2(devPtr, count, location_of(dstDevice), 0, hStream))

/* ---- batches ---- */

struct batch {
    const CUdeviceptr *address;
    const size_t *bytes;
    size_t count;
    const CUmemLocation *to; /* NULL: only discard */
    const size_t *first;     /* of the entries that each *to* applies to */
    size_t places;
    bool discard;
};

/* The rules of cuda.h, cuMemPrefetchBatchAsync, for the lists. */
static CUresult batch_check(const struct batch *b)
{
    int place;
    struct vs_sim_range range;
    if (!b->address || !b->bytes || !b->count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < b->count; i++)
        if (!is_managed(b->address[i], b->bytes[i], &range))
            return CUDA_ERROR_INVALID_VALUE;
    if (b->to && (!b->first || !b->places || b->places > b->count || b->first[0]))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; b->to && k < b->places; k++) {
        CUresult e = place_of(b->to[k], &place);
        if (e)
            return e;
        if (b->first[k] >= b->count || (k && b->first[k] <= b->first[k - 1]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult batch(const struct batch *b, unsigned long long flags, CUstream handle)
{
    struct vs_sim_stream *stream;
    int place = CU_DEVICE_INVALID;
    CUresult e = vs_sim_enter_stream(handle, &stream);
    if (!e)
        e = vs_sim_not_capturing(stream);
    if (e)
        return e;
    if (flags || stream->legacy)
        return CUDA_ERROR_INVALID_VALUE;
    e = batch_check(b);
    for (size_t i = 0, k = 0; i < b->count && !e; i++) {
        if (b->discard)
            e = move(stream, b->address[i], b->bytes[i], CU_DEVICE_INVALID);
        if (b->to && k < b->places && b->first[k] == i)
            e = e ? e : place_of(b->to[k++], &place);
        if (b->to && !e)
            e = move(stream, b->address[i], b->bytes[i], place);
    }
    return e;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                 CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                 size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
    struct batch b = {dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                      false};
    return prefetchLocs ? batch(&b, flags, hStream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                unsigned long long flags, CUstream hStream)
{
    struct batch b = {dptrs, sizes, count, NULL, NULL, 0, true};
    return batch(&b, flags, hStream);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                           CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream)
{
    struct batch b = {dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                      true};
    return prefetchLocs ? batch(&b, flags, hStream) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- advice ---- */

CUresult cuMemAdvise_v2_in(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                           CUmemLocation location)
{
    int place = CU_DEVICE_INVALID;
    bool takes_place = /* the others ignore the location */
        advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
        advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = takes_place ? place_of(location, &place) : CUDA_SUCCESS;
    if (!e && takes_place && advice != CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
        VS_SIM_IS_NUMA(place))
        e = CUDA_ERROR_INVALID_VALUE;
    return e ? e : vs_sim_managed_advise(devPtr, count, advice, place);
}

VS_SIM_AS(cuMemAdvise, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),
          cuMemAdvise_v2(devPtr, count, advice, location_of(device)))

/* ---- attributes of ranges ---- */

static CUmemLocationType type_of(int place)
{
    if (place >= 0)
        return CU_MEM_LOCATION_TYPE_DEVICE;
    if (VS_SIM_IS_NUMA(place))
        return CU_MEM_LOCATION_TYPE_HOST_NUMA;
    return place == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_INVALID;
}

static int id_of(int place) { return VS_SIM_IS_NUMA(place) ? -16 - place : place; }

/* The older attributes distinguish devices and the CPU only. */
static int device_of(int place) { return VS_SIM_IS_NUMA(place) ? CU_DEVICE_CPU : place; }

static CUresult answer(void *data, size_t bytes, CUmem_range_attribute attribute,
                       const struct vs_sim_advice *all)
{
    int value;
    if (!data || !bytes || bytes % sizeof value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        int *out = data;
        size_t n = 0, count = bytes / sizeof value;
        for (int d = 0; d < VS_SIM_DEVICES_MAX && n < count; d++)
            if (all->accessed_by >> d & 1)
                out[n++] = d;
        if (all->accessed_by & VS_SIM_BY_HOST && n < count)
            out[n++] = CU_DEVICE_CPU;
        while (n < count)
            out[n++] = CU_DEVICE_INVALID;
        return CUDA_SUCCESS;
    }
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = all->read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: value = device_of(all->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: value = device_of(all->prefetched); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: value = type_of(all->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: value = id_of(all->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = type_of(all->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: value = id_of(all->prefetched); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes != sizeof value)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes_in(void **data, size_t *dataSizes,
                                    CUmem_range_attribute *attributes, size_t numAttributes,
                                    CUdeviceptr devPtr, size_t count)
{
    struct vs_sim_advice all;
    if (!data || !dataSizes || !attributes || !numAttributes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = vs_sim_managed_common(devPtr, count, &all);
    for (size_t i = 0; i < numAttributes && !e; i++)
        e = answer(data[i], dataSizes[i], attributes[i], &all);
    return e;
}

VS_SIM_AS(cuMemRangeGetAttribute,
          (void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
           size_t count),
          cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count))

/* ---- streams ---- */

CUresult cuStreamAttachMemAsync_in(struct vs_sim_stream *stream, CUdeviceptr dptr, size_t length,
                                   unsigned int flags)
{
    struct vs_sim_range range;
    CUresult e = vs_sim_not_capturing(stream);
    if (e)
        return e;
    if (!vs_sim_range_find(dptr, &range) || range.kind != VS_SIM_RANGE_MANAGED || !flags ||
        flags > CU_MEM_ATTACH_SINGLE || (length && length != range.bytes) ||
        (flags == CU_MEM_ATTACH_SINGLE && stream->legacy))
        return CUDA_ERROR_INVALID_VALUE;
    range.flags = flags;
    vs_sim_range_update(&range);
    return vs_sim_submit(stream, vs_sim_op_new(stream, VS_SIM_OP_NOTHING), NULL);
}
