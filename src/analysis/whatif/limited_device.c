/* SPDX-License-Identifier: Apache-2.0
 *
 * Every address is used once. Small driver allocations take units of 512 bytes of a
 * shared page, as the driver does; a page without users is free again. */
#include "analysis/whatif/requests_reading.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/whatif/whatif.h"
#include "base/reading/vs_vec.h"

#define END (UINT64_C(1) << 56)
#define SLAB_ADDR (UINT64_C(1) << 60) /* and the number of the slab, and of the unit */
#define UNIT 512u
#define UNITS (VS_DRIVER_PAGE / UNIT)

struct vs_driver_slab {
    uint8_t is_used[UNITS];
    unsigned used;
};

uint64_t vs_limited_used(const struct vs_limited_device *d)
{
    return d->pages + d->other + d->pool_live + d->pool_kept + d->outside + d->others;
}

uint64_t vs_limited_counted(const struct vs_limited_device *d)
{
    return d->reserved + d->limited;
}

static uint64_t above(uint64_t bytes, uint64_t most)
{
    return most != VS_WHATIF_NONE && bytes > most ? bytes - most : 0;
}

uint64_t vs_limited_over(const struct vs_limited_device *d)
{
    uint64_t device = above(vs_limited_used(d), d->capacity);
    uint64_t limit = above(vs_limited_counted(d), d->limit);
    return device > limit ? device : limit;
}

/* Takes *pages* bytes of the device, which count as *counted*. */
static enum vs_err take(struct vs_limited_device *d, uint64_t pages, uint64_t counted)
{
    d->pages += pages;
    d->reserved += counted;
    uint64_t over = vs_limited_over(d);
    if (!over)
        return VS_OK;
    d->pages -= pages;
    d->reserved -= counted;
    d->refused_need = counted;
    d->refused_short = over;
    return VS_ERR_DEVICE_OOM;
}

static void give(struct vs_limited_device *d, uint64_t pages, uint64_t counted)
{
    d->pages -= pages;
    d->reserved -= counted;
}

/* A free page behind each range keeps them apart. */
static enum vs_err addresses(struct vs_limited_device *d, uint64_t bytes, uint64_t *addr)
{
    if (bytes > END || d->next_addr > END - bytes)
        return VS_ERR_DEVICE_OOM;
    *addr = d->next_addr;
    d->next_addr += vs_driver_pages(bytes) + VS_DRIVER_PAGE;
    return VS_OK;
}

/* --- for the allocator --- */

static enum vs_err segment_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    struct vs_limited_device *d = ctx;
    if (bytes > END)
        return VS_ERR_DEVICE_OOM;
    enum vs_err err = take(d, vs_driver_pages(bytes), bytes);
    if (!err && (err = addresses(d, bytes, addr)))
        give(d, vs_driver_pages(bytes), bytes);
    d->segments += !err;
    return err;
}

static enum vs_err segment_free(void *ctx, uint64_t addr, size_t bytes)
{
    (void)addr;
    give(ctx, vs_driver_pages(bytes), bytes);
    return VS_OK;
}

static enum vs_err wait_for(void *ctx, uint64_t stream)
{
    (void)ctx;
    (void)stream;
    return VS_OK;
}

static enum vs_err memory_info(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes)
{
    const struct vs_limited_device *d = ctx;
    uint64_t used = vs_limited_used(d);
    *total_bytes = d->total;
    *free_bytes = used < d->total ? d->total - used : 0;
    return VS_OK;
}

static enum vs_err range_reserve(void *ctx, uint64_t bytes, uint64_t *addr)
{
    return addresses(ctx, bytes, addr);
}

/* Addresses are not used again, and mappings are not tracked. */
static enum vs_err addresses_back(void *ctx, uint64_t addr, uint64_t bytes)
{
    (void)ctx;
    (void)addr;
    (void)bytes;
    return VS_OK;
}

static enum vs_err memory_create(void *ctx, uint64_t bytes, uint64_t *handle)
{
    struct vs_limited_device *d = ctx;
    enum vs_err err = take(d, bytes, bytes);
    if (err)
        return err;
    *handle = ++d->next_handle;
    d->segments++;
    return VS_OK;
}

static enum vs_err memory_release(void *ctx, uint64_t handle, uint64_t bytes)
{
    (void)handle;
    give(ctx, bytes, bytes);
    return VS_OK;
}

static enum vs_err memory_map(void *ctx, uint64_t addr, uint64_t bytes_each,
                              const uint64_t *handles, size_t count)
{
    (void)ctx;
    (void)addr;
    (void)bytes_each;
    (void)handles;
    (void)count;
    return VS_OK;
}

const struct vs_device_ops vs_limited_device_ops = {
    .segment_alloc = segment_alloc,
    .segment_free = segment_free,
    .memory_info = memory_info,
    .range_reserve = range_reserve,
    .range_release = addresses_back,
    .memory_create = memory_create,
    .memory_release = memory_release,
    .memory_map = memory_map,
    .memory_unmap = addresses_back,
    .stream_synchronize = wait_for,
};

/* --- single driver allocations --- */

/* The first *count* free units; UNITS: none, and *largest* is the longest run. */
static unsigned find(const struct vs_driver_slab *slab, unsigned count, uint16_t *largest)
{
    const uint8_t *units = slab->is_used, *all = units + UNITS, *at = units, *end;
    long longest = 0;
    for (; at < all && (at = memchr(at, false, (size_t)(all - at))); at = end) {
        end = memchr(at, true, (size_t)(all - at));
        end = end ? end : all;
        if (end - at >= (long)count)
            return (unsigned)(at - units);
        longest = end - at > longest ? end - at : longest;
    }
    *largest = (uint16_t)longest;
    return UNITS;
}

static void slab_take(struct vs_limited_device *d, size_t index, unsigned at, unsigned count,
                      uint64_t *addr)
{
    struct vs_driver_slab *slab = &d->slabs[index];
    memset(slab->is_used + at, true, count);
    slab->used += count;
    if (UNITS - slab->used < d->room[index])
        d->room[index] = (uint16_t)(UNITS - slab->used);
    *addr = SLAB_ADDR | index << 12 | at;
}

static enum vs_err small_take(struct vs_limited_device *d, uint64_t bytes, uint64_t *addr)
{
    unsigned count = (unsigned)((bytes + UNIT - 1) / UNIT);
    for (size_t i = 0; i < d->slab_count; i++) {
        unsigned at = d->room[i] < count ? UNITS : find(&d->slabs[i], count, &d->room[i]);
        if (at == UNITS)
            continue;
        enum vs_err err = take(d, 0, bytes); /* the page is there already */
        if (!err)
            slab_take(d, i, at, count, addr);
        return err;
    }
    size_t unused = 0;
    while (unused < d->slab_count && d->slabs[unused].used)
        unused++;
    if (unused == d->slab_count) {
        vs_vec_room(&d->room, &d->room_capacity, unused + 1, sizeof *d->room);
        vs_vec_push(&d->slabs, &d->slab_count, &d->slab_capacity, sizeof *d->slabs);
    }
    enum vs_err err = take(d, VS_DRIVER_PAGE, bytes);
    if (err)
        return err;
    d->room[unused] = UNITS;
    slab_take(d, unused, 0, count, addr);
    return VS_OK;
}

enum vs_err vs_limited_take(struct vs_limited_device *d, uint64_t bytes, uint64_t *addr)
{
    if (bytes > END)
        return VS_ERR_DEVICE_OOM;
    if (!bytes || bytes >= VS_DRIVER_SMALL)
        return segment_alloc(d, bytes, addr);
    enum vs_err err = small_take(d, bytes, addr);
    d->segments += !err;
    return err;
}

void vs_limited_give(struct vs_limited_device *d, uint64_t addr, uint64_t bytes)
{
    if (!(addr & SLAB_ADDR)) {
        give(d, vs_driver_pages(bytes), bytes);
        return;
    }
    size_t index = (addr & ~SLAB_ADDR) >> 12;
    struct vs_driver_slab *slab = &d->slabs[index];
    memset(slab->is_used + (addr & 0xfff), false, (bytes + UNIT - 1) / UNIT);
    slab->used -= (unsigned)((bytes + UNIT - 1) / UNIT);
    give(d, slab->used ? 0 : VS_DRIVER_PAGE, bytes);
    /* an upper bound of its longest run; a page without users is not used before the others */
    d->room[index] = slab->used ? (uint16_t)(UNITS - slab->used) : 0;
}
