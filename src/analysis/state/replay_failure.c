/* SPDX-License-Identifier: Apache-2.0
 *
 * The last failures of a replay, with the memory held at that time, and whether the program
 * recovered: its thread allocated as much later (or a context exists after the failure of one), its
 * call site then got less on the same thread, or a later step ended. A framework may raise its error
 * on another thread than the one that goes on: there any thread counts. What the device
 * refused and the framework then raised is one failure; what it refused and the framework then got,
 * after emptying its cache, is none. */
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/state/replay_internal.h"
#include "base/reading/vs_vec.h"

static void forget(struct vs_replay *replay, size_t index)
{
    replay->failures_open -= !replay->failures[index].recovered;
    replay->failure_count--;
    memmove(replay->failures + index, replay->failures + index + 1,
            (replay->failure_count - index) * sizeof *replay->failures);
}

/* Whether the refused request of *failure* was one of a framework's allocator: it empties its cache
 * and makes the request again. */
static bool is_frameworks(const struct vs_replay *replay, const struct vs_failure *failure)
{
    return !failure->framework && failure->account != VS_HOST_INDEX &&
           vs_library_is_allocator(replay->reader, failure->stack);
}

/* Whether *failure* was the refusal of a handle of physical memory: a framework that maps its
 * segments (expandable segments) creates several for one of its blocks, and releases them when one
 * is refused. Only its block shows that it got enough. */
static bool is_handle(const struct vs_replay *replay, const struct vs_failure *failure)
{
    return failure->family == VS_FAMILY_VMM && replay->accounts[failure->account]->user.reports &&
           is_frameworks(replay, failure);
}

static void forget_retried(struct vs_replay *replay, size_t index)
{
    const struct vs_failure *failure = &replay->failures[index];
    replay->accounts[failure->account]->framework_retries += failure->attempts;
    replay->failure_total--;
    forget(replay, index);
}

/* Whether the call site of *failure* asked for less next time, and got it: a probe for the size that
 * fits, or a retry with less. */
static bool got_less(const struct vs_failure *failure, enum vs_level level, uint64_t requested,
                     uint64_t stack)
{
    return stack && failure->stack == stack && requested < failure->requested &&
           failure->framework == (level == VS_LEVEL_FRAMEWORK);
}

void vs_replay_served(struct vs_replay *replay, unsigned account, enum vs_level level,
                      uint64_t requested, uint64_t stack, uint32_t tid)
{
    for (size_t i = replay->failure_count; i-- > 0;) {
        struct vs_failure *failure = &replay->failures[i];
        if (failure->account != account || failure->overhead)
            continue;
        bool same = failure->tid == tid;
        if (same && !failure->answered && is_handle(replay, failure)) {
            if (level == VS_LEVEL_FRAMEWORK)
                forget_retried(replay, i);
            continue;
        }
        bool enough = requested >= failure->requested && (same || failure->framework) &&
                      (level == VS_LEVEL_DEVICE || failure->framework);
        if (same && enough && !failure->answered && level == VS_LEVEL_DEVICE &&
            is_frameworks(replay, failure)) {
            forget_retried(replay, i);
            continue;
        }
        bool less = same && got_less(failure, level, requested, stack);
        failure->answered |= same;
        if (!failure->recovered && (enough || less)) {
            failure->recovered = true;
            replay->failures_open--;
        }
    }
}

static void add_failure(struct vs_replay *replay, const struct vs_failure *failure)
{
    replay->failure_total++;
    if (replay->failure_count == VS_FAILURES_KEPT) {
        vs_replay_publish(replay, (struct vs_published){.kind = VS_CHANGE_FORGOTTEN,
                                                        .failure = &replay->failures[0]});
        forget(replay, 0);
    }
    vs_vec_room(&replay->failures, &replay->failure_capacity,
                replay->failure_count + 1, sizeof *replay->failures);
    replay->failures[replay->failure_count++] = *failure;
    replay->failures_open++;
}

/* The device's free memory: as it was when it refused *before*, and what was released since. */
static uint64_t free_since(const struct vs_failure *before, uint64_t reserved)
{
    uint64_t most = before->device_total, now = before->device_free + before->reserved;
    now = now > reserved ? now - reserved : 0;
    return now < most ? now : most;
}

/* The refusals of one request: by the device, when a framework's allocator repeats it, and then by
 * the framework, on one thread that allocated nothing in between. Adds the earlier ones, of the
 * device, to *failure* and forgets them. */
static void join_earlier(struct vs_replay *replay, struct vs_failure *failure)
{
    for (size_t i = replay->failure_count; i-- > 0;) {
        const struct vs_failure *before = &replay->failures[i];
        if (before->tid != failure->tid || before->account != failure->account)
            continue;
        bool joins = !before->framework && before->overhead == failure->overhead &&
                     !before->answered && !before->recovered &&
                     (failure->framework ? before->requested >= failure->requested ||
                                               (before->family == VS_FAMILY_VMM &&
                                                is_frameworks(replay, before))
                                         : before->requested == failure->requested &&
                                               is_frameworks(replay, before));
        if (!joins)
            return;
        failure->attempts += before->attempts;
        if (failure->framework && !failure->device_event) {
            failure->context = before->context;
            failure->stream = before->stream;
            failure->api = before->api;
            failure->error = before->error;
            failure->family = before->family;
            failure->device_total = before->device_total;
            failure->device_free = free_since(before, failure->reserved);
            failure->device_requested = before->device_requested;
            failure->device_event = before->device_event;
            failure->device_stack = before->device_stack;
        }
        replay->failure_total--;
        forget(replay, i);
    }
}

static void fill_framework(struct vs_failure *failure, struct vs_account *account,
                           const struct vs_event *event)
{
    failure->requested = event->framework_oom.requested;
    failure->stack = event->framework_oom.stack;
    account->framework_ooms++;
}

static void fill_overhead(struct vs_failure *failure, const struct vs_event *event)
{
    const struct vs_event_overhead_failed *e = &event->overhead_failed;
    bool known = e->what < VS_OVERHEAD_WHAT_COUNT || e->what == VS_OVERHEAD_LAUNCH;
    failure->overhead = 1 + (known ? (unsigned)e->what : VS_OVERHEAD_MODULE);
    failure->context = e->context;
    failure->api = e->api;
    failure->stack = failure->device_stack = e->stack;
    failure->error = e->error;
    failure->device_free = e->device_free_bytes;
    failure->device_total = e->device_total_bytes;
    failure->device_event = failure->event;
    failure->attempts = 1;
}

static void fill_refused(struct vs_failure *failure, struct vs_account *account,
                         const struct vs_event *event)
{
    failure->requested = failure->device_requested = event->alloc_failed.requested;
    failure->context = event->alloc_failed.context;
    failure->stream = event->alloc_failed.stream;
    failure->api = event->alloc_failed.api;
    failure->stack = failure->device_stack = event->alloc_failed.stack;
    failure->error = event->alloc_failed.error;
    failure->device_free = event->alloc_failed.device_free_bytes;
    failure->device_total = event->alloc_failed.device_total_bytes;
    failure->device_event = failure->event;
    failure->attempts = 1;
    account->family[failure->family].failures++;
}

enum vs_err vs_replay_failure(struct vs_replay *replay, const struct vs_event *event)
{
    bool framework = event->kind == VS_EVENT_framework_oom;
    bool overhead = event->kind == VS_EVENT_overhead_failed;
    uint64_t family = framework || overhead ? VS_FAMILY_DEVICE : event->alloc_failed.family;
    if (family >= VS_FAMILY_COUNT)
        family = VS_FAMILY_DEVICE;
    unsigned index = VS_HOST_INDEX;
    if (!vs_family_on_host(family)) {
        uint64_t device = framework  ? event->framework_oom.device
                          : overhead ? event->overhead_failed.device
                                     : event->alloc_failed.device;
        enum vs_err err = VS_OK;
        vs_replay_account_for(replay, device, &index);
        if (err || index == VS_ACCOUNT_NONE)
            return err;
    }
    struct vs_account *account = replay->accounts[index];
    struct vs_failure failure = {
        .event = replay->events, .time_ns = event->time_ns, .tid = event->tid,
        .framework = framework, .account = index, .family = (unsigned)family,
        .allocated = account->sums.now.allocated, .reserved = account->sums.now.reserved,
        .mark = replay->mark.name, .step_begun = replay->phases.steps.begun,
        .place = vs_phases_place(&replay->phases, event->tid)};
    if (framework)
        fill_framework(&failure, account, event);
    else if (overhead)
        fill_overhead(&failure, event);
    else
        fill_refused(&failure, account, event);
    if (index != VS_HOST_INDEX) /* the driver was asked for the free memory when it refused */
        vs_replay_reading(replay, account, event->tid, failure.device_free, failure.device_total);
    join_earlier(replay, &failure);
    add_failure(replay, &failure);
    vs_replay_publish(replay, (struct vs_published){
                                  .kind = VS_CHANGE_REFUSED,
                                  .failure = &replay->failures[replay->failure_count - 1]});
    return VS_OK;
}

void vs_replay_context_served(struct vs_replay *replay, unsigned account)
{
    for (size_t i = 0; replay->failures_open && i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (failure->recovered || failure->account != account ||
            failure->overhead != 1 + VS_OVERHEAD_CONTEXT)
            continue;
        failure->recovered = true;
        replay->failures_open--;
    }
}

void vs_replay_step_served(struct vs_replay *replay)
{
    uint64_t begun = replay->phases.steps.begun;
    for (size_t i = 0; replay->failures_open && i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (!failure->recovered && begun > failure->step_begun) {
            failure->recovered = true;
            replay->failures_open--;
        }
    }
}
