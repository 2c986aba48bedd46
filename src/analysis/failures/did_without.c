/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A refused workspace is one failure for each algorithm that was tried; only the
 * last of a thread's failures can be the one that ended the program. */
#include "analysis/failures/did_without.h"

#include "analysis/failures/refusal.h"
#include "analysis/kinds/maker.h"

void vs_latest_allocations_event(struct vs_latest_allocations *latest,
                                 const struct vs_replay *replay, const struct vs_event *event)
{
    unsigned account = VS_ACCOUNT_NONE;
    if (!replay->failures_open)
        return;
    if (event->kind == VS_EVENT_alloc)
        account = vs_family_on_host(event->alloc.family)
                      ? VS_HOST_INDEX : vs_replay_account(replay, event->alloc.device);
    else if (event->kind == VS_EVENT_framework_alloc)
        account = vs_replay_account(replay, event->framework_alloc.device);
    if (account != VS_ACCOUNT_NONE)
        latest->event[account] = replay->events;
}

/* Whether the thread of failure *index* requested memory after it. */
static bool asked_again(const struct vs_replay *replay, size_t index)
{
    const struct vs_failure *failure = &replay->failures[index];
    if (failure->answered)
        return true;
    for (size_t i = index + 1; i < replay->failure_count; i++)
        if (replay->failures[i].tid == failure->tid)
            return true;
    return false;
}

static enum vs_err is_workspace(struct vs_makers *makers, const struct vs_failure *failure,
                                bool *is)
{
    uint32_t row;
    enum vs_err err = vs_makers_site(makers, failure->stack, &row);
    if (!err)
        *is = vs_makers_row(makers, row)->maker == VS_MAKER_WORKSPACE;
    return err;
}

static enum vs_err mark_workspaces(struct vs_replay *replay, struct vs_failure_firsts *firsts,
                                   struct vs_makers *makers, bool ended_well)
{
    enum vs_err err = VS_OK;
    bool workspace = false;
    for (size_t i = 0; !err && i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (!failure->framework || !(failure->recovered || ended_well || asked_again(replay, i)))
            continue;
        err = is_workspace(makers, failure, &failure->workspace);
        if (!failure->workspace || failure->recovered)
            continue;
        failure->recovered = true;
        replay->failures_open--;
    }
    for (size_t i = firsts->count; !err && i-- > 0;) { /* hundreds of failures came after them */
        if (!firsts->items[i].failure.framework)
            continue;
        err = is_workspace(makers, &firsts->items[i].failure, &workspace);
        if (!err && workspace)
            vs_failure_firsts_settle(firsts, i);
    }
    return err;
}

/* Whether an allocation on the same device followed a failure that was out of memory. */
static bool is_followed(const struct vs_failure *failure,
                        const struct vs_latest_allocations *latest)
{
    bool of_memory = failure->framework || failure->error == VS_CUDA_OUT_OF_MEMORY;
    return of_memory && latest->event[failure->account] >= failure->event;
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
static void mark_probes(struct vs_replay *replay, struct vs_failure_firsts *firsts)
{
    size_t last = replay->failure_count;
    while (last > 0 && (replay->failures[last - 1].recovered || replay->failures[last - 1].answered))
        last--;
    for (size_t i = 0; last && i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        if (failure->recovered || !failure->answered || !is_probe(replay, i))
            continue;
        failure->recovered = true;
        replay->failures_open--;
        for (size_t k = firsts->count; k-- > 0;)
            if (vs_failure_identical(&firsts->items[k].failure, failure))
                vs_failure_firsts_settle(firsts, k);
    }
}

enum vs_err vs_did_without(struct vs_replay *replay, struct vs_failure_firsts *firsts,
                           struct vs_symbols *symbols, const struct vs_latest_allocations *latest,
                           bool ended_well)
{
    struct vs_makers *makers;
    bool framework = false;
    for (size_t i = 0; i < replay->failure_count; i++) {
        struct vs_failure *failure = &replay->failures[i];
        framework |= failure->framework;
        if (!ended_well || failure->recovered || !is_followed(failure, latest))
            continue;
        failure->recovered = true;
        replay->failures_open--;
    }
    for (size_t i = firsts->count; i-- > 0;) {
        framework |= firsts->items[i].failure.framework;
        if (ended_well && is_followed(&firsts->items[i].failure, latest))
            vs_failure_firsts_settle(firsts, i);
    }
    if (!ended_well)
        mark_probes(replay, firsts);
    if (!framework)
        return VS_OK;
    enum vs_err err = VS_OK;
    vs_makers_open(replay->reader, symbols, &makers);
    if (err)
        return err;
    err = mark_workspaces(replay, firsts, makers, ended_well);
    vs_makers_close(makers);
    return err;
}
