/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pointer is: the range is the block, not the segment; the number is that of the
 * allocation; a freed block is no allocation; and mapped memory of the cache answers as
 * memory from cuMemAlloc does. The driver is always asked too: a call that it refuses for
 * the arguments or the state of the process fails the same way. */
#include "intercept/route/hook.h"
#include "intercept/track/known_block.h"
#include "intercept/track/sharing.h"

/* No allocation is there: what the driver says of pointers it does not know. */
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

/* What holds for cached memory only, not for blocks opened here. */
static bool cached_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr,
                             const struct vs_cached_block *block)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: /* mapped memory has none of its own */
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

/* Answers of our own for a live block; false: the driver's holds. */
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

/* The tokens are for a kernel module that pins the pages, and asking for them sets
 * SYNC_MEMOPS (cuda.h). No token without the memory being kept. */
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
    unsigned type; /* every allocation has one; some of ours lack what we answer */
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
    /* for a pointer it does not know, the driver answers every question with
     * that attribute's nothing */
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

/* Programs set it on what they are about to register with a network device, which is the
 * only call of that registration that passes here. The driver's attribute is that of the
 * segment: once set it stays, for the sake of the other blocks. */
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
