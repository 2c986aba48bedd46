/* SPDX-License-Identifier: Apache-2.0
 *
 * External memory by descriptor: anything that can be mapped for sharing, such as a memory file or
 * an exported cuMemCreate allocation. An import takes over the descriptor; each mapped buffer is a
 * range of its own, freed with cuMemFree, and outlives the object. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXTERNAL_MARK 0x76734558u
#define EXTERNAL_GONE 0x76734547u

struct external {
    atomic_uint mark;
    int fd;
    uint64_t bytes;
};

static struct vs_sim_kept externals = {.mu = PTHREAD_MUTEX_INITIALIZER};

static struct external *external_of(CUexternalMemory handle)
{
    struct external *x = (struct external *)handle;
    return x && atomic_load(&x->mark) == EXTERNAL_MARK ? x : NULL;
}

CUresult cuImportExternalMemory_entered(CUexternalMemory *extMem_out,
                                        const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)
{
    struct stat st;
    if (!extMem_out || !memHandleDesc || !memHandleDesc->size ||
        (memHandleDesc->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED))
        return CUDA_ERROR_INVALID_VALUE;
    if (memHandleDesc->type < CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
        memHandleDesc->type > CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
        return CUDA_ERROR_INVALID_VALUE;
    if (memHandleDesc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    int fd = memHandleDesc->handle.fd;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < memHandleDesc->size)
        return CUDA_ERROR_INVALID_HANDLE;
    struct external *x = vs_sim_kept_take(&externals, sizeof *x, NULL);
    x->fd = fd;
    x->bytes = memHandleDesc->size;
    atomic_store(&x->mark, EXTERNAL_MARK);
    *extMem_out = (CUexternalMemory)x;
    return CUDA_SUCCESS;
}

/* The pages that contain [base, base + bytes). */
static size_t pages_of(uintptr_t base, size_t bytes, uintptr_t *first)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *first = base / page * page;
    return (base + bytes + page - 1) / page * page - *first;
}

CUresult cuExternalMemoryGetMappedBuffer_in(struct vs_sim_context *ctx, CUdeviceptr *devPtr,
                                            CUexternalMemory extMem,
                                            const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc)
{
    CUresult e;
    uintptr_t from;
    struct external *x = external_of(extMem);
    if (!x)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!devPtr || !bufferDesc || bufferDesc->flags || !bufferDesc->size ||
        bufferDesc->offset > x->bytes || bufferDesc->size > x->bytes - bufferDesc->offset)
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = pages_of(bufferDesc->offset, bufferDesc->size, &from);
    uintptr_t at = vs_sim_store_reserve(bytes, VS_SIM_PAGE_BYTES, 0);
    if (!at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct vs_sim_range range = {.base = at + (bufferDesc->offset - from),
                                 .bytes = bufferDesc->size,
                                 .kind = VS_SIM_RANGE_EXTERNAL,
                                 .ctx = ctx,
                                 .device = ctx->device->ordinal};
    if (!vs_sim_store_map(at, bytes, x->fd, from, PROT_READ | PROT_WRITE))
        e = CUDA_ERROR_INVALID_HANDLE; /* a file not open for writing */
    else
        e = vs_sim_range_add(&range);
    if (e)
        vs_sim_store_unreserve(at, bytes);
    else
        *devPtr = range.base;
    return e;
}

void vs_sim_external_release(const struct vs_sim_range *range)
{
    uintptr_t first;
    size_t bytes = pages_of(range->base, range->bytes, &first);
    vs_sim_store_unreserve(first, bytes);
}

CUresult cuDestroyExternalMemory_entered(CUexternalMemory extMem)
{
    struct external *x = external_of(extMem);
    unsigned live = EXTERNAL_MARK;
    if (!x || !atomic_compare_exchange_strong(&x->mark, &live, EXTERNAL_GONE))
        return CUDA_ERROR_INVALID_HANDLE;
    close(x->fd);
    vs_sim_kept_give(&externals, x);
    return CUDA_SUCCESS;
}
