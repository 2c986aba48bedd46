/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory over the driver. Address ranges, physical memory and mappings belong to the
 * process, not to a context, and need no current context; a reset frees none of them. They are
 * therefore recorded here by context, so that those of a destroyed context can be released, and so
 * that a peer device that gets access later can be given access to existing mappings. Mappings are
 * recorded handle by handle: the driver unmaps any number of whole ones. */

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_map.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"

/* A range, a piece of physical memory, or a mapping. */
struct item {
    uint64_t key;   /* address, or handle */
    uint64_t bytes;
    const struct vs_context *context;
};

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_DEVICE, "virtual memory");
static struct vs_items items;            /* guarded by lock */
static struct vs_map ranges;             /* guarded by lock: address -> struct item */
static struct vs_map memories;           /* guarded by lock: handle + 1 -> struct item */
static struct vs_map mappings;           /* guarded by lock: address -> struct item */
static uint64_t accessors[VS_DEVICES_MAX]; /* guarded by lock: by owner, a bit per other device */

/* --- notes --- */

static bool note_locked(struct vs_map *map, uint64_t key, uint64_t bytes,
                        const struct vs_context *context)
{
    struct item *item = vs_items_take(&items, sizeof *item);
    if (!item)
        return false;
    *item = (struct item){.key = key, .bytes = bytes, .context = context};
    if (vs_map_put_pointer(map, key, item) == VS_OK)
        return true;
    vs_items_give(&items, item);
    return false;
}

static bool note(struct vs_map *map, uint64_t key, uint64_t bytes, const struct vs_context *context)
{
    VS_LOCK_SCOPE(&lock);
    return note_locked(map, key, bytes, context);
}

/* Bytes of a removed entry; 0 if there was none. */
static uint64_t forget_locked(struct vs_map *map, uint64_t key)
{
    struct item *item = vs_map_pointer(map, key);
    if (!item)
        return 0;
    uint64_t bytes = item->bytes;
    vs_map_remove(map, key, NULL);
    vs_items_give(&items, item);
    return bytes;
}

static void forget(struct vs_map *map, uint64_t key)
{
    VS_LOCK_SCOPE(&lock);
    forget_locked(map, key);
}

static void forget_mappings_locked(uint64_t addr, uint64_t bytes)
{
    for (uint64_t at = addr, step; at < addr + bytes; at += step)
        if (!(step = forget_locked(&mappings, at)))
            step = VS_PAGE_BYTES;
}

/* --- the operations --- */

static CUmemAllocationProp properties(const struct vs_context *context)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                             .id = (int)context->device}};
    if (vs_device_attribute(context->device,
                            CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED))
        prop.allocFlags.gpuDirectRDMACapable = 1;
    return prop;
}

/* At exit the runtime may be unloaded already; the end of the process releases the memory. */
static bool too_late(void)
{
    return vs_process_state() == VS_PROCESS_EXITING;
}

static enum vs_err range_reserve(void *arg, uint64_t bytes, uint64_t *addr)
{
    CUdeviceptr ptr = 0;
    enum vs_err err = vs_err_of_driver(VS_CALL(cuMemAddressReserve, &ptr, bytes, VS_PAGE_BYTES, 0, 0));
    if (err)
        return err;
    if (!note(&ranges, ptr, bytes, arg)) {
        VS_CALL(cuMemAddressFree, ptr, bytes);
        return VS_ERR_NOMEM;
    }
    *addr = ptr;
    return VS_OK;
}

static enum vs_err range_release(void *arg, uint64_t addr, uint64_t bytes)
{
    (void)arg;
    if (too_late())
        return VS_ERR_STATE;
    enum vs_err err = vs_err_of_driver(VS_CALL(cuMemAddressFree, addr, bytes));
    if (!err)
        forget(&ranges, addr);
    return err;
}

static enum vs_err memory_create(void *arg, uint64_t bytes, uint64_t *handle)
{
    const struct vs_context *context = arg;
    CUmemAllocationProp prop = properties(context);
    CUmemGenericAllocationHandle h;
    enum vs_err err = vs_err_of_driver(
        VS_LIMITED(context->device, bytes, VS_REAL(cuMemCreate, &h, bytes, &prop, 0)));
    if (err == VS_ERR_DEVICE_OOM)
        vs_room_refused(context, bytes);
    if (err)
        return err;
    if (!note(&memories, h + 1, bytes, arg)) {
        VS_CALL(cuMemRelease, h);
        vs_limit_give(context->device, bytes);
        return VS_ERR_NOMEM;
    }
    *handle = h;
    return VS_OK;
}

static enum vs_err memory_release(void *arg, uint64_t handle, uint64_t bytes)
{
    const struct vs_context *context = arg;
    if (too_late())
        return VS_ERR_STATE;
    enum vs_err err = vs_err_of_driver(VS_CALL(cuMemRelease, handle));
    if (err)
        return err;
    forget(&memories, handle + 1);
    vs_limit_give(context->device, bytes);
    vs_room_given(bytes);
    return err;
}

/* Gives access to [addr, addr + bytes) to its own device and to all enabled peers. */
static CUresult open_locked(uint32_t owner, uint64_t addr, uint64_t bytes)
{
    CUmemAccessDesc access[VS_DEVICES_MAX + 1];
    size_t count = 0;
    for (uint32_t d = 0; d < VS_DEVICES_MAX; d++) {
        if (d != owner && !(accessors[owner] >> d & 1))
            continue;
        access[count++] =
            (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)d},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    }
    return VS_CALL(cuMemSetAccess, addr, bytes, access, count);
}

static enum vs_err memory_map(void *arg, uint64_t addr, uint64_t bytes_each,
                              const uint64_t *handles, size_t count)
{
    const struct vs_context *context = arg;
    size_t mapped = 0;
    CUresult r = CUDA_SUCCESS;
    VS_LOCK_SCOPE(&lock);
    while (r == CUDA_SUCCESS && mapped < count) {
        uint64_t at = addr + mapped * bytes_each;
        r = VS_CALL(cuMemMap, at, bytes_each, 0, handles[mapped], 0);
        if (r != CUDA_SUCCESS)
            break;
        mapped++;
        if (!note_locked(&mappings, at, bytes_each, context))
            r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r == CUDA_SUCCESS)
        r = open_locked(context->device, addr, count * bytes_each);
    if (r != CUDA_SUCCESS && mapped) {
        VS_CALL(cuMemUnmap, addr, mapped * bytes_each);
        forget_mappings_locked(addr, mapped * bytes_each);
    }
    return vs_err_of_driver(r);
}

static enum vs_err memory_unmap(void *arg, uint64_t addr, uint64_t bytes)
{
    (void)arg;
    if (too_late())
        return VS_ERR_STATE;
    VS_LOCK_SCOPE(&lock);
    enum vs_err err = vs_err_of_driver(VS_CALL(cuMemUnmap, addr, bytes));
    if (!err)
        forget_mappings_locked(addr, bytes);
    return err;
}

/* --- what the driver and the device have --- */

void vs_vmm_ops_add(const struct vs_context *context, struct vs_device_ops *ops)
{
    static const enum vs_driver_function wanted[] = {
        VS_FN_cuMemAddressReserve, VS_FN_cuMemAddressFree, VS_FN_cuMemRelease, VS_FN_cuMemMap,
        VS_FN_cuMemUnmap, VS_FN_cuMemSetAccess, VS_FN_cuMemGetAllocationGranularity};
    size_t granularity = 0;
    if (!vs_driver_has(wanted, sizeof wanted / sizeof *wanted) ||
        !vs_hook_real(VS_HOOK_cuMemCreate) ||
        !vs_device_attribute(context->device,
                             CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
        return;
    CUmemAllocationProp prop = properties(context);
    if (VS_CALL(cuMemGetAllocationGranularity, &granularity, &prop,
                CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS ||
        !granularity || VS_PAGE_BYTES % granularity)
        return;
    ops->range_reserve = range_reserve;
    ops->range_release = range_release;
    ops->memory_create = memory_create;
    ops->memory_release = memory_release;
    ops->memory_map = memory_map;
    ops->memory_unmap = memory_unmap;
}

/* --- other devices, and the end of a context --- */

void vs_vmm_peer_enabled(uint32_t owner, uint32_t accessor)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)accessor},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t cursor = 0;
    CUresult r = CUDA_SUCCESS;
    if (owner >= VS_DEVICES_MAX || accessor >= VS_DEVICES_MAX)
        return;
    vs_lock_acquire(&lock);
    accessors[owner] |= UINT64_C(1) << accessor;
    for (const struct vs_map_slot *s; (s = vs_map_next(&mappings, &cursor));) {
        const struct item *item = (const struct item *)(uintptr_t)s->value;
        if (item->context->device == owner && r == CUDA_SUCCESS)
            r = VS_CALL(cuMemSetAccess, item->key, item->bytes, &access, 1);
    }
    vs_lock_release(&lock);
    if (r != CUDA_SUCCESS)
        vs_log_once(VS_LOG_WARN, "cached memory could not be opened to another device");
}

/* Removes the next entry of *context* in *map* from *cursor* on. */
static bool take_locked(struct vs_map *map, const struct vs_context *context, size_t *cursor,
                        struct item *out)
{
    for (const struct vs_map_slot *s; (s = vs_map_next(map, cursor));) {
        const struct item *item = (const struct item *)(uintptr_t)s->value;
        if (item->context != context)
            continue;
        *out = *item;
        forget_locked(map, item->key);
        --*cursor; /* the removal may have moved another entry to this slot */
        return true;
    }
    return false;
}

void vs_vmm_context_gone(const struct vs_context *context)
{
    struct item item;
    VS_LOCK_SCOPE(&lock);
    for (size_t cursor = 0; take_locked(&mappings, context, &cursor, &item);)
        VS_CALL(cuMemUnmap, item.key, item.bytes);
    for (size_t cursor = 0; take_locked(&memories, context, &cursor, &item);) {
        VS_CALL(cuMemRelease, item.key - 1);
        vs_limit_give(context->device, item.bytes);
    }
    for (size_t cursor = 0; take_locked(&ranges, context, &cursor, &item);)
        VS_CALL(cuMemAddressFree, item.key, item.bytes);
}
