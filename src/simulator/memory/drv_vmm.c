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
#include <sys/mman.h>
#include <unistd.h>

#include "base/vs_treap.h"

#define HOST VS_SIM_DEVICES_MAX /* the last location */

struct reservation {
    struct reservation *left, *right;
    uintptr_t base;
    size_t bytes;
    size_t mappings; /* in it */
};

static pthread_mutex_t vmm_mu = PTHREAD_MUTEX_INITIALIZER; /* guards them, and the mapped ranges */
static struct reservation *reservations;
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER; /* inside vmm_mu */
VS_TREAP_BY(reservation, struct reservation, base)

/* ---- looking up ---- */

/* The reservation that contains all *bytes* from *address* on, or NULL. */
static struct reservation *reservation_locked(uintptr_t address, size_t bytes)
{
    struct reservation *r = reservation_last_before(reservations, (uint64_t)address + 1);
    return r && address - r->base < r->bytes && bytes <= r->bytes - (address - r->base) ? r : NULL;
}

static bool mapping_find(uintptr_t address, struct vs_sim_range *m)
{
    return vs_sim_range_find(address, m) && m->kind == VS_SIM_RANGE_MAPPED;
}

/* The reservation of which mappings cover exactly [address, address + bytes), or NULL. */
static struct reservation *mapped_locked(uintptr_t address, size_t bytes)
{
    struct reservation *r = bytes ? reservation_locked(address, bytes) : NULL;
    struct vs_sim_range m;
    for (uintptr_t at = address; r && at - address < bytes; at += m.bytes)
        if (!mapping_find(at, &m) || m.base != at || m.bytes > bytes - (at - address))
            return NULL;
    return r;
}

bool vs_sim_reservation_find(uintptr_t address, uintptr_t *base, size_t *bytes)
{
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(address, 1);
    if (r) {
        *base = r->base;
        *bytes = r->bytes;
    }
    pthread_mutex_unlock(&vmm_mu);
    return r != NULL;
}

unsigned vs_sim_mapped_handle_types(uintptr_t address)
{
    struct vs_sim_range m;
    pthread_mutex_lock(&vmm_mu);
    unsigned types = mapping_find(address, &m) ? vs_sim_physical_handle_types(m.memory) : 0;
    pthread_mutex_unlock(&vmm_mu);
    return types;
}

bool vs_sim_mapped_span(uintptr_t address, size_t bytes, bool write)
{
    struct vs_sim_range m;
    for (size_t here; bytes; address += here, bytes -= here) {
        if (!mapping_find(address, &m) || m.no_read || (write && m.no_write))
            return false;
        here = m.bytes - (address - m.base);
        here = here < bytes ? here : bytes;
    }
    return true;
}

void vs_sim_mapped_hold(void) { pthread_rwlock_rdlock(&in_use); }
void vs_sim_mapped_release(void) { pthread_rwlock_unlock(&in_use); }

/* ---- reserving ---- */

CUresult cuMemAddressReserve_entered(CUdeviceptr ptr[static 1], size_t size, size_t alignment,
                                     CUdeviceptr addr, unsigned long long flags)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!size || size % page || addr % page || (alignment & (alignment - 1)) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (alignment < VS_SIM_GRANULARITY)
        alignment = VS_SIM_GRANULARITY;
    struct reservation *r = vs_sim_need(calloc(1, sizeof *r));
    if (!(r->base = vs_sim_store_reserve(size, alignment, addr))) {
        free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r->bytes = size;
    pthread_mutex_lock(&vmm_mu);
    reservation_insert(&reservations, r, r->base);
    pthread_mutex_unlock(&vmm_mu);
    *ptr = r->base;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree_entered(CUdeviceptr ptr, size_t size)
{
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(ptr, size);
    bool whole = r && r->base == ptr && r->bytes == size && !r->mappings;
    if (whole)
        reservation_remove(&reservations, r, r->base);
    pthread_mutex_unlock(&vmm_mu);
    if (!whole)
        return CUDA_ERROR_INVALID_VALUE;
    if (vs_sim_checking)
        vs_sim_check_unreserved(ptr, size);
    vs_sim_store_unreserve(ptr, size);
    free(r);
    return CUDA_SUCCESS;
}

/* ---- mapping ---- */

CUresult cuMemMap_entered(CUdeviceptr ptr, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct vs_sim_physical_place place;
    if (!size || ptr % VS_SIM_GRANULARITY || size % VS_SIM_GRANULARITY || offset || flags ||
        !vs_sim_physical_map(handle, &place))
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_range range = {.base = ptr,
                                 .bytes = size,
                                 .kind = VS_SIM_RANGE_MAPPED,
                                 .device = place.device,
                                 .memory = handle,
                                 .physical = place.id,
                                 .no_read = true,
                                 .no_write = true};
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = reservation_locked(ptr, size);
    CUresult e = size > place.bytes ? CUDA_ERROR_NOT_SUPPORTED
                 : r                ? vs_sim_range_add(&range)
                                    : CUDA_ERROR_INVALID_VALUE;
    if (e == CUDA_ERROR_ALREADY_MAPPED)
        e = CUDA_ERROR_INVALID_VALUE;
    if (!e && !vs_sim_store_map(ptr, size, place.fd, place.offset, PROT_NONE)) {
        vs_sim_range_remove(ptr, range.id, NULL);
        e = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!e)
        r->mappings++;
    pthread_mutex_unlock(&vmm_mu);
    if (e)
        vs_sim_physical_unmap(handle);
    return e;
}

CUresult cuMemUnmap_entered(CUdeviceptr ptr, size_t size)
{
    struct vs_sim_range m;
    pthread_mutex_lock(&vmm_mu);
    struct reservation *r = mapped_locked(ptr, size);
    if (r) {
        pthread_rwlock_wrlock(&in_use);
        vs_sim_store_unmap(ptr, size);
        for (uintptr_t at = ptr; at - ptr < size; at += m.bytes) {
            vs_sim_range_remove(at, 0, &m);
            vs_sim_physical_unmap(m.memory);
            r->mappings--;
        }
        pthread_rwlock_unlock(&in_use);
    }
    pthread_mutex_unlock(&vmm_mu);
    return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRetainAllocationHandle_entered(CUmemGenericAllocationHandle handle[static 1],
                                             void *addr)
{
    struct vs_sim_range m;
    pthread_mutex_lock(&vmm_mu);
    bool mapped = mapping_find((uintptr_t)addr, &m);
    if (mapped) {
        *handle = m.memory;
        vs_sim_physical_retain(m.memory);
    }
    pthread_mutex_unlock(&vmm_mu);
    return mapped ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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

CUresult cuMemSetAccess_entered(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                                size_t count)
{
    struct vs_sim_range m;
    int index;
    if (!desc || !count || !size)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&vmm_mu);
    CUresult e = mapped_locked(ptr, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (uintptr_t at = ptr; !e && at - ptr < size; at += m.bytes) {
        vs_sim_range_find(at, &m);
        for (size_t i = 0; i < count && !e; i++) {
            e = location_of(&desc[i].location, &index);
            if (!e && ((desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
                        desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
                        desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) ||
                       (index == HOST && m.device >= 0))) /* the host cannot access device memory */
                e = CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (!e)
        pthread_rwlock_wrlock(&in_use);
    for (uintptr_t at = ptr; !e && at - ptr < size; at += m.bytes) {
        unsigned all = 0;
        vs_sim_range_find(at, &m);
        for (size_t i = 0; i < count; i++) {
            location_of(&desc[i].location, &index);
            m.access[index] = (uint8_t)desc[i].flags;
        }
        for (int i = 0; i <= HOST; i++) /* a page permits every access that some location has */
            all |= m.access[i];
        m.no_read = !all;
        m.no_write = all != CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        vs_sim_range_update(&m);
        mprotect((void *)at, m.bytes,
                 m.no_read ? PROT_NONE : m.no_write ? PROT_READ : PROT_READ | PROT_WRITE);
    }
    if (!e)
        pthread_rwlock_unlock(&in_use);
    pthread_mutex_unlock(&vmm_mu);
    return e;
}

CUresult cuMemGetAccess_entered(unsigned long long *flags, const CUmemLocation *location,
                                CUdeviceptr ptr)
{
    struct vs_sim_range m;
    int index;
    if (!flags || !location)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = location_of(location, &index);
    if (!e && !mapping_find(ptr, &m))
        e = CUDA_ERROR_INVALID_VALUE;
    if (!e)
        *flags = m.access[index];
    return e;
}
