/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions about memory whose plain answer would betray the cache, or mislead:
 * free memory counts what the cache would give back; an address range is the
 * block, not the segment; a freed block is not an allocation; and memory handed
 * to another process or device must be exactly what the program thinks it is,
 * or be refused. */
#include <stdatomic.h>

#include "base/vs_log.h"
#include "intercept/caching.h"
#include "intercept/hook.h"
#include "intercept/limit.h"
#include "intercept/process.h"
#include "intercept/usage.h"

/* Is *ptr* inside one of our segments? Cheap when nothing is cached. */
static bool cached(CUdeviceptr ptr, struct vs_cached_block *block)
{
    if (vs_thread.inside || vs_process_state() != VS_PROCESS_ACTIVE || !vs_process_serving())
        return false;
    vs_thread.inside++;
    bool found = vs_caching_find(ptr, block);
    vs_thread.inside--;
    return found;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult r = VS_REAL(cuMemGetInfo_v2, free_bytes, total_bytes);
    if (r == CUDA_SUCCESS && !vs_thread.inside && vs_process_state() == VS_PROCESS_ACTIVE) {
        vs_thread.inside++;
        const struct vs_context *current = vs_context_current();
        if (current) {
            vs_usage_answered(current, free_bytes, total_bytes);
            vs_limit_view(current->device,
                          vs_process_serving() ? vs_caching_cached_bytes(current->device) : 0,
                          free_bytes, total_bytes);
        }
        vs_thread.inside--;
    }
    return r;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult r = VS_REAL(cuDeviceTotalMem_v2, bytes, device);
    if (r == CUDA_SUCCESS && bytes && !vs_thread.inside && !vs_process_forked())
        vs_limit_view((uint32_t)device, 0, NULL, bytes);
    return r;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!cached(ptr, &block))
        return VS_REAL(cuMemGetAddressRange_v2, base, bytes, ptr);
    if (!block.live)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = block.addr;
    if (bytes)
        *bytes = block.requested;
    return CUDA_SUCCESS;
}

/* Answers of our own for a live cached block; false: ask the driver. */
static bool own_attribute(void *data, CUpointer_attribute attribute,
                          const struct vs_cached_block *block)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = block->addr;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = block->requested;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = block->serial;
        return true;
    case CU_POINTER_ATTRIBUTE_CONTEXT: /* mapped memory has none of its own */
        *(CUcontext *)data = block->context->handle;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)data = !block->mapped && block->addr == block->segment;
        return true;
    default:
        return false;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!data || !cached(ptr, &block))
        return VS_REAL(cuPointerGetAttribute, data, attribute, ptr);
    if (!block.live)
        return CUDA_ERROR_INVALID_VALUE;
    if (own_attribute(data, attribute, &block))
        return CUDA_SUCCESS;
    return VS_REAL(cuPointerGetAttribute, data, attribute, ptr);
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!attributes || !data || !cached(ptr, &block))
        return VS_REAL(cuPointerGetAttributes, count, attributes, data, ptr);
    /* for a pointer it does not know, the driver answers every question with
     * that attribute's nothing: let it do so about an address that is nobody's */
    if (!block.live)
        return VS_REAL(cuPointerGetAttributes, count, attributes, data, 0);
    CUresult r = VS_REAL(cuPointerGetAttributes, count, attributes, data, ptr);
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
        own_attribute(data[i], attributes[i], &block);
    return r;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (cached(ptr, &block) && !vs_caching_export(&block, ptr))
        return block.live ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    return VS_REAL(cuIpcGetMemHandle, handle, ptr);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    struct vs_cached_block block;
    /* of memory from cuMemAlloc there is none, and ours holds other blocks as well */
    if (cached((CUdeviceptr)(uintptr_t)addr, &block))
        return CUDA_ERROR_INVALID_VALUE;
    return VS_REAL(cuMemRetainAllocationHandle, handle, addr);
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t bytes,
                                       CUmemRangeHandleType type, unsigned long long flags)
{
    struct vs_cached_block block;
    if (cached(ptr, &block)) {
        /* the registration would outlive the block in its cached segment */
        vs_log_once(VS_LOG_WARN,
                    "cuMemGetHandleForAddressRange refused for cached memory; run with "
                    "--allocator=observe to share memory with other devices");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return VS_REAL(cuMemGetHandleForAddressRange, handle, ptr, bytes, type, flags);
}
