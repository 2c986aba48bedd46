/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprocess memory handles (cuIpc). A handle contains the exporting process, the memory file of
 * the device's window and a position in it; opening maps the pages that contain the allocation,
 * which for small ones contain others too. Every process keeps a table of its current exports, so
 * that a stale handle is refused instead of mapping another allocation's memory. */
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x7673494du
#define EXPORTS 65536

struct memory_handle {
    uint32_t magic;
    int32_t pid, store, exports; /* descriptors in that process */
    uint64_t store_inode, exports_inode, id, offset, bytes;
    uint32_t slot;
    int32_t device;
};

_Static_assert(sizeof(struct memory_handle) == sizeof(CUipcMemHandle), "fills it");

struct opened {
    struct opened *next;
    int pid;
    uint64_t id; /* of the allocation there */
    struct vs_sim_context *ctx;
    unsigned references; /* 0: being closed */
    uintptr_t address, pages;
    size_t page_bytes;
};

static pthread_mutex_t ipc_mu = PTHREAD_MUTEX_INITIALIZER; /* guards the following variables */
static _Atomic uint64_t *exports; /* ids of the exports; NULL until the first export */
static int exports_fd;
static uint32_t exports_next;
static struct opened *opened;

/* ---- other processes ---- */

bool vs_sim_ipc_alive(int pid)
{
    char path[32], link[1];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (readlink(path, link, sizeof link) >= 0)
        return true; /* not even a zombie process has this number */
    return errno != ENOENT && (!kill(pid, 0) || errno == EPERM);
}

uint64_t vs_sim_ipc_inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : st.st_ino;
}

int vs_sim_ipc_open_file(int pid, int fd, uint64_t inode, enum vs_sim_store_kind kind, int flags)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int file = open(path, flags | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || (vs_sim_ipc_inode(file) == inode && vs_sim_store_of(file, kind, NULL, NULL)))
        return file;
    close(file); /* the number belongs to another process or file by now */
    return -1;
}

/* ---- exporting ---- */

/* Finds or adds the export of *range*: slot + 1. 0: no room. */
static uint32_t export_locked(struct vs_sim_range *range)
{
    const size_t bytes = EXPORTS * sizeof *exports;
    if (!exports) {
        exports_fd = vs_sim_store_new(VS_SIM_STORE_EXPORTS, -1, bytes);
        if (exports_fd < 0)
            return 0;
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, exports_fd, 0);
        if (at == MAP_FAILED) {
            close(exports_fd);
            return 0;
        }
        exports = at;
    }
    if (range->exported)
        return range->exported;
    for (uint32_t i = 0; i < EXPORTS; i++) {
        uint32_t slot = exports_next++ % EXPORTS;
        if (atomic_load(&exports[slot]))
            continue;
        atomic_store(&exports[slot], range->id);
        range->exported = slot + 1;
        vs_sim_range_update(range);
        break;
    }
    return range->exported;
}

void vs_sim_ipc_discard(const struct vs_sim_range *range)
{
    if (range->exported)
        atomic_store(&exports[range->exported - 1], 0);
}

CUresult cuIpcGetMemHandle_in(CUipcMemHandle pHandle[static 1], CUdeviceptr dptr)
{
    CUresult e = CUDA_SUCCESS;
    struct vs_sim_range range;
    struct memory_handle h = {.magic = MAGIC, .pid = getpid()};
    pthread_mutex_lock(&ipc_mu);
    if (!vs_sim_range_find(dptr, &range) || range.kind != VS_SIM_RANGE_DEVICE)
        e = CUDA_ERROR_INVALID_VALUE;
    else if (!vs_sim_space_place(range.device, range.base, &h.store, &h.offset))
        e = CUDA_ERROR_MAP_FAILED;
    else if (!(h.slot = export_locked(&range)))
        e = CUDA_ERROR_OUT_OF_MEMORY;
    h.exports = exports_fd;
    pthread_mutex_unlock(&ipc_mu);
    if (e)
        return e;
    h.store_inode = vs_sim_ipc_inode(h.store);
    h.exports_inode = vs_sim_ipc_inode(h.exports);
    h.id = range.id;
    h.bytes = range.bytes;
    h.device = vs_sim_devices[range.device].physical;
    memcpy(pHandle, &h, sizeof h);
    return CUDA_SUCCESS;
}

/* ---- opening ---- */

/* Is the allocation of the handle still exported? */
static bool still_exported(const struct memory_handle *h)
{
    uint64_t id = 0;
    int fd = vs_sim_ipc_open_file(h->pid, h->exports, h->exports_inode, VS_SIM_STORE_EXPORTS,
                                  O_RDONLY);
    if (fd < 0)
        return false;
    bool ok = pread(fd, &id, sizeof id, (off_t)(h->slot - 1) * (off_t)sizeof id) == sizeof id;
    close(fd);
    return ok && id == h->id;
}

static CUresult map_locked(const struct memory_handle *h, struct opened *o)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = h->offset % page;
    o->page_bytes = (skip + h->bytes + page - 1) / page * page;
    int fd = vs_sim_ipc_open_file(h->pid, h->store, h->store_inode, VS_SIM_STORE_SPACE, O_RDWR);
    if (fd < 0)
        return CUDA_ERROR_INVALID_HANDLE;
    o->pages = vs_sim_store_open(o->page_bytes, o->page_bytes, fd, h->offset - skip);
    close(fd);
    if (!o->pages)
        return CUDA_ERROR_MAP_FAILED;
    o->address = o->pages + skip;
    struct vs_sim_range range = {.base = o->address,
                                 .bytes = h->bytes,
                                 .kind = VS_SIM_RANGE_OPENED,
                                 .ctx = o->ctx,
                                 .device = vs_sim_device_seen(h->device)};
    CUresult e = !still_exported(h)        ? CUDA_ERROR_INVALID_HANDLE
                 : vs_sim_range_add(&range) ? CUDA_ERROR_MAP_FAILED
                                            : CUDA_SUCCESS;
    if (e)
        vs_sim_store_unreserve(o->pages, o->page_bytes);
    return e;
}

CUresult cuIpcOpenMemHandle_v2_in(struct vs_sim_context *ctx, CUdeviceptr *pdptr,
                                  CUipcMemHandle handle, unsigned int Flags)
{
    struct memory_handle h;
    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&h, &handle, sizeof h);
    if (h.magic != MAGIC || !h.slot || h.slot > EXPORTS)
        return CUDA_ERROR_INVALID_HANDLE;
    if (h.pid == getpid()) /* for other processes only */
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!vs_sim_ipc_alive(h.pid) || !still_exported(&h))
        return CUDA_ERROR_INVALID_HANDLE;
    if (vs_sim_device_seen(h.device) == VS_SIM_UNSEEN)
        return CUDA_ERROR_MAP_FAILED;
    pthread_mutex_lock(&ipc_mu);
    CUresult e = CUDA_SUCCESS;
    struct opened *o = opened;
    while (o && (!o->references || o->pid != h.pid || o->id != h.id || o->ctx != ctx))
        o = o->next;
    if (o) {
        o->references++;
    } else {
        o = vs_sim_need(malloc(sizeof *o));
        *o = (struct opened){.next = opened, .pid = h.pid, .id = h.id, .ctx = ctx, .references = 1};
        e = map_locked(&h, o);
        if (!e)
            opened = o;
    }
    if (!e)
        *pdptr = o->address;
    else
        free(o);
    pthread_mutex_unlock(&ipc_mu);
    return e;
}

/* ---- closing ---- */

void vs_sim_ipc_unmap(const struct vs_sim_range *range)
{
    pthread_mutex_lock(&ipc_mu);
    struct opened **p = &opened;
    while ((*p)->address != range->base)
        p = &(*p)->next;
    struct opened *o = *p;
    *p = o->next;
    pthread_mutex_unlock(&ipc_mu);
    vs_sim_store_unreserve(o->pages, o->page_bytes);
    free(o);
}

CUresult cuIpcCloseMemHandle_in(CUdeviceptr dptr)
{
    struct vs_sim_range range;
    if (!vs_sim_range_at(dptr, VS_SIM_RANGE_OPENED, &range))
        return CUDA_ERROR_INVALID_VALUE;
    bool last = false; /* none are given out after it */
    pthread_mutex_lock(&ipc_mu);
    for (struct opened *o = opened; o; o = o->next)
        if (o->address == dptr && o->references)
            last = --o->references == 0;
    pthread_mutex_unlock(&ipc_mu);
    if (!last)
        return CUDA_SUCCESS;
    CUresult e = vs_sim_context_sync(range.ctx);
    if (!vs_sim_range_remove(dptr, range.id, &range))
        return CUDA_ERROR_INVALID_VALUE; /* another thread was faster */
    vs_sim_memory_release(&range);
    return e;
}
