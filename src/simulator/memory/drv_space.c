/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory as host address space, and the count of its physical pages.
 *
 * A device runs out of bytes, never of addresses: an allocation fails only if its whole pages do not
 * fit room_locked(). Each device has a window of four times its capacity, mapped without access from
 * a sparse memory file, so that another process can map a part of it; an allocation makes part of it
 * readable, a free removes pages and access again. Which part is decided by drv_address.c. If
 * fragments of the window leave no gap that is large enough, the allocation gets a mapping of its own
 * outside, at an offset of the file that is never reused. The host's mmap looks for the first gap that
 * fits, which needs no more than the live bytes times log2(largest / smallest request): 17 times
 * 80 GiB, of 128 TiB. At the host's limit of mappings the whole window becomes one accessible mapping.
 *
 * Small requests share a 2 MiB page, with a bitmap that is searched round and round, so that an
 * address is reused as late as possible; a page without users counts as free, though the last one
 * stays mapped for the next small request. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "simulator/memory/vs_sim_address.h"
#include "simulator/memory/vs_sim_managed.h"
#include "simulator/memory/vs_sim_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW_TIMES 4
#define STORE_BYTES (UINT64_C(1) << 60) /* of the file: offsets are never used up */
#define UNITS (VS_SIM_PAGE_BYTES / VS_SIM_UNIT_BYTES)

struct slab { /* a page shared by small allocations */
    struct slab *next;
    uintptr_t base;
    unsigned used, cursor;
    uint64_t bits[UNITS / 64];
};

struct outside { /* an allocation for which the window had no gap */
    struct outside *next;
    uintptr_t base;
    size_t bytes, reserved_bytes;
    uint64_t offset;
};

struct space {
    pthread_mutex_t mu;
    bool prepared;
    int store;                /* the file behind all memory; -1: could not be created */
    struct vs_sim_addresses addresses; /* no window until the first allocation, or if the host refuses */
    bool open;                /* the whole window is accessible */
    struct outside *outside;
    uint64_t outside_next;    /* offset of the next one */
    uint64_t used_bytes;    /* physical, everything except "others" */
    struct slab *slabs;
    struct slab *spare; /* mapped, without users, not counted as used; or NULL */
};

static struct space spaces[VS_SIM_DEVICES_MAX];
static pthread_once_t spaces_once = PTHREAD_ONCE_INIT;

static void spaces_init(void)
{
    for (int i = 0; i < VS_SIM_DEVICES_MAX; i++)
        pthread_mutex_init(&spaces[i].mu, NULL);
}

static struct space *space_lock(int device)
{
    pthread_once(&spaces_once, spaces_init);
    pthread_mutex_lock(&spaces[device].mu);
    return &spaces[device];
}

static uint64_t room_locked(const struct space *sp)
{
    uint64_t taken = sp->used_bytes + vs_sim_spec.others_bytes;
    return taken < vs_sim_spec.capacity_bytes ? vs_sim_spec.capacity_bytes - taken : 0;
}

static void prepare(struct space *sp)
{
    struct vs_sim_addresses *a = &sp->addresses;
    size_t bytes =
        (vs_sim_spec.capacity_bytes * WINDOW_TIMES + VS_SIM_PAGE_BYTES) & ~(VS_SIM_PAGE_BYTES - 1);
    sp->prepared = true;
    sp->store = vs_sim_store_new(VS_SIM_STORE_SPACE, (int)(sp - spaces), STORE_BYTES);
    sp->outside_next = bytes;
    a->window = vs_sim_store_reserve(bytes, VS_SIM_PAGE_BYTES, 0);
    if (!a->window)
        return;
    if (!vs_sim_store_map(a->window, bytes, sp->store, 0, PROT_NONE)) {
        vs_sim_store_unreserve(a->window, bytes);
        return;
    }
    madvise((void *)a->window, bytes, MADV_DONTDUMP);
    a->window_bytes = bytes;
}

static bool in_window(const struct space *sp, uintptr_t address)
{
    return address - sp->addresses.window < sp->addresses.window_bytes;
}

static bool window_open(struct space *sp)
{
    sp->open = sp->open || !mprotect((void *)sp->addresses.window, sp->addresses.window_bytes,
                                     PROT_READ | PROT_WRITE);
    return sp->open;
}

/* Removes pages and access. The flags of the resulting mapping equal those of the rest of the
 * window, so the kernel merges it with its neighbours; otherwise it would run out of mappings after
 * 30,000 frees. Much memory is never touched, and a query costs less than punching a hole where
 * there are no pages. */
static void pages_drop(struct space *sp, uintptr_t base, size_t bytes)
{
    off_t begin = (off_t)(base - sp->addresses.window), data = begin;
    if (sp->store >= 0)
        data = lseek(sp->store, begin, SEEK_DATA);
    bool clean = (data < 0 && errno == ENXIO) || data >= begin + (off_t)bytes;
    if (!clean && madvise((void *)base, bytes, MADV_REMOVE))
        memset((void *)base, 0, bytes);
    if (sp->open)
        return;
    if (!clean && sp->store >= 0 &&
        vs_sim_store_map(base, bytes, sp->store, (uint64_t)begin, PROT_NONE))
        madvise((void *)base, bytes, MADV_DONTDUMP);
    else if (mprotect((void *)base, bytes, PROT_NONE))
        window_open(sp);
}

static uintptr_t window_take(struct space *sp, size_t bytes, bool shared)
{
    if (!sp->addresses.window_bytes)
        return 0;
    uintptr_t at = vs_sim_address_take(&sp->addresses, bytes, shared);
    if (at && !sp->open && mprotect((void *)at, bytes, PROT_READ | PROT_WRITE) && !window_open(sp)) {
        vs_sim_address_drop(&sp->addresses, at);
        at = 0;
    }
    return at;
}

static uintptr_t outside_take(struct space *sp, size_t bytes)
{
    struct outside *o = malloc(sizeof *o);
    if (!o)
        return 0;
    *o = (struct outside){.next = sp->outside, .bytes = bytes, .offset = sp->outside_next};
    o->reserved_bytes = bytes;
    if (vs_sim_spec.addresses == VS_SIM_ADDRESSES_FENCED)
        o->reserved_bytes += VS_SIM_PAGE_BYTES;
    o->base = vs_sim_store_reserve(o->reserved_bytes, VS_SIM_PAGE_BYTES, 0);
    if (o->base &&
        vs_sim_store_map(o->base, bytes, sp->store, o->offset, PROT_READ | PROT_WRITE)) {
        madvise((void *)o->base, bytes, MADV_DONTDUMP);
        sp->outside_next += bytes;
        sp->outside = o;
        return o->base;
    }
    if (o->base)
        vs_sim_store_unreserve(o->base, o->reserved_bytes);
    free(o);
    return 0;
}

static struct outside **outside_at(struct space *sp, uintptr_t address)
{
    struct outside **p = &sp->outside;
    while (*p && address - (*p)->base >= (*p)->bytes)
        p = &(*p)->next;
    return p;
}

static void extent_drop(struct space *sp, uintptr_t base)
{
    if (in_window(sp, base)) {
        pages_drop(sp, base, vs_sim_address_drop(&sp->addresses, base));
        return;
    }
    struct outside **p = outside_at(sp, base), *o = *p;
    *p = o->next;
    madvise((void *)base, o->bytes, MADV_REMOVE);
    vs_sim_store_unreserve(base, o->reserved_bytes);
    free(o);
}

/* *shared*: for small allocations. */
static uintptr_t pages_take(struct space *sp, size_t bytes, bool shared)
{
    bytes = (bytes + VS_SIM_PAGE_BYTES - 1) & ~(VS_SIM_PAGE_BYTES - 1);
    if (bytes > room_locked(sp))
        return 0;
    if (!sp->prepared)
        prepare(sp);
    uintptr_t at = window_take(sp, bytes, shared);
    if (!at)
        at = outside_take(sp, bytes);
    if (at)
        sp->used_bytes += bytes;
    return at;
}

/* ---- small allocations ---- */

static bool unit_used(const struct slab *slab, unsigned unit)
{
    return slab->bits[unit / 64] >> (unit % 64) & 1;
}

static void units_mark(struct slab *slab, unsigned first, unsigned count, bool used)
{
    for (unsigned u = first; u < first + count; u++) {
        uint64_t bit = UINT64_C(1) << (u % 64);
        slab->bits[u / 64] = used ? slab->bits[u / 64] | bit : slab->bits[u / 64] & ~bit;
    }
    slab->used = used ? slab->used + count : slab->used - count;
}

/* First run of *count* free units in [from, to); UNITS if there is none. */
static unsigned units_find(const struct slab *slab, unsigned from, unsigned to, unsigned count)
{
    unsigned run = 0;
    for (unsigned u = from; u < to; u++) {
        if (!run && u % 64 == 0 && slab->bits[u / 64] == UINT64_MAX) {
            u += 63;
            continue;
        }
        run = unit_used(slab, u) ? 0 : run + 1;
        if (run == count)
            return u + 1 - count;
    }
    return UNITS;
}

static uintptr_t slab_take(struct slab *slab, unsigned count)
{
    if (UNITS - slab->used < count)
        return 0;
    unsigned at = units_find(slab, slab->cursor, UNITS, count);
    if (at == UNITS)
        at = units_find(slab, 0, UNITS, count);
    if (at == UNITS)
        return 0;
    units_mark(slab, at, count, true);
    slab->cursor = (at + count) % UNITS;
    return slab->base + at * (uintptr_t)VS_SIM_UNIT_BYTES;
}

static unsigned units_of(size_t bytes)
{
    return (unsigned)((bytes + VS_SIM_UNIT_BYTES - 1) / VS_SIM_UNIT_BYTES);
}

static struct slab *slab_new(struct space *sp)
{
    struct slab *slab = sp->spare;
    if (slab) {
        if (room_locked(sp) < VS_SIM_PAGE_BYTES)
            return NULL;
        sp->spare = NULL;
        sp->used_bytes += VS_SIM_PAGE_BYTES;
        return slab;
    }
    slab = calloc(1, sizeof *slab);
    if (!slab)
        return NULL;
    slab->base = pages_take(sp, VS_SIM_PAGE_BYTES, true);
    if (slab->base)
        return slab;
    free(slab);
    return NULL;
}

static uintptr_t small_take(struct space *sp, size_t bytes)
{
    for (struct slab *slab = sp->slabs; slab; slab = slab->next) {
        uintptr_t at = slab_take(slab, units_of(bytes));
        if (at)
            return at;
    }
    struct slab *slab = slab_new(sp);
    if (!slab)
        return 0;
    slab->next = sp->slabs;
    sp->slabs = slab;
    return slab_take(slab, units_of(bytes));
}

static void small_drop(struct space *sp, uintptr_t address, size_t bytes)
{
    struct slab **p = &sp->slabs;
    while (address - (*p)->base >= VS_SIM_PAGE_BYTES)
        p = &(*p)->next;
    struct slab *slab = *p;
    unsigned count = units_of(bytes);
    units_mark(slab, (unsigned)((address - slab->base) / VS_SIM_UNIT_BYTES), count, false);
    if (!slab->used)
        *p = slab->next;
    if (!slab->used && sp->spare) {
        extent_drop(sp, slab->base);
        sp->used_bytes -= VS_SIM_PAGE_BYTES;
        free(slab);
        return;
    }
    memset((void *)address, 0, count * (size_t)VS_SIM_UNIT_BYTES); /* the next user gets zeroes */
    if (!slab->used) {
        sp->spare = slab;
        sp->used_bytes -= VS_SIM_PAGE_BYTES;
    }
}

/* ---- the interface ---- */

static uintptr_t take(int device, size_t bytes)
{
    struct space *sp = space_lock(device);
    uintptr_t at = bytes < VS_SIM_SMALL_BYTES ? small_take(sp, bytes) : pages_take(sp, bytes, false);
    pthread_mutex_unlock(&sp->mu);
    return at;
}

CUresult vs_sim_space_alloc(int device, size_t bytes, uintptr_t *address)
{
    if (bytes > vs_sim_spec.capacity_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uintptr_t at = take(device, bytes);
    if (!at && vs_sim_managed_make_room(device, bytes))
        at = take(device, bytes);
    if (!at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = at;
    return CUDA_SUCCESS;
}

void vs_sim_space_free(int device, uintptr_t address, size_t bytes)
{
    struct space *sp = space_lock(device);
    if (bytes < VS_SIM_SMALL_BYTES) {
        small_drop(sp, address, bytes);
    } else {
        extent_drop(sp, address);
        sp->used_bytes -= (bytes + VS_SIM_PAGE_BYTES - 1) & ~(VS_SIM_PAGE_BYTES - 1);
    }
    pthread_mutex_unlock(&sp->mu);
}

bool vs_sim_space_place(int device, uintptr_t address, int *store, uint64_t *offset)
{
    struct space *sp = space_lock(device);
    const struct outside *o = *outside_at(sp, address);
    bool inside = sp->prepared && sp->store >= 0 && (o || in_window(sp, address));
    *store = sp->store;
    *offset = o ? o->offset + (address - o->base) : address - sp->addresses.window;
    pthread_mutex_unlock(&sp->mu);
    return inside;
}

bool vs_sim_space_try_charge(int device, uint64_t bytes)
{
    struct space *sp = space_lock(device);
    bool fits = bytes <= room_locked(sp);
    if (fits)
        sp->used_bytes += bytes;
    pthread_mutex_unlock(&sp->mu);
    return fits;
}

bool vs_sim_space_charge(int device, uint64_t bytes)
{
    return vs_sim_space_try_charge(device, bytes) ||
           (vs_sim_managed_make_room(device, bytes) && vs_sim_space_try_charge(device, bytes));
}

void vs_sim_space_uncharge(int device, uint64_t bytes)
{
    struct space *sp = space_lock(device);
    sp->used_bytes -= bytes;
    pthread_mutex_unlock(&sp->mu);
}

uint64_t vs_sim_space_used_bytes(int device)
{
    struct space *sp = space_lock(device);
    uint64_t used = sp->used_bytes;
    pthread_mutex_unlock(&sp->mu);
    return used;
}

uint64_t vs_sim_space_free_bytes(int device)
{
    struct space *sp = space_lock(device);
    uint64_t room = room_locked(sp);
    pthread_mutex_unlock(&sp->mu);
    return room;
}

void *vs_sim_host_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void vs_sim_host_unmap(void *pages, size_t bytes) { munmap(pages, bytes); }
