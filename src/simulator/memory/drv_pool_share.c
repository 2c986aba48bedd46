/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools shared between processes. The descriptor of a shareable pool is that of its memory file; an
 * exported pointer is a position in that file. In an imported pool every imported pointer is a
 * mapping of its own, freed like a block. */
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_memory.h"
#include "simulator/memory/vs_sim_pool.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x76735050u

struct export_data {
    uint32_t magic;
    uint64_t inode, offset, bytes; /* of the file; position in it */
};

_Static_assert(sizeof(struct export_data) <= sizeof(CUmemPoolPtrExportData), "has to fit");

CUresult cuMemPoolExportToShareableHandle_entered(void *handle_out, struct vs_sim_pool *pool,
                                                  CUmemAllocationHandleType handleType,
                                                  unsigned long long flags)
{
    if (!handle_out || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        pool->store < 0 || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    int fd = dup(pool->store);
    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *(int *)handle_out = fd;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle_entered(CUmemoryPool pool_out[static 1], void *handle,
                                                    CUmemAllocationHandleType handleType,
                                                    unsigned long long flags)
{
    int fd = (int)(intptr_t)handle, device;
    if (flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !vs_sim_store_of(fd, VS_SIM_STORE_POOL, &device, NULL) || !vs_sim_device_find(device))
        return CUDA_ERROR_INVALID_VALUE;
    int store = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct vs_sim_pool *pool = store < 0 ? NULL : vs_sim_pool_new(device, 0, store);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->imported = true;
    *pool_out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer_entered(CUmemPoolPtrExportData shareData_out[static 1],
                                        CUdeviceptr ptr)
{
    struct vs_sim_range range;
    struct export_data data = {.magic = MAGIC};
    if (!vs_sim_range_at(ptr, VS_SIM_RANGE_POOL, &range) || range.pool->imported ||
        range.pool->store < 0)
        return CUDA_ERROR_INVALID_VALUE;
    data.offset = vs_sim_pool_offset(&range);
    data.inode = vs_sim_ipc_inode(range.pool->store);
    data.bytes = range.bytes;
    memset(shareData_out, 0, sizeof *shareData_out);
    memcpy(shareData_out, &data, sizeof data);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer_in(struct vs_sim_context *ctx, CUdeviceptr ptr_out[static 1],
                                   struct vs_sim_pool *pool,
                                   CUmemPoolPtrExportData shareData[static 1])
{
    struct export_data data;
    if (!pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&data, shareData, sizeof data);
    if (data.magic != MAGIC || data.inode != vs_sim_ipc_inode(pool->store) || !data.bytes)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_range range = {.bytes = data.bytes,
                                 .kind = VS_SIM_RANGE_POOL,
                                 .ctx = ctx,
                                 .pool = pool,
                                 .device = pool->device};
    CUresult e = vs_sim_pool_import(&range, data.offset);
    if (e)
        return e;
    e = vs_sim_range_add(&range);
    if (e)
        vs_sim_pool_block_free(&range, NULL, 0);
    else
        *ptr_out = range.base;
    return e;
}
