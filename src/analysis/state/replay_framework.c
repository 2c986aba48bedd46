/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of a framework's own allocator (PyTorch's tensors): the second level of a replay, with
 * live blocks and call sites of its own. Never added to the bytes of the device, whose memory holds
 * them. */
#include "analysis/naming/python_file.h"
#include "analysis/state/replay_internal.h"

/* The site of a block: where no Python function of the user's is on the stack (the threads of a
 * backward pass), the line in force that the user's thread marked tells sites apart. */
static uint32_t site_of(struct vs_replay *replay, uint64_t stack, unsigned index)
{
    struct vs_site_key key = {stack, 0, 0, index, VS_LEVEL_FRAMEWORK};
    size_t before = replay->sites.count;
    uint32_t site = vs_sites_get(&replay->sites, &key);
    if (replay->sites.count > before)
        replay->sites.items[site].by_mark = !vs_python_user_stack(replay->reader, stack);
    if (!replay->mark.name || !replay->sites.items[site].by_mark)
        return site;
    key.mark = replay->mark.name;
    site = vs_sites_get(&replay->sites, &key);
    replay->sites.items[site].by_mark = true;
    return site;
}

static void drop_block(struct vs_replay *replay, struct vs_live *live)
{
    struct vs_site *site = &replay->sites.items[live->site];
    vs_replay_publish_block(replay, VS_CHANGE_ENDED, live);
    vs_peak_states_keep_live(replay, live);
    vs_peak_states_keep_site(replay, live->site);
    site->live_bytes -= live->size;
    site->live_count--;
    site->frees++;
    site->lifetime_ns += replay->now_ns - live->time_ns;
    replay->changed_site = live->site;
    replay->accounts[live->device]->user.freed_bytes += live->size;
    vs_sites_touch(&replay->sites, live->site);
    vs_live_table_remove(&replay->framework_live, live);
}

/* PyTorch tells a recording the size of the block alone; its own snapshots have both. */
static uint64_t requested_of(const struct vs_event *event)
{
    const struct vs_event_framework_alloc *alloc = &event->framework_alloc;
    return alloc->requested && alloc->requested < alloc->size ? alloc->requested : alloc->size;
}

static struct vs_live *add_block(struct vs_replay *replay, const struct vs_event *event, unsigned index)
{
    uint64_t addr = event->framework_alloc.addr, size = event->framework_alloc.size;
    uint64_t requested = requested_of(event);
    uint32_t site = site_of(replay, event->framework_alloc.stack, index);
    struct vs_live *live = vs_live_table_add(&replay->framework_live, addr);
    *live = (struct vs_live){.addr = addr, .requested = requested, .size = size,
                             .time_ns = event->time_ns, .epoch = vs_replay_epoch(replay), .event = replay->events,
                             .place = vs_phases_place(&replay->phases, event->tid),
                             .site = site, .family = VS_FAMILY_DEVICE,
                             .device = (uint8_t)index, .level = VS_LEVEL_FRAMEWORK, .used = true,
                             .counted = true, .mark = (uint32_t)replay->mark.name,
                             .tid = event->tid};
    vs_peak_states_keep_site(replay, site);
    replay->sites.items[site].family = VS_FAMILY_DEVICE;
    vs_sites_count(&replay->sites, site, requested, size);
    replay->changed_site = site;
    vs_replay_publish_block(replay, VS_CHANGE_BORN, live);
    return live;
}

/* The first block of a segment has its address, and blocks lie in mapped memory: that memory of the
 * device holds tensors, whatever its stack. */
static void find_backing(struct vs_replay *replay, uint64_t addr, unsigned index)
{
    const struct vs_live *segment = vs_live_table_find(&replay->device_live, addr);
    if (!segment)
        segment = vs_replay_memory_at(replay, addr);
    if (segment && segment->device == index && !replay->sites.items[segment->site].backing) {
        vs_user_holds_tensors(replay, &replay->sites.items[segment->site]);
        return;
    }
    vs_user_split(replay, index);
}

static void apply_alloc(struct vs_replay *replay, const struct vs_event *event, unsigned index,
                        struct vs_thread *thread)
{
    const struct vs_event_framework_alloc *alloc = &event->framework_alloc;
    struct vs_account *account = replay->accounts[index];
    struct vs_live *live = vs_live_table_find(&replay->framework_live, alloc->addr);
    uint64_t old = live ? live->size : 0; /* its free is missing */
    uint64_t old_requested = live ? live->requested : 0;
    find_backing(replay, alloc->addr, index);
    account->user.reports = true;
    if (live)
        drop_block(replay, live);
    struct vs_change change = {.level = VS_LEVEL_FRAMEWORK, .family = VS_FAMILY_DEVICE, .allocs = 1,
                               .requested = requested_of(event), .size = alloc->size,
                               .freed_requested = old_requested, .freed_size = old};
    vs_ledger_apply(&account->framework, &change);
    vs_sum_raise(&account->framework.peak.reserved, alloc->total_reserved);
    live = add_block(replay, event, index);
    thread->last_framework_alloc = alloc->addr;
    struct vs_phase *phase = &replay->phases.items[live->place.phase];
    phase->user_allocs++;
    phase->user_bytes += alloc->size;
    if (replay->failures_open || replay->firsts.count)
        vs_replay_served(replay, index, VS_LEVEL_FRAMEWORK, alloc->size, alloc->stack,
                         event->tid);
    vs_user_rose(replay, index, live->place, alloc->size, vs_user_allocated(account));
}

static void apply_free(struct vs_replay *replay, const struct vs_event *event, unsigned index,
                       struct vs_thread *thread)
{
    struct vs_live *live = vs_live_table_find(&replay->framework_live, event->framework_free.addr);
    uint64_t size = live ? live->size : 0;
    struct vs_change change = {.level = VS_LEVEL_FRAMEWORK, .family = VS_FAMILY_DEVICE, .frees = 1,
                               .freed_requested = live ? live->requested : 0, .freed_size = size};
    vs_ledger_apply(&replay->accounts[index]->framework, &change);
    vs_user_split(replay, index);
    if (!live)
        return;
    if (thread->last_framework_alloc == live->addr) {
        vs_peak_states_keep_site(replay, live->site);
        replay->sites.items[live->site].temporaries++;
        thread->last_framework_alloc = 0;
    }
    drop_block(replay, live);
}

void vs_replay_framework(struct vs_replay *replay, const struct vs_event *event)
{
    bool alloc = event->kind == VS_EVENT_framework_alloc;
    uint64_t addr = alloc ? event->framework_alloc.addr : event->framework_free.addr;
    unsigned index = vs_replay_account_for(
        replay, alloc ? event->framework_alloc.device : event->framework_free.device);
    if (index == VS_ACCOUNT_NONE || addr == 0)
        return;
    struct vs_thread *thread = vs_phases_thread(&replay->phases, event->tid);
    (alloc ? apply_alloc : apply_free)(replay, event, index, thread);
}
