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

static bool host_visible(const struct vs_sim_range *r)
{
    return memory_type(r) == CU_MEMORYTYPE_HOST || r->kind == VS_SIM_RANGE_MANAGED;
}

/* The storage of arrays has no address for programs. */
static bool find(CUdeviceptr ptr, struct vs_sim_range *range)
{
    return vs_sim_range_find(ptr, range) && range->kind != VS_SIM_RANGE_ARRAY;
}

static size_t put(void *data, const void *value, size_t bytes)
{
    memcpy(data, value, bytes);
    return bytes;
}

/* Writes the attribute's value and returns its size; 0 if the attribute has none for this
 * memory. */
static size_t answer(void *data, CUpointer_attribute attribute, const struct vs_sim_range *r,
                     CUdeviceptr ptr)
{
    int device = r->device >= 0 ? r->device : r->ctx ? r->ctx->device->ordinal : CU_DEVICE_CPU;
    uintptr_t base = r->base;
    size_t bytes = r->bytes;
    if (r->kind == VS_SIM_RANGE_MAPPED)
        vs_sim_reservation_find(ptr, &base, &bytes);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return r->ctx ? put(data, &(CUcontext){(CUcontext)r->ctx}, sizeof(CUcontext)) : 0;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return put(data, &(unsigned){memory_type(r)}, sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(data, &ptr, sizeof ptr);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return host_visible(r) ? put(data, &(void *){(void *)(uintptr_t)ptr}, sizeof(void *)) : 0;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return put(data, &(unsigned){r->sync_memops}, sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return put(data, &(unsigned long long){r->id}, sizeof(unsigned long long));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return put(data, &(unsigned){r->kind == VS_SIM_RANGE_MANAGED}, sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(data, &device, sizeof device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return put(data, &(unsigned){r->kind == VS_SIM_RANGE_DEVICE}, sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return put(data, &(unsigned){0}, sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return put(data, &(CUdeviceptr){base}, sizeof(CUdeviceptr));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(data, &bytes, sizeof bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(data, &(unsigned){1}, sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return put(data, &(unsigned long long){vs_sim_mapped_handle_types(ptr)},
                   sizeof(unsigned long long));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return put(data,
                   &(unsigned){r->no_read    ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE
                               : r->no_write ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                             : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE},
                   sizeof(unsigned));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return put(data, &(CUmemoryPool){(CUmemoryPool)r->pool}, sizeof(CUmemoryPool));
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return put(data, &r->bytes, sizeof r->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return put(data, &(CUdeviceptr){r->base}, sizeof(CUdeviceptr));
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return put(data, &(unsigned long long){r->id}, sizeof(unsigned long long));
    default: return 0;
    }
}

/* The same for an address that is reserved, with nothing mapped there. */
static size_t answer_reserved(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    uintptr_t base;
    size_t bytes;
    if (!vs_sim_reservation_find(ptr, &base, &bytes))
        return 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return put(data, &(CUdeviceptr){base}, sizeof(CUdeviceptr));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(data, &bytes, sizeof bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(data, &(unsigned){0}, sizeof(unsigned));
    default: return 0;
    }
}

CUresult cuPointerGetAttribute_entered(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct vs_sim_range range;
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    if (!find(ptr, &range))
        return answer_reserved(data, attribute, ptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    return answer(data, attribute, &range, ptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The values of the plural form for memory unknown to CUDA, or for an attribute without a value:
 * zeroes of the attribute's size, the ordinal being -2. */
static void answer_nothing(void *data, CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put(data, &(int){-2}, sizeof(int)); return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: put(data, &(unsigned){0}, sizeof(unsigned)); return;
    default: put(data, &(uint64_t){0}, sizeof(uint64_t)); return;
    }
}

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
    for (unsigned i = 0; i < numAttributes; i++)
        if (known ? !answer(data[i], attributes[i], &range, ptr)
                  : !answer_reserved(data[i], attributes[i], ptr))
            answer_nothing(data[i], attributes[i]);
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
