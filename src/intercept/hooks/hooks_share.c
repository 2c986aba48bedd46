/* SPDX-License-Identifier: Apache-2.0
 *
 * Export of cached memory: handles for other processes and for other devices. Each covers exactly
 * the block, or is refused; docs/allocator.md. */
#include <stdatomic.h>
#include <unistd.h>

#include "base/vs_log.h"
#include "intercept/route/hook.h"
#include "intercept/cache/caching.h"
#include "intercept/track/physical.h"
#include "intercept/cache/sharing.h"

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
    struct vs_cached_block block;
    if (!handle || !vs_known_cached(ptr, &block))
        return VS_REAL(cuIpcGetMemHandle, handle, ptr);
    /* vramscope_torch_base_alloc returns a segment, whose first block may be free */
    bool torch_base = block.ordered && !block.mapped && ptr == block.segment;
    return block.live || torch_base ? vs_sharing_export(&block, ptr, handle)
                                    : VS_REAL(cuIpcGetMemHandle, handle, 0);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    struct vs_cached_block block;
    /* memory from cuMemAlloc has none, and our segment contains other blocks as well */
    if (vs_known_cached((CUdeviceptr)(uintptr_t)addr, &block))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = VS_REAL(cuMemRetainAllocationHandle, handle, addr);
    if (r == CUDA_SUCCESS && vs_hook_active()) {
        VS_OWN_WORK();
        vs_physical_retained(*handle, (uint64_t)(uintptr_t)addr);
    }
    return r;
}

static CUresult refuse_range(void)
{
    vs_log_once(VS_LOG_WARN,
                "cuMemGetHandleForAddressRange failed: the memory is inside a cached segment; memory "
                "allocated from now on can be shared. Run with --ipc=always to share all memory");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t bytes,
                                       CUmemRangeHandleType type, unsigned long long flags)
{
    struct vs_cached_block block;
    if (!handle || !vs_known_cached(ptr, &block))
        return VS_REAL(cuMemGetHandleForAddressRange, handle, ptr, bytes, type, flags);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = ptr - block.addr;
    uint64_t end = (block.requested + page - 1) / page * page; /* the range ends in its last page */
    if (!block.live || skip > end || bytes > end - skip)
        return CUDA_ERROR_INVALID_VALUE;
    /* pages of which others would have a part */
    if (block.addr % page) {
        vs_sharing_begin();
        return refuse_range();
    }
    if (!vs_sharing_keep(&block, VS_KEEP_REGISTERED))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = VS_REAL(cuMemGetHandleForAddressRange, handle, ptr, bytes, type, flags);
    return r != CUDA_SUCCESS && block.mapped ? refuse_range() : r;
}
