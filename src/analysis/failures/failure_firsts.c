/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A failure counts as recovered by the rule of state/replay_failure.c, with one difference:
 * whether a context was created after the failure is not considered. */
#include "analysis/failures/failure_firsts.h"

#include <string.h>

#include "analysis/state/activity.h"

bool vs_failure_identical(const struct vs_failure *a, const struct vs_failure *b)
{
    return a->framework == b->framework && a->stack == b->stack && a->requested == b->requested &&
           a->account == b->account && a->family == b->family && a->overhead == b->overhead &&
           a->error == b->error && (a->stack || a->api == b->api);
}

void vs_failure_firsts_settle(struct vs_failure_firsts *firsts, size_t index)
{
    struct vs_failure_first *item = &firsts->items[index];
    firsts->recovered[item->failure.account] += 1 + item->more;
    firsts->count--;
    memmove(item, item + 1, (firsts->count - index) * sizeof *item);
}

static void add(struct vs_failure_firsts *firsts, const struct vs_failure *failure, uint64_t number)
{
    if (failure->recovered) {
        firsts->recovered[failure->account]++;
        return;
    }
    for (size_t i = 0; i < firsts->count; i++) {
        if (!vs_failure_identical(&firsts->items[i].failure, failure))
            continue;
        firsts->items[i].more++;
        return;
    }
    if (firsts->count < VS_FAILURE_FIRSTS_MAX)
        firsts->items[firsts->count++] = (struct vs_failure_first){*failure, number, 0};
}

/* Whether an allocation of *requested* bytes on *account* shows that the program goes on. */
static bool is_served(const struct vs_failure *failure, unsigned account, bool framework,
                      uint64_t requested, uint64_t stack, uint32_t tid)
{
    if (failure->account != account || failure->overhead)
        return false;
    if (requested >= failure->requested && (!framework || failure->framework) &&
        (failure->tid == tid || failure->framework))
        return true;
    return failure->tid == tid && stack && failure->stack == stack &&
           requested < failure->requested && failure->framework == framework;
}

static void look_for_recovery(struct vs_failure_firsts *firsts, const struct vs_replay *replay,
                              const struct vs_event *event)
{
    unsigned account = VS_ACCOUNT_NONE;
    bool framework = event->kind == VS_EVENT_framework_alloc;
    uint64_t requested = 0, stack = 0, begun = replay->phases.steps.begun;
    if (framework) {
        account = vs_replay_account(replay, event->framework_alloc.device);
        requested = event->framework_alloc.size;
        stack = event->framework_alloc.stack;
    } else if (event->kind == VS_EVENT_alloc) {
        account = vs_family_on_host(event->alloc.family)
                      ? VS_HOST_INDEX : vs_replay_account(replay, event->alloc.device);
        requested = event->alloc.requested;
        stack = event->alloc.stack;
    }
    for (size_t i = firsts->count; i-- > 0;) {
        const struct vs_failure *failure = &firsts->items[i].failure;
        if ((replay->step_ended && begun > failure->step_begun) ||
            (account != VS_ACCOUNT_NONE &&
             is_served(failure, account, framework, requested, stack, event->tid)))
            vs_failure_firsts_settle(firsts, i);
    }
}

void vs_failure_firsts_before(struct vs_failure_firsts *firsts, const struct vs_replay *replay,
                              const struct vs_event *event)
{
    firsts->may_drop = vs_event_has(event, VS_PROPERTY_FAILS) &&
                       replay->failure_count == VS_FAILURES_KEPT;
    if (firsts->may_drop)
        firsts->dropped = replay->failures[0];
}

void vs_failure_firsts_after(struct vs_failure_firsts *firsts, const struct vs_replay *replay,
                             const struct vs_event *event, const struct vs_failure **dropped)
{
    *dropped = NULL;
    if (firsts->may_drop && replay->failures[0].event != firsts->dropped.event) {
        *dropped = &firsts->dropped;
        add(firsts, &firsts->dropped, replay->failure_total - replay->failure_count);
    }
    firsts->may_drop = false;
    if (firsts->count && (event->kind == VS_EVENT_alloc || event->kind == VS_EVENT_framework_alloc ||
                          replay->step_ended))
        look_for_recovery(firsts, replay, event);
}
