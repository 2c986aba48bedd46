/* SPDX-License-Identifier: Apache-2.0
 *
 * While a failure is open, the same thread's next attempts for the same memory
 * belong to it; another request, an allocation or the framework's error closes it. */
#include "analysis/fit/fit_failures.h"

#include <stdlib.h>

#include "allocator/core/placement_policy.h"
#include "analysis/report/report.h"
#include "base/reading/vs_vec.h"

/* Failures: then those that the replay does not keep are dropped, so that most remain few. */
#define KEPT_MAX (2 * (VS_FAILURES_KEPT + VS_FAILURE_FIRSTS_MAX))

static struct vs_fit_refused *open_one(struct vs_fit_failures *failures, unsigned account,
                                       uint32_t tid)
{
    for (size_t i = failures->count; i-- > 0;) {
        struct vs_fit_refused *one = &failures->items[i];
        if (one->open && one->account == account && one->tid == tid)
            return one;
    }
    return NULL;
}

static struct vs_fit_refused *new_one(struct vs_fit_failures *failures, const struct vs_replay *replay,
                                      const struct vs_event *event, unsigned account)
{
    vs_vec_room(&failures->items, &failures->capacity, failures->count + 1,
                sizeof *failures->items);
    struct vs_fit_refused *one = &failures->items[failures->count++];
    *one = (struct vs_fit_refused){.account = account, .tid = event->tid, .time_ns = event->time_ns,
                                   .mark = replay->mark.name,
                                   .place = vs_phases_place(&replay->phases, event->tid)};
    return one;
}

static void driver_failed(struct vs_fit_failures *failures, const struct vs_replay *replay,
                          const struct vs_event *event, unsigned account)
{
    struct vs_fit_refused *one = open_one(failures, account, event->tid);
    uint64_t need = event->alloc_failed.requested;
    if (one && one->asked != need) {
        one->open = false;
        one = NULL;
    }
    if (!one) {
        one = new_one(failures, replay, event, account);
        one->open = true;
        one->requested = one->asked = need;
    }
    failures->may_be_open = true;
    one->event = replay->events;
    one->stack = event->alloc_failed.stack;
    one->error = event->alloc_failed.error;
    one->other_error = one->error != VS_CUDA_OUT_OF_MEMORY;
    /* what the device lacked: the cache of vramscope's own allocator would be released first */
    struct vs_holes holes;
    vs_replay_holes(replay, one->account, &holes);
    if (event->alloc_failed.family == VS_FAMILY_DEVICE)
        need = vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)), need);
    one->free_bytes = event->alloc_failed.device_free_bytes;
    uint64_t available = one->free_bytes + holes.empty_bytes;
    one->missing = event->alloc_failed.device_total_bytes && need > available ? need - available : 0;
}

static void framework_failed(struct vs_fit_failures *failures, const struct vs_replay *replay,
                             const struct vs_event *event, unsigned account)
{
    struct vs_fit_refused *one = open_one(failures, account, event->tid);
    if (!one) /* the framework has a limit of its own */
        one = new_one(failures, replay, event, account);
    one->event = replay->events;
    one->requested = event->framework_oom.requested;
    one->stack = event->framework_oom.stack;
    one->framework = true;
    one->open = false;
    one->other_error = false;
    one->error = 0;
}

/* The failure of the replay, or the first of those that it dropped, that *one* is; *dropped*: is
 * set to the index of the latter. NULL: it was no failure, or one of a storm after its first. */
static const struct vs_failure *known_as(const struct vs_fit_refused *one,
                                         const struct vs_replay *replay, size_t *dropped)
{
    const struct vs_failure_firsts *firsts = &replay->firsts;
    *dropped = firsts->count;
    for (size_t i = replay->failure_count; i-- > 0;)
        if (replay->failures[i].event == one->event)
            return &replay->failures[i];
    for (size_t i = 0; i < firsts->count; i++) {
        const struct vs_failure *first = &firsts->items[i].failure;
        if (first->event != one->event &&
            (first->stack != one->stack || first->requested != one->requested ||
             first->account != one->account || first->framework != one->framework))
            continue;
        *dropped = i;
        return first;
    }
    return NULL;
}

void vs_fit_failures_settle(struct vs_fit_failures *failures, const struct vs_replay *replay,
                            bool at_end)
{
    bool seen[VS_FAILURE_FIRSTS_MAX + 1] = {false};
    size_t kept = 0, dropped;
    for (size_t i = 0; i < failures->count; i++) {
        struct vs_fit_refused *one = &failures->items[i];
        const struct vs_failure *known = known_as(one, replay, &dropped);
        bool open = !at_end && one->open && i + 1 == failures->count;
        if (open || (known && !known->recovered && !seen[dropped])) {
            seen[dropped] = !open && dropped < replay->firsts.count;
            failures->items[kept++] = *one;
            continue;
        }
        bool later = known && !known->recovered; /* of a storm */
        bool retry = failures->framework[one->account] && !one->framework;
        if (!later && !one->other_error)
            failures->recovered[one->account][retry]++;
    }
    failures->count = kept;
}

void vs_fit_failures_event(struct vs_fit_failures *failures, const struct vs_replay *replay,
                           const struct vs_event *event)
{
    bool driver = event->kind == VS_EVENT_alloc_failed &&
                  !vs_family_on_host(event->alloc_failed.family);
    unsigned account = VS_ACCOUNT_NONE;
    if (driver)
        account = vs_replay_account(replay, event->alloc_failed.device);
    else if (event->kind == VS_EVENT_framework_oom)
        account = vs_replay_account(replay, event->framework_oom.device);
    if (account != VS_ACCOUNT_NONE) {
        if (failures->count >= KEPT_MAX)
            vs_fit_failures_settle(failures, replay, false);
        (driver ? driver_failed : framework_failed)(failures, replay, event, account);
        return;
    }
    if (event->kind == VS_EVENT_framework_alloc)
        account = vs_replay_account(replay, event->framework_alloc.device);
    if (account != VS_ACCOUNT_NONE)
        failures->framework[account] = true;
    if (!failures->may_be_open || (!replay->step_ended && event->kind != VS_EVENT_alloc &&
                                   event->kind != VS_EVENT_framework_alloc))
        return;
    /* after an allocation of its thread, or at the end of a step, a failure has no further
     * attempts */
    failures->may_be_open = false;
    for (size_t i = 0; i < failures->count; i++) {
        struct vs_fit_refused *one = &failures->items[i];
        if (replay->step_ended || one->tid == event->tid)
            one->open = false;
        failures->may_be_open |= one->open;
    }
}

const struct vs_fit_refused *vs_fit_failures_first(const struct vs_fit_failures *failures,
                                                   unsigned account)
{
    const struct vs_fit_refused *other = NULL;
    for (size_t i = 0; i < failures->count; i++) {
        const struct vs_fit_refused *one = &failures->items[i];
        if (one->account != account)
            continue;
        if (!one->other_error)
            return one;
        other = other ? other : one;
    }
    return other;
}

void vs_fit_failures_free(struct vs_fit_failures *failures)
{
    free(failures->items);
    *failures = (struct vs_fit_failures){0};
}
