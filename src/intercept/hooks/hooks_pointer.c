/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointer attributes: the range is the block, not the segment; the number is that of the
 * allocation; a freed block is not an allocation; and mapped memory of the cache has the attributes
 * of memory from cuMemAlloc. The driver is always called too: a call that it refuses for its
 * arguments or the state of the process fails in the same way. */
#include "intercept/route/hook.h"
#include "intercept/cache/caching.h"
#include "intercept/cache/sharing.h"

/* Not an allocation: selects the driver's result for unknown pointers. */
#define NOBODYS ((CUdeviceptr)0)

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    CUdeviceptr its_base;
    size_t its_bytes;
    if (!vs_known_block(ptr, &block))
        return VS_REAL(cuMemGetAddressRange_v2, base, bytes, ptr);
    CUresult r = VS_REAL(cuMemGetAddressRange_v2, &its_base, &its_bytes, ptr);
    if (r != CUDA_SUCCESS)
        return r;
    if (!block.live)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = block.addr;
    if (bytes)
        *bytes = block.requested;
    return CUDA_SUCCESS;
}

/* For cached memory only, not for blocks opened here. */
static bool cached_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr,
                             const struct vs_cached_block *block)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: /* mapped memory has no context of its own */
        *(CUcontext *)data = block->context->handle;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = (int)block->context->device;
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(unsigned *)data = (block->marks & VS_KEEP_SYNC_MEMOPS) != 0;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)data = !block->mapped;
        return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = 0;
        return true;
    default:
        return false;
    }
}

/* Names of CUDA 11.8 and later. */
enum { MAPPING_SIZE = 18, MAPPING_BASE_ADDR = 19, MEMORY_BLOCK_ID = 20 };

/* Our own results for a live block; false: the driver's result is correct. */
static bool own_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr,
                          const struct vs_cached_block *block)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = block->addr;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case MAPPING_SIZE:
        *(size_t *)data = block->requested;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case MEMORY_BLOCK_ID:
        *(unsigned long long *)data = block->serial;
        return true;
    default:
        return block->context && cached_attribute(data, attribute, ptr, block);
    }
}

/* The tokens are for a kernel module that pins the pages, and requesting them sets SYNC_MEMOPS
 * (cuda.h). Without keeping the memory there is no token. */
static CUresult before_tokens(CUpointer_attribute attribute, const struct vs_cached_block *block)
{
    if (attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS || !block->context)
        return CUDA_SUCCESS;
    return vs_sharing_keep(block, VS_KEEP_REGISTERED | VS_KEEP_SYNC_MEMOPS)
               ? CUDA_SUCCESS
               : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!data || !vs_known_block(ptr, &block))
        return VS_REAL(cuPointerGetAttribute, data, attribute, ptr);
    if (!block.live)
        return VS_REAL(cuPointerGetAttribute, data, attribute, NOBODYS);
    unsigned type; /* every allocation has one; some of ours lack attributes that we return */
    CUresult r = VS_REAL(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr);
    if (r == CUDA_SUCCESS)
        r = before_tokens(attribute, &block);
    if (r == CUDA_SUCCESS && !own_attribute(data, attribute, ptr, &block))
        r = VS_REAL(cuPointerGetAttribute, data, attribute, ptr);
    return r;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!attributes || !data || !vs_known_block(ptr, &block))
        return VS_REAL(cuPointerGetAttributes, count, attributes, data, ptr);
    /* for an unknown pointer, the driver returns the default of each attribute */
    if (!block.live)
        return VS_REAL(cuPointerGetAttributes, count, attributes, data, NOBODYS);
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = before_tokens(attributes[i], &block);
    if (r == CUDA_SUCCESS)
        r = VS_REAL(cuPointerGetAttributes, count, attributes, data, ptr);
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
        own_attribute(data[i], attributes[i], ptr, &block);
    return r;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (vs_known_cached(ptr, &block)) /* memory from cuMemAlloc is not mapped by programs */
        return VS_REAL(cuMemGetAccess, flags, location, NOBODYS);
    return VS_REAL(cuMemGetAccess, flags, location, ptr);
}

/* Programs set it on memory that they are about to register with a network device; it is the only
 * call of that registration that is visible here. The driver's attribute belongs to the segment:
 * once set it stays, because of the other blocks. */
static CUresult set_sync_memops(const void *value, CUdeviceptr ptr,
                                const struct vs_cached_block *block)
{
    unsigned on = *(const unsigned *)value;
    if (!on) {
        if (block->marks & VS_KEEP_SYNC_MEMOPS)
            vs_sharing_unmark(block, VS_KEEP_SYNC_MEMOPS);
        return CUDA_SUCCESS;
    }
    CUresult r = VS_REAL(cuPointerSetAttribute, value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ptr);
    if (r == CUDA_SUCCESS &&
        !vs_sharing_keep(block, VS_KEEP_REGISTERED | VS_KEEP_SYNC_MEMOPS))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!value || !vs_known_cached(ptr, &block))
        return VS_REAL(cuPointerSetAttribute, value, attribute, ptr);
    if (!block.live)
        return VS_REAL(cuPointerSetAttribute, value, attribute, NOBODYS);
    if (attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return set_sync_memops(value, ptr, &block);
    return VS_REAL(cuPointerSetAttribute, value, attribute, ptr);
}
