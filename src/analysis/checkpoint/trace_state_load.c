/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a state from its records, one function per kind of record. Values are
 * checked as far as later code depends on them: indexes, order, no duplicates. Maps are rebuilt. */
#include <stdlib.h>

#include "analysis/checkpoint/trace_state_fields.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static bool more(const struct vs_state_record *r)
{
    return !r->bad && r->next < r->end;
}

/* The record is invalid unless *holds*. Returns whether it is valid so far. */
static bool valid(struct vs_state_record *r, bool holds)
{
    r->bad |= !holds;
    return !r->bad;
}

static void load_phase(struct vs_state_record *r, struct vs_phases *phases)
{
    struct vs_trace_state_phase one = {0};
    vs_trace_state_io_phase(r, &one, (uint32_t)phases->count - 1);
    if (!r->bad) {
        r->bad = !vs_phases_restore(phases, one.index, &one.phase, one.name, one.length,
                                    one.prefix_length ? one.prefix : NULL,
                                    one.prefix_length ? one.prefix_length - 1 : 0);
        return;
    }
    free(one.phase.peaks);
    free(one.phase.user_peaks);
}

static void load_account(struct vs_state_record *r, struct vs_replay *replay)
{
    bool host = false;
    vs_state_bool(r, &host);
    unsigned index = host ? VS_HOST_INDEX : replay->account_count;
    if (!valid(r, host || index < VS_DEVICES_MAX))
        return;
    if (!host)
        replay->accounts[replay->account_count++] = vs_xcalloc(1, sizeof(struct vs_account));
    vs_trace_state_io_account(r, replay->accounts[index], &replay->phases);
}

/* The use of a device, or the user's level of it. */
static void load_device(struct vs_state_record *r, struct vs_replay *replay, bool usage)
{
    uint64_t index = 0;
    vs_state_u64(r, &index);
    struct vs_account *a = index < replay->account_count ? replay->accounts[index] : NULL;
    if (!valid(r, a && (usage ? !a->usage.contexts : !a->user.split)))
        return;
    if (usage) {
        vs_trace_state_io_usage(r, &a->usage);
        return;
    }
    a->user.split = true;
    vs_trace_state_io_user(r, a, &replay->phases);
}

/* The sites of the device come first, then those of frameworks. */
static void load_sites(struct vs_state_record *r, struct vs_replay *replay, uint8_t level)
{
    struct vs_sites *sites = &replay->sites;
    valid(r, level == VS_LEVEL_FRAMEWORK || !sites->count ||
                 sites->items[sites->count - 1].level == VS_LEVEL_DEVICE);
    while (more(r)) {
        struct vs_site site = {.level = level};
        level == VS_LEVEL_DEVICE ? vs_trace_state_io_site(r, &site)
                                 : vs_trace_state_io_framework_site(r, &site);
        if (!valid(r, replay->accounts[site.device]))
            return;
        bool touched = site.touched;
        site.touched = false;
        size_t before = sites->count;
        struct vs_site_key key = {site.stack, site.api, site.mark, site.device, level};
        uint32_t index = vs_sites_get(sites, &key);
        if (!valid(r, index == before)) /* otherwise it is a duplicate */
            return;
        sites->items[index] = site;
        if (touched)
            vs_sites_touch(sites, index);
    }
}

static size_t device_sites(const struct vs_replay *replay)
{
    size_t count = 0;
    while (count < replay->sites.count && replay->sites.items[count].level == VS_LEVEL_DEVICE)
        count++;
    return count;
}

static void load_backing(struct vs_state_record *r, struct vs_replay *replay)
{
    size_t count = device_sites(replay);
    while (more(r)) {
        uint64_t number = 0;
        vs_state_u64(r, &number);
        if (!valid(r, number < count && replay->sites.items[number].device != VS_HOST_INDEX))
            return;
        replay->sites.items[number].backing = true;
        vs_user_learn_pool(replay, replay->sites.items[number].stack);
    }
}

static void load_thread(struct vs_state_record *r, struct vs_phases *phases)
{
    uint32_t tid = 0, depth = 0;
    size_t before = phases->thread_count;
    vs_state_u32(r, &tid, UINT32_MAX);
    struct vs_thread *thread = vs_phases_thread(phases, tid);
    if (!valid(r, phases->thread_count > before))
        return;
    vs_state_u64(r, &thread->last_alloc);
    vs_state_u32(r, &depth, UINT32_MAX);
    uint32_t kept = depth < VS_RANGE_DEPTH_MAX ? depth : VS_RANGE_DEPTH_MAX;
    if (r->bad || !valid(r, !depth || vs_phases_room(phases, thread, kept)))
        return;
    for (uint32_t k = 0; k < kept; k++) {
        thread->ranges[k] = (struct vs_range){0};
        vs_trace_state_io_range(r, &thread->ranges[k], phases);
    }
    thread->depth = depth;
    vs_state_u64(r, &thread->last_framework_alloc);
}

static void load_map(struct vs_state_record *r, struct vs_map *map)
{
    while (more(r)) {
        uint64_t key = 0, value = 0;
        vs_state_u64(r, &key);
        vs_state_u64(r, &value);
        if (valid(r, key != 0))
            vs_xmap_put(map, key, value);
    }
}

static void load_live(struct vs_state_record *r, struct vs_live_table *table,
                      const struct vs_live *live)
{
    if (valid(r, live->addr && !vs_live_table_find(table, live->addr)))
        *vs_live_table_add(table, live->addr) = *live;
}

static void load_lives(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_trace_state_last_live last = {0};
    size_t sites = device_sites(replay);
    while (more(r)) {
        struct vs_live live = {.used = true};
        vs_trace_state_io_live(r, &live, &last);
        if (valid(r, live.site < sites && replay->accounts[live.device]))
            load_live(r, &replay->device_live, &live);
    }
}

/* A framework's blocks; their sites follow in a record of their own. */
static void load_framework(struct vs_state_record *r, struct vs_replay *replay)
{
    while (more(r)) {
        struct vs_live live = {.used = true, .counted = true, .level = VS_LEVEL_FRAMEWORK,
                               .device = VS_HOST_INDEX, .site = VS_SITE_NONE};
        vs_state_u64(r, &live.addr);
        vs_state_u64(r, &live.size);
        live.requested = live.size;
        load_live(r, &replay->framework_live, &live);
    }
}

/* Completes the rows of a live table, in the order in which they were added. */
static void load_births(struct vs_state_record *r, struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    while (more(r))
        if (valid(r, m->births < replay->device_live.slots))
            vs_trace_state_io_birth(r, &replay->device_live.items[m->births++], &replay->phases);
}

static void load_framework_births(struct vs_state_record *r, struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    struct vs_trace_state_last_live last = {0};
    size_t device = device_sites(replay), framework = replay->sites.count - device;
    while (more(r)) {
        if (!valid(r, m->framework_births < replay->framework_live.slots))
            return;
        struct vs_live *live = &replay->framework_live.items[m->framework_births];
        vs_trace_state_io_framework_birth(r, live, &last, &replay->phases);
        bool known = valid(r, live->site < framework && live->device < replay->account_count);
        live->site = known ? live->site + (uint32_t)device : VS_SITE_NONE;
        m->framework_births += known;
    }
}

/* Of blocks that are complete: their device is known. */
static void load_rounding(struct vs_state_record *r, struct vs_replay *replay)
{
    while (more(r)) {
        uint64_t addr = 0, rounding = 0;
        vs_state_u64(r, &addr);
        vs_state_u64(r, &rounding);
        struct vs_live *live = vs_live_table_find(&replay->framework_live, addr);
        if (!valid(r, live && live->requested == live->size && rounding < live->size))
            return;
        live->requested -= rounding;
        replay->accounts[live->device]->framework.now.requested -= rounding;
    }
}

/* The blocks of a state of an earlier version have no sites: gives them one, so that they can be
 * freed. */
static void adopt_blocks(struct vs_replay *replay)
{
    struct vs_site_key key = {0, 0, 0, VS_HOST_INDEX, VS_LEVEL_FRAMEWORK};
    uint32_t index = replay->framework_live.count ? vs_sites_get(&replay->sites, &key) : 0;
    for (size_t i = 0; i < replay->framework_live.slots; i++) {
        struct vs_live *live = &replay->framework_live.items[i];
        struct vs_site *site = &replay->sites.items[index];
        live->site = index;
        site->allocs++;
        site->live_count++;
        site->live_bytes += live->size;
    }
}

/* Segments or mappings, in the order of their addresses. */
static void load_segments(struct vs_state_record *r, const struct vs_replay *replay,
                          struct vs_segments *set,
                          void (*io)(struct vs_state_record *, struct vs_replay_segment *, uint64_t *))
{
    uint64_t last = 0;
    while (more(r)) {
        struct vs_replay_segment segment = {0};
        io(r, &segment, &last);
        if (valid(r, segment.size && segment.device < replay->account_count &&
                         (!set->count || segment.addr > set->items[set->count - 1].addr)))
            VS_VEC_ADD(set->items, set->count, set->capacity, segment);
    }
}

static void load_failure(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_failure failure = {0};
    vs_trace_state_io_failure(r, &failure, &replay->phases);
    if (!valid(r, replay->accounts[failure.account] && replay->failure_count < VS_FAILURES_KEPT))
        return;
    VS_VEC_ADD(replay->failures, replay->failure_count, replay->failure_capacity, failure);
    replay->failures_open += !failure.recovered;
}

static void load_activity(struct vs_state_record *r, struct vs_activity *activity, bool kernels)
{
    while (more(r)) {
        struct vs_kernel_row kernel = {0};
        struct vs_device_activity device = {0};
        if (kernels)
            vs_trace_state_io_kernel(r, &kernel);
        else
            vs_trace_state_io_device_activity(r, &device);
        if (!r->bad)
            r->bad = !(kernels ? vs_activity_restore_kernel(activity, &kernel)
                               : vs_activity_restore_device(activity, &device));
    }
}

static void load_events(struct vs_state_record *r, struct vs_retained *retained)
{
    while (more(r)) {
        struct vs_event event;
        vs_trace_state_io_event(r, &event);
        if (!r->bad)
            vs_retained_event(retained, &event);
    }
}

enum vs_err vs_trace_state_load(void *context, const unsigned char *bytes, size_t count)
{
    struct vs_state_record record = {0}, *r = &record;
    struct vs_trace_state *m = context;
    struct vs_replay *replay = m->replay;
    unsigned tag;
    while ((tag = vs_state_next(r, &bytes, &count)) != 0) {
        switch ((enum vs_trace_state_tag)tag) { /* others: written by a newer version */
        case VS_TRACE_STATE_TOTALS: vs_trace_state_io_totals(r, m); break;
        case VS_TRACE_STATE_PHASE: load_phase(r, &replay->phases); break;
        case VS_TRACE_STATE_ACCOUNT: load_account(r, replay); break;
        case VS_TRACE_STATE_USAGE: load_device(r, replay, true); break;
        case VS_TRACE_STATE_SITES: load_sites(r, replay, VS_LEVEL_DEVICE); break;
        case VS_TRACE_STATE_THREAD: load_thread(r, &replay->phases); break;
        case VS_TRACE_STATE_OPEN_STEPS: load_map(r, &replay->phases.open_steps); break;
        case VS_TRACE_STATE_LIVE: load_lives(r, replay); break;
        case VS_TRACE_STATE_SEGMENTS:
            load_segments(r, replay, &replay->segments, vs_trace_state_io_segment);
            break;
        case VS_TRACE_STATE_FRAMEWORK: load_framework(r, replay); break;
        case VS_TRACE_STATE_FAILURE: load_failure(r, replay); break;
        case VS_TRACE_STATE_KERNELS: load_activity(r, &m->activity, true); break;
        case VS_TRACE_STATE_ACTIVITY: load_activity(r, &m->activity, false); break;
        case VS_TRACE_STATE_EVENTS: load_events(r, &m->retained); break;
        case VS_TRACE_STATE_USER: load_device(r, replay, false); break;
        case VS_TRACE_STATE_FRAMEWORK_SITES: load_sites(r, replay, VS_LEVEL_FRAMEWORK); break;
        case VS_TRACE_STATE_FRAMEWORK_BIRTHS: load_framework_births(r, m); break;
        case VS_TRACE_STATE_BIRTHS: load_births(r, m); break;
        case VS_TRACE_STATE_ROUNDING: load_rounding(r, replay); break;
        case VS_TRACE_STATE_BACKING: load_backing(r, replay); break;
        case VS_TRACE_STATE_MAPPINGS:
            load_segments(r, replay, &replay->mappings, vs_trace_state_io_mapping);
            break;
        }
    }
    return record.bad ? VS_ERR_CORRUPT : VS_OK;
}

enum vs_err vs_trace_state_loaded(struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    bool split = false, backing = false, backing_is_split = true;
    for (unsigned i = 0; i < replay->account_count; i++)
        split |= replay->accounts[i]->user.split;
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        backing |= site->backing;
        /* memory that holds a framework's blocks is of a device whose user's level is kept */
        backing_is_split &= !site->backing || replay->accounts[site->device]->user.split;
    }
    /* all rows of live memory are complete; a state of an earlier version has no parts that only later
     * ones write */
    bool is_valid = m->has_user_level
                        ? m->births == replay->device_live.slots && backing_is_split &&
                              m->framework_births == replay->framework_live.slots
                        : !m->births && !m->framework_births && !split && !backing &&
                              device_sites(replay) == replay->sites.count;
    if (!is_valid)
        return VS_ERR_CORRUPT;
    if (!m->has_user_level)
        adopt_blocks(replay);
    return replay->events && vs_replay_check(replay) ? VS_OK : VS_ERR_CORRUPT;
}
