/* SPDX-License-Identifier: Apache-2.0
 *
 * The live table for memory that the driver handed out directly, and per-device
 * counters. The table and the event go together under one lock, so that the
 * trace's order of frees and allocations of one address is the true one. */
#include "intercept/track/tracker.h"

#include <stdatomic.h>

#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/cupti/inject_replay.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"
#include "intercept/track/live_entries.h"
#include "intercept/track/usage.h"
#include "trace/record/selection.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "tracker");

/* Written with the order of the trace held (vs_recorder_acquire), so that a figure and
 * its peak are those of the events at that point; read at any time. */
struct counters {
    _Atomic uint64_t allocated, requested, reserved;
    _Atomic uint64_t allocated_peak, requested_peak, reserved_peak;
    _Atomic uint64_t allocations, frees, failures;
};
static struct counters counters[VS_DEVICES_MAX];

static inline uint64_t get(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* One writer at a time: no locked instruction is needed. A negative difference wraps
 * around to the subtraction it means. */
static inline uint64_t change(_Atomic uint64_t *figure, uint64_t difference)
{
    uint64_t now = get(figure) + difference;
    atomic_store_explicit(figure, now, memory_order_relaxed);
    return now;
}

static inline void raise(_Atomic uint64_t *figure, _Atomic uint64_t *peak, uint64_t bytes)
{
    uint64_t now = change(figure, bytes);
    if (now > get(peak))
        atomic_store_explicit(peak, now, memory_order_relaxed);
}

/* inline: see vs_recorder_acquire */
inline void vs_track_count_alloc_locked(uint32_t device, uint64_t size, uint64_t requested)
{
    if (device >= VS_DEVICES_MAX)
        return;
    struct counters *c = &counters[device];
    raise(&c->allocated, &c->allocated_peak, size);
    raise(&c->requested, &c->requested_peak, requested);
    change(&c->allocations, 1);
}

inline void vs_track_count_free_locked(uint32_t device, uint64_t size, uint64_t requested)
{
    if (device >= VS_DEVICES_MAX)
        return;
    struct counters *c = &counters[device];
    change(&c->allocated, 0 - size);
    change(&c->requested, 0 - requested);
    change(&c->frees, 1);
}

void vs_track_count_reserve_locked(uint32_t device, int64_t bytes)
{
    if (device >= VS_DEVICES_MAX)
        return;
    struct counters *c = &counters[device];
    if (bytes > 0) {
        raise(&c->reserved, &c->reserved_peak, (uint64_t)bytes);
        vs_usage_reserved(device, get(&c->reserved));
    } else {
        change(&c->reserved, (uint64_t)bytes);
    }
}

/* Memory of graphs: what is allocated, what the driver holds for them, and how much of
 * the device's reserved bytes they are. Written with the order of the trace held. */
static struct {
    uint64_t allocated, held, counted;
} graphs[VS_DEVICES_MAX];

static void count_graphs_locked(uint32_t device)
{
    uint64_t allocated = graphs[device].allocated, held = graphs[device].held;
    uint64_t now = allocated > held ? allocated : held;
    vs_track_count_reserve_locked(device, (int64_t)(now - graphs[device].counted));
    graphs[device].counted = now;
}

void vs_track_graph_reserved(uint32_t device, uint64_t bytes, struct vs_event *event)
{
    struct vs_recorder *recorder = vs_process_recorder();
    if (device >= VS_DEVICES_MAX)
        return;
    vs_recorder_acquire(recorder);
    graphs[device].held = bytes;
    int64_t reserved = 0 - (int64_t)graphs[device].counted;
    count_graphs_locked(device);
    reserved += (int64_t)graphs[device].counted;
    struct vs_recorded change = {.level = VS_LEVEL_SEGMENT,
                               .family = VS_FAMILY_GRAPH,
                               .device = device,
                               .alloc = reserved >= 0,
                               .size = (uint64_t)(reserved < 0 ? -reserved : reserved),
                               .reserved = reserved};
    if (vs_selection_keeps_locked(recorder, &change, event))
        vs_recorder_event_locked(recorder, event);
    vs_recorder_release(recorder);
}

static void count_graph_locked(const struct vs_tracked *live, bool alloc)
{
    if (live->device >= VS_DEVICES_MAX)
        return;
    graphs[live->device].allocated += alloc ? live->size : 0 - live->size;
    count_graphs_locked(live->device);
    if (alloc)
        vs_track_count_alloc_locked(live->device, live->size, live->requested);
    else
        vs_track_count_free_locked(live->device, live->size, live->requested);
}

static void count_locked(const struct vs_tracked *live, bool alloc)
{
    if (!vs_family_on_device(live->family))
        return;
    if (live->family == VS_FAMILY_GRAPH) {
        count_graph_locked(live, alloc);
        return;
    }
    if (live->family == VS_FAMILY_ASYNC)
        vs_usage_pool_used(live->device, alloc ? (int64_t)live->size : -(int64_t)live->size);
    if (alloc) {
        vs_track_count_alloc_locked(live->device, live->size, live->requested);
        vs_track_count_reserve_locked(live->device, (int64_t)live->size);
    } else {
        vs_track_count_free_locked(live->device, live->size, live->requested);
        vs_track_count_reserve_locked(live->device, -(int64_t)live->size);
    }
}

/* What *live* means to the bytes held: its own, but for graphs, whose memory lies in
 * what the driver holds, and for other processes' memory. */
static struct vs_recorded change_of(const struct vs_tracked *live, bool alloc, bool selected,
                                  int64_t graphs_held)
{
    int64_t bytes = alloc ? (int64_t)live->size : -(int64_t)live->size;
    if (live->family == VS_FAMILY_GRAPH)
        bytes = graphs_held;
    if (live->family == VS_FAMILY_IPC)
        bytes = 0;
    return (struct vs_recorded){.level = VS_LEVEL_DEVICE,
                              .family = live->family,
                              .device = live->device,
                              .alloc = alloc,
                              .selected = selected,
                              .addr = live->addr,
                              .requested = live->requested,
                              .size = live->size,
                              .reserved = bytes};
}

static int64_t graphs_counted(uint32_t device)
{
    return device < VS_DEVICES_MAX ? (int64_t)graphs[device].counted : 0;
}

/* Where something is left out: whether this is. Apart, as nearly nowhere anything is. */
static __attribute__((noinline, cold)) bool keeps_locked(struct vs_recorder *recorder,
                                                         const struct vs_tracked *live,
                                                         struct vs_event *event, bool selected,
                                                         int64_t graphs_held)
{
    bool alloc = event->kind == VS_EVENT_alloc;
    struct vs_recorded change = change_of(live, alloc, selected, graphs_held);
    return vs_selection_keeps_locked(recorder, &change, event);
}

/* The figures and the event of one allocation or free, as one step. *event*: without a
 * recorder only its kind is looked at. */
static void record(struct vs_recorder *recorder, const struct vs_tracked *live,
                   struct vs_event *event, bool selected)
{
    vs_recorder_acquire(recorder);
    int64_t held = 0 - graphs_counted(live->device);
    count_locked(live, event->kind == VS_EVENT_alloc);
    held += graphs_counted(live->device);
    if (recorder &&
        (!vs_selection_on || keeps_locked(recorder, live, event, selected, held)))
        vs_recorder_event_locked(recorder, event);
    vs_recorder_release(recorder);
}

static void fill_free(struct vs_event *event, const struct vs_tracked *was, uint64_t stream,
                      const char *api)
{
    vs_event_begin(event, VS_EVENT_free);
    event->free = (struct vs_event_free){.addr = was->addr,
                                         .device = was->device,
                                         .stream = stream,
                                         .api = vs_process_api(api)};
}

static void record_free_locked(const struct vs_tracked *was, uint64_t stream, const char *api)
{
    struct vs_recorder *recorder = vs_process_recorder();
    struct vs_event event;
    vs_event_begin(&event, VS_EVENT_free);
    if (recorder)
        fill_free(&event, was, stream, api);
    record(recorder, was, &event, false);
}

/* *was* was freed where we could not see it. With all events in the trace a reader finds
 * that out by the next allocation at its address; totals have to be told. */
static void record_lost_locked(const struct vs_tracked *was)
{
    struct vs_recorder *recorder = vs_process_recorder();
    struct vs_event event;
    if (!vs_selection_on || !recorder)
        return;
    struct vs_recorded change = change_of(was, false, false, 0);
    fill_free(&event, was, 0, NULL);
    vs_recorder_acquire(recorder);
    if (vs_selection_keeps_locked(recorder, &change, &event))
        vs_recorder_event_locked(recorder, &event);
    vs_recorder_release(recorder);
}

/* The address may still be there: another thread's free of it has not come back from
 * the driver, or it was freed where we could not see it. */
static void enter_locked(const struct vs_tracked *live)
{
    const struct vs_live_entry *entry = vs_live_find(live->addr);
    if (entry) {
        struct vs_tracked was = vs_live_of(entry, live->addr);
        if (entry->ticket) {
            record_free_locked(&was, 0, entry->leaving);
        } else {
            record_lost_locked(&was);
            vs_limit_gone(&was);
        }
    }
    if (!vs_live_put(live))
        vs_log_once(VS_LOG_WARN, "out of host memory for allocations: their frees are missing from the trace");
}

uint64_t vs_track_alloc(const struct vs_tracked *live, uint64_t stream, const char *api)
{
    struct vs_event event;
    struct vs_recorder *recorder = vs_process_recorder();
    bool selected = recorder && vs_selection_takes(recorder, VS_LEVEL_DEVICE, live->requested);
    vs_event_begin(&event, VS_EVENT_alloc);
    if (recorder)
        event.alloc = (struct vs_event_alloc){.addr = live->addr,
                                              .requested = live->requested,
                                              .size = live->size,
                                              .family = live->family,
                                              .device = live->device,
                                              .context = live->context,
                                              .stream = stream,
                                              .api = vs_process_api(api),
                                              .stack = selected ? vs_process_stack() : 0};
    vs_lock_acquire(&lock);
    enter_locked(live);
    record(recorder, live, &event, selected);
    vs_lock_release(&lock);
    return event.time_ns;
}

bool vs_track_is(uint64_t addr, enum vs_family family)
{
    vs_lock_acquire(&lock);
    const struct vs_live_entry *entry = vs_live_find(addr);
    bool is = entry && entry->family == family;
    vs_lock_release(&lock);
    return is;
}

bool vs_track_free(uint64_t addr, uint64_t stream, const char *api, struct vs_tracked *live)
{
    struct vs_tracked was;
    vs_lock_acquire(&lock);
    bool known = vs_live_remove(addr, &was);
    if (known)
        record_free_locked(&was, stream, api);
    vs_lock_release(&lock);
    if (known && live)
        *live = was;
    return known;
}

bool vs_track_leave(uint64_t addr, const char *api, struct vs_tracked *live)
{
    static uint32_t tickets; /* guarded by lock */
    vs_lock_acquire(&lock);
    struct vs_live_entry *entry = vs_live_find(addr);
    bool known = entry && !entry->ticket;
    if (known) {
        tickets += tickets == UINT32_MAX ? 2 : 1;
        entry->ticket = tickets;
        entry->leaving = api;
        *live = vs_live_of(entry, addr);
    }
    vs_lock_release(&lock);
    return known;
}

void vs_track_left(const struct vs_tracked *live, uint64_t stream, const char *api, bool freed)
{
    if (vs_replay_defers(live, stream, api))
        return;
    vs_lock_acquire(&lock);
    struct vs_live_entry *entry = vs_live_find(live->addr);
    struct vs_tracked was;
    if (entry && entry->ticket == live->ticket) {
        entry->ticket = 0;
        if (freed && vs_live_remove(live->addr, &was))
            record_free_locked(&was, stream, api);
    }
    vs_lock_release(&lock);
}

static bool dies_with_context(const struct vs_live_entry *entry, uint32_t context)
{
    return entry->context == context && entry->family != VS_FAMILY_ASYNC &&
           entry->family != VS_FAMILY_REGISTERED;
}

/* The next address that dies with *context*, from *cursor* on; 0 at the end. */
static uint64_t next_of_context(uint32_t context, size_t *cursor)
{
    uint64_t addr = 0;
    vs_lock_acquire(&lock);
    const struct vs_live_entry *entry;
    while ((entry = vs_live_next(cursor, &addr)) && !dies_with_context(entry, context))
        ;
    if (entry)
        --*cursor; /* its removal may move another one to this place */
    vs_lock_release(&lock);
    return entry ? addr : 0;
}

void vs_track_context_gone(uint32_t context, const char *api)
{
    /* one walk finds all, unless other threads move the table meanwhile: then again */
    for (bool found = true; found;) {
        size_t cursor = 0;
        found = false;
        for (uint64_t addr; (addr = next_of_context(context, &cursor)); found = true) {
            struct vs_tracked live;
            if (vs_track_free(addr, 0, api, &live))
                vs_limit_gone(&live);
        }
    }
}

void vs_track_count_failure(uint32_t device)
{
    if (device < VS_DEVICES_MAX)
        atomic_fetch_add_explicit(&counters[device].failures, 1, memory_order_relaxed);
}

enum vs_err vs_track_device(uint32_t device, struct vs_device_counters *out)
{
    if (device >= VS_DEVICES_MAX)
        return VS_ERR_ARG;
    struct counters *c = &counters[device];
    *out = (struct vs_device_counters){
        .allocated = atomic_load(&c->allocated),
        .requested = atomic_load(&c->requested),
        .reserved = atomic_load(&c->reserved),
        .allocated_peak = atomic_load(&c->allocated_peak),
        .requested_peak = atomic_load(&c->requested_peak),
        .reserved_peak = atomic_load(&c->reserved_peak),
        .allocations = atomic_load(&c->allocations),
        .frees = atomic_load(&c->frees),
        .failures = atomic_load(&c->failures)};
    return VS_OK;
}

void vs_track_reset_peaks(uint32_t device)
{
    if (device >= VS_DEVICES_MAX)
        return;
    struct counters *c = &counters[device];
    struct vs_recorder *recorder = vs_process_recorder();
    vs_recorder_acquire(recorder);
    atomic_store(&c->allocated_peak, atomic_load(&c->allocated));
    atomic_store(&c->requested_peak, atomic_load(&c->requested));
    atomic_store(&c->reserved_peak, atomic_load(&c->reserved));
    vs_recorder_release(recorder);
}
