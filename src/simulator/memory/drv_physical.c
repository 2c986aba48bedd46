/* SPDX-License-Identifier: Apache-2.0
 *
 * cuMemCreate: physical memory without an address. An allocation is a part of a memory file: of one
 * that all allocations of a device share or, if it may be exported, of a file of its own, whose
 * descriptor other processes receive. It lives while a handle or a mapping refers to it, and until
 * then counts against the device it was created on; an import takes no capacity. Handles are
 * numbers, a slot and its generation, so that a stale one is recognised. */
#define _GNU_SOURCE /* fallocate */
#include "simulator/memory/vs_sim_physical.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulator/driver/vs_sim_check.h"
#include "simulator/memory/vs_sim_memory.h"

#define STORE_BYTES (UINT64_C(1) << 60) /* of address space in a file: practically unlimited */

struct physical {
    struct physical *next;
    struct vs_sim_physical_place place;
    unsigned users; /* handles */
    bool own_file, charged;
    ino_t file; /* with own_file: its identity */
    CUmemAllocationProp prop;
};

struct handle {
    struct physical *memory; /* NULL: a free slot */
    uint32_t generation;
    unsigned references, mappings;
};

static atomic_ullong next_id = 1;
static pthread_mutex_t physical_mu = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct physical *physicals;                              /* those with own_file */
static struct handle *handles;
static size_t handle_count, handle_max, handle_free; /* a slot below handle_free is in use */
static struct {
    bool open;
    int fd;
    uint64_t next; /* offsets are never reused */
} stores[VS_SIM_DEVICES_MAX + 1]; /* the last one: host memory */

/* ---- handles ---- */

static struct handle *handle_locked(CUmemGenericAllocationHandle value)
{
    size_t index = (uint32_t)value;
    if (!index || index > handle_count)
        return NULL;
    struct handle *h = &handles[index - 1];
    return h->memory && h->generation == value >> 32 ? h : NULL;
}

/* The same, which the program holds, not only mappings. */
static struct handle *held_locked(CUmemGenericAllocationHandle value)
{
    struct handle *h = handle_locked(value);
    return h && h->references ? h : NULL;
}

static CUmemGenericAllocationHandle handle_new_locked(struct physical *memory)
{
    while (handle_free < handle_count && handles[handle_free].memory)
        handle_free++;
    if (handle_free == handle_count) {
        vs_sim_room(&handles, handle_count, &handle_max, sizeof *handles);
        handles[handle_count++] = (struct handle){0};
    }
    struct handle *h = &handles[handle_free];
    *h = (struct handle){.memory = memory, .generation = h->generation + 1, .references = 1};
    memory->users++;
    return (uint64_t)h->generation << 32 | (uint64_t)(h - handles + 1);
}

static void physical_free(struct physical *m)
{
    struct vs_sim_physical_place *p = &m->place;
    if (m->own_file) {
        for (struct physical **at = &physicals; *at; at = &(*at)->next)
            if (*at == m) {
                *at = m->next;
                break;
            }
        close(p->fd); /* the content remains while another process has the file */
    } else {
        fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)p->offset,
                  (off_t)p->bytes);
    }
    if (m->charged)
        vs_sim_space_uncharge(p->device, p->bytes);
    if (vs_sim_checking)
        vs_sim_check_physical_gone(p->id);
    free(m);
}

static void handle_settle_locked(struct handle *h)
{
    if (h->references || h->mappings)
        return;
    if (!--h->memory->users)
        physical_free(h->memory);
    h->memory = NULL;
    if ((size_t)(h - handles) < handle_free)
        handle_free = (size_t)(h - handles);
}

bool vs_sim_physical_map(CUmemGenericAllocationHandle value, struct vs_sim_physical_place *place)
{
    pthread_mutex_lock(&physical_mu);
    struct handle *h = held_locked(value);
    if (h) {
        h->mappings++;
        *place = h->memory->place;
    }
    pthread_mutex_unlock(&physical_mu);
    return h;
}

void vs_sim_physical_unmap(CUmemGenericAllocationHandle value)
{
    pthread_mutex_lock(&physical_mu);
    struct handle *h = handle_locked(value);
    h->mappings--;
    handle_settle_locked(h);
    pthread_mutex_unlock(&physical_mu);
}

void vs_sim_physical_retain(CUmemGenericAllocationHandle value)
{
    pthread_mutex_lock(&physical_mu);
    handle_locked(value)->references++;
    pthread_mutex_unlock(&physical_mu);
}

unsigned vs_sim_physical_handle_types(CUmemGenericAllocationHandle value)
{
    pthread_mutex_lock(&physical_mu);
    struct handle *h = handle_locked(value);
    unsigned types = h ? (unsigned)h->memory->prop.requestedHandleTypes : 0;
    pthread_mutex_unlock(&physical_mu);
    return types;
}

/* ---- creating ---- */

static CUresult prop_check(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->win32HandleMetaData)
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    unsigned types = (unsigned)prop->requestedHandleTypes;
    if (types & ~(unsigned)(posix | CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT |
                            CU_MEM_HANDLE_TYPE_FABRIC))
        return CUDA_ERROR_INVALID_VALUE;
    switch (prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (!vs_sim_device_find(prop->location.id))
            return CUDA_ERROR_INVALID_DEVICE;
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
        if (types)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (prop->location.id) /* NUMA is not simulated */
            return CUDA_ERROR_INVALID_VALUE;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (types & ~posix)
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

/* Memory of its own file, or a part of the device's common one: zero, since no offset is reused. */
static bool place(struct physical *m, bool own_file)
{
    struct stat st;
    if (own_file) {
        m->own_file = true;
        m->place.fd = vs_sim_store_new(VS_SIM_STORE_ONE, m->place.device, m->place.bytes);
        m->file = m->place.fd < 0 || fstat(m->place.fd, &st) ? 0 : st.st_ino;
        return m->place.fd >= 0;
    }
    int i = m->place.device < 0 ? VS_SIM_DEVICES_MAX : m->place.device;
    pthread_mutex_lock(&physical_mu);
    if (!stores[i].open)
        stores[i].fd = vs_sim_store_new(VS_SIM_STORE_MANY, m->place.device, STORE_BYTES);
    bool ok = stores[i].open = stores[i].fd >= 0;
    if (ok) {
        m->place.fd = stores[i].fd;
        m->place.offset = stores[i].next;
        stores[i].next += m->place.bytes;
    }
    pthread_mutex_unlock(&physical_mu);
    return ok;
}

/* Creates a handle to new memory. */
static CUresult publish(struct physical *m, CUmemGenericAllocationHandle *handle)
{
    pthread_mutex_lock(&physical_mu);
    if (m->own_file) {
        m->next = physicals;
        physicals = m;
    }
    *handle = handle_new_locked(m);
    pthread_mutex_unlock(&physical_mu);
    return CUDA_SUCCESS;
}

CUresult cuMemCreate_entered(CUmemGenericAllocationHandle *handle, size_t size,
                             const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult e;
    if (!handle || !size || size % VS_SIM_GRANULARITY || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = prop_check(prop)))
        return e;
    if (prop->allocFlags.gpuDirectRDMACapable || prop->allocFlags.usage)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((e = vs_sim_fault_alloc(VS_SIM_FAMILY_VMM)))
        return e;
    bool on_device = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    struct physical *m = vs_sim_need(calloc(1, sizeof *m));
    m->place.device = on_device ? prop->location.id : -1;
    m->place.bytes = size;
    m->place.id = atomic_fetch_add(&next_id, 1);
    m->prop = *prop;
    m->prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE; /* a hint, ignored */
    vs_sim_delay_us(on_device ? vs_sim_spec.malloc_us : 0);
    m->charged = on_device && vs_sim_space_charge(m->place.device, size);
    if (on_device && !m->charged) {
        vs_sim_pools_release_idle();
        m->charged = vs_sim_space_charge(m->place.device, size);
    }
    if ((on_device && !m->charged) ||
        !place(m, prop->requestedHandleTypes)) {
        if (m->charged)
            vs_sim_space_uncharge(m->place.device, size);
        free(m);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return publish(m, handle);
}

CUresult cuMemRelease_entered(CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&physical_mu);
    struct handle *h = held_locked(handle);
    if (h) {
        h->references--;
        handle_settle_locked(h);
    }
    pthread_mutex_unlock(&physical_mu);
    return h ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- queries ---- */

CUresult cuMemGetAllocationGranularity_entered(size_t granularity[static 1],
                                               const CUmemAllocationProp *prop,
                                               CUmemAllocationGranularity_flags option)
{
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = prop_check(prop);
    if (!e)
        *granularity = VS_SIM_GRANULARITY;
    return e;
}

CUresult cuMemGetAllocationPropertiesFromHandle_entered(CUmemAllocationProp prop[static 1],
                                                        CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&physical_mu);
    struct handle *h = held_locked(handle);
    if (h)
        *prop = h->memory->prop;
    pthread_mutex_unlock(&physical_mu);
    return h ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- sharing ---- */

CUresult cuMemExportToShareableHandle_entered(void *shareableHandle,
                                              CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType handleType,
                                              unsigned long long flags)
{
    if (!shareableHandle || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    int fd = -1;
    pthread_mutex_lock(&physical_mu);
    struct handle *h = handle_locked(handle);
    bool ok = h && h->references && (h->memory->prop.requestedHandleTypes & handleType);
    if (ok) /* the program's own descriptor, which an exec may inherit */
        fd = dup(h->memory->place.fd);
    pthread_mutex_unlock(&physical_mu);
    if (!ok)
        return CUDA_ERROR_INVALID_VALUE;
    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *(int *)shareableHandle = fd;
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle_entered(CUmemGenericAllocationHandle handle[static 1],
                                                void *osHandle,
                                                CUmemAllocationHandleType shHandleType)
{
    int fd = (int)(intptr_t)osHandle, device;
    uint64_t bytes;
    struct stat st;
    if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !vs_sim_store_of(fd, VS_SIM_STORE_ONE, &device, &bytes) || fstat(fd, &st))
        return CUDA_ERROR_INVALID_VALUE;
    if (device == VS_SIM_UNSEEN)
        return CUDA_ERROR_NOT_SUPPORTED;
    pthread_mutex_lock(&physical_mu);
    struct physical *m = physicals;
    while (m && m->file != st.st_ino)
        m = m->next;
    if (m) /* already present in this process: the same allocation */
        *handle = handle_new_locked(m);
    pthread_mutex_unlock(&physical_mu);
    if (m)
        return CUDA_SUCCESS;
    m = vs_sim_need(calloc(1, sizeof *m));
    m->place.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    m->place.device = device;
    m->place.bytes = bytes;
    m->place.id = atomic_fetch_add(&next_id, 1);
    m->own_file = true;
    m->file = st.st_ino;
    m->prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    m->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    m->prop.location.type =
        device < 0 ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
    m->prop.location.id = device < 0 ? 0 : device;
    if (m->place.fd < 0) {
        free(m);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return publish(m, handle);
}
