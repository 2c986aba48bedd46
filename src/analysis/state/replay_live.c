/* SPDX-License-Identifier: Apache-2.0
 *
 * The live table of a replay: the effect of each `alloc` and `free` on it and on every sum of the
 * device, the family and the call site. The invariant is replay.c's. */
#include "analysis/state/replay_internal.h"
#include "analysis/state/vec.h"

static struct vs_live *find_live(struct vs_replay *replay, uint64_t addr)
{
    const uint64_t *slot = vs_map_get(&replay->by_addr, addr);
    return slot ? &replay->lives[*slot] : NULL;
}

static enum vs_err take_live(struct vs_replay *replay, uint64_t addr, struct vs_live **out)
{
    size_t slot;
    if (replay->live_free) {
        slot = replay->live_free - 1;
    } else {
        if (replay->live_slots >= UINT32_MAX - 1)
            return VS_ERR_LIMIT;
        enum vs_err err = vs_vec_grow(&replay->lives, &replay->live_capacity,
                                      replay->live_slots + 1, sizeof *replay->lives);
        if (err)
            return err;
        slot = replay->live_slots;
    }
    enum vs_err err = vs_map_put(&replay->by_addr, addr, slot);
    if (err)
        return err;
    if (replay->live_free)
        replay->live_free = replay->lives[slot].next_free;
    else
        replay->live_slots++;
    replay->live_count++;
    replay->lives[slot] = (struct vs_live){.addr = addr, .used = true};
    *out = &replay->lives[slot];
    return VS_OK;
}

static enum vs_level level_of(const struct vs_live *live)
{
    return live->in_segment ? VS_LEVEL_BLOCK : VS_LEVEL_DEVICE;
}

/* Subtracts *live* from every sum. *freed*: by the program; else it was lost with its context. */
static enum vs_err drop_live(struct vs_replay *replay, struct vs_live *live, bool freed)
{
    struct vs_account *account = replay->accounts[live->device];
    struct vs_site *site = &replay->sites.items[live->site];
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
    replay->freed_size = live->size;
    replay->changed = live->device;
    enum vs_err err = vs_sites_touch(&replay->sites, live->site);
    vs_map_remove(&replay->by_addr, live->addr, NULL);
    live->used = false;
    live->next_free = replay->live_free;
    replay->live_free = (uint32_t)(live - replay->lives) + 1;
    replay->live_count--;
    return err;
}

/* Enters the allocation of *event* into *live* and every sum. *rose*: the account's sums with a new
 * maximum. */
static enum vs_err add_live(struct vs_replay *replay, struct vs_live *live,
                            const struct vs_event *event, unsigned index, unsigned *rose)
{
    struct vs_account *account = replay->accounts[index];
    live->requested = event->alloc.requested;
    live->size = event->alloc.size;
    live->time_ns = event->time_ns;
    live->context = event->alloc.context;
    live->epoch = vs_replay_epoch(replay);
    live->family = (uint8_t)event->alloc.family;
    live->device = (uint8_t)index;
    live->counted = live->family != VS_FAMILY_IPC;
    if (live->family == VS_FAMILY_DEVICE) {
        const struct vs_replay_segment *segment = vs_segments_find(&replay->segments, live->addr);
        live->in_segment = segment && segment->device == index;
    }
    enum vs_err err =
        vs_sites_get(&replay->sites, event->alloc.stack, event->alloc.api, index, &live->site);
    if (err)
        return err;
    struct vs_change change =
        vs_change_alloc(level_of(live), live->family, live->device, live->requested, live->size);
    *rose = vs_ledger_apply(&account->sums, &change);
    account->family[live->family].bytes += live->requested;
    struct vs_site *site = &replay->sites.items[live->site];
    site->api = event->alloc.api;
    site->family = live->family;
    site->allocs++;
    site->bytes += live->requested;
    site->live_bytes += live->size;
    site->live_count++;
    if (live->requested > site->largest)
        site->largest = live->requested;
    if (live->size > site->largest_in_step)
        site->largest_in_step = live->size;
    if (live->counted) {
        if (live->size > account->step_largest)
            account->step_largest = live->size;
        if (live->size > account->largest)
            account->largest = live->size;
    }
    return vs_sites_touch(&replay->sites, live->site);
}

enum vs_err vs_replay_alloc(struct vs_replay *replay, const struct vs_event *event)
{
    unsigned index = VS_HOST_INDEX;
    enum vs_err err = VS_OK;
    if (event->alloc.family >= VS_FAMILY_COUNT || event->alloc.addr == 0)
        return VS_OK; /* a newer writer's family, or memory that is never freed */
    if (!vs_family_on_host(event->alloc.family))
        err = vs_replay_account_for(replay, event->alloc.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_live *live = find_live(replay, event->alloc.addr);
    if (live) { /* its free is not in the trace, but the address is in use again */
        replay->unmatched_frees++;
        err = drop_live(replay, live, true);
        if (err)
            return err;
    }
    err = take_live(replay, event->alloc.addr, &live);
    if (err)
        return err;
    unsigned rose;
    err = add_live(replay, live, event, index, &rose);
    if (err)
        return err;
    struct vs_thread *thread;
    err = vs_phases_thread(&replay->phases, event->tid, &thread);
    if (err)
        return err;
    thread->last_alloc = event->alloc.addr;
    struct vs_place place = vs_phases_place(&replay->phases, event->tid);
    struct vs_account *account = replay->accounts[index];
    vs_replay_note_peaks(replay, account, place, &account->sums.now, replay->now_ns, rose);
    replay->phases.items[place.phase].allocs++;
    replay->phases.items[place.phase].alloc_bytes += event->alloc.requested;
    replay->changed = index;
    if (replay->failures_open)
        vs_replay_served(replay, index, event->alloc.requested);
    return vs_phases_level(&replay->phases, place.phase, index, account->sums.now.allocated);
}

enum vs_err vs_replay_free(struct vs_replay *replay, const struct vs_event *event)
{
    replay->freed_size = 0;
    struct vs_live *live = event->free.addr ? find_live(replay, event->free.addr) : NULL;
    if (!live) {
        replay->unmatched_frees += event->free.addr != 0;
        return VS_OK;
    }
    struct vs_thread *thread;
    enum vs_err err = vs_phases_thread(&replay->phases, event->tid, &thread);
    if (err)
        return err;
    if (thread->last_alloc == event->free.addr) {
        replay->sites.items[live->site].temporaries++;
        thread->last_alloc = 0;
    }
    return drop_live(replay, live, true);
}

enum vs_err vs_replay_lose_live(struct vs_replay *replay, uint64_t context, unsigned device)
{
    for (size_t i = 0; i < replay->live_slots; i++) {
        struct vs_live *live = &replay->lives[i];
        if (!live->used || live->context != context || live->device != device ||
            !vs_family_ends_with_context(live->family))
            continue;
        enum vs_err err = drop_live(replay, live, false);
        if (err)
            return err;
    }
    return VS_OK;
}
