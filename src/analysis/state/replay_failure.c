/* SPDX-License-Identifier: Apache-2.0
 *
 * The last failures of a replay, with the memory held at that time, and whether the program
 * recovered: an allocation of the same size succeeded later, or a later step ended. */
#include <string.h>

#include "analysis/state/replay_internal.h"
#include "analysis/state/vec.h"

void vs_replay_served(struct vs_replay *replay, unsigned account, uint64_t requested)
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

enum vs_err vs_replay_failure(struct vs_replay *replay, const struct vs_event *event)
{
    bool framework = event->kind == VS_EVENT_framework_oom;
    uint64_t family = framework ? VS_FAMILY_DEVICE : event->alloc_failed.family;
    if (family >= VS_FAMILY_COUNT)
        family = VS_FAMILY_DEVICE;
    unsigned index = VS_HOST_INDEX;
    if (!vs_family_on_host(family)) {
        uint64_t device = framework ? event->framework_oom.device : event->alloc_failed.device;
        enum vs_err err = vs_replay_account_for(replay, device, &index);
        if (err || index == VS_ACCOUNT_NONE)
            return err;
    }
    struct vs_account *account = replay->accounts[index];
    struct vs_failure failure = {
        .event = replay->events, .time_ns = event->time_ns, .tid = event->tid,
        .framework = framework, .account = index, .family = (unsigned)family,
        .allocated = account->sums.now.allocated, .reserved = account->sums.now.reserved,
        .step_begun = replay->phases.steps.begun,
        .place = vs_phases_place(&replay->phases, event->tid)};
    if (framework) {
        failure.requested = event->framework_oom.requested;
        failure.stack = event->framework_oom.stack;
        account->framework_ooms++;
        /* the device's own failure just before */
        for (size_t i = replay->failure_count; i-- > 0;) {
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
