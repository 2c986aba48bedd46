/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. An event handle is (stream + 1) << 32 | sequence number. */
#include "support/fake_device.h"

#include <string.h>

#define ALIGNMENT (UINT64_C(2) << 20)

static struct fake_device *locked(void *ctx)
{
    struct fake_device *d = ctx;
    pthread_mutex_lock(&d->mu);
    return d;
}

static void unlock(struct fake_device **d)
{
    pthread_mutex_unlock(&(*d)->mu);
}

/* The device, locked until the function returns. */
#define LOCKED(d, ctx) struct fake_device *d __attribute__((cleanup(unlock))) = locked(ctx)

void fake_device_init(struct fake_device *d, uint64_t capacity)
{
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->mu, NULL);
    d->capacity = capacity;
}

void fake_device_free(struct fake_device *d)
{
    fake_memory_free_all(&d->memory);
    pthread_mutex_destroy(&d->mu);
}

void fake_device_fail_after(struct fake_device *device, uint64_t count)
{
    LOCKED(d, device);
    d->allocs_before = d->allocs + count;
    d->frees_before = d->frees + count;
    d->creates_before = d->creates + count;
    d->unmaps_before = d->unmaps + count;
}

void fake_device_complete(struct fake_device *device, uint64_t stream, uint64_t count)
{
    LOCKED(d, device);
    if (count > d->completed[stream])
        d->completed[stream] = count;
}

static enum vs_err segment_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    LOCKED(d, ctx);
    d->allocs++;
    if (d->fail_alloc && d->allocs > d->allocs_before)
        return d->fail_alloc;
    if (d->used + bytes > d->capacity || d->segment_count == FAKE_SEGMENTS_MAX)
        return VS_ERR_DEVICE_OOM;
    uint64_t at = FAKE_BASE;
    size_t i = 0;
    while (i < d->segment_count && d->segments[i].addr - at < bytes) {
        at = (d->segments[i].addr + d->segments[i].size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
        i++;
    }
    memmove(&d->segments[i + 1], &d->segments[i], (d->segment_count - i) * sizeof *d->segments);
    d->segments[i].addr = at;
    d->segments[i].size = bytes;
    d->segment_count++;
    d->used += bytes;
    *addr = at;
    return VS_OK;
}

static enum vs_err segment_free(void *ctx, uint64_t addr, size_t bytes)
{
    LOCKED(d, ctx);
    d->frees++;
    if (d->fail_free && d->frees > d->frees_before)
        return d->fail_free;
    for (size_t i = 0; i < d->segment_count; i++) {
        if (d->segments[i].addr != addr || d->segments[i].size != bytes)
            continue;
        d->segment_count--;
        memmove(&d->segments[i], &d->segments[i + 1],
                (d->segment_count - i) * sizeof *d->segments);
        d->used -= bytes;
        return VS_OK;
    }
    return VS_ERR_FOREIGN;
}

static enum vs_err synchronize(void *ctx)
{
    struct fake_device *d = locked(ctx);
    d->syncs++;
    enum vs_err err = d->fail_sync;
    void (*hook)(void *arg) = d->on_sync;
    void *arg = d->on_sync_arg;
    unlock(&d);
    if (hook)
        hook(arg);
    return err;
}

static enum vs_err event_record(void *ctx, uint64_t stream, uint64_t *event)
{
    LOCKED(d, ctx);
    if (d->fail_record && (!d->fail_record_stream || d->fail_record_stream == stream))
        return d->fail_record;
    *event = (stream + 1) << 32 | ++d->recorded[stream];
    d->events_held++;
    return VS_OK;
}

static enum vs_err event_query(void *ctx, uint64_t event, bool *ready)
{
    LOCKED(d, ctx);
    if (!d->fail_query)
        *ready = (event & 0xffffffff) <= d->completed[(event >> 32) - 1];
    return d->fail_query;
}

static enum vs_err event_synchronize(void *ctx, uint64_t event)
{
    LOCKED(d, ctx);
    d->event_waits++;
    uint64_t stream = (event >> 32) - 1;
    if ((event & 0xffffffff) > d->completed[stream])
        d->completed[stream] = event & 0xffffffff;
    return VS_OK;
}

static void event_release(void *ctx, uint64_t event)
{
    LOCKED(d, ctx);
    (void)event;
    d->events_held--;
}

static enum vs_err memory_info(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes)
{
    LOCKED(d, ctx);
    *free_bytes = d->capacity - d->used;
    *total_bytes = d->capacity;
    return VS_OK;
}

static enum vs_err range_reserve(void *ctx, uint64_t bytes, uint64_t *addr)
{
    LOCKED(d, ctx);
    return fake_memory_reserve(&d->memory, bytes, addr);
}

static enum vs_err range_release(void *ctx, uint64_t addr, uint64_t bytes)
{
    LOCKED(d, ctx);
    return fake_memory_unreserve(&d->memory, addr, bytes);
}

static enum vs_err memory_create(void *ctx, uint64_t bytes, uint64_t *handle)
{
    LOCKED(d, ctx);
    d->creates++;
    if (d->fail_create && d->creates > d->creates_before)
        return d->fail_create;
    if (d->used + bytes > d->capacity)
        return VS_ERR_DEVICE_OOM;
    enum vs_err err = fake_memory_create(&d->memory, bytes, handle);
    if (!err)
        d->used += bytes;
    return err;
}

static enum vs_err memory_release(void *ctx, uint64_t handle, uint64_t bytes)
{
    LOCKED(d, ctx);
    uint64_t returned = 0;
    enum vs_err err = fake_memory_release(&d->memory, handle, bytes, &returned);
    d->used -= returned;
    return err;
}

static enum vs_err memory_map(void *ctx, uint64_t addr, uint64_t bytes_each,
                              const uint64_t *handles, size_t count)
{
    LOCKED(d, ctx);
    d->maps++;
    d->pages_mapped += bytes_each * count / ALIGNMENT;
    return d->fail_map ? d->fail_map
                       : fake_memory_map(&d->memory, addr, bytes_each, handles, count);
}

static enum vs_err memory_unmap(void *ctx, uint64_t addr, uint64_t bytes)
{
    LOCKED(d, ctx);
    uint64_t returned = 0;
    d->unmaps++;
    if (d->fail_unmap && d->unmaps > d->unmaps_before)
        return d->fail_unmap;
    enum vs_err err = fake_memory_unmap(&d->memory, addr, bytes, &returned);
    d->used -= returned;
    return err;
}

static enum vs_err stream_synchronize(void *ctx, uint64_t stream)
{
    LOCKED(d, ctx);
    d->stream_syncs++;
    d->completed[stream] = d->recorded[stream];
    return VS_OK;
}

const struct vs_device_ops fake_device_ops = {
    .segment_alloc = segment_alloc,
    .segment_free = segment_free,
    .synchronize = synchronize,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_release = event_release,
    .memory_info = memory_info,
    .range_reserve = range_reserve,
    .range_release = range_release,
    .memory_create = memory_create,
    .memory_release = memory_release,
    .memory_map = memory_map,
    .memory_unmap = memory_unmap,
    .stream_synchronize = stream_synchronize,
};
