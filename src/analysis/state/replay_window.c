/* SPDX-License-Identifier: Apache-2.0
 *
 * Restarts the counts of a replay in the middle of a trace: live memory stays, earlier events no
 * longer count. For windows of a trace. */
#include <string.h>

#include "analysis/state/replay_internal.h"

static struct vs_peak level_now(const struct vs_replay *replay, const struct vs_account *account,
                                uint64_t bytes, struct vs_place place)
{
    return (struct vs_peak){.bytes = bytes, .event = bytes ? replay->events : 0,
                            .time_ns = replay->now_ns, .place = place,
                            .allocated = account->sums.now.allocated,
                            .requested = account->sums.now.requested,
                            .reserved = account->sums.now.reserved};
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
    a->peak_allocated = level_now(replay, a, a->sums.now.allocated, place);
    a->peak_requested = level_now(replay, a, a->sums.now.requested, place);
    a->peak_reserved = level_now(replay, a, a->sums.now.reserved, place);
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

/* Memory allocated now counts for the ranges that are open now. */
static enum vs_err level_phases(struct vs_replay *replay)
{
    struct vs_phases *phases = &replay->phases;
    for (unsigned i = 0; i < replay->account_count; i++) {
        uint64_t allocated = replay->accounts[i]->sums.now.allocated;
        for (size_t t = 0; t < phases->thread_count; t++) {
            struct vs_place place = vs_phases_place(phases, phases->threads[t].tid);
            enum vs_err err = vs_phases_level(phases, place.phase, i, allocated);
            if (!err && replay->accounts[i]->user.split)
                err = vs_phases_user_level(phases, place.phase, i,
                                           vs_user_allocated(replay->accounts[i]));
            if (err)
                return err;
        }
    }
    return VS_OK;
}

enum vs_err vs_replay_window(struct vs_replay *replay, uint64_t time_ns)
{
    if (time_ns > replay->now_ns)
        replay->now_ns = time_ns;
    replay->window_ns = replay->now_ns;
    replay->unsettled = false;
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++)
        if (replay->accounts[i])
            window_account(replay, replay->accounts[i]);
    vs_sites_window(&replay->sites);
    vs_phases_window(&replay->phases, replay->now_ns);
    replay->failure_count = replay->failures_open = 0;
    replay->failure_total = replay->unmatched_frees = replay->ignored = 0;
    return level_phases(replay);
}
