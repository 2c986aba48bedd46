/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointer attributes, from the range registry. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <string.h>

static CUmemorytype memory_type(const struct vs_sim_range *r)
{
    return r->kind == VS_SIM_RANGE_HOST || r->kind == VS_SIM_RANGE_REGISTERED ||
                   (r->kind == VS_SIM_RANGE_MAPPED && r->device < 0)
               ? CU_MEMORYTYPE_HOST
               : CU_MEMORYTYPE_DEVICE;
}

/* The storage of arrays has no address for programs. */
static bool find(CUdeviceptr ptr, struct vs_sim_range *range)
{
    return vs_sim_range_find(ptr, range) && range->kind != VS_SIM_RANGE_ARRAY;
}

/* Stores the attribute's value for memory of *r*, or NULL for an address that is at most reserved.
 * Returns false if it has none there. */
static bool value_of(CUpointer_attribute attribute, const struct vs_sim_range *r, CUdeviceptr ptr,
                     uint64_t *value)
{
    uintptr_t base = r ? r->base : 0;
    size_t bytes = r ? r->bytes : 0;
    if (!r || r->kind == VS_SIM_RANGE_MAPPED)
        if (!vs_sim_reservation_find(ptr, &base, &bytes) && !r)
            return false;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *value = base; return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *value = bytes; return true;
    case CU_POINTER_ATTRIBUTE_MAPPED: *value = r != NULL; return true;
    default: break;
    }
    if (!r)
        return false;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *value = (uintptr_t)r->ctx; return r->ctx;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *value = memory_type(r); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *value = ptr; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *value = ptr;
        return memory_type(r) == CU_MEMORYTYPE_HOST || r->kind == VS_SIM_RANGE_MANAGED;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *value = r->sync_memops; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: *value = r->id; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *value = r->kind == VS_SIM_RANGE_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = (uint64_t)(r->device >= 0 ? r->device
                            : r->ctx       ? r->ctx->device->ordinal
                                           : CU_DEVICE_CPU);
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *value = r->kind == VS_SIM_RANGE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: *value = 0; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *value = vs_sim_mapped_handle_types(ptr); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *value = r->no_read    ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE
                 : r->no_write ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                               : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *value = (uintptr_t)r->pool; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *value = r->bytes; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *value = r->base; break;
    default: return false;
    }
    return true;
}

static void store(void *data, CUpointer_attribute attribute, uint64_t value)
{
    const uint32_t words =
        1u << CU_POINTER_ATTRIBUTE_MEMORY_TYPE | 1u << CU_POINTER_ATTRIBUTE_SYNC_MEMOPS |
        1u << CU_POINTER_ATTRIBUTE_IS_MANAGED | 1u << CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL |
        1u << CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE |
        1u << CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE | 1u << CU_POINTER_ATTRIBUTE_MAPPED |
        1u << CU_POINTER_ATTRIBUTE_ACCESS_FLAGS;
    memcpy(data, &value, words >> attribute & 1 ? sizeof(uint32_t) : sizeof value);
}

CUresult cuPointerGetAttribute_entered(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct vs_sim_range range;
    uint64_t value;
    if (!data || !value_of(attribute, find(ptr, &range) ? &range : NULL, ptr, &value))
        return CUDA_ERROR_INVALID_VALUE;
    store(data, attribute, value);
    return CUDA_SUCCESS;
}

/* For memory unknown to CUDA, and for an attribute without a value, this form stores zeroes of the
 * attribute's size, the ordinal being -2, but no start of a range. */
CUresult cuPointerGetAttributes_entered(unsigned int numAttributes, CUpointer_attribute *attributes,
                                        void **data, CUdeviceptr ptr)
{
    struct vs_sim_range range;
    if (!numAttributes || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = find(ptr, &range);
    for (unsigned i = 0; i < numAttributes; i++)
        if (attributes[i] < 1 || attributes[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS ||
            attributes[i] > CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
            return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; i++) {
        uint64_t value;
        if (!known && attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
            continue;
        if (!value_of(attributes[i], known ? &range : NULL, ptr, &value))
            value = attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint64_t)-2 : 0;
        store(data[i], attributes[i], value);
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute_entered(const void *value, CUpointer_attribute attribute,
                                       CUdeviceptr ptr)
{
    struct vs_sim_range range;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !find(ptr, &range))
        return CUDA_ERROR_INVALID_VALUE;
    range.sync_memops = *(const unsigned *)value != 0;
    vs_sim_range_update(&range);
    return CUDA_SUCCESS;
}
