/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a moment from the records of its state, one function per kind of record. Values are
 * checked as far as later code depends on them: indexes, order, no duplicates. Maps are rebuilt. */
#include <stdlib.h>

#include "analysis/checkpoint/trace_state_fields.h"
#include "analysis/state/vec.h"

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
    if (phase.peak_count) {
        phase.peaks = calloc(phase.peak_count, sizeof *phase.peaks);
        if (!phase.peaks)
            return VS_ERR_NOMEM;
    }
    for (unsigned d = 0; d < phase.peak_count; d++)
        vs_state_u64(r, &phase.peaks[d]);
    return vs_phases_restore(phases, index, &phase, name, length, prefix_length ? prefix : NULL,
                             prefix_length ? prefix_length - 1 : 0);
}

static enum vs_err load_account(struct vs_state_record *r, struct vs_replay *replay)
{
    bool host = false;
    vs_state_bool(r, &host);
    struct vs_account *account = replay->accounts[VS_HOST_INDEX];
    if (!host) {
        if (replay->account_count == VS_DEVICES_MAX)
            return VS_ERR_CORRUPT;
        account = calloc(1, sizeof *account);
        if (!account)
            return VS_ERR_NOMEM;
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

static enum vs_err load_sites(struct vs_state_record *r, struct vs_replay *replay)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_site site = {0};
        uint32_t index;
        vs_trace_state_io_site(r, &site);
        if (r->bad || !replay->accounts[site.device])
            return VS_ERR_CORRUPT;
        bool touched = site.touched;
        site.touched = false;
        size_t before = replay->sites.count;
        err = vs_sites_get(&replay->sites, site.stack, site.api, site.device, &index);
        if (!err && index != before)
            return VS_ERR_CORRUPT; /* duplicate */
        if (!err)
            replay->sites.items[index] = site;
        if (!err && touched)
            err = vs_sites_touch(&replay->sites, index);
    }
    return err;
}

static enum vs_err load_thread(struct vs_state_record *r, struct vs_phases *phases)
{
    uint32_t tid = 0;
    struct vs_thread *thread;
    size_t before = phases->thread_count;
    vs_state_u32(r, &tid, UINT32_MAX);
    enum vs_err err = vs_phases_thread(phases, tid, &thread);
    if (err)
        return err;
    if (phases->thread_count == before)
        return VS_ERR_CORRUPT;
    vs_state_u64(r, &thread->last_alloc);
    uint32_t depth = 0;
    vs_state_u32(r, &depth, UINT32_MAX);
    if (!depth || r->bad)
        return VS_OK;
    uint32_t kept = depth < VS_RANGE_DEPTH_MAX ? depth : VS_RANGE_DEPTH_MAX;
    err = vs_phases_room(phases, thread, kept);
    if (err)
        return err == VS_ERR_LIMIT ? VS_ERR_CORRUPT : err;
    for (uint32_t k = 0; k < kept; k++) {
        thread->ranges[k] = (struct vs_range){0};
        vs_trace_state_io_range(r, &thread->ranges[k], phases);
    }
    thread->depth = depth;
    return VS_OK;
}

static enum vs_err load_map(struct vs_state_record *r, struct vs_map *map)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        uint64_t key = 0, value = 0;
        vs_state_u64(r, &key);
        vs_state_u64(r, &value);
        if (!key || r->bad)
            return VS_ERR_CORRUPT;
        err = vs_map_put(map, key, value);
    }
    return err;
}

static enum vs_err load_lives(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_trace_state_last_live last = {0};
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_live live = {.used = true};
        vs_trace_state_io_live(r, &live, &last);
        if (r->bad || !live.addr || vs_map_get(&replay->by_addr, live.addr) ||
            live.site >= replay->sites.count || !replay->accounts[live.device] ||
            replay->live_slots >= UINT32_MAX - 1)
            return VS_ERR_CORRUPT;
        err = vs_vec_grow(&replay->lives, &replay->live_capacity, replay->live_slots + 1,
                          sizeof *replay->lives);
        if (!err)
            err = vs_map_put(&replay->by_addr, live.addr, replay->live_slots);
        if (err)
            return err;
        replay->lives[replay->live_slots++] = live;
        replay->live_count++;
    }
    return err;
}

static enum vs_err load_segments(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_segments *set = &replay->segments;
    uint64_t last = 0;
    while (!r->bad && r->next < r->end) {
        struct vs_replay_segment segment = {0};
        vs_trace_state_io_segment(r, &segment, &last);
        if (r->bad || !segment.size || segment.device >= replay->account_count ||
            (set->count && segment.addr <= set->items[set->count - 1].addr))
            return VS_ERR_CORRUPT;
        enum vs_err err = vs_vec_grow(&set->items, &set->capacity, set->count + 1,
                                      sizeof *set->items);
        if (err)
            return err;
        set->items[set->count++] = segment;
    }
    return VS_OK;
}

static enum vs_err load_failure(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_failure failure = {0};
    vs_trace_state_io_failure(r, &failure, &replay->phases);
    if (r->bad || !replay->accounts[failure.account] || replay->failure_count == VS_FAILURES_KEPT)
        return VS_ERR_CORRUPT;
    enum vs_err err = vs_vec_grow(&replay->failures, &replay->failure_capacity,
                                  replay->failure_count + 1, sizeof *replay->failures);
    if (err)
        return err;
    replay->failures[replay->failure_count++] = failure;
    replay->failures_open += !failure.recovered;
    return VS_OK;
}

static enum vs_err load_activity(struct vs_state_record *r, struct vs_activity *activity,
                                 enum vs_trace_state_tag tag)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        if (tag == VS_TRACE_STATE_KERNELS) {
            struct vs_kernel_row row = {0};
            vs_trace_state_io_kernel(r, &row);
            err = r->bad ? VS_ERR_CORRUPT : vs_activity_restore_kernel(activity, &row);
        } else {
            struct vs_device_activity row = {0};
            vs_trace_state_io_device_activity(r, &row);
            err = r->bad ? VS_ERR_CORRUPT : vs_activity_restore_device(activity, &row);
        }
    }
    return err;
}

static enum vs_err load_events(struct vs_state_record *r, struct vs_retained *retained)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_event event;
        vs_trace_state_io_event(r, &event);
        err = r->bad ? VS_ERR_CORRUPT : vs_retained_event(retained, &event);
    }
    return err;
}

static enum vs_err load_record(struct vs_state_record *r, struct vs_trace_state *m, unsigned tag)
{
    switch ((enum vs_trace_state_tag)tag) {
    case VS_TRACE_STATE_TOTALS: vs_trace_state_io_totals(r, m); return VS_OK;
    case VS_TRACE_STATE_PHASE: return load_phase(r, &m->replay->phases);
    case VS_TRACE_STATE_ACCOUNT: return load_account(r, m->replay);
    case VS_TRACE_STATE_USAGE: return load_usage(r, m->replay);
    case VS_TRACE_STATE_SITES: return load_sites(r, m->replay);
    case VS_TRACE_STATE_THREAD: return load_thread(r, &m->replay->phases);
    case VS_TRACE_STATE_OPEN_STEPS: return load_map(r, &m->replay->phases.open_steps);
    case VS_TRACE_STATE_LIVE: return load_lives(r, m->replay);
    case VS_TRACE_STATE_SEGMENTS: return load_segments(r, m->replay);
    case VS_TRACE_STATE_FRAMEWORK: return load_map(r, &m->replay->framework_live);
    case VS_TRACE_STATE_FAILURE: return load_failure(r, m->replay);
    case VS_TRACE_STATE_KERNELS:
    case VS_TRACE_STATE_ACTIVITY:
        return load_activity(r, &m->activity, (enum vs_trace_state_tag)tag);
    case VS_TRACE_STATE_EVENTS: return load_events(r, &m->retained);
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

enum vs_err vs_trace_state_loaded(struct vs_trace_state *m)
{
    return m->replay->events && vs_replay_check(m->replay) ? VS_OK : VS_ERR_CORRUPT;
}
