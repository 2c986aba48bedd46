/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management: address reservations, and mappings of physical memory (drv_physical.c)
 * into them. A mapping is a range of the registry from cuMemMap on, without access until
 * cuMemSetAccess; all devices share one address space, so a page permits what any location may do.
 * Nothing here waits for queued work: work that uses a removed mapping finds an illegal address,
 * except that a copy in progress is completed. */
#include "simulator/memory/vs_sim_memory.h"
#include "simulator/memory/vs_sim_physical.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOCATIONS (VS_SIM_DEVICES_MAX + 1)
#define HOST VS_SIM_DEVICES_MAX /* the last location */

struct mapping {
    uintptr_t base;
    size_t bytes;
    CUmemGenericAllocationHandle handle;
    int device;
    uint64_t range_id;
    uint8_t access[LOCATIONS]; /* CUmemAccess_flags */
};

struct reservation {
    uintptr_t base;
    size_t bytes;
    struct mapping *mappings; /* ascending */
    size_t count, max;
};

static pthread_mutex_t vmm_mu = PTHREAD_MUTEX_INITIALIZER; /* guards the next four */
static struct reservation **reservations;                  /* ascending */
static size_t reservation_count, reservation_max;
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER; /* inside vmm_mu */

/* ---- looking up ---- */

/* Index of the first reservation that ends above *address*. */
static size_t reservation_after(uintptr_t address)
{
    size_t low = 0, high = reservation_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (reservations[mid]->base + reservations[mid]->bytes > address)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static struct reservation *reservation_locked(uintptr_t address)
{
    size_t i = reservation_after(address);
    return i < reservation_count && reservations[i]->base <= address ? reservations[i] : NULL;
}

/* Index of the first mapping that ends above *address*. */
static size_t mapping_after(const struct reservation *r, uintptr_t address)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (r->mappings[mid].base + r->mappings[mid].bytes > address)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static struct mapping *mapping_locked(uintptr_t address)
{
    struct reservation *r = reservation_locked(address);
    size_t i = r ? mapping_after(r, address) : 0;
    return r && i < r->count && r->mappings[i].base <= address ? &r->mappings[i] : NULL;
}

/* The number of mappings that cover exactly [address, address + bytes); 0 if none do. */
static size_t mappings_of(struct reservation *r, uintptr_t address, size_t bytes, size_t *first)
{
    size_t i = *first = mapping_after(r, address);
    uintptr_t at = address;
    while (i < r->count && r->mappings[i].base == at && at - address < bytes)
        at += r->mappings[i++].bytes;
    return at - address == bytes ? i - *first : 0;
}

bool vs_sim_reservation_find(uintptr_t address, uintptr_t *base, size_t *bytes)
{
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(address);
    if (r) {
        *base = r->base;
        *bytes = r->bytes;
    }
    pthread_mutex_unlock(&vmm_mu);
    return r != NULL;
}

unsigned vs_sim_mapped_handle_types(uintptr_t address)
{
    pthread_mutex_lock(&vmm_mu);
    struct mapping *m = mapping_locked(address);
    unsigned types = m ? vs_sim_physical_handle_types(m->handle) : 0;
    pthread_mutex_unlock(&vmm_mu);
    return types;
}

bool vs_sim_mapped_span(uintptr_t address, size_t bytes, bool write)
{
    struct vs_sim_range range;
    while (bytes) {
        if (!vs_sim_range_find(address, &range) || range.kind != VS_SIM_RANGE_MAPPED ||
            range.no_read || (write && range.no_write))
            return false;
        size_t here = range.bytes - (address - range.base);
        if (here >= bytes)
            return true;
        address += here;
        bytes -= here;
    }
    return true;
}

void vs_sim_mapped_hold(void) { pthread_rwlock_rdlock(&in_use); }
void vs_sim_mapped_release(void) { pthread_rwlock_unlock(&in_use); }

/* ---- reserving ---- */

static bool reservation_add(uintptr_t base, size_t bytes)
{
    struct reservation *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    r->base = base;
    r->bytes = bytes;
    pthread_mutex_lock(&vmm_mu);
    bool ok = reservation_count < reservation_max;
    if (!ok) {
        size_t max = reservation_max ? reservation_max * 2 : 16;
        struct reservation **more = realloc(reservations, max * sizeof *more);
        if ((ok = more != NULL)) {
            reservations = more;
            reservation_max = max;
        }
    }
    if (ok) {
        size_t i = reservation_after(base);
        memmove(reservations + i + 1, reservations + i,
                (reservation_count++ - i) * sizeof *reservations);
        reservations[i] = r;
    }
    pthread_mutex_unlock(&vmm_mu);
    if (!ok)
        free(r);
    return ok;
}

CUresult cuMemAddressReserve_entered(CUdeviceptr ptr[static 1], size_t size, size_t alignment,
                                     CUdeviceptr addr, unsigned long long flags)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!size || size % page || addr % page || (alignment & (alignment - 1)) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (alignment < VS_SIM_GRANULARITY)
        alignment = VS_SIM_GRANULARITY;
    uintptr_t base = vs_sim_store_reserve(size, alignment, addr);
    if (!base)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!reservation_add(base, size)) {
        vs_sim_store_unreserve(base, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *ptr = base;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree_entered(CUdeviceptr ptr, size_t size)
{
    pthread_mutex_lock(&vmm_mu);
    size_t i = reservation_after(ptr);
    struct reservation *r = i < reservation_count ? reservations[i] : NULL;
    if (!r || r->base != ptr || r->bytes != size || r->count) {
        pthread_mutex_unlock(&vmm_mu);
        return CUDA_ERROR_INVALID_VALUE;
    }
    memmove(reservations + i, reservations + i + 1,
            (--reservation_count - i) * sizeof *reservations);
    pthread_mutex_unlock(&vmm_mu);
    if (vs_sim_checking)
        vs_sim_check_unreserved(ptr, size);
    vs_sim_store_unreserve(ptr, size);
    free(r->mappings);
    free(r);
    return CUDA_SUCCESS;
}

/* ---- mapping ---- */

static bool mapping_room(struct reservation *r)
{
    if (r->count < r->max)
        return true;
    size_t max = r->max ? r->max * 2 : 16;
    struct mapping *more = realloc(r->mappings, max * sizeof *more);
    if (!more)
        return false;
    r->mappings = more;
    r->max = max;
    return true;
}

static CUresult map_locked(struct reservation *r, struct mapping m,
                           const struct vs_sim_physical_place *place, uint64_t offset)
{
    size_t i = mapping_after(r, m.base);
    if (offset + m.bytes > place->bytes ||
        (i < r->count && r->mappings[i].base < m.base + m.bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_range range = {.base = m.base,
                                 .bytes = m.bytes,
                                 .kind = VS_SIM_RANGE_MAPPED,
                                 .device = place->device,
                                 .physical = place->id,
                                 .no_read = true,
                                 .no_write = true};
    if (!mapping_room(r) || vs_sim_range_add(&range))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!vs_sim_store_map(m.base, m.bytes, place->fd, place->offset + offset, PROT_NONE)) {
        vs_sim_range_remove(m.base, range.id, NULL);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    m.range_id = range.id;
    memmove(r->mappings + i + 1, r->mappings + i, (r->count++ - i) * sizeof *r->mappings);
    r->mappings[i] = m;
    return CUDA_SUCCESS;
}

CUresult cuMemMap_entered(CUdeviceptr ptr, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CUresult e;
    struct vs_sim_physical_place place;
    if (!size || ptr % VS_SIM_GRANULARITY || size % VS_SIM_GRANULARITY || offset || flags ||
        !vs_sim_physical_map(handle, &place))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(ptr);
    if (r && size <= r->bytes - (ptr - r->base))
        e = map_locked(
            r,
            (struct mapping){.base = ptr, .bytes = size, .handle = handle, .device = place.device},
            &place, offset);
    else
        e = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&vmm_mu);
    if (e)
        vs_sim_physical_unmap(handle);
    return e;
}

CUresult cuMemUnmap_entered(CUdeviceptr ptr, size_t size)
{
    size_t first, count = 0;
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(ptr);
    if (r)
        count = mappings_of(r, ptr, size, &first);
    if (count) {
        pthread_rwlock_wrlock(&in_use);
        for (size_t i = first; i < first + count; i++)
            vs_sim_range_remove(r->mappings[i].base, r->mappings[i].range_id, NULL);
        vs_sim_store_unmap(ptr, size);
        pthread_rwlock_unlock(&in_use);
        for (size_t i = first; i < first + count; i++)
            vs_sim_physical_unmap(r->mappings[i].handle);
        r->count -= count;
        memmove(r->mappings + first, r->mappings + first + count,
                (r->count - first) * sizeof *r->mappings);
    }
    pthread_mutex_unlock(&vmm_mu);
    return count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRetainAllocationHandle_entered(CUmemGenericAllocationHandle handle[static 1],
                                             void *addr)
{
    pthread_mutex_lock(&vmm_mu);
    struct mapping *m = mapping_locked((uintptr_t)addr);
    if (m) {
        *handle = m->handle;
        vs_sim_physical_retain(m->handle);
    }
    pthread_mutex_unlock(&vmm_mu);
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- access ---- */

static CUresult location_of(const CUmemLocation *location, int *index)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        *index = location->id;
        return vs_sim_device_find(location->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: *index = HOST; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult access_check(const struct mapping *m, const CUmemAccessDesc *desc, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int index;
        CUresult e = location_of(&desc[i].location, &index);
        if (e)
            return e;
        if (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
            desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        if (index == HOST && m->device >= 0) /* the host cannot access device memory */
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Pages and range permit every access that some location has. */
static void access_apply(const struct mapping *m)
{
    struct vs_sim_range range;
    unsigned all = 0;
    for (int i = 0; i < LOCATIONS; i++)
        all |= m->access[i];
    bool write = all == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (vs_sim_range_find(m->base, &range)) {
        range.no_read = !all;
        range.no_write = !write;
        vs_sim_range_update(&range);
    }
    mprotect((void *)m->base, m->bytes, write ? PROT_READ | PROT_WRITE : all ? PROT_READ : PROT_NONE);
}

CUresult cuMemSetAccess_entered(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                                size_t count)
{
    size_t first, mapped = 0;
    if (!desc || !count || !size)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(ptr);
    if (r)
        mapped = mappings_of(r, ptr, size, &first);
    CUresult e = mapped ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; !e && i < mapped; i++)
        e = access_check(&r->mappings[first + i], desc, count);
    if (!e)
        pthread_rwlock_wrlock(&in_use);
    for (size_t i = 0; !e && i < mapped; i++) {
        struct mapping *m = &r->mappings[first + i];
        for (size_t k = 0; k < count; k++) {
            int index = 0;
            location_of(&desc[k].location, &index);
            m->access[index] = (uint8_t)desc[k].flags;
        }
        access_apply(m);
    }
    if (!e)
        pthread_rwlock_unlock(&in_use);
    pthread_mutex_unlock(&vmm_mu);
    return e;
}

CUresult cuMemGetAccess_entered(unsigned long long *flags, const CUmemLocation *location,
                                CUdeviceptr ptr)
{
    int index;
    CUresult e;
    if (!flags || !location)
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = location_of(location, &index)))
        return e;
    pthread_mutex_lock(&vmm_mu);
    struct mapping *m = mapping_locked(ptr);
    if (m)
        *flags = m->access[index];
    pthread_mutex_unlock(&vmm_mu);
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
