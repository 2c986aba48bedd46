/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in the stand-in driver, for all its files: the registry of address ranges, the space and
 * capacity of a device, memory files and mappings, virtual memory, pools. The lock order is that of
 * vs_sim_driver.h. Invariant: a device runs out of bytes, never of addresses. What takes capacity is
 * refused if it does not fit the device's free bytes, and for no other reason (drv_space.c). */
#ifndef VS_SIM_MEMORY_H
#define VS_SIM_MEMORY_H

#include "simulator/driver/vs_sim_driver.h"

/* ---- address ranges (drv_range.c) ---- */

enum vs_sim_range_kind {
    VS_SIM_RANGE_DEVICE = 1, /* cuMemAlloc, cuMemAllocPitch */
    VS_SIM_RANGE_POOL,       /* cuMemAllocAsync */
    VS_SIM_RANGE_GLOBAL,     /* a module's variable */
    VS_SIM_RANGE_MANAGED,
    VS_SIM_RANGE_HOST,       /* cuMemHostAlloc, cuMemAllocHost */
    VS_SIM_RANGE_REGISTERED, /* the program's own memory, cuMemHostRegister */
    VS_SIM_RANGE_ARRAY,      /* of arrays; programs have the handle, never an address */
    VS_SIM_RANGE_MAPPED,     /* cuMemMap; belongs to no context */
    VS_SIM_RANGE_GRAPH,      /* of a graph's allocation node; present while resident >= 0 */
    VS_SIM_RANGE_OPENED,     /* of another process, cuIpcOpenMemHandle */
    VS_SIM_RANGE_EXTERNAL,   /* cuExternalMemoryGetMappedBuffer */
};

struct vs_sim_pool;
struct vs_sim_array;
struct vs_sim_managed;

struct vs_sim_range {
    uintptr_t base;
    size_t bytes; /* as requested */
    enum vs_sim_range_kind kind;
    unsigned flags;             /* as passed to the allocating call */
    uint64_t id;                /* CU_POINTER_ATTRIBUTE_BUFFER_ID; never reused */
    struct vs_sim_context *ctx; /* owner; for POOL memory the allocating one; NULL: MAPPED */
    struct vs_sim_pool *pool;   /* POOL only */
    struct vs_sim_pool_block *block; /* POOL only */
    uint64_t offset;                 /* POOL: in the file of a shareable pool */
    struct vs_sim_array *array; /* ARRAY only */
    struct vs_sim_managed *managed; /* MANAGED only */
    int device;                 /* ordinal; -1 for host memory */
    int resident;               /* GRAPH: ordinal whose capacity holds it, or -1 */
    uint64_t physical;          /* MAPPED: of the memory, the same at each address; never reused */
    CUmemGenericAllocationHandle memory;    /* MAPPED: its handle */
    uint8_t access[VS_SIM_DEVICES_MAX + 1]; /* MAPPED: CUmemAccess_flags of devices and host */
    uint32_t exported;          /* DEVICE: 1 + its slot among the handles of cuIpcGetMemHandle */
    bool sync_memops;
    bool variable;              /* of a module: freed with it */
    bool no_read, no_write; /* MAPPED: access that cuMemSetAccess has not granted to any device */
};

/* vs_sim_range_add: registers *range* with a fresh id (also stored in *range*). Returns
 * CUDA_ERROR_ALREADY_MAPPED if it overlaps another. */
CUresult vs_sim_range_add(struct vs_sim_range *range);
/* vs_sim_range_find: copies the range that contains *address*. Returns false if there is none. */
bool vs_sim_range_find(uintptr_t address, struct vs_sim_range *copy);
/* vs_sim_range_covers: vs_sim_range_find, and the range contains all *bytes*. */
bool vs_sim_range_covers(uintptr_t address, size_t bytes, struct vs_sim_range *copy);
/* vs_sim_range_at: copies the range of *kind* that begins at *base*. Returns false if there is
 * none. */
bool vs_sim_range_at(uintptr_t base, enum vs_sim_range_kind kind, struct vs_sim_range *copy);
/* vs_sim_range_remove: removes the range that begins at *base* and has *id* (0: any id); its last
 * state goes to *copy* (may be NULL). Returns false if there is no such range. */
bool vs_sim_range_remove(uintptr_t base, uint64_t id, struct vs_sim_range *copy);
/* vs_sim_range_pin: until vs_sim_unpin, the range *id* that contains *address* is not removed and a
 * graph's memory is not released; a thread that wants to do so waits. NULL: the range is gone. The
 * caller must take no lock and wait for nothing while it is pinned. */
atomic_uint *vs_sim_range_pin(uintptr_t address, uint64_t id);
static inline void vs_sim_unpin(atomic_uint *pins) { atomic_fetch_sub(pins, 1); }
/* vs_sim_range_update: replaces the range of the same base and id. If a range of a graph is no
 * longer resident, it is no longer pinned either on return. */
void vs_sim_range_update(const struct vs_sim_range *range);
/* vs_sim_range_of_context: any range that ends with *ctx*: all it owns except pool memory. Returns
 * false if it owns none. Linear; for context destruction. */
bool vs_sim_range_of_context(const struct vs_sim_context *ctx, struct vs_sim_range *copy);

/* ---- device space (drv_space.c) ---- */

/* vs_sim_space_alloc: allocates *bytes* of *device* at an address not used recently, readable,
 * zero-filled, between unmapped guard pages. Requests under VS_SIM_SMALL_BYTES share 2 MiB pages in
 * units of 512 bytes; others take whole pages. Managed memory is evicted if needed. Returns
 * CUDA_ERROR_OUT_OF_MEMORY if the device's free memory is too small; fragments are no reason. */
CUresult vs_sim_space_alloc(int device, size_t bytes, uintptr_t *address);
/* vs_sim_space_free: frees memory of vs_sim_space_alloc, of the same *bytes*. */
void vs_sim_space_free(int device, uintptr_t address, size_t bytes);
/* vs_sim_space_charge: takes *bytes* of the device's capacity for something without an address (a
 * context). Managed memory is evicted if needed. Returns false if there is not enough free
 * memory. */
bool vs_sim_space_charge(int device, uint64_t bytes);
/* vs_sim_space_try_charge: the same, without eviction. */
bool vs_sim_space_try_charge(int device, uint64_t bytes);
void vs_sim_space_uncharge(int device, uint64_t bytes);
/* vs_sim_space_used_bytes: bytes held there by this process, contexts included. */
uint64_t vs_sim_space_used_bytes(int device);
/* vs_sim_space_free_bytes: the free bytes that cuMemGetInfo returns. */
uint64_t vs_sim_space_free_bytes(int device);

/* vs_sim_space_place: the position of vs_sim_space_alloc memory in the device's memory file.
 * Returns false if it is not of this device, or there is no file. */
bool vs_sim_space_place(int device, uintptr_t address, int *store, uint64_t *offset);

/* ---- files and mappings (drv_store.c) ---- */

enum vs_sim_store_kind {
    VS_SIM_STORE_SPACE = 's',    /* a device's address window */
    VS_SIM_STORE_MANY = 'm',     /* allocations of cuMemCreate that stay in the process */
    VS_SIM_STORE_ONE = 'o',      /* one allocation of cuMemCreate, exportable */
    VS_SIM_STORE_POOL = 'p',     /* a shareable pool */
    VS_SIM_STORE_EXPORTS = 'x',  /* the exports of a process by cuIpc (drv_ipc.c) */
    VS_SIM_STORE_EVENTS = 'e',   /* its interprocess events (drv_ipc_event.c) */
};

/* vs_sim_store_new: creates a sparse memory file of *bytes* that stores its kind and its device
 * (-1: host memory), readable by every process. Returns -1 on a system error. Closed with
 * close(). */
int vs_sim_store_new(enum vs_sim_store_kind kind, int device, uint64_t bytes);
/* vs_sim_store_of: the kind and the device that vs_sim_store_new stored in the file *fd*, in
 * whichever process; the device by this process's numbering (VS_SIM_UNSEEN). Returns false if it is
 * not such a file. Either out-pointer may be NULL. */
bool vs_sim_store_of(int fd, enum vs_sim_store_kind kind, int *device, uint64_t *bytes);
/* vs_sim_store_reserve: reserves *bytes* of address space without access, aligned to *align* (a
 * power of two), at *hint* if that is free. Returns 0 on a system error. */
uintptr_t vs_sim_store_reserve(size_t bytes, size_t align, uintptr_t hint);
/* vs_sim_store_map: maps *bytes* of file *fd* from *offset* on at a reserved *address*, with the
 * PROT bits *access*. fd -1: fresh memory without a file, also shared after fork. Returns false on
 * a system error. */
bool vs_sim_store_map(uintptr_t address, size_t bytes, int fd, uint64_t offset, int access);
/* vs_sim_store_open: reserves *reserved* bytes and maps *bytes* of the file there. Returns 0 on a
 * system error. */
uintptr_t vs_sim_store_open(size_t bytes, size_t reserved, int fd, uint64_t offset);
/* vs_sim_store_unmap: unmaps the address range, which stays reserved. */
void vs_sim_store_unmap(uintptr_t address, size_t bytes);
/* vs_sim_store_unreserve: returns the address range to the system. */
void vs_sim_store_unreserve(uintptr_t address, size_t bytes);

/* vs_sim_external_release: releases an EXTERNAL range after its removal (drv_external.c). */
void vs_sim_external_release(const struct vs_sim_range *range);

/* vs_sim_host_map: *bytes* of zeroed host memory, page aligned, NULL on a system error. Not charged
 * to any device. vs_sim_host_unmap takes the same size. */
void *vs_sim_host_map(size_t bytes);
void vs_sim_host_unmap(void *pages, size_t bytes);

/* ---- virtual memory management (drv_vmm.c) ---- */

/* vs_sim_mapped_span: can all *bytes* from *address* on be read (*write*: written) through mappings
 * of cuMemMap without a gap? */
bool vs_sim_mapped_span(uintptr_t address, size_t bytes, bool write);
/* vs_sim_mapped_hold/let_go: between these, no mapping is removed or loses access. */
void vs_sim_mapped_hold(void);
void vs_sim_mapped_release(void);
/* vs_sim_reservation_find: the reservation of cuMemAddressReserve that contains *address*, mapped
 * or not. Returns false if there is none. */
bool vs_sim_reservation_find(uintptr_t address, uintptr_t *base, size_t *bytes);
/* vs_sim_mapped_handle_types: CUmemAllocationHandleType bits with which the memory mapped at
 * *address* may be exported. */
unsigned vs_sim_mapped_handle_types(uintptr_t address);

/* ---- pools (drv_pool.c, drv_pool_memory.c) ---- */

/* vs_sim_pools_release_idle: called at a synchronisation: returns unused pool memory above the
 * release threshold to the device. */
void vs_sim_pools_release_idle(void);
/* vs_sim_pool_block_free: frees the memory of a POOL range. With *stream*, in its order; NULL: all
 * work that used it is complete. */
void vs_sim_pool_block_free(const struct vs_sim_range *range, struct vs_sim_stream *stream,
                            uint64_t seq);

/* vs_sim_pool_pin: until vs_sim_unpin, the pool keeps its memory at *address*, in use or not. NULL:
 * it has none there. */
atomic_uint *vs_sim_pool_pin(struct vs_sim_pool *pool, uintptr_t address);

/* ---- any kind (drv_memory.c) ---- */

/* vs_sim_device_storage: vs_sim_space_alloc on the device of *ctx*, with the duration of an
 * allocation and the faults of *family*; releases unused pool memory before it fails. */
CUresult vs_sim_device_storage(struct vs_sim_context *ctx, enum vs_sim_family family, size_t bytes,
                               uintptr_t *base);
/* vs_sim_memory_release: frees the storage of a range after its removal. */
void vs_sim_memory_release(const struct vs_sim_range *range);

#endif
