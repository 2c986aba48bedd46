/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. While a failure is open, the same thread's next attempts for the same memory
 * belong to it; an allocation of that size or the framework's error closes it. */
#include "analysis/fit/fit_failures.h"

#include <stdlib.h>

#include "allocator/core/placement_policy.h"
#include "analysis/report/report.h"
#include "analysis/state/vec.h"
#include "base/vs_size.h"

/* A program that holds so much more than at the failure went on; less may be a message about it. */
#define WENT_ON_BYTES (64 * VS_MIB)
#define KEPT_MAX 4096 /* failures; later ones are not needed for the first */

static uint64_t level_of(const struct vs_fit_failures *failures, const struct vs_replay *replay,
                         unsigned account)
{
    const struct vs_account *a = replay->accounts[account];
    return failures->framework[account] ? a->framework.now.allocated : a->sums.now.allocated;
}

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

static enum vs_err add(struct vs_fit_failures *failures, struct vs_fit_refused **out)
{
    enum vs_err err = vs_vec_grow(&failures->items, &failures->capacity, failures->count + 1,
                                  sizeof *failures->items);
    if (err)
        return err;
    failures->unsettled++;
    *out = &failures->items[failures->count++];
    return VS_OK;
}

/* What the device lacked: the cache of vramscope's own allocator would be released first. */
static enum vs_err measure(struct vs_fit_refused *one, const struct vs_replay *replay,
                           const struct vs_event *event)
{
    struct vs_holes holes;
    uint64_t need = event->alloc_failed.requested;
    enum vs_err err = vs_replay_holes(replay, one->account, &holes);
    if (err)
        return err;
    if (event->alloc_failed.family == VS_FAMILY_DEVICE)
        need = vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)), need);
    one->free_bytes = event->alloc_failed.device_free_bytes;
    uint64_t available = one->free_bytes + holes.empty_bytes;
    one->missing = event->alloc_failed.device_total_bytes && need > available ? need - available : 0;
    return VS_OK;
}

static enum vs_err driver_failed(struct vs_fit_failures *failures, const struct vs_replay *replay,
                                 const struct vs_event *event, unsigned account, uint64_t mark)
{
    struct vs_fit_refused *one = open_one(failures, account, event->tid);
    if (one && one->asked != event->alloc_failed.requested) {
        one->open = false;
        one = NULL;
    }
    if (!one) {
        enum vs_err err = add(failures, &one);
        if (err)
            return err;
        *one = (struct vs_fit_refused){
            .account = account, .tid = event->tid, .time_ns = event->time_ns, .open = true,
            .requested = event->alloc_failed.requested, .asked = event->alloc_failed.requested,
            .level = level_of(failures, replay, account), .mark = mark,
            .step_begun = replay->phases.steps.begun,
            .place = vs_phases_place(&replay->phases, event->tid)};
    }
    one->event = replay->events;
    one->stack = event->alloc_failed.stack;
    one->error = event->alloc_failed.error;
    one->other_error = one->error != VS_CUDA_OUT_OF_MEMORY;
    return measure(one, replay, event);
}

static enum vs_err framework_failed(struct vs_fit_failures *failures,
                                    const struct vs_replay *replay, const struct vs_event *event,
                                    unsigned account, uint64_t mark)
{
    struct vs_fit_refused *one = open_one(failures, account, event->tid);
    if (!one) { /* the framework has a limit of its own */
        enum vs_err err = add(failures, &one);
        if (err)
            return err;
        *one = (struct vs_fit_refused){
            .account = account, .tid = event->tid, .time_ns = event->time_ns, .mark = mark,
            .level = level_of(failures, replay, account),
            .step_begun = replay->phases.steps.begun,
            .place = vs_phases_place(&replay->phases, event->tid)};
    }
    one->event = replay->events;
    one->requested = event->framework_oom.requested;
    one->stack = event->framework_oom.stack;
    one->framework = true;
    one->open = false;
    one->other_error = false;
    one->error = 0;
    return VS_OK;
}

static void settle(struct vs_fit_failures *failures, struct vs_fit_refused *one)
{
    one->recovered = true;
    one->open = false;
    failures->unsettled--;
}

/* *served*: bytes that *account* was just given by the driver, or to a tensor. */
static void look_for_recovery(struct vs_fit_failures *failures, const struct vs_replay *replay,
                              unsigned account, uint64_t served, bool step_ended)
{
    for (size_t i = 0; failures->unsettled && i < failures->count; i++) {
        struct vs_fit_refused *one = &failures->items[i];
        if (one->recovered)
            continue;
        bool later_step = step_ended && replay->phases.steps.begun > one->step_begun;
        bool as_much = served && one->account == account && served >= one->requested;
        uint64_t enough = one->requested / 2 < WENT_ON_BYTES ? one->requested / 2 : WENT_ON_BYTES;
        bool more = served && one->account == account &&
                    level_of(failures, replay, account) >= one->level + enough;
        if (later_step || as_much || more)
            settle(failures, one);
    }
}

enum vs_err vs_fit_failures_event(struct vs_fit_failures *failures, const struct vs_replay *replay,
                                  const struct vs_event *event, uint64_t mark)
{
    bool driver = event->kind == VS_EVENT_alloc_failed &&
                  !vs_family_on_host(event->alloc_failed.family);
    unsigned account = VS_ACCOUNT_NONE;
    uint64_t served = 0;
    if (driver)
        account = vs_replay_account(replay, event->alloc_failed.device);
    else if (event->kind == VS_EVENT_framework_oom)
        account = vs_replay_account(replay, event->framework_oom.device);
    if (account != VS_ACCOUNT_NONE && failures->count < KEPT_MAX)
        return driver ? driver_failed(failures, replay, event, account, mark)
                      : framework_failed(failures, replay, event, account, mark);
    if (event->kind == VS_EVENT_framework_alloc) {
        account = vs_replay_account(replay, event->framework_alloc.device);
        served = event->framework_alloc.size;
    } else if (event->kind == VS_EVENT_alloc && vs_family_on_device(event->alloc.family)) {
        account = vs_replay_account(replay, event->alloc.device);
        served = event->alloc.requested;
    }
    if (event->kind == VS_EVENT_framework_alloc && account != VS_ACCOUNT_NONE)
        failures->framework[account] = true;
    if (failures->unsettled && (served || replay->step_ended))
        look_for_recovery(failures, replay, account, served, replay->step_ended);
    return VS_OK;
}

const struct vs_fit_refused *vs_fit_failures_first(const struct vs_fit_failures *failures,
                                                   unsigned account)
{
    const struct vs_fit_refused *other = NULL;
    for (size_t i = 0; i < failures->count; i++) {
        const struct vs_fit_refused *one = &failures->items[i];
        if (one->account != account || one->recovered)
            continue;
        if (!one->other_error)
            return one;
        other = other ? other : one;
    }
    return other;
}

uint64_t vs_fit_failures_recovered(const struct vs_fit_failures *failures, unsigned account,
                                   bool retries)
{
    uint64_t count = 0;
    for (size_t i = 0; i < failures->count; i++) {
        const struct vs_fit_refused *one = &failures->items[i];
        bool retry = failures->framework[account] && !one->framework;
        count += one->account == account && one->recovered && !one->other_error && retry == retries;
    }
    return count;
}

void vs_fit_failures_free(struct vs_fit_failures *failures)
{
    free(failures->items);
    *failures = (struct vs_fit_failures){0};
}
