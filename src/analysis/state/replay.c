/* SPDX-License-Identifier: Apache-2.0
 *
 * The state machine behind every view of a trace; see the header. The invariant after each event:
 * each device's ledger has the sums over the live table and the segments. Allocations, segments and
 * failures have files of their own (replay_internal.h). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/state/replay_internal.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

struct vs_replay *vs_replay_open(const struct vs_reader *reader)
{
    struct vs_replay *replay = vs_xcalloc(1, sizeof *replay);
    replay->reader = reader;
    replay->accounts[VS_HOST_INDEX] = vs_xcalloc(1, sizeof(struct vs_account));
    vs_phases_init(&replay->phases);
    return replay;
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
    vs_peak_states_free(replay);
    free(replay->failures);
    vs_live_table_free(&replay->device_live);
    vs_live_table_free(&replay->framework_live);
    vs_segments_free(&replay->segments);
    vs_segments_free(&replay->mappings);
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

unsigned vs_replay_account_new(struct vs_replay *replay, uint64_t device)
{
    unsigned index = vs_replay_account(replay, device);
    if (index != VS_ACCOUNT_NONE)
        return index;
    if (replay->account_count == VS_DEVICES_MAX) {
        replay->ignored++;
        return VS_ACCOUNT_NONE;
    }
    replay->accounts[replay->account_count] = vs_xcalloc(1, sizeof **replay->accounts);
    replay->accounts[replay->account_count]->device = device;
    return replay->account_count++;
}

void vs_replay_subscribe(struct vs_replay *replay, unsigned kinds,
                         void (*on)(void *, const struct vs_replay *, const struct vs_published *),
                         void *context)
{
    assert(replay->subscriber_count < VS_SUBSCRIBERS_MAX);
    replay->subscribers[replay->subscriber_count++] = (struct vs_subscriber){kinds, on, context};
    replay->subscribed |= kinds & VS_CHANGE_OF_TENSORS ? 0 : kinds;
    replay->tensors_subscribed |= kinds;
}

void vs_replay_publish(const struct vs_replay *replay, const struct vs_published *change)
{
    const struct vs_subscriber *s = replay->subscribers, *end = s + replay->subscriber_count;
    for (; s < end; s++)
        if (s->kinds & change->kind)
            s->on(s->context, replay, change);
}

static struct vs_peak peak_of(const struct vs_replay *replay, const struct vs_levels *now,
                              uint64_t bytes, uint64_t time_ns, struct vs_place place)
{
    return (struct vs_peak){.bytes = bytes, .event = replay->events, .time_ns = time_ns,
                            .place = place, .allocated = now->allocated,
                            .requested = now->requested, .reserved = now->reserved};
}

void vs_replay_set_peaks(struct vs_replay *replay, struct vs_account *account,
                         struct vs_place place, const struct vs_levels *now, uint64_t time_ns,
                         unsigned rose)
{
    vs_peak_states_raised(replay);
    if (rose & VS_ROSE_ALLOCATED)
        account->peak_allocated = peak_of(replay, now, now->allocated, time_ns, place);
    if (rose & VS_ROSE_REQUESTED)
        account->peak_requested = peak_of(replay, now, now->requested, time_ns, place);
    struct vs_peak *reserved = &account->peak_reserved;
    if (rose & VS_ROSE_RESERVED) {
        account->peak_reserved_first_ns = time_ns;
        account->peak_reserved_first_place = place;
    }
    if ((rose & VS_ROSE_RESERVED) || vs_replay_reserved_fuller(account, now))
        *reserved = peak_of(replay, now, now->reserved, time_ns, place);
}

static void raise_use(struct vs_sample_mark *peak, const struct vs_sample_mark *now)
{
    if (!peak->event || now->used > peak->used)
        *peak = *now;
}

void vs_replay_note_use(struct vs_replay *replay, struct vs_account *account, struct vs_place place,
                        const struct vs_levels *now, uint64_t graphs)
{
    struct vs_between_use use = vs_between_now(&account->between, now, &account->usage, graphs);
    struct vs_sample_mark mark = {.used = use.known, .total = account->sample_total,
                                  .event = replay->events, .time_ns = replay->now_ns, .place = place};
    if (use.known > account->use_known.used)
        account->use_known = mark;
    mark.used = use.possible;
    if (use.possible > account->use_possible.used)
        account->use_possible = mark;
}

void vs_replay_change(struct vs_replay *replay, unsigned index, const struct vs_change *change,
                      uint32_t tid)
{
    struct vs_account *account = replay->accounts[index];
    unsigned rose = vs_ledger_apply(&account->sums, change);
    replay->changed = index;
    if (change->frees)
        return;
    struct vs_place place = vs_phases_place(&replay->phases, tid);
    vs_replay_note_peaks(replay, account, place, &account->sums.now, replay->now_ns, rose);
    vs_replay_note_use(replay, account, place, &account->sums.now, 0);
}

static void apply_context(struct vs_replay *replay, const struct vs_event *event)
{
    uint64_t context = event->context.context;
    if (context == 0)
        return;
    unsigned index = vs_replay_account_for(replay, event->context.device);
    if (index != VS_ACCOUNT_NONE)
        vs_device_usage_context(&replay->accounts[index]->usage, event);
    if (event->context.alive) {
        vs_replay_context_served(replay, index);
    } else { /* its memory is lost with it; pool memory belongs to the device */
        vs_replay_lose_live(replay, context, index);
        vs_replay_lose_segments(replay, context, index);
    }
}

static void apply_overhead(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index = vs_replay_account_for(replay, event->overhead.device);
    if (index == VS_ACCOUNT_NONE)
        return;
    struct vs_account *account = replay->accounts[index];
    vs_device_usage_overhead(&account->usage, event);
    vs_replay_note_use(replay, account, vs_phases_place(&replay->phases, event->tid),
                       &account->sums.now, 0);
}

static void apply_device(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index = vs_replay_account_for(replay, event->device.device);
    if (index == VS_ACCOUNT_NONE)
        return;
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
}

void vs_replay_reading(struct vs_replay *replay, struct vs_account *account, uint32_t tid,
                       uint64_t free_bytes, uint64_t total)
{
    if (!total || free_bytes > total)
        return;
    account->last_used = (struct vs_sample_mark){
        total - free_bytes, free_bytes, total, replay->events, replay->now_ns,
        vs_phases_place(&replay->phases, tid)};
    vs_peak_states_raised(replay);
    raise_use(&account->peak_used, &account->last_used);
    raise_use(&account->use_known, &account->last_used);
    raise_use(&account->use_possible, &account->last_used);
    vs_between_read(&account->between, total - free_bytes, &account->sums.now, &account->usage);
}

static void apply_sample(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index = vs_replay_account_for(replay, event->device_sample.device);
    if (index == VS_ACCOUNT_NONE)
        return;
    struct vs_account *account = replay->accounts[index];
    account->sample_free = event->device_sample.free_bytes;
    account->sample_total = event->device_sample.total_bytes;
    vs_replay_reading(replay, account, event->tid, account->sample_free, account->sample_total);
}

static void apply_graph_memory(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index = vs_replay_account_for(replay, event->graph_memory.device);
    if (index == VS_ACCOUNT_NONE)
        return;
    struct vs_account *account = replay->accounts[index];
    uint64_t high = event->graph_memory.reserved_high, held = account->sums.graph_driver;
    if (high > account->graph_reserved_peak)
        account->graph_reserved_peak = high;
    if (event->graph_memory.used_high > account->graph_used_peak)
        account->graph_used_peak = event->graph_memory.used_high;
    struct vs_change change = vs_change_graphs(index, event->graph_memory.reserved);
    vs_replay_change(replay, index, &change, event->tid);
    held = held > account->sums.graph_driver ? held : account->sums.graph_driver;
    if (high > held && high != account->between.graphs_high) /* in between: the driver's own mark */
        vs_replay_note_use(replay, account, vs_phases_place(&replay->phases, event->tid), &account->sums.now,
                           high - account->sums.graph_reserved);
    account->between.graphs_high = high;
}

static void keep_touched(struct vs_replay *replay)
{
    for (size_t i = 0; i < replay->sites.touched_count; i++)
        vs_peak_states_keep_site(replay, replay->sites.touched[i]);
}

static void end_step(struct vs_replay *replay)
{
    const struct vs_steps *steps = &replay->phases.steps;
    replay->step_ended = true;
    keep_touched(replay);
    vs_sites_step_end(&replay->sites, steps->done, steps->number);
    for (unsigned i = 0; i < replay->account_count; i++) {
        struct vs_account *account = replay->accounts[i];
        vs_growth_update(&account->growth, account->sums.now.allocated, steps->done, steps->number,
                         steps->done == 1);
        if (account->step_peak > account->steps_peak)
            account->steps_peak = account->step_peak;
        if (account->step_largest > account->steps_largest)
            account->steps_largest = account->step_largest;
        account->step_peak = account->sums.now.allocated;
        account->step_largest = 0;
        if (account->user.split)
            vs_user_step_end(account, steps);
    }
    vs_replay_step_served(replay);
}

static void level_phase(struct vs_replay *replay, uint32_t phase, unsigned index)
{
    const struct vs_account *account = replay->accounts[index];
    vs_phases_level(&replay->phases, phase, index, account->sums.now.allocated);
    if (account->user.split)
        vs_phases_user_level(&replay->phases, phase, index, vs_user_allocated(account));
}

/* XLA opens a range for each pass of its compiler and for each operation: thousands, which say nothing of
 * the program. XlaModule is a function of the program's. */
static bool of_library(const char *name, const char *domain)
{
    return strcmp(domain, "TSL") == 0 && (vs_text_begins(name, "Thunk:") ||
           (vs_text_begins(name, "Xla") && !vs_text_begins(name, "XlaModule:")));
}

static void apply_range(struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_phases *phases = &replay->phases;
    bool ended = false, before_steps = phases->steps.begun == 0;
    if (replay->mark.name)
        vs_line_mark_event(&replay->mark, replay->reader, event);
    if (event->kind == VS_EVENT_range_push) {
        const char *name = vs_reader_string(replay->reader, event->range_push.name);
        bool apart = of_library(name, vs_reader_string(replay->reader, event->range_push.domain));
        struct vs_place place = vs_phases_push(phases, event->tid, apart ? NULL : name,
                                               event->range_push.domain, event->time_ns);
        for (unsigned i = 0; i < replay->account_count; i++)
            level_phase(replay, place.phase, i);
    } else if (event->kind == VS_EVENT_range_pop) {
        ended = vs_phases_pop(phases, event->tid, event->range_pop.domain, event->time_ns);
    } else if (event->kind == VS_EVENT_range_start) {
        vs_phases_start(phases, event->range_start.range, event->tid,
                        vs_reader_string(replay->reader, event->range_start.name),
                        event->time_ns);
    } else {
        ended = vs_phases_end(phases, event->range_end.range, event->time_ns);
    }
    if (before_steps && phases->steps.begun) { /* the baseline of growth */
        keep_touched(replay);
        vs_sites_step_end(&replay->sites, 0, 0);
    }
    if (ended)
        end_step(replay);
}

static void apply_mark(struct vs_replay *replay, const struct vs_event *event)
{
    vs_line_mark_event(&replay->mark, replay->reader, event);
    if (!replay->reader)
        return;
    vs_phases_mark(&replay->phases, event->tid, vs_reader_string(replay->reader, event->mark.name),
                   vs_reader_string(replay->reader, event->mark.domain));
    if (!replay->phases.steps.begun) /* the first one gives the baseline of growth again */
        replay->sites.step_seen = false;
}

/* Of a kind that is rare in long traces. */
static __attribute__((noinline)) void apply_other(struct vs_replay *replay, const struct vs_event *event)
{
    switch (event->kind) {
    case VS_EVENT_process:
        if (!replay->has_process) {
            replay->process = *event;
            replay->has_process = true;
            replay->phases.main_tid = (uint32_t)event->process.pid;
        }
        break;
    case VS_EVENT_unrecorded: vs_unrecorded_event(replay, event); break;
    case VS_EVENT_recording_changed:
        vs_recording_event(&replay->recording, event);
        break;
    case VS_EVENT_device: apply_device(replay, event); break;
    case VS_EVENT_context: apply_context(replay, event); break;
    case VS_EVENT_alloc_failed:
    case VS_EVENT_overhead_failed:
    case VS_EVENT_framework_oom: vs_replay_failure(replay, event); break;
    case VS_EVENT_segment_alloc:
    case VS_EVENT_segment_free: vs_replay_segment(replay, event); break;
    case VS_EVENT_segment_map: vs_replay_map(replay, event); break;
    case VS_EVENT_segment_unmap: vs_replay_unmap(replay, event); break;
    case VS_EVENT_vmm_map:
    case VS_EVENT_vmm_unmap: vs_replay_mapped(replay, event); break;
    case VS_EVENT_framework_alloc:
    case VS_EVENT_framework_free: vs_replay_framework(replay, event); break;
    case VS_EVENT_device_sample: apply_sample(replay, event); break;
    case VS_EVENT_device_usage: {
        unsigned index = vs_replay_account_for(replay, event->device_usage.device);
        if (index != VS_ACCOUNT_NONE)
            vs_device_usage_row(&replay->accounts[index]->usage, event);
        break;
    }
    case VS_EVENT_overhead: apply_overhead(replay, event); break;
    case VS_EVENT_graph_memory: apply_graph_memory(replay, event); break;
    case VS_EVENT_range_push:
    case VS_EVENT_range_pop:
    case VS_EVENT_range_start:
    case VS_EVENT_range_end: apply_range(replay, event); break;
    case VS_EVENT_mark: apply_mark(replay, event); break;
    case VS_EVENT_end:
        replay->end = *event;
        replay->has_end = true;
        if (vs_replay_step_prepared(replay))
            vs_phases_prepared(&replay->phases);
        break;
    default: break;
    }
}

void vs_replay_event(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->unsettled && event->kind != VS_EVENT_unrecorded)
        vs_replay_settle(replay);
    if (replay->peak_raised)
        vs_peak_states_settle(replay);
    if (replay->events++ == 0)
        replay->first_ns = event->time_ns;
    if (event->time_ns > replay->now_ns)
        replay->now_ns = event->time_ns;
    replay->event = event;
    replay->changed = VS_ACCOUNT_NONE;
    replay->changed_site = VS_SITE_NONE;
    replay->step_ended = false;
    if (event->kind == VS_EVENT_alloc)
        vs_replay_alloc(replay, event);
    else if (event->kind == VS_EVENT_free)
        vs_replay_free(replay, event);
    else
        apply_other(replay, event);
}

bool vs_replay_step_prepared(const struct vs_replay *replay)
{
    const struct vs_event_end *end = &replay->end.end;
    const struct vs_steps *steps = &replay->phases.steps;
    bool well = replay->has_end && end->reason == VS_END_EXIT && !end->status;
    for (size_t i = 0; well && i < replay->failure_count; i++) {
        const struct vs_failure *failure = &replay->failures[i];
        well = failure->recovered || !failure->place.step_known || failure->place.step != steps->number;
    }
    return well && steps->open && !steps->range && steps->done;
}

void vs_replay_finish(struct vs_replay *replay)
{
    vs_replay_settle(replay);
    vs_peak_states_settle(replay);
    vs_phases_finish(&replay->phases, replay->now_ns, vs_replay_step_prepared(replay));
}

/* --- windows of a trace: live memory stays, earlier events no longer count --- */

static struct vs_peak level_now(const struct vs_replay *replay, const struct vs_levels *now,
                                uint64_t bytes, struct vs_place place)
{
    struct vs_peak peak = peak_of(replay, now, bytes, replay->now_ns, place);
    peak.event = bytes ? replay->events : 0;
    return peak;
}

static void window_account(const struct vs_replay *replay, struct vs_account *a)
{
    struct vs_place place = vs_phases_place(&replay->phases, replay->phases.main_tid);
    memset(a->family, 0, sizeof a->family);
    vs_ledger_restart(&a->sums);
    vs_ledger_restart(&a->framework);
    a->framework_ooms = 0;
    a->segment_allocs = a->segment_frees = 0;
    a->graph_used_peak = 0;
    a->graph_reserved_peak = a->sums.graph_driver;
    a->peak_allocated = level_now(replay, &a->sums.now, a->sums.now.allocated, place);
    a->peak_requested = level_now(replay, &a->sums.now, a->sums.now.requested, place);
    a->peak_reserved = level_now(replay, &a->sums.now, a->sums.now.reserved, place);
    a->peak_reserved_first_ns = replay->now_ns;
    a->peak_reserved_first_place = place;
    a->lost_bytes = a->lost_count = 0;
    a->peak_used = a->last_used = a->use_known = a->use_possible = (struct vs_sample_mark){0};
    a->step_peak = a->sums.now.allocated;
    a->steps_peak = a->step_largest = a->steps_largest = a->freed_bytes = a->largest = 0;
    a->growth = (struct vs_growth){.last = a->sums.now.allocated};
    a->framework_retries = 0;
    if (a->user.split)
        vs_user_window(replay, a, place);
}

void vs_replay_window(struct vs_replay *replay, uint64_t time_ns)
{
    struct vs_phases *phases = &replay->phases;
    if (time_ns > replay->now_ns)
        replay->now_ns = time_ns;
    replay->window_ns = replay->now_ns;
    replay->unsettled = false;
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++)
        if (replay->accounts[i])
            window_account(replay, replay->accounts[i]);
    vs_sites_window(&replay->sites);
    vs_phases_window(phases, replay->now_ns);
    replay->failure_count = replay->failures_open = 0;
    replay->failure_total = replay->unmatched_frees = replay->ignored = 0;
    replay->firsts = (struct vs_failure_firsts){.count = 0};
    memset(replay->latest_allocation, 0, sizeof replay->latest_allocation);
    for (unsigned i = 0; i < replay->account_count; i++) /* it counts for the ranges that are open now */
        for (size_t t = 0; t < phases->thread_count; t++)
            level_phase(replay, vs_phases_place(phases, phases->threads[t].tid).phase, i);
}
