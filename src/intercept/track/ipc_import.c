/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The table holds blocks opened at an offset, by the address given to the program;
 * the driver counts how often each allocation is open, the table how often each address was given.
 * No lock is held across a driver call. */
#include "intercept/track/ipc_import.h"

#include <stdatomic.h>

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_map.h"
#include "intercept/route/hook.h"
#include "intercept/track/ipc_token.h"

struct ipc_import_entry {
    struct vs_ipc_opened opened;
    uint64_t base;  /* the address the driver returned */
    uint64_t times; /* opened and not yet closed */
};

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "opened memory");
static struct vs_map table;         /* guarded by lock: address -> struct ipc_import_entry */
static struct vs_items entries;     /* guarded by lock */
static uint64_t serials;            /* guarded by lock */
static _Atomic uint64_t open_count; /* atomic; entries in the table */

static bool enter(uint64_t addr, uint64_t base, uint64_t bytes)
{
    VS_LOCK_SCOPE(&lock);
    struct ipc_import_entry *entry = vs_map_pointer(&table, addr);
    if (entry) {
        entry->times++;
        return true;
    }
    if (!(entry = vs_items_take(&entries, sizeof *entry)))
        return false;
    *entry = (struct ipc_import_entry){
        .opened = {.addr = addr, .bytes = bytes, .serial = ++serials}, .base = base, .times = 1};
    if (vs_map_put_pointer(&table, addr, entry)) {
        vs_items_give(&entries, entry);
        return false;
    }
    atomic_fetch_add(&open_count, 1);
    return true;
}

/* Counts one close. False when *addr* is not in the table. */
static bool leave(uint64_t addr, uint64_t *base, uint64_t *bytes)
{
    VS_LOCK_SCOPE(&lock);
    struct ipc_import_entry *entry = vs_map_pointer(&table, addr);
    if (entry) {
        *base = entry->base;
        *bytes = entry->opened.bytes;
        if (--entry->times == 0) {
            vs_map_remove(&table, addr, NULL);
            atomic_fetch_sub(&open_count, 1);
            vs_items_give(&entries, entry);
        }
    }
    return entry != NULL;
}

static CUresult open_in_driver(bool v2, CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    return v2 ? VS_REAL(cuIpcOpenMemHandle_v2, ptr, handle, flags)
              : VS_REAL(cuIpcOpenMemHandle, ptr, handle, flags);
}

CUresult vs_ipc_open(bool v2, CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    struct vs_ipc_token token;
    CUdeviceptr base;
    if (!ptr || !vs_ipc_token_read(&handle, &token))
        return open_in_driver(v2, ptr, handle, flags);
    CUresult r = open_in_driver(v2, &base, token.handle, flags);
    if (r != CUDA_SUCCESS)
        return r;
    if (!enter(base + token.offset, base, token.bytes)) {
        VS_REAL(cuIpcCloseMemHandle, base);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *ptr = base + token.offset;
    return CUDA_SUCCESS;
}

CUresult vs_ipc_close(CUdeviceptr ptr)
{
    uint64_t base, bytes;
    if (!atomic_load(&open_count) || !leave(ptr, &base, &bytes))
        return VS_REAL(cuIpcCloseMemHandle, ptr);
    CUresult r = VS_REAL(cuIpcCloseMemHandle, base);
    if (r != CUDA_SUCCESS)
        (void)enter(ptr, base, bytes); /* still open; its node exists */
    return r;
}

bool vs_ipc_find(CUdeviceptr ptr, struct vs_ipc_opened *out)
{
    bool found = false;
    size_t cursor = 0;
    if (!atomic_load_explicit(&open_count, memory_order_relaxed))
        return false;
    VS_LOCK_SCOPE(&lock);
    const struct ipc_import_entry *entry = vs_map_pointer(&table, ptr);
    for (const struct vs_map_slot *s; !entry && (s = vs_map_next(&table, &cursor));) {
        const struct ipc_import_entry *e = (const struct ipc_import_entry *)(uintptr_t)s->value;
        if (ptr - e->opened.addr < e->opened.bytes)
            entry = e;
    }
    if ((found = entry != NULL))
        *out = entry->opened;
    return found;
}

/* --- repeated openings, by address ---
 *
 * Memory that ended in another way, with its context for example, leaves a count behind, which the
 * next opening of the address recognises as stale. */

static struct vs_lock again_lock = VS_LOCK_INIT(VS_RANK_OPENED, "opened again");
static struct vs_map again; /* guarded by again_lock: address -> openings after the first */

void vs_opened(const struct vs_tracked *live, const char *api)
{
    VS_LOCK_SCOPE(&again_lock);
    bool is_open = vs_track_is(live->addr, live->family);
    uint64_t *times = is_open ? vs_map_get(&again, live->addr) : NULL;
    if (times)
        ++*times;
    if (!is_open)
        vs_map_remove(&again, live->addr, NULL);
    if (!is_open || (!times && vs_map_put(&again, live->addr, 1)))
        vs_track_alloc(live, 0, api);
}

bool vs_opened_close(uint64_t addr)
{
    VS_LOCK_SCOPE(&again_lock);
    uint64_t *times = vs_map_get(&again, addr);
    bool others = times && vs_track_is(addr, VS_FAMILY_IPC);
    if (times && (!others || !--*times))
        vs_map_remove(&again, addr, NULL);
    return others;
}
