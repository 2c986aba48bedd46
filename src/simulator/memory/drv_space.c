/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory as host address space, and the count of its physical pages.
 *
 * A device runs out of bytes, never of addresses: an allocation fails only if its whole pages do
 * not fit room_locked(). Each device has a window of four times its capacity, mapped without access
 * from a sparse memory file, so that another process can map a part of it; an allocation makes part
 * of it readable, a free removes pages and access again. If fragments of the window leave no gap
 * that is large enough, the allocation gets a mapping of its own outside, at an offset of the file
 * that is never reused. The host's mmap looks for the first gap that fits, which needs no more than
 * the live bytes times log2(largest / smallest request): 17 times 80 GiB, of 128 TiB. At the host's
 * limit of mappings the whole window becomes one accessible mapping.
 *
 * Small requests share a 2 MiB page, with a bitmap that is searched round and round, so that an
 * address is reused as late as possible; a page without users counts as free, though the last one
 * stays mapped for the next small request.
 *
 * The order in which a device hands out addresses: ties between free blocks of one size go by
 * address in caching allocators, so the order decides where their blocks lie.
 *
 * - fenced: round the window, with a page without access behind each allocation: an address is
 * reused as late as possible, and an access past the end faults.
 * - lowest: the lowest address with room, each allocation directly behind the last. The spec's
 * hole= keeps the space above the window's base free for the first allocations.
 * - linux: as on Linux, ranges of a multiple of 32 MiB, aligned to it, from the top of the window
 *   down. An allocation goes into the lowest unused tail of a range that it fits in, else into a
 * new range in the highest gap. A range ends with its last allocation.
 *
 * Pages shared by small allocations lie at the other end of the window in the last two orders. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "simulator/driver/vs_sim_nvml.h"
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

/* above this number the kernel's limit of mappings matters more than fences */
#define FENCED_MAX 12000
#define RANGE_BYTES (UINT64_C(32) << 20) /* linux */

struct address_list { /* intervals of the window, ascending, without fences */
    struct address_span {
        uintptr_t base;
        size_t bytes;
    } *at;
    size_t count, max;
};

struct addresses { /* all zero at first */
    uintptr_t window; /* none until the first allocation, or if the host refuses */
    size_t window_bytes;
    uintptr_t cursor;           /* fenced: where the search for room goes on */
    struct address_list used;   /* allocations */
    struct address_list ranges; /* linux: which allocations share */
    uint64_t taken;             /* lowest: calls for the program's own allocations */
};

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
    struct addresses addresses;
    bool open;                /* the whole window is accessible */
    struct outside *outside;
    uint64_t outside_next;    /* offset of the next one */
    uint64_t used_bytes;    /* physical, everything except "others" */
    struct slab *slabs;
    struct slab *spare; /* mapped, without users, not counted as used; or NULL */
};

static struct space spaces[VS_SIM_DEVICES_MAX] = {
    [0 ... VS_SIM_DEVICES_MAX - 1].mu = PTHREAD_MUTEX_INITIALIZER};

static struct space *space_lock(int device)
{
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
    struct addresses *a = &sp->addresses;
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

/* ---- where whole pages lie ---- */

/* Index of the first span that ends above *address*. */
static size_t span_after(const struct address_list *list, uintptr_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (list->at[mid].base + list->at[mid].bytes > address)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static void span_add(struct address_list *list, uintptr_t base, size_t bytes)
{
    vs_sim_room(&list->at, list->count, &list->max, sizeof *list->at);
    size_t i = span_after(list, base);
    memmove(list->at + i + 1, list->at + i, (list->count - i) * sizeof *list->at);
    list->at[i] = (struct address_span){base, bytes};
    list->count++;
}

static size_t span_remove(struct address_list *list, uintptr_t base)
{
    size_t i = span_after(list, base), bytes = list->at[i].bytes;
    list->count--;
    memmove(list->at + i, list->at + i + 1, (list->count - i) * sizeof *list->at);
    return bytes;
}

/* The lowest address for *bytes* and a *fence* at or above *from*, below *limit*; 0 if there is no
 * room. *start*: of the window. */
static uintptr_t lowest_gap(const struct address_list *list, uintptr_t start, uintptr_t from,
                            uintptr_t limit, size_t bytes, size_t fence)
{
    size_t i = span_after(list, from > start + fence ? from - fence : start);
    for (; from + bytes + fence <= limit; i++) {
        if (i == list->count || list->at[i].base >= from + bytes + fence)
            return from;
        uintptr_t end = list->at[i].base + list->at[i].bytes + fence;
        if (end > from)
            from = end;
    }
    return 0;
}

/* The highest address for *bytes* between *from* and *limit*, aligned to *align*; 0 if there is no
 * room. */
static uintptr_t highest_gap(const struct address_list *list, uintptr_t from, uintptr_t limit,
                             size_t bytes, size_t align)
{
    for (size_t i = list->count + 1; i-- > 0;) {
        uintptr_t low = i ? list->at[i - 1].base + list->at[i - 1].bytes : from;
        uintptr_t high = i < list->count ? list->at[i].base : limit;
        uintptr_t at = high >= bytes ? (high - bytes) & ~(uintptr_t)(align - 1) : 0;
        if (at >= low && at + bytes <= high)
            return at;
    }
    return 0;
}

static uintptr_t take_fenced(struct addresses *a, size_t bytes)
{
    size_t fence = a->used.count < FENCED_MAX ? VS_SIM_PAGE_BYTES : 0;
    uintptr_t limit = a->window + a->window_bytes;
    if (!a->cursor)
        a->cursor = a->window;
    uintptr_t at = lowest_gap(&a->used, a->window, a->cursor, limit, bytes, fence);
    if (!at)
        at = lowest_gap(&a->used, a->window, a->window, limit, bytes, fence);
    if (at)
        a->cursor = at + bytes + fence;
    return at;
}

static uintptr_t take_lowest(struct addresses *a, size_t bytes, bool shared)
{
    uintptr_t limit = a->window + a->window_bytes;
    if (shared)
        return highest_gap(&a->used, a->window, limit, bytes, VS_SIM_PAGE_BYTES);
    size_t hole = a->taken++ < vs_sim_spec.hole_allocations ? vs_sim_spec.hole_bytes : 0;
    return lowest_gap(&a->used, a->window, a->window + hole, limit, bytes, 0);
}

/* The unused part behind the last allocation of a range. */
static uintptr_t tail_of(const struct addresses *a, const struct address_span *range)
{
    size_t i = span_after(&a->used, range->base + range->bytes - 1);
    if (i < a->used.count && a->used.at[i].base < range->base + range->bytes)
        return range->base + range->bytes; /* an allocation reaches its end */
    return i ? a->used.at[i - 1].base + a->used.at[i - 1].bytes : range->base;
}

static uintptr_t take_linux(struct addresses *a, size_t bytes, bool shared)
{
    uintptr_t limit = a->window + a->window_bytes, at;
    if (shared) {
        at = lowest_gap(&a->ranges, a->window, a->window, limit, bytes, 0);
        if (at)
            span_add(&a->ranges, at, bytes);
        return at;
    }
    for (size_t i = 0; i < a->ranges.count; i++) {
        const struct address_span *range = &a->ranges.at[i];
        at = tail_of(a, range);
        if (at + bytes <= range->base + range->bytes)
            return at;
    }
    size_t whole = (bytes + RANGE_BYTES - 1) & ~(RANGE_BYTES - 1);
    at = highest_gap(&a->ranges, a->window, limit, whole, RANGE_BYTES);
    if (at)
        span_add(&a->ranges, at, whole);
    return at;
}

/* Finds room for whole pages. *shared*: for small allocations, kept out of the order of the others.
 * Returns 0 without a gap. */
static uintptr_t address_take(struct addresses *a, size_t bytes, bool shared)
{
    uintptr_t at = 0;
    switch (vs_sim_spec.addresses) {
    case VS_SIM_ADDRESSES_FENCED: at = take_fenced(a, bytes); break;
    case VS_SIM_ADDRESSES_LOWEST: at = take_lowest(a, bytes, shared); break;
    case VS_SIM_ADDRESSES_LINUX: at = take_linux(a, bytes, shared); break;
    }
    if (at)
        span_add(&a->used, at, bytes);
    return at;
}

/* The allocation at *base* ends. Returns its size. */
static size_t address_drop(struct addresses *a, uintptr_t base)
{
    size_t bytes = span_remove(&a->used, base);
    if (vs_sim_spec.addresses == VS_SIM_ADDRESSES_LINUX) { /* a range ends with its last one */
        const struct address_span *range = &a->ranges.at[span_after(&a->ranges, base)];
        size_t i = span_after(&a->used, range->base);
        if (i == a->used.count || a->used.at[i].base >= range->base + range->bytes)
            span_remove(&a->ranges, range->base);
    }
    return bytes;
}

/* ---- whole pages ---- */

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

static uintptr_t outside_take(struct space *sp, size_t bytes)
{
    struct outside *o = vs_sim_need(malloc(sizeof *o));
    *o = (struct outside){.next = sp->outside, .bytes = bytes, .offset = sp->outside_next};
    o->reserved_bytes = bytes;
    if (vs_sim_spec.addresses == VS_SIM_ADDRESSES_FENCED)
        o->reserved_bytes += VS_SIM_PAGE_BYTES;
    o->base = vs_sim_store_open(bytes, o->reserved_bytes, sp->store, o->offset);
    if (!o->base) {
        free(o);
        return 0;
    }
    madvise((void *)o->base, bytes, MADV_DONTDUMP);
    sp->outside_next += bytes;
    sp->outside = o;
    return o->base;
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
        pages_drop(sp, base, address_drop(&sp->addresses, base));
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
    uintptr_t at = sp->addresses.window_bytes ? address_take(&sp->addresses, bytes, shared) : 0;
    if (at && !sp->open && mprotect((void *)at, bytes, PROT_READ | PROT_WRITE) &&
        !window_open(sp)) {
        address_drop(&sp->addresses, at);
        at = 0;
    }
    if (!at)
        at = outside_take(sp, bytes);
    if (at)
        sp->used_bytes += bytes;
    return at;
}

/* ---- small allocations ---- */

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
        run = slab->bits[u / 64] >> (u % 64) & 1 ? 0 : run + 1;
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

static uintptr_t small_take(struct space *sp, size_t bytes)
{
    for (struct slab *slab = sp->slabs; slab; slab = slab->next) {
        uintptr_t at = slab_take(slab, units_of(bytes));
        if (at)
            return at;
    }
    struct slab *slab = sp->spare;
    if (slab) {
        if (room_locked(sp) < VS_SIM_PAGE_BYTES)
            return 0;
        sp->spare = NULL;
        sp->used_bytes += VS_SIM_PAGE_BYTES;
    } else {
        uintptr_t base = pages_take(sp, VS_SIM_PAGE_BYTES, true);
        if (!base)
            return 0;
        slab = vs_sim_need(calloc(1, sizeof *slab));
        slab->base = base;
    }
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
    memset((void *)address, 0, count * (size_t)VS_SIM_UNIT_BYTES); /* the next user gets zeroes */
    if (slab->used)
        return;
    *p = slab->next;
    sp->used_bytes -= VS_SIM_PAGE_BYTES;
    if (!sp->spare) {
        sp->spare = slab;
        return;
    }
    extent_drop(sp, slab->base);
    free(slab);
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

/* ---- for the stand-in NVML: what this process holds, and how long the device has worked ---- */

VS_SIM_EXPORT vramscope_sim_held_fn vramscopeSimHeld;
VS_SIM_EXPORT vramscope_sim_worked_fn vramscopeSimWorked;

uint64_t vramscopeSimHeld(int physical, unsigned *contexts)
{
    *contexts = 0;
    if (vs_sim_enter() != CUDA_SUCCESS)
        return 0;
    int device = vs_sim_device_seen(physical);
    if (device < 0)
        return 0;
    *contexts = vs_sim_contexts_on(device);
    return vs_sim_space_used_bytes(device);
}

void vramscopeSimWorked(int physical, uint64_t *kernel_ns, uint64_t *transfer_ns)
{
    *kernel_ns = *transfer_ns = 0;
    int device = vs_sim_enter() == CUDA_SUCCESS ? vs_sim_device_seen(physical) : -1;
    if (device < 0)
        return;
    *kernel_ns = atomic_load(&vs_sim_devices[device].kernel_ns);
    *transfer_ns = atomic_load(&vs_sim_devices[device].transfer_ns);
}
