/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. An event is the time at which its work is done. */
#include "analysis/state/address_device.h"

#define FIRST (UINT64_C(1) << 32)
#define END (UINT64_C(1) << 56)

void vs_address_device_init(struct vs_address_device *d, uint64_t total, uint64_t lag)
{
    *d = (struct vs_address_device){.total = total, .lag = lag, .next = FIRST};
}

/* Leaves a free page after each range, so that none are adjacent. */
static enum vs_err addresses(struct vs_address_device *d, uint64_t bytes, uint64_t *addr)
{
    if (bytes > END || d->next > END - bytes)
        return VS_ERR_DEVICE_OOM;
    *addr = d->next;
    d->next += (bytes + 2 * VS_PAGE_BYTES - 1) & ~(VS_PAGE_BYTES - 1);
    return VS_OK;
}

static enum vs_err segment_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    return addresses(ctx, bytes, addr);
}

/* For segments, ranges and mappings; mappings are not tracked here. */
static enum vs_err give_back(void *ctx, uint64_t addr, uint64_t bytes)
{
    (void)ctx;
    (void)addr;
    (void)bytes;
    return VS_OK;
}

static enum vs_err synchronize(void *ctx)
{
    (void)ctx;
    return VS_OK;
}

static enum vs_err event_record(void *ctx, uint64_t stream, uint64_t *event)
{
    const struct vs_address_device *d = ctx;
    (void)stream;
    *event = d->now + d->lag;
    return VS_OK;
}

static enum vs_err event_query(void *ctx, uint64_t event, bool *ready)
{
    const struct vs_address_device *d = ctx;
    *ready = d->now >= event;
    return VS_OK;
}

static enum vs_err event_synchronize(void *ctx, uint64_t event)
{
    (void)ctx;
    (void)event;
    return VS_OK;
}

static void event_release(void *ctx, uint64_t event)
{
    (void)ctx;
    (void)event;
}

static enum vs_err memory_info(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes)
{
    const struct vs_address_device *d = ctx;
    *free_bytes = *total_bytes = d->total;
    return VS_OK;
}

static enum vs_err range_reserve(void *ctx, uint64_t bytes, uint64_t *addr)
{
    return addresses(ctx, bytes, addr);
}

static enum vs_err memory_create(void *ctx, uint64_t bytes, uint64_t *handle)
{
    struct vs_address_device *d = ctx;
    (void)bytes;
    *handle = ++d->next_handle;
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

static enum vs_err of_a_stream(void *ctx, uint64_t stream)
{
    (void)ctx;
    (void)stream;
    return VS_OK;
}

const struct vs_device_ops vs_address_device_ops = {
    .segment_alloc = segment_alloc,
    .segment_free = give_back,
    .synchronize = synchronize,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_release = event_release,
    .memory_info = memory_info,
    .range_reserve = range_reserve,
    .range_release = give_back,
    .memory_create = memory_create,
    .memory_release = give_back,
    .memory_map = memory_map,
    .memory_unmap = give_back,
    .stream_synchronize = of_a_stream,
};
