/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations of which only sums were recorded; see the header. The first event of an account's
 * group gives the account's rise above its present values since the last group; so peaks are raised
 * before the sums change, and never by the intermediate sums within a group. */
#include "analysis/state/replay_totals.h"

#include <string.h>

#include "analysis/state/replay.h"
#include "analysis/state/replay_internal.h"

void vs_recording_event(struct vs_recording_state *state, const struct vs_event *event)
{
    uint64_t what = event->recording_changed.what;
    state->summed_up |= what == VS_RECORDING_SUMMED_UP;
    if (what == VS_RECORDING_PAUSED) {
        state->pauses++;
        state->paused_ns = event->time_ns;
    } else if (what == VS_RECORDING_RESUMED && state->paused_ns) {
        state->paused_total_ns += event->time_ns - state->paused_ns;
        state->paused_ns = 0;
    }
    if (what > VS_RECORDING_TOTALS)
        return; /* not about a stage, or a newer writer's */
    state->selects = true;
    state->min_size = event->recording_changed.min_size;
    state->sample = event->recording_changed.sample;
    state->seed = event->recording_changed.seed;
    state->limit_bytes = event->recording_changed.limit_bytes;
    if (what >= state->stage)
        state->stage = (uint32_t)what;
    state->since_ns[what] = event->time_ns;
    state->since_bytes[what] = event->recording_changed.file_bytes;
}

bool vs_recording_left_out(const struct vs_recording_state *state, const char *kind)
{
    /* these are counted in `unrecorded`; one that is missing is missing from the figures */
    uint64_t counted = vs_event_kinds(VS_PROPERTY_ALLOCATES | VS_PROPERTY_FREES) |
                       UINT64_C(1) << VS_EVENT_unrecorded;
    bool known = false;
    for (uint32_t code = 1; code <= VS_EVENT_CODE_MAX && !known; code++) {
        const struct vs_event_info *info = vs_event_describe(code);
        known = info && strcmp(kind, info->name) == 0;
        if (known && (counted >> code & 1))
            return false;
    }
    return known && (state->stage > VS_RECORDING_SELECTS || state->pauses);
}

static void count_segments(struct vs_account *account, const struct vs_event_unrecorded *u)
{
    if (u->family == VS_FAMILY_GRAPH)
        return;
    account->segment_count += u->allocs - u->frees;
    account->segment_allocs += u->allocs;
    account->segment_frees += u->frees;
}

static void settle_account(struct vs_replay *replay, struct vs_account *account)
{
    struct vs_place place = vs_phases_place(&replay->phases, replay->phases.main_tid);
    const struct vs_levels *now = &account->sums.now;
    vs_replay_note_peaks(replay, account, place, now, replay->now_ns,
                         vs_ledger_rise(&account->sums, now));
    vs_ledger_rise(&account->framework, &account->framework.now);
}

void vs_replay_settle(struct vs_replay *replay)
{
    if (!replay->unsettled)
        return;
    replay->unsettled = false;
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++)
        if (replay->accounts[i])
            settle_account(replay, replay->accounts[i]);
}

/* Tensors without events raise the user's level at their place. *height*: the most that tensors
 * reached in between. */
static void framework_unrecorded(struct vs_replay *replay, unsigned index,
                                 const struct vs_event *event, uint64_t height)
{
    const struct vs_event_unrecorded *u = &event->unrecorded;
    struct vs_account *account = replay->accounts[index];
    if (!u->allocs)
        return;
    vs_user_split(replay, index);
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    struct vs_phase *phase = &replay->phases.items[place.phase];
    uint64_t bytes = vs_user_allocated(account), tensors = account->framework.now.allocated;
    account->user.reports = true;
    phase->user_allocs += u->allocs;
    phase->user_bytes += u->requested;
    vs_user_rose(replay, index, place, 0, height > tensors ? bytes + (height - tensors) : bytes);
}

void vs_unrecorded_event(struct vs_replay *replay, const struct vs_event *event)
{
    const struct vs_event_unrecorded *u = &event->unrecorded;
    if (u->level >= VS_LEVEL_COUNT || u->why >= VS_WHY_COUNT || u->family >= VS_FAMILY_COUNT)
        return; /* a newer writer's */
    unsigned index = vs_family_on_host(u->family) ? VS_HOST_INDEX
                                                  : vs_replay_account_for(replay, u->device);
    if (index == VS_ACCOUNT_NONE)
        return;
    struct vs_account *account = replay->accounts[index];
    struct vs_change change = vs_event_change(u);
    struct vs_unrecorded *sum = &account->unrecorded[u->level][u->why];
    sum->allocs += u->allocs;
    sum->requested += u->requested;
    sum->size += u->size;
    sum->frees += u->frees;
    sum->freed_requested += u->freed_requested;
    sum->freed_size += u->freed_size;
    /* Were the sums counted entirely within the window? Otherwise a peak may be from before it. */
    if (event->time_ns != replay->totals_ns) {
        replay->totals_before_ns = replay->totals_ns;
        replay->totals_ns = event->time_ns;
    }
    bool whole = !replay->window_ns || replay->totals_before_ns >= replay->window_ns;
    replay->unsettled |= !whole;
    if (u->level == VS_LEVEL_FRAMEWORK) {
        struct vs_levels height = vs_event_height(u, &account->framework.now);
        if (whole)
            vs_ledger_rise(&account->framework, &height);
        vs_ledger_apply(&account->framework, &change);
        framework_unrecorded(replay, index, event, whole ? height.allocated : 0);
        return;
    }
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    struct vs_levels height = vs_event_height(u, &account->sums.now);
    bool rose = (u->peak_allocated || u->peak_requested || u->peak_reserved) &&
                u->peak_ns >= replay->window_ns;
    if (!whole)
        height.family[u->family] = 0;
    if (!rose)
        height.allocated = height.requested = height.reserved = 0;
    unsigned which = vs_ledger_rise(&account->sums, &height);
    if (rose)
        vs_replay_note_peaks(replay, account, place, &height, u->peak_ns, which);
    struct vs_levels high = account->sums.now;
    vs_levels_raise(&high, &height);
    vs_replay_note_use(replay, account, place, &high, 0);
    vs_ledger_apply(&account->sums, &change);
    replay->changed = index;
    if (account->user.split && u->level != VS_LEVEL_SEGMENT && u->family != VS_FAMILY_IPC)
        account->user.backing += u->size - u->freed_size; /* more likely the framework's */
    if (u->level == VS_LEVEL_SEGMENT) {
        count_segments(account, u);
        return;
    }
    account->family[u->family].bytes += u->requested;
    account->freed_bytes += u->freed_size;
    replay->phases.items[place.phase].allocs += u->allocs;
    replay->phases.items[place.phase].alloc_bytes += u->requested;
    if (rose)
        vs_phases_level(&replay->phases, place.phase, index, height.allocated);
}

bool vs_replay_blocks_missing(const struct vs_replay *replay, unsigned account)
{
    const struct vs_account *a = replay->accounts[account];
    bool missing = false;
    for (int why = 0; why < VS_WHY_COUNT; why++)
        missing |= a->unrecorded[VS_LEVEL_BLOCK][why].allocs ||
                   a->unrecorded[VS_LEVEL_BLOCK][why].frees;
    return missing;
}
