/* SPDX-License-Identifier: Apache-2.0
 *
 * One step of the differential test on both sides. */
#include "differential.h"

#include <stdio.h>
#include <string.h>

/* A device-wide synchronisation made by the allocator itself. */
static void on_sync(void *arg)
{
    struct diff_run *r = arg;
    if (!r->device.fail_sync)
        unsafe_ranges_cover(&r->ranges, ++r->ranges.time);
}

static void on_event(void *ctx, const struct vs_allocator_event *event)
{
    struct diff_run *r = ctx;
    if (event->kind == VS_ALLOCATOR_SEGMENT_FREE)
        unsafe_ranges_forget(&r->ranges, event->addr, event->size);
}

void diff_start(struct diff_run *r, const struct diff_config *config)
{
    static const struct vs_event_sink sink = {on_event};
    memset(r, 0, sizeof *r);
    r->config = config;
    fake_device_init(&r->device, config->capacity);
    fake_device_init(&r->model_device, config->capacity);
    if (config->allocator.reuse == VS_REUSE_AFTER_SYNC) {
        r->device.on_sync = on_sync;
        r->device.on_sync_arg = r;
    }
    r->model = model_new(&config->allocator, &r->model_device);
    enum vs_err err = vs_allocator_create(&config->allocator, &fake_device_ops, &r->device, &sink,
                                          r, &r->real);
    if (err)
        diff_differ(r, "create", err, VS_OK);
}

void diff_stop(struct diff_run *r)
{
    if (!r->difference[0])
        diff_compare_deep(r);
    vs_allocator_destroy(r->real);
    if (!r->difference[0] && r->device.used)
        diff_differ(r, "bytes left on the device by destroy", r->device.used, 0);
    if (!r->difference[0] && r->device.events_held)
        diff_differ(r, "events left by destroy", r->device.events_held, 0);
    model_delete(r->model);
    fake_device_free(&r->device);
    fake_device_free(&r->model_device);
}

/* --- the steps --- */

static bool same(struct diff_run *r, const char *what, uint64_t have, uint64_t want)
{
    return have == want || diff_differ(r, what, have, want);
}

static bool step_malloc(struct diff_run *r, const struct diff_step *s)
{
    struct vs_allocation a = {0}, b = {0};
    enum vs_err have = vs_allocator_malloc(r->real, s->a, s->b, &a);
    enum vs_err want = model_malloc(r->model, s->a, s->b, &b);
    if (!same(r, "result of malloc", have, want) || !same(r, "address", a.addr, b.addr) ||
        !same(r, "block size", a.size, b.size) || !same(r, "requested", a.requested, b.requested))
        return false;
    if (have || !a.addr)
        return true;
    if (unsafe_ranges_meet(&r->ranges, a.addr, a.size))
        return diff_differ(r, "memory handed out before a synchronisation covered it", a.addr, 0);
    r->addr[s->target] = a.addr;
    r->live[r->live_count++] = s->target;
    return true;
}

static void no_longer_live(struct diff_run *r, int request)
{
    r->addr[request] = 0;
    for (int i = 0; i < r->live_count; i++) {
        if (r->live[i] == request) {
            r->live[i] = r->live[--r->live_count];
            return;
        }
    }
}

static bool step_free(struct diff_run *r, const struct diff_step *s)
{
    uint64_t addr = r->addr[s->target];
    struct vs_allocation block = {0};
    bool live = false;
    if (!addr)
        return true;
    if (!same(r, "result of find", vs_allocator_find(r->real, addr, &block, &live), VS_OK) ||
        !same(r, "live", live, true))
        return false;
    no_longer_live(r, s->target);
    if (r->device.on_sync)
        unsafe_ranges_add(&r->ranges, addr, block.size);
    return same(r, "result of free", vs_allocator_free(r->real, addr), model_free(r->model, addr));
}

static bool step_record(struct diff_run *r, const struct diff_step *s)
{
    uint64_t addr = r->addr[s->target];
    return !addr || same(r, "result of record_stream",
                         vs_allocator_record_stream(r->real, addr, s->a),
                         model_record_stream(r->model, addr, s->a));
}

static bool step_complete(struct diff_run *r, const struct diff_step *s)
{
    uint64_t done = r->device.completed[s->a], recorded = r->device.recorded[s->a];
    uint64_t count = done + s->b % (recorded - done + 1);
    fake_device_complete(&r->device, s->a, count);
    fake_device_complete(&r->model_device, s->a, count);
    return true;
}

static bool step_sync_begin(struct diff_run *r)
{
    if (r->ticket_count == DIFF_TICKETS_MAX)
        return true;
    r->tickets[r->ticket_count] = vs_allocator_sync_begin(r->real);
    r->begun[r->ticket_count] = ++r->ranges.time;
    return same(r, "ticket", r->tickets[r->ticket_count++], model_sync_begin(r->model));
}

static bool step_sync_end(struct diff_run *r, const struct diff_step *s)
{
    if (!r->ticket_count)
        return true;
    int i = (int)(s->a % (uint64_t)r->ticket_count);
    vs_allocator_sync_end(r->real, r->tickets[i]);
    model_sync_end(r->model, r->tickets[i]);
    unsafe_ranges_cover(&r->ranges, r->begun[i]);
    r->tickets[i] = r->tickets[--r->ticket_count];
    r->begun[i] = r->begun[r->ticket_count];
    return true;
}

/* A pointer anywhere near: inside, outside, live, cached, freed twice. */
static bool step_probe(struct diff_run *r, const struct diff_step *s)
{
    uint64_t addr = s->target < 0 ? s->a : r->addr[s->target] + s->a;
    struct vs_allocation a = {0}, b = {0};
    bool live = false, want_live = false;
    enum vs_err have = vs_allocator_find(r->real, addr, &a, &live);
    enum vs_err want = model_find(r->model, addr, &b, &want_live);
    if (!same(r, "result of find", have, want) || !same(r, "found", a.addr, b.addr) ||
        !same(r, "found size", a.size, b.size) ||
        !same(r, "found requested", a.requested, b.requested) ||
        !same(r, "found live", live, want_live))
        return false;
    if (!addr || (live && a.addr == addr))
        return true; /* a proper free is step_free's */
    return same(r, "result of a wrong free", vs_allocator_free(r->real, addr),
                model_free(r->model, addr)) &&
           same(r, "result of a wrong record_stream",
                vs_allocator_record_stream(r->real, addr, 1),
                model_record_stream(r->model, addr, 1));
}

static bool step_empty(struct diff_run *r)
{
    uint64_t have_bytes, want_bytes;
    enum vs_err have = vs_allocator_empty_cache(r->real, &have_bytes);
    enum vs_err want = model_empty_cache(r->model, &want_bytes);
    return same(r, "result of empty_cache", have, want) &&
           same(r, "released bytes", have_bytes, want_bytes);
}

static bool step_fraction(struct diff_run *r, const struct diff_step *s)
{
    double fraction = (double)s->a / 1000;
    return same(r, "result of set_memory_fraction",
                vs_allocator_set_memory_fraction(r->real, fraction),
                model_set_memory_fraction(r->model, fraction));
}

/* The context is gone with all that was on the device. */
static bool step_abandon(struct diff_run *r)
{
    struct fake_device *devices[] = {&r->device, &r->model_device};
    vs_allocator_abandon(r->real);
    model_abandon(r->model);
    for (int i = 0; i < 2; i++) {
        struct fake_device *d = devices[i];
        uint64_t next = d->memory.next_range;
        d->segment_count = 0;
        d->used = d->events_held = 0;
        fake_memory_free_all(&d->memory);
        memset(&d->memory, 0, sizeof d->memory);
        d->memory.next_range = next;
    }
    while (r->live_count)
        no_longer_live(r, r->live[0]);
    r->ranges.count = 0;
    return true;
}

static bool act(struct diff_run *r, const struct diff_step *s)
{
    switch (s->kind) {
    case STEP_MALLOC:
        return step_malloc(r, s);
    case STEP_FREE:
        return step_free(r, s);
    case STEP_RECORD:
        return step_record(r, s);
    case STEP_COMPLETE:
        return step_complete(r, s);
    case STEP_SYNC_BEGIN:
        return step_sync_begin(r);
    case STEP_SYNC_END:
        return step_sync_end(r, s);
    case STEP_PROBE:
        return step_probe(r, s);
    case STEP_EMPTY:
        return step_empty(r);
    case STEP_RESET_PEAKS:
        vs_allocator_reset_peaks(r->real);
        model_reset_peaks(r->model);
        return true;
    case STEP_RESET_SUMS:
        vs_allocator_reset_accumulated(r->real);
        model_reset_accumulated(r->model);
        return true;
    case STEP_FRACTION:
        return step_fraction(r, s);
    case STEP_ABANDON:
        return step_abandon(r);
    }
    return diff_differ(r, "unknown step", s->kind, 0);
}

static void set_failure(struct fake_device *d, enum diff_failure fail, enum vs_err code)
{
    d->fail_alloc = fail == FAIL_ALLOC ? code : VS_OK;
    d->fail_free = fail == FAIL_FREE ? code : VS_OK;
    d->fail_sync = fail == FAIL_SYNC ? code : VS_OK;
    d->fail_record = fail == FAIL_RECORD ? code : VS_OK;
    d->fail_query = fail == FAIL_QUERY ? code : VS_OK;
    d->fail_create = fail == FAIL_CREATE ? code : VS_OK;
    d->fail_map = fail == FAIL_MAP ? code : VS_OK;
    d->fail_unmap = fail == FAIL_UNMAP ? code : VS_OK;
}

bool diff_step(struct diff_run *r, const struct diff_step *s)
{
    set_failure(&r->device, s->fail, s->code);
    set_failure(&r->model_device, s->fail, s->code);
    bool ok = act(r, s) && diff_compare(r);
    set_failure(&r->device, FAIL_NONE, VS_OK);
    set_failure(&r->model_device, FAIL_NONE, VS_OK);
    r->steps++;
    if (ok && (r->thorough || r->steps % 16 == 0))
        ok = diff_compare_deep(r);
    return ok;
}
