/* SPDX-License-Identifier: Apache-2.0
 *
 * The state machine behind every view of a trace; see the header. The invariant
 * after each event: for every device, allocated, requested, block_bytes and the
 * families' live bytes are the sums over the live table, and reserved is
 * segment_bytes, what is live outside segments, and graph_held for graphs. */
#include "analysis/replay.h"

#include <string.h>

#include "analysis/replay_internal.h"
#include "analysis/vec.h"

bool vs_replay_family_is_host(uint64_t family)
{
    return family == VS_FAMILY_PINNED || family == VS_FAMILY_REGISTERED;
}

enum vs_err vs_replay_open(const struct vs_reader *reader, struct vs_replay **out)
{
    struct vs_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return VS_ERR_NOMEM;
    replay->reader = reader;
    replay->accounts[VS_HOST_INDEX] = calloc(1, sizeof(struct vs_account));
    if (!replay->accounts[VS_HOST_INDEX] || vs_phases_init(&replay->phases) != VS_OK) {
        vs_replay_close(replay);
        return VS_ERR_NOMEM;
    }
    *out = replay;
    return VS_OK;
}

void vs_replay_close(struct vs_replay *replay)
{
    if (!replay)
        return;
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++) {
        if (replay->accounts[i])
            vs_device_usage_free(&replay->accounts[i]->usage);
        free(replay->accounts[i]);
    }
    free(replay->lives);
    free(replay->failures);
    vs_map_free(&replay->by_addr);
    vs_map_free(&replay->framework_live);
    vs_segments_free(&replay->segments);
    vs_sites_free(&replay->sites);
    vs_phases_free(&replay->phases);
    free(replay);
}

uint64_t vs_replay_start_ns(const struct vs_replay *replay)
{
    uint64_t start = replay->has_process ? replay->process.process.start_ns : 0;
    return start && start <= replay->first_ns ? start : replay->first_ns;
}

unsigned vs_replay_account(const struct vs_replay *replay, uint64_t device)
{
    for (unsigned i = 0; i < replay->account_count; i++)
        if (replay->accounts[i]->device == device)
            return i;
    return VS_ACCOUNT_NONE;
}

const char *vs_replay_policy(const struct vs_replay *replay)
{
    return replay->has_process ? vs_reader_string(replay->reader, replay->process.process.policy)
                               : "";
}

enum vs_err vs_replay_account_for(struct vs_replay *replay, uint64_t device, unsigned *out)
{
    unsigned index = vs_replay_account(replay, device);
    if (index == VS_ACCOUNT_NONE) {
        if (replay->account_count == VS_DEVICES_MAX) {
            replay->ignored++;
            *out = VS_ACCOUNT_NONE;
            return VS_OK;
        }
        struct vs_account *account = calloc(1, sizeof *account);
        if (!account)
            return VS_ERR_NOMEM;
        account->device = device;
        index = replay->account_count++;
        replay->accounts[index] = account;
    }
    *out = index;
    return VS_OK;
}

static struct vs_peak peak_of(const struct vs_replay *replay, const struct vs_peak *now,
                              uint64_t bytes, struct vs_place place)
{
    return (struct vs_peak){.bytes = bytes, .event = replay->events, .time_ns = now->time_ns,
                            .place = place, .allocated = now->allocated,
                            .requested = now->requested, .reserved = now->reserved};
}

void vs_replay_raise_peaks(struct vs_replay *replay, struct vs_account *account,
                           struct vs_place place, const struct vs_peak *now)
{
    if (now->allocated > account->peak_allocated.bytes)
        account->peak_allocated = peak_of(replay, now, now->allocated, place);
    if (now->requested > account->peak_requested.bytes)
        account->peak_requested = peak_of(replay, now, now->requested, place);
    struct vs_peak *reserved = &account->peak_reserved;
    if (now->reserved > reserved->bytes) {
        account->peak_reserved_first_ns = now->time_ns;
        account->peak_reserved_first_place = place;
        *reserved = peak_of(replay, now, now->reserved, place);
    } else if (now->reserved == reserved->bytes && now->allocated > reserved->allocated) {
        *reserved = peak_of(replay, now, now->reserved, place);
    }
    if (now->allocated > account->step_peak)
        account->step_peak = now->allocated;
}

static void raise_peaks(struct vs_replay *replay, struct vs_account *account,
                        struct vs_place place)
{
    vs_replay_raise_peaks(replay, account, place,
                          &(struct vs_peak){.allocated = account->allocated,
                                            .requested = account->requested,
                                            .reserved = account->reserved,
                                            .time_ns = replay->now_ns});
}

/* What graphs have allocated lies in what the driver holds for them. */
static void settle_graphs(struct vs_account *account)
{
    uint64_t live = account->family[VS_FAMILY_GRAPH].live_bytes;
    uint64_t now = live > account->graph_reserved ? live : account->graph_reserved;
    account->reserved += now - account->graph_held;
    account->graph_held = now;
}

static struct vs_live *find_live(struct vs_replay *replay, uint64_t addr)
{
    const uint64_t *slot = vs_map_get(&replay->by_addr, addr);
    return slot ? &replay->lives[*slot] : NULL;
}

static enum vs_err take_live(struct vs_replay *replay, uint64_t addr, struct vs_live **out)
{
    size_t slot;
    if (replay->live_free) {
        slot = replay->live_free - 1;
    } else {
        if (replay->live_slots >= UINT32_MAX - 1)
            return VS_ERR_LIMIT;
        enum vs_err err = vs_vec_grow(&replay->lives, &replay->live_capacity,
                                      replay->live_slots + 1, sizeof *replay->lives);
        if (err)
            return err;
        slot = replay->live_slots;
    }
    enum vs_err err = vs_map_put(&replay->by_addr, addr, slot);
    if (err)
        return err;
    if (replay->live_free)
        replay->live_free = replay->lives[slot].next_free;
    else
        replay->live_slots++;
    replay->live_count++;
    replay->lives[slot] = (struct vs_live){.addr = addr, .used = true};
    *out = &replay->lives[slot];
    return VS_OK;
}

/* Take *live* out of every sum. *freed*: by the program; else it was lost with
 * its context. */
static enum vs_err drop_live(struct vs_replay *replay, struct vs_live *live, bool freed)
{
    struct vs_account *account = replay->accounts[live->device];
    struct vs_family_account *family = &account->family[live->family];
    struct vs_site *site = &replay->sites.items[live->site];
    family->live_bytes -= live->size;
    family->live_count--;
    site->live_bytes -= live->size;
    site->live_count--;
    if (live->counted) {
        account->allocated -= live->size;
        account->requested -= live->requested;
        if (live->in_segment)
            account->block_bytes -= live->size;
        else if (live->family == VS_FAMILY_GRAPH)
            settle_graphs(account);
        else
            account->reserved -= live->size;
    }
    if (freed) {
        family->frees++;
        site->frees++;
        site->lifetime_ns += replay->now_ns - live->time_ns;
        account->freed_bytes += live->size;
    } else {
        site->lost_bytes += live->size;
        site->lost_count++;
        account->lost_bytes += live->counted ? live->size : 0;
        account->lost_count += live->counted;
    }
    replay->freed_size = live->size;
    replay->changed = live->device;
    enum vs_err err = vs_sites_touch(&replay->sites, live->site);
    vs_map_remove(&replay->by_addr, live->addr, NULL);
    live->used = false;
    live->next_free = replay->live_free;
    replay->live_free = (uint32_t)(live - replay->lives) + 1;
    replay->live_count--;
    return err;
}

/* As much as once failed has been served since: the program got over it. */
static void note_recovery(struct vs_replay *replay, unsigned account, uint64_t requested)
{
    for (size_t i = 0; i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (!failure->recovered && failure->account == account &&
            requested >= failure->requested) {
            failure->recovered = true;
            replay->failures_open--;
        }
    }
}

static enum vs_err fill_live(struct vs_replay *replay, struct vs_live *live,
                             const struct vs_event *event, unsigned index)
{
    unsigned family = (unsigned)event->alloc.family;
    live->requested = event->alloc.requested;
    live->size = event->alloc.size;
    live->time_ns = event->time_ns;
    live->context = event->alloc.context;
    live->epoch = vs_replay_epoch(replay);
    live->family = (uint8_t)family;
    live->device = (uint8_t)index;
    live->counted = family != VS_FAMILY_IPC;
    if (family == VS_FAMILY_DEVICE) {
        const struct vs_segment *segment = vs_segments_find(&replay->segments, live->addr);
        live->in_segment = segment && segment->device == index;
    }
    return vs_sites_get(&replay->sites, event->alloc.stack, event->alloc.api, index, &live->site);
}

static enum vs_err count_live(struct vs_replay *replay, const struct vs_live *live,
                              const struct vs_event *event)
{
    struct vs_account *account = replay->accounts[live->device];
    struct vs_family_account *family = &account->family[live->family];
    family->allocs++;
    family->bytes += live->requested;
    family->live_bytes += live->size;
    family->live_count++;
    if (family->live_bytes > family->peak_bytes)
        family->peak_bytes = family->live_bytes;
    struct vs_site *site = &replay->sites.items[live->site];
    site->api = event->alloc.api;
    site->family = live->family;
    site->allocs++;
    site->bytes += live->requested;
    site->live_bytes += live->size;
    site->live_count++;
    if (live->requested > site->largest)
        site->largest = live->requested;
    if (live->size > site->largest_in_step)
        site->largest_in_step = live->size;
    if (live->counted) {
        account->allocated += live->size;
        account->requested += live->requested;
        if (live->in_segment)
            account->block_bytes += live->size;
        else if (live->family == VS_FAMILY_GRAPH)
            settle_graphs(account);
        else
            account->reserved += live->size;
        if (live->size > account->step_largest)
            account->step_largest = live->size;
        if (live->size > account->largest)
            account->largest = live->size;
    }
    return vs_sites_touch(&replay->sites, live->site);
}

static enum vs_err apply_alloc(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index = VS_HOST_INDEX;
    enum vs_err err = VS_OK;
    if (event->alloc.family >= VS_FAMILY_COUNT || event->alloc.addr == 0)
        return VS_OK; /* a newer writer's family, or nothing that could be freed */
    if (!vs_replay_family_is_host(event->alloc.family))
        err = vs_replay_account_for(replay, event->alloc.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_live *live = find_live(replay, event->alloc.addr);
    if (live) { /* its free is not in the trace, but the address is in use again */
        replay->unmatched_frees++;
        err = drop_live(replay, live, true);
        if (err)
            return err;
    }
    err = take_live(replay, event->alloc.addr, &live);
    if (err)
        return err;
    err = fill_live(replay, live, event, index);
    if (err)
        return err;
    err = count_live(replay, live, event);
    if (err)
        return err;
    struct vs_thread *thread;
    err = vs_phases_thread(&replay->phases, event->tid, &thread);
    if (err)
        return err;
    thread->last_alloc = event->alloc.addr;
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    struct vs_account *account = replay->accounts[index];
    raise_peaks(replay, account, place);
    replay->phases.items[place.phase].allocs++;
    replay->phases.items[place.phase].alloc_bytes += event->alloc.requested;
    replay->changed = index;
    if (replay->failures_open)
        note_recovery(replay, index, event->alloc.requested);
    return vs_phases_level(&replay->phases, place.phase, index, account->allocated);
}

static enum vs_err apply_free(struct vs_replay *replay, const struct vs_event *event)
{
    replay->freed_size = 0;
    struct vs_live *live = event->free.addr ? find_live(replay, event->free.addr) : NULL;
    if (!live) {
        replay->unmatched_frees += event->free.addr != 0;
        return VS_OK;
    }
    struct vs_thread *thread;
    enum vs_err err = vs_phases_thread(&replay->phases, event->tid, &thread);
    if (err)
        return err;
    if (thread->last_alloc == event->free.addr) {
        replay->sites.items[live->site].temporaries++;
        thread->last_alloc = 0;
    }
    return drop_live(replay, live, true);
}

static enum vs_err add_failure(struct vs_replay *replay, const struct vs_failure *failure)
{
    replay->failure_total++;
    if (replay->failure_count == VS_FAILURES_KEPT) {
        replay->failures_open -= !replay->failures[0].recovered;
        memmove(replay->failures, replay->failures + 1,
                (VS_FAILURES_KEPT - 1) * sizeof *replay->failures);
        replay->failure_count--;
    }
    enum vs_err err = vs_vec_grow(&replay->failures, &replay->failure_capacity,
                                  replay->failure_count + 1, sizeof *replay->failures);
    if (err)
        return err;
    replay->failures[replay->failure_count++] = *failure;
    replay->failures_open++;
    return VS_OK;
}

static enum vs_err apply_failure(struct vs_replay *replay, const struct vs_event *event)
{
    bool framework = event->kind == VS_EVENT_framework_oom;
    uint64_t family = framework ? VS_FAMILY_DEVICE : event->alloc_failed.family;
    if (family >= VS_FAMILY_COUNT)
        family = VS_FAMILY_DEVICE;
    unsigned index = VS_HOST_INDEX;
    if (!vs_replay_family_is_host(family)) {
        uint64_t device = framework ? event->framework_oom.device : event->alloc_failed.device;
        enum vs_err err = vs_replay_account_for(replay, device, &index);
        if (err || index == VS_ACCOUNT_NONE)
            return err;
    }
    struct vs_account *account = replay->accounts[index];
    struct vs_failure failure = {
        .event = replay->events, .time_ns = event->time_ns, .tid = event->tid,
        .framework = framework, .account = index, .family = (unsigned)family,
        .allocated = account->allocated, .reserved = account->reserved,
        .step_begun = replay->phases.steps.begun,
        .place = vs_phases_place(&replay->phases, event->tid)};
    if (framework) {
        failure.requested = event->framework_oom.requested;
        failure.stack = event->framework_oom.stack;
        account->framework.ooms++;
        for (size_t i = replay->failure_count; i-- > 0;) { /* the device's own refusal just before */
            const struct vs_failure *before = &replay->failures[i];
            if (before->account != index || before->framework)
                continue;
            failure.device_free = before->device_free;
            failure.device_total = before->device_total;
            break;
        }
    } else {
        failure.requested = event->alloc_failed.requested;
        failure.context = event->alloc_failed.context;
        failure.stream = event->alloc_failed.stream;
        failure.api = event->alloc_failed.api;
        failure.stack = event->alloc_failed.stack;
        failure.error = event->alloc_failed.error;
        failure.device_free = event->alloc_failed.device_free_bytes;
        failure.device_total = event->alloc_failed.device_total_bytes;
        account->family[family].failures++;
    }
    return add_failure(replay, &failure);
}

/* Take what is mapped in [addr, addr + size) out; *whose* is the device of some of it,
 * unchanged when nothing was. */
static enum vs_err unmap(struct vs_replay *replay, uint64_t addr, uint64_t size, unsigned *whose)
{
    for (;;) {
        struct vs_segment taken;
        int change;
        enum vs_err err = vs_segments_unmap(&replay->segments, addr, size, &taken, &change);
        if (err || !taken.size)
            return err;
        *whose = taken.device;
        if (taken.view)
            continue;
        struct vs_account *account = replay->accounts[taken.device];
        account->segment_bytes -= taken.size;
        account->reserved -= taken.size;
        account->segment_count += (uint64_t)(int64_t)change; /* may be one less */
        replay->changed = taken.device;
    }
}

static enum vs_err apply_unmap(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned whose = VS_ACCOUNT_NONE;
    enum vs_err err =
        unmap(replay, event->segment_unmap.addr, event->segment_unmap.size, &whose);
    if (whose != VS_ACCOUNT_NONE)
        replay->accounts[whose]->segment_frees++;
    else
        replay->unmatched_frees++;
    return err;
}

static enum vs_err apply_segment(struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_segment old;
    if (event->kind == VS_EVENT_segment_free) {
        if (!vs_segments_remove(&replay->segments, event->segment_free.addr, &old)) {
            replay->unmatched_frees++;
            return VS_OK;
        }
        if (old.view)
            return VS_OK;
        struct vs_account *account = replay->accounts[old.device];
        account->segment_bytes -= old.size;
        account->reserved -= old.size;
        account->segment_count--;
        account->segment_frees++;
        replay->changed = old.device;
        return VS_OK;
    }
    unsigned index;
    enum vs_err err = vs_replay_account_for(replay, event->segment_alloc.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_segment segment = {.addr = event->segment_alloc.addr,
                                 .size = event->segment_alloc.size,
                                 .context = event->segment_alloc.context,
                                 .stream = event->segment_alloc.stream,
                                 .pool = event->segment_alloc.pool,
                                 .device = index};
    if (segment.size == 0)
        return VS_OK; /* nothing, and it would not be told from "none replaced" */
    unsigned whose = VS_ACCOUNT_NONE;
    err = unmap(replay, segment.addr, segment.size, &whose);
    if (!err)
        err = vs_segments_add(&replay->segments, &segment, &old);
    if (err)
        return err;
    replay->unmatched_frees += whose != VS_ACCOUNT_NONE;
    if (old.size && !old.view) {
        replay->accounts[old.device]->segment_bytes -= old.size;
        replay->accounts[old.device]->reserved -= old.size;
        replay->accounts[old.device]->segment_count--;
        replay->unmatched_frees++;
    }
    struct vs_account *account = replay->accounts[index];
    account->segment_bytes += segment.size;
    account->reserved += segment.size;
    account->segment_count++;
    account->segment_allocs++;
    replay->changed = index;
    raise_peaks(replay, account, vs_phases_place(&replay->phases, event->tid));
    return VS_OK;
}

static enum vs_err apply_map(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index, joined;
    enum vs_err err = vs_replay_account_for(replay, event->segment_map.device, &index);
    if (err || index == VS_ACCOUNT_NONE || !event->segment_map.size)
        return err;
    struct vs_segment segment = {.addr = event->segment_map.addr,
                                 .size = event->segment_map.size,
                                 .context = event->segment_map.context,
                                 .stream = event->segment_map.stream,
                                 .pool = event->segment_map.pool,
                                 .device = index,
                                 .mapped = true,
                                 .view = !event->segment_map.reserved};
    err = vs_segments_map(&replay->segments, &segment, &joined);
    if (err == VS_ERR_ARG) {
        replay->unmatched_frees++; /* of what lies there already */
        return VS_OK;
    }
    if (err || segment.view)
        return err;
    struct vs_account *account = replay->accounts[index];
    account->segment_bytes += segment.size;
    account->reserved += segment.size;
    account->segment_count += UINT64_C(1) - joined; /* may be one less */
    account->segment_allocs++;
    replay->changed = index;
    raise_peaks(replay, account, vs_phases_place(&replay->phases, event->tid));
    return VS_OK;
}

static enum vs_err apply_framework(struct vs_replay *replay, const struct vs_event *event)
{
    bool alloc = event->kind == VS_EVENT_framework_alloc;
    uint64_t addr = alloc ? event->framework_alloc.addr : event->framework_free.addr;
    unsigned index;
    enum vs_err err = vs_replay_account_for(
        replay, alloc ? event->framework_alloc.device : event->framework_free.device, &index);
    if (err || index == VS_ACCOUNT_NONE || addr == 0)
        return err;
    struct vs_framework_account *level = &replay->accounts[index]->framework;
    uint64_t old = 0;
    if (vs_map_remove(&replay->framework_live, addr, &old))
        level->allocated -= old < level->allocated ? old : level->allocated;
    if (!alloc) {
        level->frees++;
        return VS_OK;
    }
    level->allocs++;
    level->allocated += event->framework_alloc.size;
    if (level->allocated > level->peak_allocated)
        level->peak_allocated = level->allocated;
    if (event->framework_alloc.total_reserved > level->peak_reserved)
        level->peak_reserved = event->framework_alloc.total_reserved;
    return vs_map_put(&replay->framework_live, addr, event->framework_alloc.size);
}

/* A context that goes away takes its memory with it; that of pools is the device's. */
static enum vs_err lose_context(struct vs_replay *replay, const struct vs_event *event)
{
    uint64_t context = event->context.context;
    unsigned device = vs_replay_account(replay, event->context.device);
    for (size_t i = 0; i < replay->live_slots; i++) {
        struct vs_live *live = &replay->lives[i];
        if (!live->used || live->context != context || live->device != device ||
            live->family == VS_FAMILY_ASYNC)
            continue;
        enum vs_err err = drop_live(replay, live, false);
        if (err)
            return err;
    }
    for (size_t i = replay->segments.count; i-- > 0;) {
        struct vs_segment segment = replay->segments.items[i];
        if (segment.context != context || segment.device != device)
            continue;
        vs_segments_remove(&replay->segments, segment.addr, &segment);
        if (segment.view)
            continue;
        struct vs_account *account = replay->accounts[segment.device];
        account->segment_bytes -= segment.size;
        account->reserved -= segment.size;
        account->segment_count--;
        replay->changed = segment.device;
    }
    return VS_OK;
}

static enum vs_err apply_context(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index;
    if (event->context.context == 0)
        return VS_OK;
    enum vs_err err = vs_replay_account_for(replay, event->context.device, &index);
    if (!err && index != VS_ACCOUNT_NONE)
        err = vs_device_usage_context(&replay->accounts[index]->usage, event);
    return err || event->context.alive ? err : lose_context(replay, event);
}

static enum vs_err apply_usage(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index;
    bool row = event->kind == VS_EVENT_device_usage;
    enum vs_err err = vs_replay_account_for(
        replay, row ? event->device_usage.device : event->overhead.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_device_usage *usage = &replay->accounts[index]->usage;
    if (!row)
        return vs_device_usage_overhead(usage, event);
    vs_device_usage_row(usage, event);
    return VS_OK;
}

static enum vs_err apply_device(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index;
    enum vs_err err = vs_replay_account_for(replay, event->device.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_account *account = replay->accounts[index];
    account->described = true;
    account->name = event->device.name;
    account->uuid = event->device.uuid;
    account->total_bytes = event->device.total_bytes;
    account->sm_count = event->device.sm_count;
    account->cc_major = event->device.cc_major;
    account->cc_minor = event->device.cc_minor;
    account->simulated = event->device.simulated;
    account->driver_version = event->device.driver_version;
    return VS_OK;
}

static enum vs_err apply_sample(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index;
    enum vs_err err = vs_replay_account_for(replay, event->device_sample.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_account *account = replay->accounts[index];
    uint64_t free_bytes = event->device_sample.free_bytes;
    uint64_t total = event->device_sample.total_bytes;
    account->sample_free = free_bytes;
    account->sample_total = total;
    if (!total || free_bytes > total)
        return VS_OK;
    account->last_used = (struct vs_sample_mark){
        total - free_bytes, free_bytes, total, replay->events, replay->now_ns,
        vs_phases_place(&replay->phases, event->tid)};
    if (!account->peak_used.event || account->last_used.used > account->peak_used.used)
        account->peak_used = account->last_used;
    return VS_OK;
}

static enum vs_err apply_graph_memory(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index;
    enum vs_err err = vs_replay_account_for(replay, event->graph_memory.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_account *account = replay->accounts[index];
    account->graph_reserved = event->graph_memory.reserved;
    if (event->graph_memory.reserved_high > account->graph_reserved_peak)
        account->graph_reserved_peak = event->graph_memory.reserved_high;
    if (event->graph_memory.used_high > account->graph_used_peak)
        account->graph_used_peak = event->graph_memory.used_high;
    settle_graphs(account);
    replay->changed = index;
    raise_peaks(replay, account, vs_phases_place(&replay->phases, event->tid));
    return VS_OK;
}

static void end_step(struct vs_replay *replay)
{
    const struct vs_steps *steps = &replay->phases.steps;
    replay->step_ended = true;
    vs_sites_step_end(&replay->sites, steps->done, steps->number);
    for (unsigned i = 0; i < replay->account_count; i++) {
        struct vs_account *account = replay->accounts[i];
        vs_growth_update(&account->growth, account->allocated, steps->done, steps->number,
                         steps->done == 1);
        if (account->step_peak > account->steps_peak)
            account->steps_peak = account->step_peak;
        if (account->step_largest > account->steps_largest)
            account->steps_largest = account->step_largest;
        account->step_peak = account->allocated;
        account->step_largest = 0;
    }
    for (size_t i = 0; replay->failures_open && i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (!failure->recovered && steps->begun > failure->step_begun) {
            failure->recovered = true;
            replay->failures_open--;
        }
    }
}

static enum vs_err apply_range(struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_phases *phases = &replay->phases;
    bool ended = false, before_steps = phases->steps.begun == 0;
    enum vs_err err = VS_OK;
    if (event->kind == VS_EVENT_range_push) {
        struct vs_place place;
        err = vs_phases_push(phases, event->tid,
                             vs_reader_string(replay->reader, event->range_push.name),
                             event->range_push.domain, event->time_ns, &place);
        for (unsigned i = 0; !err && i < replay->account_count; i++)
            err = vs_phases_level(phases, place.phase, i, replay->accounts[i]->allocated);
    } else if (event->kind == VS_EVENT_range_pop) {
        err = vs_phases_pop(phases, event->tid, event->range_pop.domain, event->time_ns, &ended);
    } else if (event->kind == VS_EVENT_range_start) {
        err = vs_phases_start(phases, event->range_start.range, event->tid,
                              vs_reader_string(replay->reader, event->range_start.name),
                              event->time_ns);
    } else {
        vs_phases_end(phases, event->range_end.range, event->time_ns, &ended);
    }
    if (before_steps && phases->steps.begun) /* the level that growth is measured from */
        vs_sites_step_end(&replay->sites, 0, 0);
    if (!err && ended)
        end_step(replay);
    return err;
}

enum vs_err vs_replay_event(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->unsettled && event->kind != VS_EVENT_unrecorded)
        vs_replay_settle(replay);
    if (replay->events++ == 0)
        replay->first_ns = event->time_ns;
    if (event->time_ns > replay->now_ns)
        replay->now_ns = event->time_ns;
    replay->changed = VS_ACCOUNT_NONE;
    replay->step_ended = false;
    switch (event->kind) {
    case VS_EVENT_process:
        if (!replay->has_process) {
            replay->process = *event;
            replay->has_process = true;
            replay->phases.main_tid = (uint32_t)event->process.pid;
        }
        return VS_OK;
    case VS_EVENT_unrecorded: return vs_unrecorded_event(replay, event);
    case VS_EVENT_recording_changed:
        vs_recording_event(&replay->recording, event);
        return VS_OK;
    case VS_EVENT_device: return apply_device(replay, event);
    case VS_EVENT_context: return apply_context(replay, event);
    case VS_EVENT_alloc: return apply_alloc(replay, event);
    case VS_EVENT_free: return apply_free(replay, event);
    case VS_EVENT_alloc_failed:
    case VS_EVENT_framework_oom: return apply_failure(replay, event);
    case VS_EVENT_segment_alloc:
    case VS_EVENT_segment_free: return apply_segment(replay, event);
    case VS_EVENT_segment_map: return apply_map(replay, event);
    case VS_EVENT_segment_unmap: return apply_unmap(replay, event);
    case VS_EVENT_framework_alloc:
    case VS_EVENT_framework_free: return apply_framework(replay, event);
    case VS_EVENT_device_sample: return apply_sample(replay, event);
    case VS_EVENT_device_usage:
    case VS_EVENT_overhead: return apply_usage(replay, event);
    case VS_EVENT_graph_memory: return apply_graph_memory(replay, event);
    case VS_EVENT_range_push:
    case VS_EVENT_range_pop:
    case VS_EVENT_range_start:
    case VS_EVENT_range_end: return apply_range(replay, event);
    case VS_EVENT_end:
        replay->end = *event;
        replay->has_end = true;
        return VS_OK;
    default: return VS_OK;
    }
}

void vs_replay_finish(struct vs_replay *replay)
{
    vs_replay_settle(replay);
    vs_phases_finish(&replay->phases, replay->now_ns);
}
