/* SPDX-License-Identifier: Apache-2.0
 *
 * The live table for memory that the driver returned directly, and per-device counters. The table
 * and the event are updated under one lock, so that the trace has the true order of frees and
 * allocations of one address. */
#include "intercept/track/tracker.h"

#include <stdatomic.h>

#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/route/replayed_call.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"
#include "intercept/track/holding.h"
#include "intercept/track/limit.h"
#include "intercept/track/live_entries.h"
#include "intercept/track/peak_window.h"
#include "intercept/track/track_change.h"

#define APART __attribute__((noinline))

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "tracker");

_Thread_local struct vs_replayed_free vs_replayed_free __attribute__((tls_model("initial-exec")));

/* *family*: that of the memory. Nearly all memory is of the family DEVICE: as a constant, it decides
 * most branches of the sums. */
VS_ALWAYS_INLINE static inline struct vs_change alloc_of(const struct vs_tracked *live, bool holds,
                                                         enum vs_family family)
{
    struct vs_change change =
        vs_change_alloc(VS_LEVEL_DEVICE, family, live->device, live->requested, live->size);
    change.holds = holds;
    return change;
}

VS_ALWAYS_INLINE static inline struct vs_change free_of(const struct vs_tracked *was,
                                                        enum vs_family family)
{
    struct vs_change change =
        vs_change_free(VS_LEVEL_DEVICE, family, was->device, was->requested, was->size);
    change.holds = was->holds;
    return change;
}

static APART void alloc_other(const struct vs_tracked *live, bool holds, bool selected,
                              struct vs_event *event)
{
    vs_track_change(alloc_of(live, holds, live->family), selected, event);
}

static APART void free_other(const struct vs_tracked *was, struct vs_event *event)
{
    vs_track_change(free_of(was, was->family), false, event);
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
    struct vs_event event;
    if (vs_process_recorder())
        fill_free(&event, was, stream, api);
    if (__builtin_expect(was->family == VS_FAMILY_DEVICE, 1))
        vs_track_change(free_of(was, VS_FAMILY_DEVICE), false, &event);
    else
        free_other(was, &event);
}

/* *was* was freed without being seen. With all events in the trace, a reader detects that from the
 * next allocation at its address; totals need a record of it. Decided with the recorder held: the
 * program may stop the recording on another thread, which takes the sums as they are then. */
static void record_lost_locked(const struct vs_tracked *was)
{
    struct vs_recorder *recorder = vs_process_recorder();
    struct vs_change change = free_of(was, was->family);
    vs_recorder_acquire(recorder);
    bool totals = recorder && vs_selection_on; /* from here on it stays so */
    if (!totals)
        vs_book_apply(&vs_process_book, &change);
    vs_recorder_release(recorder);
    if (totals)
        record_free_locked(was, 0, NULL);
}

/* The address may still be in the table: another thread's free of it has not returned from the
 * driver, or the free was not seen. */
static void enter_locked(const struct vs_tracked *live, bool holds)
{
    struct vs_live_entry *entry = vs_live_find(live->addr);
    if (entry) {
        struct vs_tracked was = vs_live_of(entry, live->addr);
        if (entry->ticket) {
            record_free_locked(&was, 0, entry->leaving);
        } else {
            record_lost_locked(&was);
            vs_limit_gone(&was);
        }
    }
    if (!vs_live_put(entry, live, holds))
        vs_log_once(VS_LOG_WARN, "out of host memory for allocations: their frees are missing from the trace");
}

uint64_t vs_track_alloc(const struct vs_tracked *live, uint64_t stream, const char *api)
{
    struct vs_event event;
    enum vs_holding holding = VS_HOLDING_NEVER;
    struct vs_recorder *recorder = vs_process_recorder();
    bool selected = recorder && vs_recorder_selects(recorder, VS_LEVEL_DEVICE, live->requested);
    uint64_t stack = selected ? vs_process_stack() : 0;
    if (vs_family_on_device(live->family))
        holding = vs_holds(stack);
    bool holds = holding == VS_HOLDING_YES;
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
                                              .stack = stack};
    vs_lock_acquire(&lock);
    enter_locked(live, holds);
    if (__builtin_expect(live->family == VS_FAMILY_DEVICE, 1))
        vs_track_change(alloc_of(live, holds, VS_FAMILY_DEVICE), selected, &event);
    else
        alloc_other(live, holds, selected, &event);
    vs_annotation_used(VS_ANNOTATED_DEVICE);
    vs_lock_release(&lock);
    if (holding != VS_HOLDING_NEVER)
        vs_holding_latest = (struct vs_holding_latest){
            .addr = holds ? 0 : live->addr, .size = live->size, .key = vs_holding_key(stack),
            .device = live->device};
    return event.time_ns;
}

bool vs_track_is(uint64_t addr, enum vs_family family)
{
    VS_LOCK_SCOPE(&lock);
    const struct vs_live_entry *entry = vs_live_find(addr);
    return entry && entry->family == family;
}

bool vs_track_holds(uint64_t addr)
{
    VS_LOCK_SCOPE(&lock);
    struct vs_live_entry *entry = vs_live_find(addr);
    bool now = entry && !entry->holds;
    if (now)
        entry->holds = true;
    return now;
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
    VS_LOCK_SCOPE(&lock);
    struct vs_live_entry *entry = vs_live_find(addr);
    bool known = entry && !entry->ticket;
    if (known) {
        tickets += tickets == UINT32_MAX ? 2 : 1;
        entry->ticket = tickets;
        entry->leaving = api;
        *live = vs_live_of(entry, addr);
    }
    return known;
}

void vs_track_left(const struct vs_tracked *live, uint64_t stream, const char *api, bool freed)
{
    if (__builtin_expect(vs_replay_on, 0) && vs_replayed_free.watched) {
        vs_replayed_free = (struct vs_replayed_free){true, true, *live, stream, api};
        return;
    }
    VS_LOCK_SCOPE(&lock);
    struct vs_live_entry *entry = vs_live_find(live->addr);
    struct vs_tracked was;
    if (entry && entry->ticket == live->ticket) {
        entry->ticket = 0;
        if (freed && vs_live_remove(live->addr, &was))
            record_free_locked(&was, stream, api);
    }
}

/* The next address freed together with *context*, from *cursor* on; 0 at the end. */
static uint64_t next_of_context(uint32_t context, size_t *cursor)
{
    uint64_t addr = 0;
    VS_LOCK_SCOPE(&lock);
    const struct vs_live_entry *entry;
    while ((entry = vs_live_next(cursor, &addr)) &&
           !(entry->context == context && vs_family_ends_with_context(entry->family)))
        ;
    if (entry)
        --*cursor; /* removing it may move another one to this slot */
    return entry ? addr : 0;
}

void vs_track_context_gone(uint32_t context, const char *api)
{
    /* one walk finds all, unless other threads change the table meanwhile: then walk again */
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

static _Atomic uint64_t failures[VS_DEVICES_MAX];

void vs_track_count_failure(uint32_t device)
{
    if (device < VS_DEVICES_MAX)
        atomic_fetch_add_explicit(&failures[device], 1, memory_order_relaxed);
}

enum vs_err vs_track_device(uint32_t device, struct vs_device_counters *out)
{
    if (device >= VS_DEVICES_MAX)
        return VS_ERR_ARG;
    const struct vs_ledger *sums = vs_track_sums(device);
    union vs_peak_sums peak = {.allocated = vs_sum_read(&sums->peak.allocated),
                                .requested = vs_sum_read(&sums->peak.requested),
                                .reserved = vs_sum_read(&sums->peak.reserved)};
    vs_peak_highest(device, &peak);
    union vs_peak_sums now = {.allocated = vs_sum_read(&sums->now.allocated),
                               .requested = vs_sum_read(&sums->now.requested),
                               .reserved = vs_sum_read(&sums->now.reserved)};
    /* other threads allocate between these reads: a peak is at least what is in use */
    vs_peak_raise(&peak, &now);
    *out = (struct vs_device_counters){.allocated = now.allocated,
                                       .requested = now.requested,
                                       .reserved = now.reserved,
                                       .allocated_peak = peak.allocated,
                                       .requested_peak = peak.requested,
                                       .reserved_peak = peak.reserved,
                                       .failures = atomic_load(&failures[device])};
    for (unsigned f = 0; f < VS_FAMILY_COUNT; f++) {
        if (!vs_family_on_device(f))
            continue;
        out->allocations += vs_sum_read(&sums->family[f].allocs);
        out->frees += vs_sum_read(&sums->family[f].frees);
    }
    return VS_OK;
}

void vs_track_reset_peaks(uint32_t device)
{
    if (device < VS_DEVICES_MAX)
        vs_peak_restart(device);
}
