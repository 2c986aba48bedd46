/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy is of the peak's event if it has that event's number; otherwise it is of an earlier peak and void.
 * A change in the same event as a new peak is part of the state at it: the event's number becomes known to
 * the functions below when the event is over, and what they kept before that is void. */
#include "analysis/state/peak_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"

/* The rows of segments before a change; shared by the peaks that it concerns. */
struct segment_rows {
    unsigned users;
    size_t count;
    struct vs_replay_segment items[];
};

struct ended_block {
    uint32_t slot;
    struct vs_live live;
};

struct peak_state {
    /* the sums, of event *settled* */
    uint64_t settled, now_ns;
    struct vs_account account; /* with contexts of its own */
    struct vs_recording_state recording;
    struct vs_steps steps;
    size_t site_count;
    /* what changed since, of the event in …_of */
    uint64_t segments_of, blocks_of, mappings_of;
    struct segment_rows *segments;
    struct ended_block *blocks;
    size_t block_count, block_capacity;
    struct vs_replay_segment *mappings;
    size_t mapping_count, mapping_capacity;
};

struct vs_account_states {
    uint64_t events[VS_PEAK_KINDS]; /* of the peaks, before the present event; 0: there is none */
    struct peak_state kinds[VS_PEAK_KINDS];
};

/* The event of the peak; 0: there is none. */
static uint64_t peak_event(const struct vs_replay *replay, unsigned account, enum vs_peak_kind kind)
{
    const struct vs_account *a = replay->accounts[account];
    switch (kind) {
    case VS_PEAK_CHOSEN: return replay->peak_states->chosen ? replay->peak_states->chosen[account].event : 0;
    case VS_PEAK_USER: return a->user.split ? a->user.peak.event : 0;
    case VS_PEAK_ALLOCATED: return a->peak_allocated.event;
    case VS_PEAK_REQUESTED: return a->peak_requested.event;
    case VS_PEAK_RESERVED: return a->peak_reserved.event;
    case VS_PEAK_USED: return a->peak_used.event;
    default: return a->last_used.event;
    }
}

static struct vs_account_states *states_of(const struct vs_replay *replay, unsigned account)
{
    struct vs_peak_states *states = replay->peak_states;
    if (!states->accounts[account])
        states->accounts[account] = vs_xcalloc(1, sizeof **states->accounts);
    return states->accounts[account];
}

void vs_peak_states_begin(struct vs_replay *replay, const struct vs_peak *chosen)
{
    replay->peak_states = vs_xcalloc(1, sizeof *replay->peak_states);
    replay->peak_states->chosen = chosen;
    replay->peak_raised = true;
}

static void drop_segments(struct peak_state *state)
{
    if (state->segments && --state->segments->users == 0)
        free(state->segments);
    state->segments = NULL;
}

void vs_peak_states_free(struct vs_replay *replay)
{
    struct vs_peak_states *states = replay->peak_states;
    if (!states)
        return;
    for (unsigned i = 0; i < VS_DEVICES_MAX; i++) {
        for (int kind = 0; states->accounts[i] && kind < VS_PEAK_KINDS; kind++) {
            struct peak_state *of = &states->accounts[i]->kinds[kind];
            vs_device_usage_free(&of->account.usage);
            drop_segments(of);
            free(of->blocks);
            free(of->mappings);
        }
        free(states->accounts[i]);
    }
    for (int kind = 0; kind <= VS_PEAK_ALLOCATED; kind++) {
        free(states->sites[kind].items);
        free(states->sites[kind].of);
    }
    free(states->site_versions);
    free(states);
    replay->peak_states = NULL;
}

static void copy_usage(struct vs_device_usage *to, const struct vs_device_usage *from)
{
    *to = *from;
    to->contexts = NULL;
    to->context_capacity = 0;
    vs_vec_room(&to->contexts, &to->context_capacity, from->context_count, sizeof *to->contexts);
    if (from->context_count)
        memcpy(to->contexts, from->contexts, from->context_count * sizeof *to->contexts);
}

static void keep_sums(const struct vs_replay *replay, unsigned account, struct peak_state *state)
{
    vs_device_usage_free(&state->account.usage);
    state->account = *replay->accounts[account];
    copy_usage(&state->account.usage, &replay->accounts[account]->usage);
    state->settled = replay->events;
    state->now_ns = replay->now_ns;
    state->recording = replay->recording;
    state->steps = replay->phases.steps;
    state->site_count = replay->sites.count;
}

void vs_peak_states_settle(struct vs_replay *replay)
{
    replay->peak_raised = false;
    if (!replay->peak_states)
        return;
    for (unsigned i = 0; i < replay->account_count; i++) {
        struct vs_account_states *of = states_of(replay, i);
        struct vs_peak_marks *marks = &replay->peak_states->marks[i];
        for (int kind = 0; kind < VS_PEAK_KINDS; kind++) {
            uint64_t event = peak_event(replay, i, (enum vs_peak_kind)kind);
            if (event == of->events[kind])
                continue;
            of->events[kind] = event;
            marks->version += kind <= VS_PEAK_ALLOCATED;
            if (event > marks->latest)
                marks->latest = event;
            if (event == replay->events)
                keep_sums(replay, i, &of->kinds[kind]);
        }
    }
}

void vs_peak_states_copy_site(struct vs_replay *replay, uint32_t site)
{
    struct vs_peak_states *states = replay->peak_states;
    unsigned account = replay->sites.items[site].device;
    vs_vec_room(&states->site_versions, &states->site_capacity, site + 1, sizeof *states->site_versions);
    states->site_versions[site] = states->marks[account].version;
    for (int kind = 0; kind <= VS_PEAK_ALLOCATED; kind++) {
        struct vs_site_states *rows = &states->sites[kind];
        uint64_t event = states_of(replay, account)->events[kind];
        if (!event || (site < rows->of_capacity && rows->of[site] == event))
            continue;
        vs_vec_room(&rows->items, &rows->capacity, site + 1, sizeof *rows->items);
        vs_vec_room(&rows->of, &rows->of_capacity, site + 1, sizeof *rows->of);
        rows->items[site] = replay->sites.items[site];
        rows->of[site] = event;
    }
}

void vs_peak_states_keep_segments(struct vs_replay *replay)
{
    struct segment_rows *rows = NULL;
    size_t count = replay->segments.count;
    for (unsigned i = 0; i < replay->account_count; i++)
        for (int kind = 0; kind < VS_PEAK_KINDS; kind++) {
            uint64_t event = states_of(replay, i)->events[kind];
            struct peak_state *state = &states_of(replay, i)->kinds[kind];
            if (!event || state->segments_of == event)
                continue;
            if (!rows) {
                rows = vs_xcalloc(1, sizeof *rows + count * sizeof *rows->items);
                rows->count = count;
                if (count)
                    memcpy(rows->items, replay->segments.items, count * sizeof *rows->items);
            }
            drop_segments(state);
            rows->users++;
            state->segments = rows;
            state->segments_of = event;
        }
}

void vs_peak_states_copy_live(struct vs_replay *replay, const struct vs_live *live)
{
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    struct vs_account_states *of = states_of(replay, live->device);
    for (int kind = 0; kind < VS_PEAK_KINDS; kind++) {
        if (tensor ? kind == VS_PEAK_ALLOCATED : kind == VS_PEAK_REQUESTED && !live->in_segment)
            break; /* nor the kinds after it */
        uint64_t event = of->events[kind];
        if (!event || live->event > event)
            continue;
        struct peak_state *state = &of->kinds[kind];
        if (state->blocks_of != event)
            state->block_count = 0;
        state->blocks_of = event;
        vs_vec_room(&state->blocks, &state->block_capacity, state->block_count + 1, sizeof *state->blocks);
        const struct vs_live_table *table = tensor ? &replay->framework_live : &replay->device_live;
        state->blocks[state->block_count++] = (struct ended_block){(uint32_t)(live - table->items), *live};
    }
}

void vs_peak_states_keep_mapping(struct vs_replay *replay, const struct vs_replay_segment *mapping)
{
    for (int kind = 0; kind <= VS_PEAK_ALLOCATED; kind++) {
        uint64_t event = states_of(replay, mapping->device)->events[kind];
        if (!event || mapping->event > event)
            continue;
        struct peak_state *state = &states_of(replay, mapping->device)->kinds[kind];
        if (state->mappings_of != event)
            state->mapping_count = 0;
        state->mappings_of = event;
        VS_VEC_ADD(state->mappings, state->mapping_count, state->mapping_capacity, *mapping);
    }
}

void vs_peak_states_split(struct vs_replay *replay, unsigned account)
{
    if (!replay->peak_states || account == VS_HOST_INDEX) /* the host's peaks are not asked for */
        return;
    struct vs_account_states *of = states_of(replay, account);
    const struct peak_state *from = &of->kinds[VS_PEAK_ALLOCATED];
    struct peak_state *to = &of->kinds[VS_PEAK_USER];
    const struct vs_site_states *sites = &replay->peak_states->sites[VS_PEAK_ALLOCATED];
    struct vs_site_states *user = &replay->peak_states->sites[VS_PEAK_USER];
    of->events[VS_PEAK_USER] = of->events[VS_PEAK_ALLOCATED];
    *to = *from; /* it was empty */
    copy_usage(&to->account.usage, &from->account.usage);
    if (to->segments)
        to->segments->users++;
    to->blocks = NULL;
    to->mappings = NULL;
    to->block_capacity = to->mapping_capacity = 0;
    vs_vec_room(&to->blocks, &to->block_capacity, from->block_count, sizeof *to->blocks);
    if (from->block_count)
        memcpy(to->blocks, from->blocks, from->block_count * sizeof *to->blocks);
    vs_vec_room(&to->mappings, &to->mapping_capacity, from->mapping_count, sizeof *to->mappings);
    if (from->mapping_count)
        memcpy(to->mappings, from->mappings, from->mapping_count * sizeof *to->mappings);
    for (uint32_t i = 0; i < sites->of_capacity && i < replay->sites.count; i++) {
        if (replay->sites.items[i].device != account || !sites->of[i])
            continue;
        vs_vec_room(&user->items, &user->capacity, i + 1, sizeof *user->items);
        vs_vec_room(&user->of, &user->of_capacity, i + 1, sizeof *user->of);
        user->items[i] = sites->items[i];
        user->of[i] = sites->of[i];
    }
}

/* --- the state at a peak --- */

/* Rows of the blocks that were live then, at their slots: those that still are, and those that ended. */
static void live_then(const struct vs_live_table *now, const bool *accounts, uint64_t event,
                      struct vs_live_table *out)
{
    *out = (struct vs_live_table){.slots = now->slots};
    out->items = vs_xcalloc(now->slots + 1, sizeof *out->items);
    for (size_t i = 0; i < now->slots; i++) {
        const struct vs_live *live = &now->items[i];
        if (live->used && live->device != VS_HOST_INDEX && accounts[live->device] && live->event <= event)
            out->items[i] = *live;
    }
}

static void index_by_address(struct vs_live_table *table)
{
    for (size_t i = 0; i < table->slots; i++)
        if (table->items[i].used) {
            vs_xmap_put(&table->by_addr, table->items[i].addr, i);
            table->count++;
        }
}

static void mappings_then(const struct vs_segments *now, const struct peak_state *state, unsigned account,
                          uint64_t event, struct vs_segments *out)
{
    for (size_t i = 0; i < now->count; i++)
        if (now->items[i].device == account && now->items[i].event <= event) {
            VS_VEC_ADD(out->items, out->count, out->capacity, now->items[i]);
        }
    for (size_t i = 0; state->mappings_of == event && i < state->mapping_count; i++) {
        VS_VEC_ADD(out->items, out->count, out->capacity, state->mappings[i]);
    }
}

static void sites_then(const struct vs_replay *replay, const enum vs_peak_kind *kinds, uint64_t event,
                       size_t count, struct vs_sites *out)
{
    *out = (struct vs_sites){.items = vs_xcalloc(count + 1, sizeof *out->items), .count = count,
                             .capacity = count + 1, .step_seen = replay->sites.step_seen};
    for (size_t i = 0; i < count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        enum vs_peak_kind kind = site->device == VS_HOST_INDEX ? VS_PEAK_KINDS : kinds[site->device];
        const struct vs_site_states *rows = kind <= VS_PEAK_ALLOCATED ? &replay->peak_states->sites[kind] : NULL;
        out->items[i] = rows && i < rows->of_capacity && rows->of[i] == event ? rows->items[i] : *site;
    }
}

struct vs_replay *vs_peak_states_at(const struct vs_replay *replay, uint64_t event)
{
    enum vs_peak_kind kinds[VS_DEVICES_MAX];
    bool chosen[VS_DEVICES_MAX] = {false};
    const struct peak_state *any = NULL;
    for (unsigned i = 0; i < replay->account_count; i++) {
        kinds[i] = VS_PEAK_CHOSEN; /* the kinds that keep most come first */
        while (kinds[i] < VS_PEAK_KINDS && peak_event(replay, i, kinds[i]) != event)
            kinds[i]++;
        const struct vs_account_states *of = replay->peak_states->accounts[i];
        chosen[i] = kinds[i] < VS_PEAK_KINDS && of && of->kinds[kinds[i]].settled == event;
        if (chosen[i] && !any)
            any = &of->kinds[kinds[i]];
    }
    if (!any || !event)
        return NULL;
    struct vs_replay *state = vs_xcalloc(1, sizeof *state);
    *state = *replay;
    state->peak_states = NULL;
    state->events = event;
    state->now_ns = any->now_ns;
    state->recording = any->recording;
    state->phases.steps = any->steps;
    live_then(&replay->device_live, chosen, event, &state->device_live);
    live_then(&replay->framework_live, chosen, event, &state->framework_live);
    sites_then(replay, kinds, event, any->site_count, &state->sites);
    state->segments = (struct vs_segments){0};
    state->mappings = (struct vs_segments){0};
    bool segments = false;
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++) {
        if (!replay->accounts[i])
            continue;
        const struct peak_state *of = i < VS_HOST_INDEX && chosen[i] ? &replay->peak_states->accounts[i]->kinds[kinds[i]]
                                                                      : NULL;
        state->accounts[i] = vs_xcalloc(1, sizeof *state->accounts[i]);
        *state->accounts[i] = of ? of->account : *replay->accounts[i];
        copy_usage(&state->accounts[i]->usage, of ? &of->account.usage : &replay->accounts[i]->usage);
        if (!of)
            continue;
        for (size_t k = 0; of->blocks_of == event && k < of->block_count; k++) {
            const struct ended_block *block = &of->blocks[k];
            (block->live.level == VS_LEVEL_FRAMEWORK ? &state->framework_live : &state->device_live)
                ->items[block->slot] = block->live;
        }
        mappings_then(&replay->mappings, of, i, event, &state->mappings);
        if (segments)
            continue; /* the same for all accounts of the event */
        segments = true;
        bool kept = of->segments_of == event;
        size_t count = kept ? of->segments->count : replay->segments.count;
        vs_vec_room(&state->segments.items, &state->segments.capacity, count, sizeof *state->segments.items);
        if (count)
            memcpy(state->segments.items, kept ? of->segments->items : replay->segments.items,
                   count * sizeof *state->segments.items);
        state->segments.count = count;
    }
    vs_sites_index(&state->sites);
    index_by_address(&state->device_live);
    index_by_address(&state->framework_live);
    vs_vec_sort(state->mappings.items, state->mappings.count, sizeof *state->mappings.items,
                vs_order_u64);
    return state;
}

void vs_peak_state_close(struct vs_replay *state)
{
    if (!state)
        return;
    state->failures = NULL; /* shared with the replay, as the phases */
    state->phases = (struct vs_phases){0};
    vs_replay_close(state);
}
