/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Every address is used once. Small driver allocations take units of 512 bytes of a
 * shared page, as the driver does; a page without users is free again. */
#include "analysis/whatif/limited_device.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/vec.h"
#include "analysis/whatif/recorded_memory.h"
#include "analysis/whatif/whatif.h"

#define FIRST (UINT64_C(1) << 32)
#define END (UINT64_C(1) << 56)
#define SLAB_ADDR (UINT64_C(1) << 60) /* and the number of the slab, and of the unit */
#define UNIT 512u
#define UNITS (VS_DRIVER_PAGE / UNIT)

struct vs_driver_slab {
    uint64_t bits[UNITS / 64];
    unsigned used, cursor;
};

void vs_limited_device_init(struct vs_limited_device *d, uint64_t capacity, uint64_t limit,
                            uint64_t total)
{
    *d = (struct vs_limited_device){
        .capacity = capacity, .limit = limit, .total = total, .next_addr = FIRST};
}

void vs_limited_device_free(struct vs_limited_device *d)
{
    free(d->slabs);
    d->slabs = NULL;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + VS_DRIVER_PAGE - 1) & ~(VS_DRIVER_PAGE - 1);
}

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
    d->next_addr += whole_pages(bytes) + VS_DRIVER_PAGE;
    return VS_OK;
}

/* --- for the allocator --- */

static enum vs_err segment_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    struct vs_limited_device *d = ctx;
    if (bytes > END)
        return VS_ERR_DEVICE_OOM;
    enum vs_err err = take(d, whole_pages(bytes), bytes);
    if (!err && (err = addresses(d, bytes, addr)))
        give(d, whole_pages(bytes), bytes);
    d->segments += !err;
    return err;
}

static enum vs_err segment_free(void *ctx, uint64_t addr, size_t bytes)
{
    (void)addr;
    give(ctx, whole_pages(bytes), bytes);
    return VS_OK;
}

static enum vs_err wait(void *ctx)
{
    (void)ctx;
    return VS_OK;
}

static enum vs_err wait_for(void *ctx, uint64_t stream_or_event)
{
    (void)ctx;
    (void)stream_or_event;
    return VS_OK;
}

static enum vs_err event_record(void *ctx, uint64_t stream, uint64_t *event)
{
    (void)ctx;
    (void)stream;
    *event = 1;
    return VS_OK;
}

static enum vs_err event_query(void *ctx, uint64_t event, bool *ready)
{
    (void)ctx;
    (void)event;
    *ready = true;
    return VS_OK;
}

static void event_release(void *ctx, uint64_t event)
{
    (void)ctx;
    (void)event;
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
    .synchronize = wait,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = wait_for,
    .event_release = event_release,
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

static bool unit_used(const struct vs_driver_slab *slab, unsigned unit)
{
    return slab->bits[unit / 64] >> (unit % 64) & 1;
}

static void mark(struct vs_driver_slab *slab, unsigned first, unsigned count, bool used)
{
    for (unsigned i = first; i < first + count; i++) {
        uint64_t bit = UINT64_C(1) << (i % 64);
        slab->bits[i / 64] = used ? slab->bits[i / 64] | bit : slab->bits[i / 64] & ~bit;
    }
    slab->used += used ? count : -count;
}

/* *count* free units from *from* on, before *end*; UNITS: none. */
static unsigned find(const struct vs_driver_slab *slab, unsigned from, unsigned end, unsigned count)
{
    unsigned run = 0;
    for (unsigned i = from; i < end; i++) {
        run = unit_used(slab, i) ? 0 : run + 1;
        if (run == count)
            return i + 1 - count;
    }
    return UNITS;
}

static bool slab_take(struct vs_limited_device *d, size_t index, unsigned count, uint64_t *addr)
{
    struct vs_driver_slab *slab = &d->slabs[index];
    if (UNITS - slab->used < count)
        return false;
    unsigned at = find(slab, slab->cursor, UNITS, count);
    if (at == UNITS)
        at = find(slab, 0, UNITS, count);
    if (at == UNITS)
        return false;
    mark(slab, at, count, true);
    slab->cursor = (at + count) % UNITS;
    *addr = SLAB_ADDR | index << 12 | at;
    return true;
}

static enum vs_err small_take(struct vs_limited_device *d, uint64_t bytes, uint64_t *addr)
{
    unsigned count = (unsigned)((bytes + UNIT - 1) / UNIT);
    size_t unused = SIZE_MAX;
    while (d->slab_room < d->slab_count && d->slabs[d->slab_room].used == UNITS)
        d->slab_room++;
    for (size_t i = d->slab_room; i < d->slab_count; i++) {
        if (!d->slabs[i].used) {
            unused = unused == SIZE_MAX ? i : unused;
            continue;
        }
        if (!slab_take(d, i, count, addr))
            continue;
        d->reserved += bytes;
        if (!vs_limited_over(d)) /* of the limit: the page is there already */
            return VS_OK;
        d->refused_need = bytes;
        d->refused_short = vs_limited_over(d);
        vs_limited_give(d, *addr, bytes);
        return VS_ERR_DEVICE_OOM;
    }
    if (unused == SIZE_MAX) {
        enum vs_err err = vs_vec_grow(&d->slabs, &d->slab_capacity, d->slab_count + 1,
                                      sizeof *d->slabs);
        if (err)
            return err;
        unused = d->slab_count++;
    }
    enum vs_err err = take(d, VS_DRIVER_PAGE, bytes);
    if (!err)
        slab_take(d, unused, count, addr);
    if (!err && unused < d->slab_room)
        d->slab_room = unused;
    return err;
}

enum vs_err vs_limited_take(struct vs_limited_device *d, uint64_t bytes, uint64_t *addr)
{
    if (bytes > END)
        return VS_ERR_DEVICE_OOM;
    if (bytes && bytes < VS_DRIVER_SMALL) {
        enum vs_err err = small_take(d, bytes, addr);
        d->segments += !err;
        return err;
    }
    return segment_alloc(d, bytes, addr);
}

void vs_limited_give(struct vs_limited_device *d, uint64_t addr, uint64_t bytes)
{
    if (!(addr & SLAB_ADDR)) {
        give(d, whole_pages(bytes), bytes);
        return;
    }
    size_t index = (addr & ~SLAB_ADDR) >> 12;
    mark(&d->slabs[index], (unsigned)(addr & 0xfff), (unsigned)((bytes + UNIT - 1) / UNIT), false);
    give(d, d->slabs[index].used ? 0 : VS_DRIVER_PAGE, bytes);
    if (index < d->slab_room)
        d->slab_room = index;
}
