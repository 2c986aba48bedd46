/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations known by their sums; see the header. The first event of an account's
 * group says how far above its present values the account rose since; so the peaks are
 * raised before the sums change, and never by what stands between two events of a
 * group. */
#include "analysis/state/replay_totals.h"

#include <string.h>

#include "analysis/state/replay.h"
#include "analysis/state/replay_internal.h"

void vs_recording_event(struct vs_recording_state *state, const struct vs_event *event)
{
    uint64_t what = event->recording_changed.what;
    state->summed_up |= what == VS_RECORDING_SUMMED_UP;
    if (what > VS_RECORDING_TOTALS)
        return; /* a newer writer's */
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
    return known && state->stage > VS_RECORDING_SELECTS;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void apply_framework(struct vs_framework_account *level,
                            const struct vs_event_unrecorded *u, bool whole)
{
    uint64_t peak = level->allocated + u->peak_allocated;
    if (whole && u->peak_allocated && peak > level->peak_allocated)
        level->peak_allocated = peak;
    if (whole && u->peak_reserved > level->peak_reserved)
        level->peak_reserved = u->peak_reserved;
    level->allocs += u->allocs;
    level->frees += u->frees;
    level->allocated = less(level->allocated + u->size, u->freed_size);
}

static void apply_family(struct vs_account *account, const struct vs_event_unrecorded *u,
                         bool whole)
{
    struct vs_family_account *family = &account->family[u->family];
    if (whole && u->family_peak && family->live_bytes + u->family_peak > family->peak_bytes)
        family->peak_bytes = family->live_bytes + u->family_peak;
    family->allocs += u->allocs;
    family->frees += u->frees;
    family->bytes += u->requested;
    family->live_bytes += u->size - u->freed_size;
    family->live_count += u->allocs - u->frees;
    account->freed_bytes += u->freed_size;
    if (u->level == VS_LEVEL_BLOCK)
        account->block_bytes += u->size - u->freed_size;
    if (u->family != VS_FAMILY_IPC) {
        account->allocated += u->size - u->freed_size;
        account->requested += u->requested - u->freed_requested;
    }
}

/* Segments, and what the driver holds for graphs beyond what is live of them. */
static void apply_held(struct vs_account *account, const struct vs_event_unrecorded *u)
{
    account->reserved += u->reserved;
    if (u->family == VS_FAMILY_GRAPH) {
        account->graph_held += u->reserved;
    } else if (u->level == VS_LEVEL_SEGMENT) {
        account->segment_bytes += u->reserved;
        account->segment_count += u->allocs - u->frees;
        account->segment_allocs += u->allocs;
        account->segment_frees += u->frees;
    }
}

static void add_up(struct vs_unrecorded *sum, const struct vs_event_unrecorded *u)
{
    sum->allocs += u->allocs;
    sum->requested += u->requested;
    sum->size += u->size;
    sum->frees += u->frees;
    sum->freed_requested += u->freed_requested;
    sum->freed_size += u->freed_size;
}

/* Were the sums counted in the window alone? Else a peak may be of a time before it. */
static bool whole_in_window(struct vs_replay *replay, uint64_t time_ns)
{
    if (time_ns != replay->totals_ns) {
        replay->totals_before_ns = replay->totals_ns;
        replay->totals_ns = time_ns;
    }
    return !replay->window_ns || replay->totals_before_ns >= replay->window_ns;
}

static void settle_account(struct vs_replay *replay, struct vs_account *account)
{
    struct vs_place place = vs_phases_place(&replay->phases, replay->phases.main_tid);
    vs_replay_raise_peaks(replay, account, place,
                          &(struct vs_peak){.allocated = account->allocated,
                                            .requested = account->requested,
                                            .reserved = account->reserved,
                                            .time_ns = replay->now_ns});
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        struct vs_family_account *family = &account->family[f];
        if (family->live_bytes > family->peak_bytes)
            family->peak_bytes = family->live_bytes;
    }
    if (account->framework.allocated > account->framework.peak_allocated)
        account->framework.peak_allocated = account->framework.allocated;
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

enum vs_err vs_unrecorded_event(struct vs_replay *replay, const struct vs_event *event)
{
    const struct vs_event_unrecorded *u = &event->unrecorded;
    unsigned index = VS_HOST_INDEX;
    if (u->level >= VS_LEVEL_COUNT || u->why >= VS_WHY_COUNT || u->family >= VS_FAMILY_COUNT)
        return VS_OK; /* a newer writer's */
    if (!vs_replay_family_is_host(u->family)) {
        enum vs_err err = vs_replay_account_for(replay, u->device, &index);
        if (err || index == VS_ACCOUNT_NONE)
            return err;
    }
    struct vs_account *account = replay->accounts[index];
    add_up(&account->unrecorded[u->level][u->why], u);
    bool whole = whole_in_window(replay, event->time_ns);
    replay->unsettled |= !whole;
    if (u->level == VS_LEVEL_FRAMEWORK) {
        apply_framework(&account->framework, u, whole);
        return VS_OK;
    }
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    uint64_t highest = account->allocated + u->peak_allocated;
    bool rose = (u->peak_allocated || u->peak_requested || u->peak_reserved) &&
                u->peak_ns >= replay->window_ns;
    if (rose)
        vs_replay_raise_peaks(replay, account, place,
                              &(struct vs_peak){
                                  .allocated = highest,
                                  .requested = account->requested + u->peak_requested,
                                  .reserved = account->reserved + u->peak_reserved,
                                  .time_ns = u->peak_ns});
    if (u->level != VS_LEVEL_SEGMENT)
        apply_family(account, u, whole);
    apply_held(account, u);
    replay->changed = index;
    if (u->level == VS_LEVEL_SEGMENT)
        return VS_OK;
    replay->phases.items[place.phase].allocs += u->allocs;
    replay->phases.items[place.phase].alloc_bytes += u->requested;
    return rose ? vs_phases_level(&replay->phases, place.phase, index, highest) : VS_OK;
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
