/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation and pool entry points, over drv_pool_memory.c. Pools contain device
 * memory. The descriptor of a pool shared with other processes is that of its memory file; an
 * exported pointer is a position in that file. In an imported pool every imported pointer is a
 * mapping of its own, freed like a block. */
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_memory.h"
#include "simulator/memory/vs_sim_pool.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define STORE_BYTES (UINT64_C(1) << 60) /* of address space in the file: practically unlimited */

CUresult vs_sim_pool_of(CUmemoryPool handle, struct vs_sim_pool **pool)
{
    struct vs_sim_pool *p = (struct vs_sim_pool *)handle;
    if (!p || atomic_load(&p->mark) != VS_SIM_POOL_MARK)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = p;
    return CUDA_SUCCESS;
}

/* ---- allocating and freeing in stream order ---- */

static CUresult alloc_async(CUdeviceptr *dptr, size_t bytes, CUmemoryPool handle,
                            struct vs_sim_stream *stream, bool given)
{
    struct vs_sim_pool *pool;
    if (!dptr || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = CUDA_SUCCESS;
    if (given && ((e = vs_sim_pool_of(handle, &pool)) || pool->imported))
        return e ? e : CUDA_ERROR_INVALID_VALUE;
    if (!given) {
        struct vs_sim_device *device = stream->ctx->device;
        vs_sim_pool_default(device);
        pthread_mutex_lock(&device->mu);
        pool = device->current_pool;
        pthread_mutex_unlock(&device->mu);
    }
    if (vs_sim_capturing()) {
        bool taken;
        e = vs_sim_capture_alloc(stream, pool->device, bytes, dptr, &taken);
        if (taken)
            return e;
    }
    if ((e = vs_sim_fault_alloc(VS_SIM_FAMILY_POOL)))
        return e;
    struct vs_sim_range range = {.bytes = bytes,
                                 .kind = VS_SIM_RANGE_POOL,
                                 .ctx = stream->ctx,
                                 .pool = pool,
                                 .device = pool->device};
    struct vs_sim_stream *wait_stream;
    uint64_t wait_seq;
    if ((e = vs_sim_pool_alloc(&range, stream, &wait_stream, &wait_seq)))
        return e;
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_NOTHING);
    if (wait_stream)
        vs_sim_op_depend(op, wait_stream, wait_seq);
    vs_sim_memory_in(stream);
    if (vs_sim_checking)
        vs_sim_check_defer(op);
    e = vs_sim_range_add(&range);
    if (vs_sim_checking)
        vs_sim_check_defer(NULL);
    vs_sim_memory_in(NULL);
    if (!e) {
        *dptr = range.base;
        return vs_sim_submit(stream, op, NULL);
    }
    vs_sim_op_drop(stream, op);
    vs_sim_pool_block_free(&range, wait_stream ? wait_stream : stream,
                           wait_stream ? wait_seq : atomic_load(&stream->submitted));
    return e;
}

VS_SIM_AS(cuMemAllocAsync_in, (CUdeviceptr *dptr, size_t bytesize, struct vs_sim_stream *stream),
          alloc_async(dptr, bytesize, NULL, stream, false))
VS_SIM_AS(cuMemAllocFromPoolAsync_in,
          (CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, struct vs_sim_stream *stream),
          alloc_async(dptr, bytesize, pool, stream, true))

CUresult cuMemFreeAsync_in(CUdeviceptr dptr, struct vs_sim_stream *stream)
{
    CUresult e;
    struct vs_sim_range range;
    uint64_t seq;
    if (vs_sim_capturing()) {
        bool taken;
        e = vs_sim_capture_free(stream, dptr, &taken);
        if (taken)
            return e;
    }
    bool found = vs_sim_range_find(dptr, &range) && range.base == dptr;
    if (found && range.kind == VS_SIM_RANGE_GRAPH) {
        e = vs_sim_block_free(dptr, stream);
        if (vs_sim_checking && e)
            vs_sim_check_bad_free(dptr);
        else if (vs_sim_checking)
            vs_sim_check_ending(&range);
        return e;
    }
    if (found && range.kind == VS_SIM_RANGE_DEVICE) /* after the enqueued work, and now */
        return cuMemFree_v2(dptr);
    if (!found || range.kind != VS_SIM_RANGE_POOL) {
        if (vs_sim_checking)
            vs_sim_check_bad_free(dptr);
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_NOTHING);
    vs_sim_memory_in(stream);
    if (vs_sim_checking)
        vs_sim_check_defer(op);
    bool ours = vs_sim_range_remove(dptr, range.id, &range);
    if (vs_sim_checking)
        vs_sim_check_defer(NULL);
    vs_sim_memory_in(NULL);
    if (!ours) {
        vs_sim_op_drop(stream, op);
        return CUDA_ERROR_INVALID_VALUE; /* another thread was faster */
    }
    e = vs_sim_submit(stream, op, &seq);
    vs_sim_pool_block_free(&range, e ? NULL : stream, e ? 0 : seq);
    return e;
}

/* ---- pools ---- */

CUresult cuMemPoolCreate_entered(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if ((props->handleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!vs_sim_device_find(props->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    int store = -1;
    if (props->handleTypes)
        store = vs_sim_store_new(VS_SIM_STORE_POOL, props->location.id, STORE_BYTES);
    if (props->handleTypes && store < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct vs_sim_pool *p = vs_sim_pool_new(props->location.id, props->maxSize, store);
    *pool = (CUmemoryPool)p;
    vs_sim_report_pool(VS_SIM_POOL_CREATED, p, 0);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy_entered(struct vs_sim_pool *pool)
{
    if (pool->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_device *device = &vs_sim_devices[pool->device];
    pthread_mutex_lock(&device->mu);
    if (device->current_pool == pool)
        device->current_pool = device->default_pool;
    pthread_mutex_unlock(&device->mu);
    vs_sim_report_pool(VS_SIM_POOL_DESTROYED, pool, 0);
    unsigned live = VS_SIM_POOL_MARK;
    if (!atomic_compare_exchange_strong(&pool->mark, &live, VS_SIM_POOL_GONE))
        return CUDA_ERROR_INVALID_VALUE; /* another thread was faster */
    vs_sim_pool_trim(pool, 0);       /* blocks in use remain until they are freed */
    return CUDA_SUCCESS;
}

VS_SIM_STORES(cuMemPoolTrimTo_entered, (struct vs_sim_pool *pool, size_t minBytesToKeep),
              vs_sim_pool_trim(pool, minBytesToKeep),
              vs_sim_report_pool(VS_SIM_POOL_TRIMMED, pool, minBytesToKeep))

#define FIELD(name) {offsetof(struct vs_sim_pool, name), sizeof((struct vs_sim_pool *)0)->name}
static const struct {
    size_t at, bytes;
} fields[] = {[CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = FIELD(reuse_events),
              [CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC] = FIELD(reuse_opportunistic),
              [CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES] = FIELD(reuse_internal),
              [CU_MEMPOOL_ATTR_RELEASE_THRESHOLD] = FIELD(release_threshold),
              [CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] = FIELD(reserved),
              [CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH] = FIELD(reserved_high),
              [CU_MEMPOOL_ATTR_USED_MEM_CURRENT] = FIELD(used),
              [CU_MEMPOOL_ATTR_USED_MEM_HIGH] = FIELD(used_high)};

static CUresult lock_attribute(struct vs_sim_pool *pool, CUmemPool_attribute attr, const void *value)
{
    if (!value || (unsigned)attr >= sizeof fields / sizeof fields[0] || !fields[attr].bytes)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pool->mu);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute_entered(struct vs_sim_pool *pool, CUmemPool_attribute attr,
                                       void *value)
{
    CUresult e = lock_attribute(pool, attr, value);
    if (e)
        return e;
    memcpy(value, (char *)pool + fields[attr].at, fields[attr].bytes);
    pthread_mutex_unlock(&pool->mu);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute_entered(struct vs_sim_pool *pool, CUmemPool_attribute attr,
                                       void *value)
{
    CUresult e = lock_attribute(pool, attr, value);
    if (e)
        return e;
    if (attr <= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        memcpy((char *)pool + fields[attr].at, value, fields[attr].bytes);
    else if (*(cuuint64_t *)value) /* the marks can only be reset */
        e = CUDA_ERROR_INVALID_VALUE;
    else if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        pool->reserved_high = pool->reserved;
    else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        pool->used_high = pool->used;
    else
        e = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&pool->mu);
    return e;
}

CUresult cuMemPoolSetAccess_entered(struct vs_sim_pool *pool, const CUmemAccessDesc *map,
                                    size_t count)
{
    if (!map && count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (!vs_sim_device_find(map[i].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
        if (map[i].location.id == pool->device && map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
            return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&pool->mu);
    for (size_t i = 0; i < count; i++)
        pool->readable[map[i].location.id] = map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    pthread_mutex_unlock(&pool->mu);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess_entered(CUmemAccess_flags flags[static 1], struct vs_sim_pool *pool,
                                    CUmemLocation location[static 1])
{
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !vs_sim_device_find(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pool->mu);
    *flags = pool->readable[location->id] ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                          : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    pthread_mutex_unlock(&pool->mu);
    return CUDA_SUCCESS;
}

/* ---- a device's pools ---- */

VS_SIM_STORES(cuDeviceGetDefaultMemPool_entered,
              (CUmemoryPool pool_out[static 1], struct vs_sim_device *d),
              *pool_out = (CUmemoryPool)vs_sim_pool_default(d))

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    CUresult e = cuDeviceGetDefaultMemPool(pool, dev); /* creates it at first use */
    if (e)
        return e;
    struct vs_sim_device *d = &vs_sim_devices[dev];
    pthread_mutex_lock(&d->mu);
    *pool = (CUmemoryPool)d->current_pool;
    pthread_mutex_unlock(&d->mu);
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool_entered(struct vs_sim_device *d, struct vs_sim_pool *pool)
{
    vs_sim_pool_default(d);
    if (pool->device != d->ordinal || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&d->mu);
    d->current_pool = pool;
    pthread_mutex_unlock(&d->mu);
    return CUDA_SUCCESS;
}

/* 13.0: one function for any kind of location; here devices only. */
static CUresult location_ok(const CUmemLocation *location, CUmemAllocationType type)
{
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                CUmemAllocationType type)
{
    CUresult e = location_ok(location, type);
    return e ? e : cuDeviceGetDefaultMemPool(pool_out, location->id);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult e = location_ok(location, type);
    return e ? e : cuDeviceGetMemPool(pool, location->id);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult e = location_ok(location, type);
    return e ? e : cuDeviceSetMemPool(location->id, pool);
}

/* ---- sharing ---- */

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
    if (store < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct vs_sim_pool *pool = vs_sim_pool_new(device, 0, store);
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
    data.offset = range.offset;
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
