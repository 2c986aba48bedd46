/* SPDX-License-Identifier: Apache-2.0
 *
 * The live table of a replay: the effect of each `alloc` and `free` on it and on every sum of the
 * device, the family and the call site. The invariant is replay.c's. */
#include "analysis/state/replay_internal.h"

static enum vs_level level_of(const struct vs_live *live)
{
    return live->in_segment ? VS_LEVEL_BLOCK : VS_LEVEL_DEVICE;
}

/* Subtracts *live* from every sum. *freed*: by the program; else it was lost with its context. */
static void drop_live(struct vs_replay *replay, struct vs_live *live, bool freed)
{
    struct vs_account *account = replay->accounts[live->device];
    struct vs_site *site = &replay->sites.items[live->site];
    vs_replay_publish_block(replay, freed ? VS_CHANGE_ENDED : VS_CHANGE_LOST, live);
    vs_peak_states_keep_live(replay, live);
    vs_peak_states_keep_site(replay, live->site);
    replay->changed_site = live->site;
    struct vs_change change =
        vs_change_free(level_of(live), live->family, live->device, live->requested, live->size);
    change.lost = !freed;
    vs_ledger_apply(&account->sums, &change);
    site->live_bytes -= live->size;
    site->live_count--;
    if (freed) {
        site->frees++;
        site->lifetime_ns += replay->now_ns - live->time_ns;
        account->freed_bytes += live->size;
    } else {
        site->lost_bytes += live->size;
        site->lost_count++;
        account->lost_bytes += live->counted ? live->size : 0;
        account->lost_count += live->counted;
    }
    if (account->user.split)
        vs_user_device_freed(account, site, live, freed);
    replay->changed = live->device;
    vs_sites_touch(&replay->sites, live->site);
    vs_live_table_remove(&replay->device_live, live);
}

void vs_replay_alloc(struct vs_replay *replay, const struct vs_event *event)
{
    const struct vs_event_alloc *alloc = &event->alloc;
    if (alloc->family >= VS_FAMILY_COUNT || alloc->addr == 0)
        return; /* a newer writer's family, or memory that is never freed */
    unsigned index = vs_family_on_host(alloc->family) ? VS_HOST_INDEX
                                                      : vs_replay_account_for(replay, alloc->device);
    if (index == VS_ACCOUNT_NONE)
        return;
    struct vs_account *account = replay->accounts[index];
    struct vs_live *live = vs_live_table_add(&replay->device_live, alloc->addr);
    if (!live) { /* its free is not in the trace, but the address is in use again */
        replay->unmatched_frees++;
        drop_live(replay, vs_live_table_find(&replay->device_live, alloc->addr), true);
        live = vs_live_table_add(&replay->device_live, alloc->addr);
    }
    struct vs_thread *thread = vs_phases_thread(&replay->phases, event->tid);
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    thread->last_alloc = alloc->addr;
    live->addr = alloc->addr; /* one by one: a whole row would be written twice */
    live->requested = alloc->requested;
    live->size = alloc->size;
    live->time_ns = event->time_ns;
    live->context = alloc->context;
    live->epoch = vs_replay_epoch(replay);
    live->event = replay->events;
    live->place = place;
    live->tid = event->tid;
    live->mark = (uint32_t)replay->mark.name;
    live->family = (uint8_t)alloc->family;
    live->device = (uint8_t)index;
    live->level = VS_LEVEL_DEVICE;
    live->used = true;
    live->in_segment = false;
    live->counted = live->family != VS_FAMILY_IPC;
    if (live->family == VS_FAMILY_DEVICE && replay->segments.count) {
        const struct vs_replay_segment *segment = vs_segments_find_near(&replay->segments, live->addr);
        live->in_segment = segment && segment->device == index;
    }
    struct vs_site_key key = {alloc->stack, alloc->api, 0, index, VS_LEVEL_DEVICE};
    live->site = vs_sites_get(&replay->sites, &key);
    struct vs_site *site = &replay->sites.items[live->site];
    replay->changed_site = live->site;
    replay->changed = index;
    vs_peak_states_keep_site(replay, live->site);
    if (!site->allocs) /* new, or not used in this window */
        vs_user_judge_site(replay, site);
    site->api = alloc->api;
    site->family = live->family;
    vs_sites_count(&replay->sites, live->site, alloc->requested, alloc->size);
    struct vs_change change =
        vs_change_alloc(level_of(live), live->family, live->device, alloc->requested, alloc->size);
    unsigned rose = vs_ledger_apply(&account->sums, &change);
    account->family[live->family].bytes += alloc->requested;
    if (live->counted) {
        if (alloc->size > account->step_largest)
            account->step_largest = alloc->size;
        if (alloc->size > account->largest)
            account->largest = alloc->size;
    }
    if (account->user.split && site->backing && live->counted)
        account->user.backing += alloc->size;
    vs_replay_publish_block(replay, VS_CHANGE_BORN, live);
    vs_replay_note_peaks(replay, account, place, &account->sums.now, replay->now_ns, rose);
    if (!live->in_segment && account->between.read)
        vs_replay_note_use(replay, account, place, &account->sums.now, 0);
    replay->phases.items[place.phase].allocs++;
    replay->phases.items[place.phase].alloc_bytes += alloc->requested;
    if (replay->failures_open || replay->firsts.count)
        vs_replay_served(replay, index, VS_LEVEL_DEVICE, alloc->requested, alloc->stack, event->tid);
    vs_phases_level(&replay->phases, place.phase, index, account->sums.now.allocated);
    if (account->user.split)
        vs_user_device_rose(replay, index, live);
}

void vs_replay_free(struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_live *live =
        event->free.addr ? vs_live_table_find(&replay->device_live, event->free.addr) : NULL;
    if (!live) {
        replay->unmatched_frees += event->free.addr != 0;
        return;
    }
    struct vs_thread *thread = vs_phases_thread(&replay->phases, event->tid);
    if (thread->last_alloc == event->free.addr) {
        vs_peak_states_keep_site(replay, live->site);
        replay->sites.items[live->site].temporaries++;
        thread->last_alloc = 0;
    }
    drop_live(replay, live, true);
}

void vs_replay_lose_live(struct vs_replay *replay, uint64_t context, unsigned device)
{
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        struct vs_live *live = &replay->device_live.items[i];
        if (live->used && live->context == context && live->device == device &&
            vs_family_ends_with_context(live->family))
            drop_live(replay, live, false);
    }
}
