/* SPDX-License-Identifier: Apache-2.0
 *
 * The last failures of a replay, with the memory held at that time, and whether the program
 * recovered: its thread allocated as much later (or a context exists after the failure of one), its
 * call site then got less on the same thread, or a later step ended. A framework may raise its error
 * on another thread than the one that goes on: there any thread counts. What the device
 * refused and the framework then raised is one failure; what it refused and the framework then got,
 * after emptying its cache, is none. The rules that need the end of the trace
 * come last. */
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/naming/maker.h"
#include "analysis/state/findings.h"
#include "analysis/state/replay_internal.h"
#include "base/reading/vs_vec.h"

static bool same_kind(const struct vs_failure *a, const struct vs_failure *b)
{
    return a->framework == b->framework && a->stack == b->stack && a->account == b->account &&
           a->family == b->family && a->overhead == b->overhead && a->error == b->error &&
           (a->stack || a->api == b->api);
}

bool vs_failure_identical(const struct vs_failure *a, const struct vs_failure *b)
{
    return same_kind(a, b) && a->requested == b->requested;
}

/* The program recovered from item *index* of the first ones and those like it. */
static void settle_first(struct vs_failure_firsts *firsts, size_t index)
{
    struct vs_failure_first *item = &firsts->items[index];
    firsts->recovered[item->failure.account] += 1 + item->more;
    firsts->count--;
    memmove(item, item + 1, (firsts->count - index) * sizeof *item);
}

/* A failure is no longer kept. */
static void keep_first(struct vs_failure_firsts *firsts, const struct vs_failure *failure, uint64_t number)
{
    size_t i = 0;
    if (failure->recovered) {
        firsts->recovered[failure->account]++;
        return;
    }
    while (i < firsts->count && !vs_failure_identical(&firsts->items[i].failure, failure))
        i++;
    if (i < firsts->count)
        firsts->items[i].more++;
    else if (i < VS_FAILURE_FIRSTS_MAX)
        firsts->items[firsts->count++] = (struct vs_failure_first){*failure, number, 0};
}

static void recover(struct vs_replay *replay, struct vs_failure *failure)
{
    replay->failures_open -= !failure->recovered;
    failure->recovered = true;
}

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

/* Whether an allocation of as much shows that the program goes on. */
static bool got_enough(const struct vs_failure *failure, enum vs_level level, uint64_t requested, bool same)
{
    return requested >= failure->requested && (same || failure->framework) &&
           (level == VS_LEVEL_DEVICE || failure->framework);
}

void vs_replay_served(struct vs_replay *replay, unsigned account, enum vs_level level,
                      uint64_t requested, uint64_t stack, uint32_t tid)
{
    for (size_t i = replay->failures_open ? replay->failure_count : 0; i-- > 0;) {
        struct vs_failure *failure = &replay->failures[i];
        if (failure->account != account || failure->overhead)
            continue;
        bool same = failure->tid == tid;
        if (same && !failure->answered && is_handle(replay, failure)) {
            if (level == VS_LEVEL_FRAMEWORK)
                forget_retried(replay, i);
            continue;
        }
        bool enough = got_enough(failure, level, requested, same);
        if (same && enough && !failure->answered && level == VS_LEVEL_DEVICE &&
            is_frameworks(replay, failure)) {
            forget_retried(replay, i);
            continue;
        }
        bool less = same && got_less(failure, level, requested, stack);
        failure->answered |= same;
        if (enough || less)
            recover(replay, failure);
    }
    for (size_t i = replay->firsts.count; i-- > 0;) {
        const struct vs_failure *failure = &replay->firsts.items[i].failure;
        bool same = failure->tid == tid;
        if (failure->account == account && !failure->overhead &&
            (got_enough(failure, level, requested, same) ||
             (same && got_less(failure, level, requested, stack))))
            settle_first(&replay->firsts, i);
    }
    if (replay->failures_open)
        replay->latest_allocation[account] = replay->events;
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

void vs_replay_failure(struct vs_replay *replay, const struct vs_event *event)
{
    bool framework = event->kind == VS_EVENT_framework_oom;
    bool overhead = event->kind == VS_EVENT_overhead_failed;
    uint64_t family = framework || overhead ? VS_FAMILY_DEVICE : event->alloc_failed.family;
    uint64_t device = framework  ? event->framework_oom.device
                      : overhead ? event->overhead_failed.device
                                 : event->alloc_failed.device;
    if (family >= VS_FAMILY_COUNT)
        family = VS_FAMILY_DEVICE;
    unsigned index = vs_family_on_host(family) ? VS_HOST_INDEX : vs_replay_account_for(replay, device);
    if (index == VS_ACCOUNT_NONE)
        return;
    struct vs_account *account = replay->accounts[index];
    struct vs_failure failure = {
        .event = replay->events, .time_ns = event->time_ns, .tid = event->tid,
        .framework = framework, .account = index, .family = (unsigned)family,
        .allocated = account->sums.now.allocated, .reserved = account->sums.now.reserved,
        .mark = replay->mark.name, .step_begun = replay->phases.steps.begun,
        .place = vs_phases_place(&replay->phases, event->tid)};
    if (framework) {
        failure.requested = event->framework_oom.requested;
        failure.stack = event->framework_oom.stack;
        account->framework_ooms++;
    } else if (overhead) {
        const struct vs_event_overhead_failed *e = &event->overhead_failed;
        bool known = e->what < VS_OVERHEAD_WHAT_COUNT || e->what == VS_OVERHEAD_LAUNCH;
        failure.overhead = 1 + (known ? (unsigned)e->what : VS_OVERHEAD_MODULE);
        failure.context = e->context;
        failure.api = e->api;
        failure.stack = failure.device_stack = e->stack;
        failure.error = e->error;
        failure.device_free = e->device_free_bytes;
        failure.device_total = e->device_total_bytes;
        failure.device_event = failure.event;
        failure.attempts = 1;
    } else {
        failure.requested = failure.device_requested = event->alloc_failed.requested;
        failure.context = event->alloc_failed.context;
        failure.stream = event->alloc_failed.stream;
        failure.api = event->alloc_failed.api;
        failure.stack = failure.device_stack = event->alloc_failed.stack;
        failure.error = event->alloc_failed.error;
        failure.device_free = event->alloc_failed.device_free_bytes;
        failure.device_total = event->alloc_failed.device_total_bytes;
        failure.device_event = failure.event;
        failure.attempts = 1;
        account->family[failure.family].failures++;
    }
    if (index != VS_HOST_INDEX) /* the driver was asked for the free memory when it refused */
        vs_replay_reading(replay, account, event->tid, failure.device_free, failure.device_total);
    join_earlier(replay, &failure);
    replay->failure_total++;
    if (replay->failure_count == VS_FAILURES_KEPT) {
        vs_replay_publish(replay, &(struct vs_published){.kind = VS_CHANGE_FORGOTTEN, .event = replay->event,
                                                         .failure = &replay->failures[0]});
        keep_first(&replay->firsts, &replay->failures[0], replay->failure_total - VS_FAILURES_KEPT);
        forget(replay, 0);
    }
    vs_vec_room(&replay->failures, &replay->failure_capacity,
                replay->failure_count + 1, sizeof *replay->failures);
    struct vs_failure *kept = &replay->failures[replay->failure_count++];
    *kept = failure;
    replay->failures_open++;
    vs_replay_publish(replay, &(struct vs_published){.kind = VS_CHANGE_REFUSED, .event = replay->event,
                                                     .failure = kept});
}

void vs_replay_context_served(struct vs_replay *replay, unsigned account)
{
    for (size_t i = 0; replay->failures_open && i < replay->failure_count; i++)
        if (replay->failures[i].account == account &&
            replay->failures[i].overhead == 1 + VS_OVERHEAD_CONTEXT)
            recover(replay, &replay->failures[i]);
}

void vs_replay_step_served(struct vs_replay *replay)
{
    uint64_t begun = replay->phases.steps.begun;
    for (size_t i = 0; replay->failures_open && i < replay->failure_count; i++)
        if (begun > replay->failures[i].step_begun)
            recover(replay, &replay->failures[i]);
    for (size_t i = replay->firsts.count; i-- > 0;)
        if (begun > replay->firsts.items[i].failure.step_begun)
            settle_first(&replay->firsts, i);
}

/* --- at the trace's end --- */

/* Whether an allocation on the same device followed a failure that was out of memory. */
static bool is_followed(const struct vs_replay *replay, const struct vs_failure *failure)
{
    bool of_memory = failure->framework || failure->error == VS_CUDA_OUT_OF_MEMORY;
    return of_memory && replay->latest_allocation[failure->account] >= failure->event;
}

/* Whether the thread of failure *index* requested memory after it. */
static bool asked_again(const struct vs_replay *replay, size_t index)
{
    const struct vs_failure *failure = &replay->failures[index];
    bool again = failure->answered;
    for (size_t i = index + 1; i < replay->failure_count; i++)
        again |= replay->failures[i].tid == failure->tid;
    return again;
}

/* Whether failure *index* is one of several identical ones, after each of which its thread allocated
 * memory: probes that the program catches. */
static bool is_probe(const struct vs_replay *replay, size_t index)
{
    size_t same = 0;
    for (size_t i = 0; i < replay->failure_count; i++) {
        if (!vs_failure_identical(&replay->failures[i], &replay->failures[index]))
            continue;
        if (!replay->failures[i].answered)
            return false;
        same++;
    }
    return same > 1;
}

/* The probes before the failure that ended the program, after which its thread allocated nothing. */
static void mark_probes(struct vs_replay *replay)
{
    size_t last = replay->failure_count;
    while (last > 0 && (replay->failures[last - 1].recovered || replay->failures[last - 1].answered))
        last--;
    for (size_t i = 0; last && i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (failure->recovered || !failure->answered || !is_probe(replay, i))
            continue;
        recover(replay, failure);
        for (size_t k = replay->firsts.count; k-- > 0;)
            if (vs_failure_identical(&replay->firsts.items[k].failure, failure))
                settle_first(&replay->firsts, k);
    }
}

static bool is_workspace(struct vs_makers *makers, const struct vs_failure *failure)
{
    return failure->framework &&
           vs_makers_row(makers, vs_makers_site(makers, failure->stack))->maker == VS_MAKER_WORKSPACE;
}

void vs_did_without(struct vs_replay *replay, struct vs_symbols *symbols, bool ended_well)
{
    struct vs_failure_firsts *firsts = &replay->firsts;
    for (size_t i = 0; ended_well && i < replay->failure_count; i++)
        if (is_followed(replay, &replay->failures[i]))
            recover(replay, &replay->failures[i]);
    for (size_t i = firsts->count; ended_well && i-- > 0;)
        if (is_followed(replay, &firsts->items[i].failure))
            settle_first(firsts, i);
    if (!ended_well)
        mark_probes(replay);
    /* A refused workspace is one failure for each algorithm that was tried; only the last of a thread's
     * failures can be the one that ended the program. */
    struct vs_makers *makers = vs_makers_open(replay->reader, symbols);
    for (size_t i = 0; i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (!failure->recovered && !ended_well && !asked_again(replay, i))
            continue;
        failure->workspace = is_workspace(makers, failure);
        if (failure->workspace)
            recover(replay, failure);
    }
    for (size_t i = firsts->count; i-- > 0;) /* hundreds of failures came after them */
        if (is_workspace(makers, &firsts->items[i].failure))
            settle_first(firsts, i);
    vs_makers_close(makers);
}

/* --- groups --- */

void vs_failure_groups_add(struct vs_failure_groups *groups, const struct vs_failure *failure)
{
    size_t i = groups->latest;
    if (i >= groups->count || !same_kind(&groups->items[i].first, failure))
        for (i = 0; i < groups->count && !same_kind(&groups->items[i].first, failure);)
            i++;
    if (i == VS_FAILURE_GROUPS_MAX) {
        groups->left_out++;
        return;
    }
    struct vs_failure_group *group = &groups->items[i];
    if (i == groups->count) {
        *group = (struct vs_failure_group){.first = *failure, .smallest = failure->requested};
        groups->count++;
    }
    group->count++;
    group->last_event = failure->event;
    group->last_ns = failure->time_ns;
    if (failure->requested < group->smallest)
        group->smallest = failure->requested;
    if (failure->requested > group->largest)
        group->largest = failure->requested;
    groups->latest = i;
}

bool vs_failure_group_recovered(const struct vs_failure_group *group,
                                const struct vs_replay *replay)
{
    for (size_t i = replay->failure_count; i-- > 0;)
        if (replay->failures[i].event == group->last_event)
            return replay->failures[i].recovered;
    return true; /* hundreds of failures came after it */
}
