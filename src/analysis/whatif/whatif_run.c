/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the request log under one setting. The allocator places the requests on a device of
 * addresses (limited_device.c) that shrinks and grows with the memory that is not replayed. The
 * order of attempts when memory is short is that of the recorded side: vramscope's cache releases
 * what it has, also for other memory of the program, and at last asks the driver for the request
 * alone; PyTorch's allocator releases its own cache and fails. */
#include <stdlib.h>

#include "analysis/state/driver_pages.h"
#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"

/* --- rules about single call sites ---
 *
 * Which blocks of such a site are live, oldest first, and which of them end with a step. Only blocks of sites
 * with a rule are linked. Blocks allocated before the first step stay: they are the program's permanent
 * memory. */

struct ruled_site {
    const struct vs_whatif_site *rule; /* NULL: none */
    uint32_t first, last;              /* live blocks, slot + 1; 0: none */
};

struct site_rules {
    bool any;
    uint64_t steps;           /* steps that have begun */
    struct ruled_site *sites; /* by number; NULL: no rules */
    size_t site_count;
    struct ruled_slot {
        uint32_t before, after; /* slot + 1 */
        uint32_t site;
        bool linked;
        uint64_t step;          /* begun at its allocation */
    } *slots;
};

static void site_rules_remove(struct site_rules *rules, uint32_t slot)
{
    struct ruled_slot *s = &rules->slots[slot];
    struct ruled_site *site = &rules->sites[s->site];
    if (!s->linked)
        return;
    *(s->before ? &rules->slots[s->before - 1].after : &site->first) = s->after;
    *(s->after ? &rules->slots[s->after - 1].before : &site->last) = s->before;
    s->linked = false;
}

/* --- one run --- */

enum block_server { NOWHERE, IN_CACHE, IN_ORDERED, IN_DRIVER };
#define CACHES 2 /* IN_CACHE, IN_ORDERED */

/* More than any device has: the trace is damaged, and its pages would take a long time. */
#define PEAK_MAX (UINT64_C(16) << 40)

struct setting_slot {
    uint64_t addr, bytes; /* bytes: of the block */
    enum block_server server;
};

struct setting_run {
    const struct vs_whatif_log *log;
    const struct vs_whatif_setting *setting;
    struct vs_whatif_outcome *out;
    struct vs_allocator_config config;
    bool driver;      /* no cache */
    bool makes_room;  /* the cache releases memory for others, and falls back on the driver */
    bool strict;      /* memory outside that no longer fits is a failure */
    bool ended;
    struct vs_limited_device device;
    struct vs_allocator *caches[CACHES];
    struct setting_slot *slots;
    struct site_rules rules;
    uint64_t allocated, steps, fallbacks;
    size_t found; /* steps of the log's that have begun */
    uint64_t pool_freed; /* bytes freed in stream-ordered pools so far */
};

/* Releases all cached memory; returns whether there was any. */
static bool empty_caches(struct setting_run *r)
{
    uint64_t before = r->device.pages;
    for (int i = 0; i < CACHES; i++) {
        if (r->caches[i])
            (void)!vs_allocator_empty_cache(r->caches[i], NULL);
    }
    return r->device.pages < before;
}

/* --- requests --- */

static enum vs_err from_driver(struct setting_run *r, uint64_t bytes, struct setting_slot *slot)
{
    enum vs_err err = vs_limited_take(&r->device, bytes, &slot->addr);
    if (!err) {
        slot->bytes = bytes;
        slot->server = IN_DRIVER;
    }
    return err;
}

static enum vs_err from_cache(struct setting_run *r, const struct vs_request_entry *e,
                              struct setting_slot *slot)
{
    enum block_server server = e->lane & VS_LANE_ORDERED ? IN_ORDERED : IN_CACHE;
    struct vs_allocator **cache = &r->caches[server - IN_CACHE];
    struct vs_allocation got;
    enum vs_err err = *cache ? VS_OK
                             : vs_allocator_create(&r->config, &vs_limited_device_ops, &r->device,
                                                   NULL, NULL, cache);
    if (!err)
        err = vs_allocator_malloc(*cache, e->bytes, e->lane & ~VS_LANE_ORDERED, &got);
    if (err == VS_ERR_DEVICE_OOM && r->makes_room) {
        if (empty_caches(r)) { /* of the other one */
            r->fallbacks++;
            err = vs_allocator_malloc(*cache, e->bytes, e->lane & ~VS_LANE_ORDERED, &got);
        }
        if (err == VS_ERR_DEVICE_OOM && server == IN_CACHE)
            return from_driver(r, e->bytes, slot);
    }
    if (err)
        return err;
    *slot = (struct setting_slot){got.addr, got.size, server};
    return VS_OK;
}

static enum vs_err serve(struct setting_run *r, const struct vs_request_entry *e, struct setting_slot *slot)
{
    slot->server = NOWHERE;
    if (!e->bytes)
        return VS_OK;
    enum vs_err err = r->driver ? from_driver(r, e->bytes, slot) : from_cache(r, e, slot);
    if (!err)
        r->allocated += slot->bytes;
    return err;
}

static void end_slot(struct setting_run *r, struct setting_slot *slot)
{
    if (slot->server == NOWHERE)
        return;
    r->allocated -= slot->bytes;
    if (slot->server == IN_DRIVER)
        vs_limited_give(&r->device, slot->addr, slot->bytes);
    else
        (void)!vs_allocator_free(r->caches[slot->server - IN_CACHE], slot->addr);
    slot->server = NOWHERE;
}

static void note_peaks(struct setting_run *r)
{
    struct vs_whatif_outcome *out = r->out;
    const struct vs_limited_device *d = &r->device;
    uint64_t held = d->reserved + d->limited + d->managed, used = vs_limited_used(d);
    if (held > out->held_peak)
        out->held_peak = held;
    if (used > out->used_peak) {
        out->used_peak = used;
        out->fullest = (struct vs_whatif_fullest){
            d->reserved, d->pages - d->reserved, d->other + d->pool_live, d->pool_kept, d->outside,
            d->others};
    }
    if (d->reserved > out->reserved_peak) {
        out->reserved_peak = d->reserved;
        out->allocated_at_peak = 0;
    }
    if (d->reserved == out->reserved_peak && r->allocated > out->allocated_at_peak)
        out->allocated_at_peak = r->allocated;
    if (r->allocated > out->allocated_peak)
        out->allocated_peak = r->allocated;
    struct vs_whatif_curve *curve = r->setting->curve;
    if (!curve || !curve->count)
        return;
    uint64_t *reserved = &curve->reserved[curve->count - 1], *in_use = &curve->allocated[curve->count - 1];
    *reserved = d->reserved > *reserved ? d->reserved : *reserved;
    *in_use = r->allocated > *in_use ? r->allocated : *in_use;
}

/* The buckets of the curve up to that of *event* begin with the present levels. */
static void draw_until(struct setting_run *r, uint64_t event)
{
    struct vs_whatif_curve *curve = r->setting->curve;
    for (; curve->count < r->log->edge_count && r->log->edges[curve->count] <= event; curve->count++) {
        curve->reserved[curve->count] = r->device.reserved;
        curve->allocated[curve->count] = r->allocated;
    }
}

/* A request, or *other* memory, needed *need* bytes and was *lacking* of them. */
static void fail(struct setting_run *r, const struct vs_request_entry *e, bool other, uint64_t need,
                 uint64_t lacking)
{
    struct vs_whatif_outcome *out = r->out;
    r->ended = true;
    out->fail_event = e->event;
    out->fail_other = other;
    out->fail_requested = e->bytes;
    out->fail_steps = r->steps;
    out->fail_need = need;
    out->fail_short = lacking;
}

static enum vs_err take_request(struct setting_run *r, const struct vs_request_entry *e)
{
    struct setting_slot *slot = &r->slots[e->slot];
    slot->server = NOWHERE;
    const struct vs_whatif_site *rule = r->rules.any ? r->rules.sites[e->site].rule : NULL;
    if (rule && rule->rule == VS_WHATIF_ABSENT && e->bytes >= rule->bytes_min)
        return VS_OK;
    enum vs_err err = serve(r, e, slot);
    if (err == VS_ERR_DEVICE_OOM) {
        fail(r, e, false, r->device.refused_need, r->device.refused_short);
        return VS_OK;
    }
    if (err)
        return err;
    if (rule) {
        uint32_t number = e->slot + 1, last = r->rules.sites[e->site].last;
        r->rules.slots[e->slot] = (struct ruled_slot){.before = last, .site = e->site, .linked =
                                                      true, .step = r->rules.steps};
        *(last ? &r->rules.slots[last - 1].after : &r->rules.sites[e->site].first) = number;
        r->rules.sites[e->site].last = number;
    }
    r->out->requests++;
    note_peaks(r);
    return VS_OK;
}

/* A request that failed when recorded: what became of its memory later is unknown. */
static enum vs_err take_failed(struct setting_run *r, const struct vs_request_entry *e)
{
    bool last = e->event == r->log->recorded.last_failure;
    struct setting_slot slot;
    if (r->rules.any && r->rules.sites[e->site].rule && r->rules.sites[e->site].rule->failed_too)
        return VS_OK;
    enum vs_err err = serve(r, e, &slot);
    if (err && err != VS_ERR_DEVICE_OOM)
        return err;
    if (!err)
        note_peaks(r);
    if (last)
        r->out->used_at_last = vs_limited_used(&r->device);
    r->out->served_probes += !err && !last;
    r->out->failed_probes += err && !last;
    if (err && last)
        fail(r, e, false, r->device.refused_need, r->device.refused_short);
    else if (!err)
        end_slot(r, &slot);
    return VS_OK;
}

/* Memory of another family that could not be had when recorded. */
static void take_other_failed(struct setting_run *r, const struct vs_request_entry *e)
{
    bool last = e->event == r->log->recorded.last_failure;
    struct vs_limited_device *d = &r->device;
    d->other += e->bytes;
    d->limited += e->bytes;
    if (vs_limited_over(d) && r->makes_room)
        empty_caches(r);
    uint64_t over = vs_limited_over(d);
    if (!over)
        note_peaks(r);
    if (last)
        r->out->used_at_last = vs_limited_used(d) - (over ? e->bytes : 0);
    r->out->served_probes += !over && !last;
    r->out->failed_probes += over && !last;
    if (over && last)
        fail(r, e, true, e->bytes, over);
    d->other -= e->bytes;
    d->limited -= e->bytes;
}

/* --- memory that is not replayed --- */

static void set_pools(struct setting_run *r, uint64_t live, uint64_t held)
{
    uint64_t kept = held > live ? held - live : 0, keep = r->setting->pool_keep;
    if (live < r->device.pool_live)
        r->pool_freed += r->device.pool_live - live;
    uint64_t stays = kept - vs_pool_releasable(kept, live, r->pool_freed);
    r->device.pool_live = live;
    r->device.pool_kept = kept < keep ? kept : stays > keep ? stays : keep;
}

static void take_level(struct setting_run *r, const struct vs_request_entry *e)
{
    struct vs_limited_device *d = &r->device;
    uint64_t before = vs_limited_used(d);
    bool outside = e->kind == VS_REQUEST_OUTSIDE || e->kind == VS_REQUEST_OTHERS;
    switch (e->kind) {
    case VS_REQUEST_OTHER: d->other = e->bytes; break;
    case VS_REQUEST_LIMITED: d->limited = e->bytes; break;
    case VS_REQUEST_MANAGED: d->managed = e->bytes; break;
    case VS_REQUEST_OUTSIDE: d->outside = e->bytes; break;
    case VS_REQUEST_OTHERS:
        d->others = e->bytes < r->setting->others_most ? e->bytes : r->setting->others_most;
        break;
    case VS_REQUEST_POOL_LIVE: set_pools(r, e->bytes, d->pool_live + d->pool_kept); break;
    default: set_pools(r, d->pool_live, e->bytes);
    }
    uint64_t now = vs_limited_used(d), over = vs_limited_over(d);
    if (over && (now > before || e->kind == VS_REQUEST_LIMITED) && r->makes_room) {
        empty_caches(r);
        over = vs_limited_over(d);
    }
    note_peaks(r);
    if (!over || now <= before || (outside && !r->strict))
        return;
    fail(r, e, true, now - before, over);
    r->out->fail_requested = now - before;
}

/* --- the run --- */

/* A step ended, *ended* in all, or the first begins: blocks that end with it are freed. */
static void take_step(struct setting_run *r, uint64_t ended)
{
    struct site_rules *rules = &r->rules;
    r->steps = ended;
    rules->steps++;
    for (size_t i = 0; ended && i < rules->site_count; i++) {
        struct ruled_site *site = &rules->sites[i];
        bool ends = site->rule && site->rule->rule == VS_WHATIF_FREE_AT_STEP_END;
        for (uint32_t slot = ends ? site->first : 0, after; slot; slot = after) {
            after = rules->slots[slot - 1].after;
            if (!rules->slots[slot - 1].step)
                continue; /* from before the first step */
            site_rules_remove(rules, slot - 1);
            end_slot(r, &r->slots[slot - 1]);
        }
    }
    if (r->setting->empty_cache_at_step_end && ended)
        empty_caches(r);
}

/* Who serves the requests as recorded. */
static void set_server(struct setting_run *r)
{
    const struct vs_whatif_recorded *recorded = &r->log->recorded;
    r->makes_room = recorded->requests == VS_WHATIF_PROGRAM;
    r->driver = r->setting->server == VS_WHATIF_DRIVER;
    r->config = r->setting->config;
    if (r->setting->server == VS_WHATIF_AS_RECORDED) {
        struct vs_whatif_setting as_recorded = {0};
        char why[VS_WHATIF_WHY_MAX];
        r->driver = recorded->requests == VS_WHATIF_PROGRAM && !recorded->cached;
        if (vs_whatif_setting_conf(&as_recorded, recorded->conf, why) == VS_OK)
            r->config = as_recorded.config;
        else
            r->config = (struct vs_allocator_config){0};
        if (recorded->policy != VS_POLICY_PYTORCH)
            r->config.policy = recorded->policy;
    }
    r->config.reuse = VS_REUSE_STREAM_ORDERED;
}

static void conclude(struct setting_run *r)
{
    struct vs_whatif_outcome *out = r->out;
    const struct vs_limited_device *d = &r->device;
    out->survives = !r->ended;
    out->segments = d->segments;
    out->retries = r->fallbacks;
    for (int i = 0; i < CACHES; i++) {
        struct vs_allocator_stats stats;
        if (!r->caches[i])
            continue;
        vs_allocator_stats(r->caches[i], &stats);
        out->retries += stats.num_alloc_retries;
    }
    out->free_at_end = VS_WHATIF_NONE;
    if (d->capacity != VS_WHATIF_NONE)
        out->free_at_end = d->capacity - (vs_limited_used(d) < d->capacity ? vs_limited_used(d)
                                                                            : d->capacity);
    if (d->limit != VS_WHATIF_NONE) {
        uint64_t counted = vs_limited_counted(d), left = counted < d->limit ? d->limit - counted : 0;
        out->free_at_end = left < out->free_at_end ? left : out->free_at_end;
    }
}

void vs_whatif_run(const struct vs_whatif_log *log, const struct vs_whatif_setting *setting,
                   struct vs_whatif_outcome *out)
{
    struct setting_run r = {.log = log, .setting = setting, .out = out};
    *out = (struct vs_whatif_outcome){0};
    if (log->recorded.least_peak > PEAK_MAX) {
        out->err = VS_ERR_LIMIT;
        return;
    }
    set_server(&r);
    const struct vs_whatif_recorded *recorded = &log->recorded;
    uint64_t least = 4 * recorded->least_peak + (UINT64_C(1) << 30);
    uint64_t known = recorded->total_bytes ? recorded->total_bytes : VS_WHATIF_NONE;
    uint64_t capacity = setting->capacity ? setting->capacity : known;
    uint64_t limit = setting->limit ? setting->limit : recorded->limit_bytes;
    uint64_t total = capacity < limit ? capacity : limit;
    r.strict = setting->capacity && setting->capacity < known;
    if (total == VS_WHATIF_NONE)
        total = known != VS_WHATIF_NONE && known > least ? known : least;
    r.device = (struct vs_limited_device){.capacity = capacity, .limit = limit,
                                          .total = total & ~(VS_PAGE_BYTES - 1),
                                          .next_addr = VS_LIMITED_FIRST};
    r.slots = vs_xcalloc((size_t)log->slot_count + 1, sizeof *r.slots);
    r.rules.any = setting->site_count > 0;
    if (r.rules.any) {
        r.rules.site_count = log->site_count;
        r.rules.sites = vs_xcalloc(log->site_count + 1, sizeof *r.rules.sites);
        r.rules.slots = vs_xcalloc((size_t)log->slot_count + 1, sizeof *r.rules.slots);
    }
    for (size_t i = 0; i < r.rules.site_count; i++)
        for (size_t k = 0; k < setting->site_count; k++)
            if (setting->sites[k].stack == log->stacks[i])
                r.rules.sites[i].rule = &setting->sites[k];
    struct vs_request_cursor cursor = {0};
    struct vs_request_entry entry;
    enum vs_err err;
    vs_request_rewind(&cursor, &r.log->store);
    if (setting->curve)
        setting->curve->count = 0;
    while (!(err = vs_request_next(&cursor, &entry)) && entry.kind != VS_REQUEST_END && !r.ended) {
        while (r.found < log->found_count && log->found[r.found] <= entry.event) {
            take_step(&r, r.found);
            r.found++;
        }
        if (setting->curve)
            draw_until(&r, entry.event);
        switch (entry.kind) {
        case VS_REQUEST_ALLOC: err = take_request(&r, &entry); break;
        case VS_REQUEST_FREE:
            if (r.rules.any)
                site_rules_remove(&r.rules, entry.slot);
            end_slot(&r, &r.slots[entry.slot]);
            break;
        case VS_REQUEST_FAILED: err = take_failed(&r, &entry); break;
        case VS_REQUEST_OTHER_FAILED: take_other_failed(&r, &entry); break;
        case VS_REQUEST_STEP: take_step(&r, entry.bytes); break;
        case VS_REQUEST_EMPTY:
        case VS_REQUEST_CONTEXT: /* all blocks were freed before */
            empty_caches(&r);
            break;
        default: take_level(&r, &entry);
        }
        if (err)
            break;
    }
    vs_request_cursor_free(&cursor);
    if (setting->curve && !r.ended)
        draw_until(&r, UINT64_MAX);
    if (!err)
        conclude(&r);
    else
        *out = (struct vs_whatif_outcome){.err = err};
    for (int i = 0; i < CACHES; i++)
        vs_allocator_destroy(r.caches[i]);
    free(r.rules.sites);
    free(r.rules.slots);
    free(r.device.slabs);
    free(r.device.room);
    free(r.slots);
}
