/* SPDX-License-Identifier: Apache-2.0
 *
 * Several readings of requests in one reading of the trace: for each device one of the program's
 * requests and one of a framework's, from the time when the device appears. The first tensor on a device
 * ends the program's. A framework's is given up when the program has allocated for long without it:
 * to keep all that memory in mind as possible segments would be slow. */
#include <stdlib.h>
#include <string.h>

#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"

#define LEVELS 2 /* enum vs_whatif_requests */
#define WITHOUT_FRAMEWORK_MAX 16384 /* allocations on a device, after which it is expected to have none */

struct watched_device {
    struct vs_requests_reading *levels[LEVELS]; /* NULL: not needed, or given up */
    uint64_t births;     /* blocks of the driver so far */
    uint64_t live, peak; /* of the program's requests */
    uint64_t framework_peak;       /* as it counted */
    bool framework;                /* it has reported memory */
};

struct vs_whatif_watch {
    struct vs_replay *replay;
    struct vs_requests_process process;
    struct watched_device devices[VS_DEVICES_MAX]; /* by account */
    unsigned device_count;
    bool patient; /* nothing is given up */
    uint64_t start_ns, width_ns; /* of the buckets */
    uint64_t edges[VS_WHATIF_BUCKETS];
    size_t edge_count;
};

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

/* Readings for the devices that have appeared. */
static void look_for_devices(struct vs_whatif_watch *watch)
{
    for (; watch->device_count < watch->replay->account_count; watch->device_count++)
        for (int level = 0; level < LEVELS; level++) {
            struct vs_requests_reading *r = vs_xcalloc(1, sizeof *r);
            struct vs_whatif_log *log = vs_xcalloc(1, sizeof *log);
            vs_request_store_init(&log->store);
            vs_requests_begin(r, log, watch->replay, &watch->process,
                              watch->replay->accounts[watch->device_count]->device, (enum vs_whatif_requests)level);
            watch->devices[watch->device_count].levels[level] = r;
        }
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
        if (device->levels[level] && !device->levels[level]->stopped)
            vs_requests_changed(device->levels[level], replay, change);
    const struct vs_live *live = change->live;
    if (!live || live->level != VS_LEVEL_DEVICE)
        return;
    device->births += change->kind == VS_CHANGE_BORN;
    if (live->family == VS_FAMILY_DEVICE)
        device->live += change->kind == VS_CHANGE_BORN ? live->size : -live->size;
    device->peak = device->live > device->peak ? device->live : device->peak;
    if (device->births > WITHOUT_FRAMEWORK_MAX && !device->framework && !watch->patient)
        close_reading(&device->levels[VS_WHATIF_FRAMEWORK]);
}

static enum vs_err before_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_whatif_watch *watch = context;
    while (watch->edge_count < VS_WHATIF_BUCKETS &&
           event->time_ns >= watch->start_ns + watch->edge_count * watch->width_ns)
        watch->edges[watch->edge_count++] = replay->events + 1;
    for (unsigned i = 0; i < watch->device_count; i++)
        for (int level = 0; level < LEVELS; level++) {
            struct vs_requests_reading *r = watch->devices[i].levels[level];
            if (r && !r->stopped)
                (void)!vs_requests_before(r, replay, event);
        }
    return VS_OK;
}

static void learn(struct vs_requests_process *process, const struct vs_replay *replay, const struct vs_event *event)
{
    process->steps += replay->step_ended;
    if (event->kind == VS_EVENT_process) {
        process->exe = event->process.exe;
        process->policy = vs_policy_of_trace(vs_reader_string(replay->reader, event->process.policy));
    }
    if (event->kind != VS_EVENT_option)
        return;
    const char *name = vs_reader_string(replay->reader, event->option.name);
    const char *value = vs_reader_string(replay->reader, event->option.value);
    if (strcmp(name, "limit") == 0)
        strncpy(process->limit, value, sizeof process->limit - 1);
    else if (strcmp(name, "source") == 0)
        process->segments_only = strcmp(value, "torch-snapshot") == 0;
    for (int level = 0; level < LEVELS && *value; level++)
        if (strcmp(name, level == VS_WHATIF_FRAMEWORK ? "PYTORCH_ALLOC_CONF" : "alloc_conf") == 0)
            strncpy(process->conf[level], value, sizeof process->conf[level] - 1);
}

static enum vs_err after_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_whatif_watch *watch = context;
    uint64_t until = watch->process.until_event;
    bool all_stopped = until && replay->events >= until;
    look_for_devices(watch);
    learn(&watch->process, replay, event);
    for (unsigned i = 0; i < watch->device_count; i++)
        for (int level = 0; level < LEVELS; level++) {
            struct vs_requests_reading *r = watch->devices[i].levels[level];
            if (r && !r->stopped)
                (void)!vs_requests_after(r, replay, event);
            all_stopped &= !r || r->stopped;
        }
    unsigned account = event->kind == VS_EVENT_framework_alloc
                           ? vs_replay_account(replay, event->framework_alloc.device) : VS_ACCOUNT_NONE;
    if (account < watch->device_count) {
        struct watched_device *device = &watch->devices[account];
        uint64_t total = event->framework_alloc.total_allocated;
        device->framework_peak = total > device->framework_peak ? total : device->framework_peak;
        device->framework = true;
        close_reading(&device->levels[VS_WHATIF_PROGRAM]);
    }
    return all_stopped ? VS_ERR_END : VS_OK;
}

struct vs_whatif_watch *vs_whatif_watch_open(uint64_t start_ns, uint64_t end_ns)
{
    struct vs_whatif_watch *watch = vs_xcalloc(1, sizeof *watch);
    watch->start_ns = start_ns;
    watch->width_ns = (end_ns > start_ns ? end_ns - start_ns : 0) / VS_WHATIF_BUCKETS + 1;
    return watch;
}

void vs_whatif_watch_begin(struct vs_whatif_watch *watch, struct vs_replay *replay)
{
    watch->replay = replay;
    vs_replay_subscribe(replay, VS_REQUESTS_CHANGES, on_change, watch);
}

struct vs_observer vs_whatif_watch_observer(struct vs_whatif_watch *watch)
{
    uint64_t kinds = ~vs_event_kinds(VS_PROPERTY_ACTIVITY | VS_PROPERTY_CALL);
    return (struct vs_observer){kinds, before_event, after_event, watch};
}

/* The account of *device*, or the one with most memory in use, whose framework counts where it has one. */
static unsigned choose_device(const struct vs_whatif_watch *watch, uint64_t device)
{
    unsigned chosen = VS_ACCOUNT_NONE;
    uint64_t most = 0;
    for (unsigned i = 0; i < watch->device_count; i++) {
        const struct watched_device *d = &watch->devices[i];
        uint64_t number = watch->replay->accounts[i]->device;
        uint64_t peak = d->framework_peak > d->peak ? d->framework_peak : d->peak;
        const struct vs_requests_reading *program = d->levels[VS_WHATIF_PROGRAM];
        bool any = d->peak || d->framework || (program && program->log->recorded.failures);
        bool better = chosen == VS_ACCOUNT_NONE || peak > most ||
                      (peak == most && number < watch->replay->accounts[chosen]->device);
        if (!any || !better || (device != VS_WHATIF_DEVICE_ANY && device != number))
            continue;
        most = peak;
        chosen = i;
    }
    return chosen;
}

/* VS_ERR_STATE: the reading was given up. */
static enum vs_err take_log(struct vs_whatif_watch *watch, uint64_t device, struct vs_whatif_log **out)
{
    unsigned account = choose_device(watch, device);
    if (account == VS_ACCOUNT_NONE)
        return VS_ERR_NOT_FOUND;
    struct watched_device *of = &watch->devices[account];
    struct vs_requests_reading *r = of->levels[of->framework ? VS_WHATIF_FRAMEWORK : VS_WHATIF_PROGRAM];
    enum vs_err err = r ? vs_requests_conclude(r) : VS_ERR_STATE;
    if (!err) {
        *out = r->log;
        r->log = NULL;
    }
    return err;
}

enum vs_err vs_whatif_watch_log(struct vs_whatif_watch *watch, struct vs_reader *reader, uint64_t device,
                                struct vs_whatif_log **out)
{
    enum vs_err err = take_log(watch, device, out);
    if (err == VS_ERR_STATE)
        err = vs_whatif_open(reader, &(struct vs_whatif_query){.device = device}, out);
    for (; !err && watch->edge_count < VS_WHATIF_BUCKETS; watch->edge_count++)
        watch->edges[watch->edge_count] = UINT64_MAX; /* after the last event */
    if (!err) {
        memcpy((*out)->edges, watch->edges, sizeof watch->edges);
        (*out)->edge_count = VS_WHATIF_BUCKETS;
    }
    return err;
}

enum vs_err vs_whatif_open(struct vs_reader *reader, const struct vs_whatif_query *query, struct vs_whatif_log **out)
{
    enum vs_err err = VS_ERR_STATE;
    for (int pass = 0; pass < 2 && err == VS_ERR_STATE; pass++) {
        struct vs_whatif_watch *watch = vs_whatif_watch_open(0, 0);
        struct vs_replay *replay = vs_replay_open(reader);
        const struct vs_observer observer = {VS_KINDS_EVERY, before_event, after_event, watch};
        watch->process.until_event = query->until_event;
        watch->patient = pass > 0;
        vs_whatif_watch_begin(watch, replay);
        vs_reader_rewind(reader);
        err = vs_reading_run(reader, replay, NULL, &observer, 1);
        if (!err)
            err = take_log(watch, query->device, out);
        vs_replay_close(replay);
        vs_whatif_watch_close(watch);
    }
    return err;
}

void vs_whatif_watch_close(struct vs_whatif_watch *watch)
{
    for (unsigned i = 0; watch && i < watch->device_count; i++)
        for (int level = 0; level < LEVELS; level++)
            close_reading(&watch->devices[i].levels[level]);
    free(watch);
}
