/* SPDX-License-Identifier: Apache-2.0
 *
 * Several readings of requests in one reading of the trace: for each device one of the program's
 * requests and one of a framework's, from the time when the device appears. The first tensor on a device
 * ends the program's. A framework's is given up when the program has allocated for long without it:
 * to keep all that memory in mind as possible segments would be slow. What the trace says before a
 * device appears is in a reading of no device, which those of devices are copies of. */
#include <stdlib.h>
#include <string.h>

#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_arena.h"

#define LEVELS 2 /* enum vs_whatif_requests */
#define NO_DEVICE (UINT64_MAX - 1)
#define WITHOUT_FRAMEWORK_MAX 16384 /* allocations on a device, after which it is expected to have none */

struct watched_device {
    struct vs_requests_reading *levels[LEVELS]; /* NULL: not needed, or given up */
    uint64_t requests;  /* of the program */
    bool framework;     /* it has reported memory */
};

struct vs_whatif_watch {
    struct vs_replay *replay;
    struct vs_requests_reading *base[LEVELS]; /* of no device */
    struct watched_device devices[VS_DEVICES_MAX]; /* by account */
    unsigned device_count;
    uint64_t start_ns, width_ns; /* of the buckets */
    uint64_t edges[VS_WHATIF_BUCKETS];
    size_t edge_count;
};

static struct vs_requests_reading *open_reading(uint64_t device, int level)
{
    struct vs_requests_reading *r = vs_xcalloc(1, sizeof *r);
    struct vs_whatif_log *log = vs_xcalloc(1, sizeof *log);
    vs_request_store_init(&log->store);
    vs_requests_begin(r, log, device, (enum vs_whatif_requests)level);
    return r;
}

static void close_reading(struct vs_requests_reading **at)
{
    struct vs_requests_reading *r = *at;
    *at = NULL;
    if (!r)
        return;
    vs_whatif_close(r->log);
    vs_requests_end(r);
    free(r);
}

/* A copy of the reading of no device for *device*: so far it has facts of the process and steps only. */
static struct vs_requests_reading *copy_base(const struct vs_requests_reading *base, uint64_t device)
{
    struct vs_requests_reading *r = open_reading(device, base->framework);
    struct vs_whatif_log *log = r->log;
    const struct vs_request_store *from = &base->log->store;
    log->recorded = base->log->recorded;
    log->recorded.device = device;
    *r = *base;
    r->log = log;
    r->device = device;
    r->event = base->replay->event;
    r->number = base->replay->events;
    log->store = *from;
    log->store.open = from->open ? vs_pages_map(VS_REQUEST_CHUNK) : NULL;
    if (from->open && !log->store.open)
        vs_out_of_memory();
    if (from->open)
        memcpy(log->store.open, from->open, from->used);
    return r;
}

/* Readings for the devices that have appeared. */
static void look_for_devices(struct vs_whatif_watch *watch)
{
    for (; watch->device_count < watch->replay->account_count; watch->device_count++)
        for (int level = 0; level < LEVELS && !watch->base[level]->log->store.chunks; level++)
            watch->devices[watch->device_count].levels[level] =
                copy_base(watch->base[level], watch->replay->accounts[watch->device_count]->device);
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct vs_whatif_watch *watch = context;
    unsigned account = change->piece ? change->piece->device : change->live->device;
    if (account == VS_HOST_INDEX)
        return;
    look_for_devices(watch);
    struct watched_device *device = &watch->devices[account];
    for (int level = 0; level < LEVELS; level++)
        if (device->levels[level])
            vs_requests_changed(device->levels[level], replay, change);
    bool request = change->live && change->kind == VS_CHANGE_BORN && change->live->level == VS_LEVEL_DEVICE;
    if (request && ++device->requests > WITHOUT_FRAMEWORK_MAX && !device->framework)
        close_reading(&device->levels[VS_WHATIF_FRAMEWORK]);
}

/* Of a device. */
static bool changes_memory(const struct vs_event *event)
{
    return vs_event_has(event, VS_PROPERTY_ALLOCATES | VS_PROPERTY_FREES);
}

static enum vs_err before_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_whatif_watch *watch = context;
    while (watch->edge_count < VS_WHATIF_BUCKETS &&
           event->time_ns >= watch->start_ns + watch->edge_count * watch->width_ns)
        watch->edges[watch->edge_count++] = replay->events + 1;
    for (int level = 0; level < LEVELS && !changes_memory(event); level++)
        (void)!vs_requests_before(watch->base[level], replay, event);
    for (unsigned i = 0; i < watch->device_count; i++)
        for (int level = 0; level < LEVELS; level++)
            if (watch->devices[i].levels[level])
                (void)!vs_requests_before(watch->devices[i].levels[level], replay, event);
    return VS_OK;
}

static enum vs_err after_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_whatif_watch *watch = context;
    look_for_devices(watch);
    for (int level = 0; level < LEVELS && !changes_memory(event); level++)
        (void)!vs_requests_after(watch->base[level], replay, event);
    for (unsigned i = 0; i < watch->device_count; i++)
        for (int level = 0; level < LEVELS; level++)
            if (watch->devices[i].levels[level])
                (void)!vs_requests_after(watch->devices[i].levels[level], replay, event);
    unsigned account = event->kind == VS_EVENT_framework_alloc
                           ? vs_replay_account(replay, event->framework_alloc.device) : VS_ACCOUNT_NONE;
    if (account < watch->device_count && !watch->devices[account].framework) {
        watch->devices[account].framework = true;
        close_reading(&watch->devices[account].levels[VS_WHATIF_PROGRAM]);
    }
    return VS_OK;
}

struct vs_whatif_watch *vs_whatif_watch_open(uint64_t start_ns, uint64_t end_ns)
{
    struct vs_whatif_watch *watch = vs_xcalloc(1, sizeof *watch);
    watch->start_ns = start_ns;
    watch->width_ns = (end_ns > start_ns ? end_ns - start_ns : 0) / VS_WHATIF_BUCKETS + 1;
    for (int level = 0; level < LEVELS; level++)
        watch->base[level] = open_reading(NO_DEVICE, level);
    return watch;
}

void vs_whatif_watch_begin(struct vs_whatif_watch *watch, struct vs_replay *replay)
{
    watch->replay = replay;
    for (int level = 0; level < LEVELS; level++)
        watch->base[level]->replay = replay;
    vs_replay_subscribe(replay, VS_REQUESTS_CHANGES, on_change, watch);
}

struct vs_observer vs_whatif_watch_observer(struct vs_whatif_watch *watch)
{
    uint64_t kinds = ~vs_event_kinds(VS_PROPERTY_ACTIVITY | VS_PROPERTY_CALL);
    return (struct vs_observer){kinds, before_event, after_event, watch};
}

enum vs_err vs_whatif_watch_log(struct vs_whatif_watch *watch, struct vs_reader *reader, uint64_t device,
                                struct vs_whatif_log **out)
{
    unsigned account = vs_replay_account(watch->replay, device);
    if (account >= watch->device_count)
        return VS_ERR_NOT_FOUND;
    struct watched_device *of = &watch->devices[account];
    struct vs_requests_reading *r = of->levels[of->framework ? VS_WHATIF_FRAMEWORK : VS_WHATIF_PROGRAM];
    enum vs_err err = VS_OK;
    if (!r) {
        err = vs_whatif_open(reader, &(struct vs_whatif_query){.device = device}, out);
    } else if (!(err = vs_requests_conclude(r))) {
        *out = r->log;
        r->log = NULL;
    }
    for (; !err && watch->edge_count < VS_WHATIF_BUCKETS; watch->edge_count++)
        watch->edges[watch->edge_count] = UINT64_MAX; /* after the last event */
    if (!err) {
        memcpy((*out)->edges, watch->edges, sizeof watch->edges);
        (*out)->edge_count = VS_WHATIF_BUCKETS;
    }
    return err;
}

void vs_whatif_watch_close(struct vs_whatif_watch *watch)
{
    for (int level = 0; watch && level < LEVELS; level++) {
        close_reading(&watch->base[level]);
        for (unsigned i = 0; i < VS_DEVICES_MAX; i++)
            close_reading(&watch->devices[i].levels[level]);
    }
    free(watch);
}
