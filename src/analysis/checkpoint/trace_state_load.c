/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a state from its records, one function per kind of record. Values are
 * checked as far as later code depends on them: indexes, order, no duplicates. Maps are rebuilt. */
#include <stdlib.h>

#include "analysis/checkpoint/trace_state_fields.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static enum vs_err load_phase(struct vs_state_record *r, struct vs_phases *phases)
{
    const char *name, *prefix;
    size_t length, prefix_length;
    struct vs_phase phase = {0};
    uint64_t index = 0;
    vs_state_u64(r, &index);
    vs_state_u32(r, &phase.parent, (uint32_t)phases->count - 1);
    vs_state_bool(r, &phase.is_step);
    vs_state_text(r, &name, &length);
    vs_state_text(r, &prefix, &prefix_length);
    vs_state_u64(r, &phase.times);
    vs_state_u64(r, &phase.time_ns);
    vs_state_u64(r, &phase.allocs);
    vs_state_u64(r, &phase.alloc_bytes);
    vs_state_u32(r, &phase.peak_count, VS_HOST_INDEX + 1);
    if (r->bad)
        return VS_ERR_CORRUPT;
    if (phase.peak_count)
        phase.peaks = vs_xcalloc(phase.peak_count, sizeof *phase.peaks);
    for (unsigned d = 0; d < phase.peak_count; d++)
        vs_state_u64(r, &phase.peaks[d]);
    vs_trace_state_io_phase_user(r, &phase);
    if (r->bad) {
        free(phase.peaks);
        return VS_ERR_CORRUPT;
    }
    if (phase.user_count)
        phase.user_peaks = vs_xcalloc(phase.user_count, sizeof *phase.user_peaks);
    for (unsigned d = 0; d < phase.user_count; d++)
        vs_state_u64(r, &phase.user_peaks[d]);
    return vs_phases_restore(phases, index, &phase, name, length, prefix_length ? prefix : NULL,
                             prefix_length ? prefix_length - 1 : 0) ? VS_OK : VS_ERR_CORRUPT;
}

static enum vs_err load_account(struct vs_state_record *r, struct vs_replay *replay)
{
    bool host = false;
    vs_state_bool(r, &host);
    struct vs_account *account = replay->accounts[VS_HOST_INDEX];
    if (!host) {
        if (replay->account_count == VS_DEVICES_MAX)
            return VS_ERR_CORRUPT;
        account = vs_xcalloc(1, sizeof *account);
        replay->accounts[replay->account_count++] = account;
    }
    vs_trace_state_io_account(r, account, &replay->phases);
    return VS_OK;
}

static enum vs_err load_usage(struct vs_state_record *r, struct vs_replay *replay)
{
    uint64_t index = 0;
    vs_state_u64(r, &index);
    if (index >= replay->account_count || replay->accounts[index]->usage.contexts)
        return VS_ERR_CORRUPT;
    vs_trace_state_io_usage(r, &replay->accounts[index]->usage);
    return VS_OK;
}

static enum vs_err load_user(struct vs_state_record *r, struct vs_replay *replay)
{
    uint64_t index = 0;
    vs_state_u64(r, &index);
    if (index >= replay->account_count || replay->accounts[index]->user.split)
        return VS_ERR_CORRUPT;
    replay->accounts[index]->user.split = true;
    vs_trace_state_io_user(r, replay->accounts[index], &replay->phases);
    return VS_OK;
}

/* The sites of the device come first, then those of frameworks. */
static enum vs_err load_sites(struct vs_state_record *r, struct vs_replay *replay, uint8_t level)
{
    struct vs_sites *sites = &replay->sites;
    if (level == VS_LEVEL_DEVICE && sites->count &&
        sites->items[sites->count - 1].level == VS_LEVEL_FRAMEWORK)
        return VS_ERR_CORRUPT;
    while (!r->bad && r->next < r->end) {
        struct vs_site site = {.level = level};
        level == VS_LEVEL_DEVICE ? vs_trace_state_io_site(r, &site)
                                 : vs_trace_state_io_framework_site(r, &site);
        if (r->bad || !replay->accounts[site.device])
            return VS_ERR_CORRUPT;
        bool touched = site.touched;
        site.touched = false;
        size_t before = sites->count;
        struct vs_site_key key = {site.stack, site.api, site.mark, site.device, level};
        uint32_t index = vs_sites_get(sites, &key);
        if (index != before)
            return VS_ERR_CORRUPT; /* duplicate */
        sites->items[index] = site;
        if (touched)
            vs_sites_touch(sites, index);
    }
    return VS_OK;
}

static size_t device_sites(const struct vs_replay *replay)
{
    size_t count = 0;
    while (count < replay->sites.count && replay->sites.items[count].level == VS_LEVEL_DEVICE)
        count++;
    return count;
}

static enum vs_err load_backing(struct vs_state_record *r, struct vs_replay *replay)
{
    size_t count = device_sites(replay);
    while (!r->bad && r->next < r->end) {
        uint64_t number = 0;
        vs_state_u64(r, &number);
        if (r->bad || number >= count || replay->sites.items[number].device == VS_HOST_INDEX)
            return VS_ERR_CORRUPT;
        replay->sites.items[number].backing = true;
    }
    return VS_OK;
}

static enum vs_err load_thread(struct vs_state_record *r, struct vs_phases *phases)
{
    uint32_t tid = 0;
    size_t before = phases->thread_count;
    vs_state_u32(r, &tid, UINT32_MAX);
    struct vs_thread *thread = vs_phases_thread(phases, tid);
    if (phases->thread_count == before)
        return VS_ERR_CORRUPT;
    vs_state_u64(r, &thread->last_alloc);
    uint32_t depth = 0;
    vs_state_u32(r, &depth, UINT32_MAX);
    if (r->bad)
        return VS_OK;
    uint32_t kept = depth < VS_RANGE_DEPTH_MAX ? depth : VS_RANGE_DEPTH_MAX;
    if (depth && !vs_phases_room(phases, thread, kept))
        return VS_ERR_CORRUPT;
    for (uint32_t k = 0; k < kept; k++) {
        thread->ranges[k] = (struct vs_range){0};
        vs_trace_state_io_range(r, &thread->ranges[k], phases);
    }
    thread->depth = depth;
    vs_state_u64(r, &thread->last_framework_alloc);
    return VS_OK;
}

static enum vs_err load_map(struct vs_state_record *r, struct vs_map *map)
{
    while (!r->bad && r->next < r->end) {
        uint64_t key = 0, value = 0;
        vs_state_u64(r, &key);
        vs_state_u64(r, &value);
        if (!key || r->bad)
            return VS_ERR_CORRUPT;
        vs_xmap_put(map, key, value);
    }
    return VS_OK;
}

static enum vs_err load_live(struct vs_live_table *table, const struct vs_live *live)
{
    if (!live->addr || vs_live_table_find(table, live->addr))
        return VS_ERR_CORRUPT;
    *vs_live_table_add(table, live->addr) = *live;
    return VS_OK;
}

static enum vs_err load_lives(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_trace_state_last_live last = {0};
    size_t sites = device_sites(replay);
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_live live = {.used = true};
        vs_trace_state_io_live(r, &live, &last);
        if (r->bad || live.site >= sites || !replay->accounts[live.device])
            return VS_ERR_CORRUPT;
        err = load_live(&replay->device_live, &live);
    }
    return err;
}

/* A framework's blocks; their sites follow in a record of their own. */
static enum vs_err load_framework(struct vs_state_record *r, struct vs_replay *replay)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_live live = {.used = true, .counted = true, .level = VS_LEVEL_FRAMEWORK,
                               .device = VS_HOST_INDEX, .site = VS_SITE_NONE};
        vs_state_u64(r, &live.addr);
        vs_state_u64(r, &live.size);
        live.requested = live.size;
        if (r->bad)
            return VS_ERR_CORRUPT;
        err = load_live(&replay->framework_live, &live);
    }
    return err;
}

/* Completes the rows of a live table, in the order in which they were added. */
static enum vs_err load_births(struct vs_state_record *r, struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    while (!r->bad && r->next < r->end) {
        if (m->births == replay->device_live.slots)
            return VS_ERR_CORRUPT;
        vs_trace_state_io_birth(r, &replay->device_live.items[m->births++], &replay->phases);
    }
    return VS_OK;
}

static enum vs_err load_framework_births(struct vs_state_record *r, struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    struct vs_trace_state_last_live last = {0};
    size_t device = device_sites(replay), framework = replay->sites.count - device;
    while (!r->bad && r->next < r->end) {
        if (m->framework_births == replay->framework_live.slots)
            return VS_ERR_CORRUPT;
        struct vs_live *live = &replay->framework_live.items[m->framework_births];
        vs_trace_state_io_framework_birth(r, live, &last, &replay->phases);
        if (r->bad || live->site >= framework || live->device >= replay->account_count) {
            live->site = VS_SITE_NONE;
            return VS_ERR_CORRUPT;
        }
        live->site += (uint32_t)device;
        m->framework_births++;
    }
    return VS_OK;
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
static enum vs_err load_segments(struct vs_state_record *r, struct vs_replay *replay,
                                 struct vs_segments *set)
{
    uint64_t last = 0;
    while (!r->bad && r->next < r->end) {
        struct vs_replay_segment segment = {0};
        if (set == &replay->mappings)
            vs_trace_state_io_mapping(r, &segment, &last);
        else
            vs_trace_state_io_segment(r, &segment, &last);
        if (r->bad || !segment.size || segment.device >= replay->account_count ||
            (set->count && segment.addr <= set->items[set->count - 1].addr))
            return VS_ERR_CORRUPT;
        VS_VEC_ADD(set->items, set->count, set->capacity, segment);
    }
    return VS_OK;
}

static enum vs_err load_failure(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_failure failure = {0};
    vs_trace_state_io_failure(r, &failure, &replay->phases);
    if (r->bad || !replay->accounts[failure.account] || replay->failure_count == VS_FAILURES_KEPT)
        return VS_ERR_CORRUPT;
    vs_vec_room(&replay->failures, &replay->failure_capacity,
                replay->failure_count + 1, sizeof *replay->failures);
    replay->failures[replay->failure_count++] = failure;
    replay->failures_open += !failure.recovered;
    return VS_OK;
}

static enum vs_err load_activity(struct vs_state_record *r, struct vs_activity *activity,
                                 enum vs_trace_state_tag tag)
{
    while (!r->bad && r->next < r->end) {
        struct vs_kernel_row kernel = {0};
        struct vs_device_activity device = {0};
        if (tag == VS_TRACE_STATE_KERNELS)
            vs_trace_state_io_kernel(r, &kernel);
        else
            vs_trace_state_io_device_activity(r, &device);
        if (r->bad || !(tag == VS_TRACE_STATE_KERNELS ? vs_activity_restore_kernel(activity, &kernel)
                                                      : vs_activity_restore_device(activity, &device)))
            return VS_ERR_CORRUPT;
    }
    return VS_OK;
}

static enum vs_err load_events(struct vs_state_record *r, struct vs_retained *retained)
{
    while (!r->bad && r->next < r->end) {
        struct vs_event event;
        vs_trace_state_io_event(r, &event);
        if (r->bad)
            return VS_ERR_CORRUPT;
        vs_retained_event(retained, &event);
    }
    return VS_OK;
}

static enum vs_err load_record(struct vs_state_record *r, struct vs_trace_state *m, unsigned tag)
{
    switch ((enum vs_trace_state_tag)tag) {
    case VS_TRACE_STATE_TOTALS: vs_trace_state_io_totals(r, m); return VS_OK;
    case VS_TRACE_STATE_PHASE: return load_phase(r, &m->replay->phases);
    case VS_TRACE_STATE_ACCOUNT: return load_account(r, m->replay);
    case VS_TRACE_STATE_USAGE: return load_usage(r, m->replay);
    case VS_TRACE_STATE_SITES: return load_sites(r, m->replay, VS_LEVEL_DEVICE);
    case VS_TRACE_STATE_THREAD: return load_thread(r, &m->replay->phases);
    case VS_TRACE_STATE_OPEN_STEPS: return load_map(r, &m->replay->phases.open_steps);
    case VS_TRACE_STATE_LIVE: return load_lives(r, m->replay);
    case VS_TRACE_STATE_SEGMENTS: return load_segments(r, m->replay, &m->replay->segments);
    case VS_TRACE_STATE_FRAMEWORK: return load_framework(r, m->replay);
    case VS_TRACE_STATE_FAILURE: return load_failure(r, m->replay);
    case VS_TRACE_STATE_KERNELS:
    case VS_TRACE_STATE_ACTIVITY:
        return load_activity(r, &m->activity, (enum vs_trace_state_tag)tag);
    case VS_TRACE_STATE_EVENTS: return load_events(r, &m->retained);
    case VS_TRACE_STATE_USER: return load_user(r, m->replay);
    case VS_TRACE_STATE_FRAMEWORK_SITES: return load_sites(r, m->replay, VS_LEVEL_FRAMEWORK);
    case VS_TRACE_STATE_FRAMEWORK_BIRTHS: return load_framework_births(r, m);
    case VS_TRACE_STATE_BIRTHS: return load_births(r, m);
    case VS_TRACE_STATE_BACKING: return load_backing(r, m->replay);
    case VS_TRACE_STATE_MAPPINGS: return load_segments(r, m->replay, &m->replay->mappings);
    }
    return VS_OK; /* written by a newer version */
}

enum vs_err vs_trace_state_load(void *context, const unsigned char *bytes, size_t count)
{
    struct vs_trace_state *m = context;
    struct vs_state_record record = {0};
    unsigned tag;
    while ((tag = vs_state_next(&record, &bytes, &count)) != 0) {
        enum vs_err err = load_record(&record, m, tag);
        if (err)
            return err;
    }
    return record.bad ? VS_ERR_CORRUPT : VS_OK;
}

/* Whether all rows of live memory are complete. */
static bool all_born(const struct vs_trace_state *m)
{
    return m->births == m->replay->device_live.slots &&
           m->framework_births == m->replay->framework_live.slots;
}

/* Whether a state of an earlier version has parts that only later ones write. */
static bool knows_users(const struct vs_trace_state *m)
{
    const struct vs_replay *replay = m->replay;
    bool any = m->births || m->framework_births || device_sites(replay) < replay->sites.count;
    for (unsigned i = 0; i < replay->account_count; i++)
        any |= replay->accounts[i]->user.split;
    for (size_t i = 0; i < replay->sites.count; i++)
        any |= replay->sites.items[i].backing;
    return any;
}

/* Memory that holds a framework's blocks is of a device whose user's level is kept. */
static bool backing_is_split(const struct vs_replay *replay)
{
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        if (site->backing && !replay->accounts[site->device]->user.split)
            return false;
    }
    return true;
}

enum vs_err vs_trace_state_loaded(struct vs_trace_state *m)
{
    if (m->has_user_level ? !all_born(m) || !backing_is_split(m->replay) : knows_users(m))
        return VS_ERR_CORRUPT;
    if (!m->has_user_level)
        adopt_blocks(m->replay);
    return m->replay->events && vs_replay_check(m->replay) ? VS_OK : VS_ERR_CORRUPT;
}
