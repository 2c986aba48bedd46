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

static void note_event(struct diff_events *events, const struct vs_allocator_event *event)
{
    if (events->count < DIFF_EVENTS_MAX)
        events->event[events->count] = *event;
    events->count++;
}

static void on_event(void *ctx, const struct vs_allocator_event *event)
{
    struct diff_run *r = ctx;
    if (event->kind == VS_ALLOCATOR_SEGMENT_FREE || event->kind == VS_ALLOCATOR_SEGMENT_UNMAP)
        unsafe_ranges_forget(&r->ranges, event->addr, event->size);
    note_event(&r->events, event);
}

static void on_model_event(void *ctx, const struct vs_allocator_event *event)
{
    note_event(&((struct diff_run *)ctx)->model_events, event);
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

void diff_start(struct diff_run *r, const struct diff_config *config)
{
    static const struct vs_event_sink sink = {.event = on_event};
    memset(r, 0, sizeof *r);
    r->config = config;
    fake_device_init(&r->device, config->capacity);
    fake_device_init(&r->model_device, config->capacity);
    r->device.memory.falling = r->model_device.memory.falling = config->falling;
    if (config->allocator.reuse == VS_REUSE_AFTER_SYNC) {
        r->device.on_sync = on_sync;
        r->device.on_sync_arg = r;
    }
    struct vs_allocator_config rules = config->allocator;
    if (!diff_subject_is_ours)
        rules.tie = VS_TIE_OLDEST_SEGMENT;
    r->model = model_new(&rules, &r->model_device, on_model_event, r);
    if (!diff_subject_is_ours)
        model_follow_pytorch(r->model);
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
    if (!r->difference[0] && r->device.used && diff_subject_is_ours)
        diff_differ(r, "bytes left on the device by destroy", r->device.used, 0);
    if (!r->difference[0] && r->device.events_held && diff_subject_is_ours)
        diff_differ(r, "events left by destroy", r->device.events_held, 0);
    model_delete(r->model);
    fake_device_free(&r->device);
    fake_device_free(&r->model_device);
}

/* --- the steps --- */

static bool step_malloc(struct diff_run *r, const struct diff_step *s)
{
    struct vs_allocation a = {0}, b = {0};
    enum vs_err have = vs_allocator_malloc(r->real, s->a, s->b, &a);
    enum vs_err want = model_malloc(r->model, s->a, s->b, &b);
    if (!diff_same(r, "result of malloc", have, want) || !diff_same(r, "address", a.addr, b.addr) ||
        !diff_same(r, "block size", a.size, b.size) ||
        !diff_same(r, "requested", a.requested, b.requested))
        return false;
    if (have || !a.addr)
        return true;
    if (unsafe_ranges_meet(&r->ranges, a.addr, a.size))
        return diff_differ(r, "memory handed out before a synchronisation covered it", a.addr, 0);
    r->addr[s->target] = a.addr;
    r->live[r->live_count++] = s->target;
    return true;
}

static bool step_free(struct diff_run *r, const struct diff_step *s)
{
    uint64_t addr = r->addr[s->target];
    struct vs_allocation block = {0};
    bool live = false;
    if (!addr)
        return true;
    if (!diff_same(r, "result of find", vs_allocator_find(r->real, addr, &block, &live), VS_OK) ||
        !diff_same(r, "live", live, true))
        return false;
    no_longer_live(r, s->target);
    if (r->device.on_sync)
        unsafe_ranges_add(&r->ranges, addr, block.size);
    return diff_same(r, "result of free", vs_allocator_free(r->real, addr),
                     model_free(r->model, addr));
}

/* Any nearby pointer: inside, outside, live, cached, freed twice. */
static bool step_probe(struct diff_run *r, const struct diff_step *s)
{
    uint64_t addr = s->target < 0 ? s->a : r->addr[s->target] + s->a;
    struct vs_allocation a = {0}, b = {0};
    bool live = false, want_live = false;
    enum vs_err have = vs_allocator_find(r->real, addr, &a, &live);
    enum vs_err want = model_find(r->model, addr, &b, &want_live);
    if (!diff_same(r, "result of find", have, want) || !diff_same(r, "found", a.addr, b.addr) ||
        !diff_same(r, "found size", a.size, b.size) ||
        !diff_same(r, "found requested", a.requested, b.requested) ||
        !diff_same(r, "found live", live, want_live))
        return false;
    if (!addr || (live && a.addr == addr))
        return true; /* step_free does valid frees */
    return diff_same(r, "result of a wrong free", vs_allocator_free(r->real, addr),
                model_free(r->model, addr)) &&
           diff_same(r, "result of a wrong record_stream",
                vs_allocator_record_stream(r->real, addr, 1),
                model_record_stream(r->model, addr, 1));
}

/* The context was destroyed with all of the device's memory. */
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
        d->memory.falling = r->config->falling;
    }
    while (r->live_count)
        no_longer_live(r, r->live[0]);
    r->ranges.count = 0;
    r->begun_pools = 0;
    return true;
}

/* --- private pools --- */

struct vs_pool_id diff_pool_id(uint64_t pool)
{
    return pool % 2 ? (struct vs_pool_id){pool, 0} : (struct vs_pool_id){0, pool};
}

static bool accepts(void *ctx, uint64_t stream)
{
    return (uintptr_t)ctx >> stream & 1;
}

static bool act(struct diff_run *r, const struct diff_step *s)
{
    struct vs_pool_id id = diff_pool_id(s->a);
    uint64_t addr = s->target < 0 ? 0 : r->addr[s->target], have_bytes = 0, want_bytes = 0;
    enum vs_err have = VS_OK, want = VS_OK;
    int i;
    switch (s->kind) {
    case STEP_MALLOC:
        return step_malloc(r, s);
    case STEP_FREE:
        return step_free(r, s);
    case STEP_PROBE:
        return step_probe(r, s);
    case STEP_ABANDON:
        return step_abandon(r);
    case STEP_COMPLETE: {
        uint64_t done = r->device.completed[s->a], recorded = r->device.recorded[s->a];
        /* PyTorch records events delayed by a capture in any order */
        uint64_t count = diff_subject_is_ours ? done + s->b % (recorded - done + 1) : recorded;
        fake_device_complete(&r->device, s->a, count);
        fake_device_complete(&r->model_device, s->a, count);
        break;
    }
    case STEP_SYNC_BEGIN:
        if (r->ticket_count == DIFF_TICKETS_MAX)
            break;
        r->tickets[r->ticket_count] = vs_allocator_sync_begin(r->real);
        r->begun[r->ticket_count] = ++r->ranges.time;
        return diff_same(r, "ticket", r->tickets[r->ticket_count++], model_sync_begin(r->model));
    case STEP_SYNC_END:
        if (!r->ticket_count)
            break;
        i = (int)(s->a % (uint64_t)r->ticket_count);
        vs_allocator_sync_end(r->real, r->tickets[i]);
        model_sync_end(r->model, r->tickets[i]);
        unsafe_ranges_cover(&r->ranges, r->begun[i]);
        r->tickets[i] = r->tickets[--r->ticket_count];
        r->begun[i] = r->begun[r->ticket_count];
        break;
    case STEP_POOL_BEGIN: {
        vs_pool_filter *filter = s->b ? accepts : NULL;
        have = vs_allocator_pool_begin(r->real, id, filter, (void *)(uintptr_t)s->b);
        want = model_pool_begin(r->model, id, filter, (void *)(uintptr_t)s->b);
        r->begun_pools |= have ? 0 : 1u << s->a;
        break;
    }
    case STEP_RECORD:
        if (addr) {
            have = vs_allocator_record_stream(r->real, addr, s->a);
            want = model_record_stream(r->model, addr, s->a);
        }
        break;
    case STEP_EMPTY:
        have = vs_allocator_empty_cache(r->real, &have_bytes);
        want = model_empty_cache(r->model, &want_bytes);
        break;
    case STEP_RESET_PEAKS:
        vs_allocator_reset_peaks(r->real);
        model_reset_peaks(r->model);
        break;
    case STEP_RESET_SUMS:
        vs_allocator_reset_accumulated(r->real);
        model_reset_accumulated(r->model);
        break;
    case STEP_FRACTION:
        have = vs_allocator_set_memory_fraction(r->real, (double)s->a / 1000);
        want = model_set_memory_fraction(r->model, (double)s->a / 1000);
        break;
    case STEP_POOL_END:
        r->begun_pools &= ~(1u << s->a);
        have = vs_allocator_pool_end(r->real, id);
        want = model_pool_end(r->model, id);
        break;
    case STEP_POOL_RELEASE:
        have = vs_allocator_pool_release(r->real, id);
        want = model_pool_release(r->model, id);
        break;
    }
    return diff_same(r, "result of the step", have, want) &&
           diff_same(r, "released bytes", have_bytes, want_bytes);
}

static void set_failure(struct fake_device *d, enum diff_failure fail, enum vs_err code,
                        uint64_t after)
{
    fake_device_fail_after(d, after);
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
    if (r->difference[0])
        return false;
    set_failure(&r->device, s->fail, s->code, s->after);
    set_failure(&r->model_device, s->fail, s->code, s->after);
    r->events.count = r->model_events.count = 0;
    bool ok = act(r, s) && diff_compare_events(r) && diff_compare(r);
    set_failure(&r->device, FAIL_NONE, VS_OK, 0);
    set_failure(&r->model_device, FAIL_NONE, VS_OK, 0);
    r->steps++;
    if (ok && (r->thorough || r->steps % 16 == 0))
        ok = diff_compare_deep(r);
    return ok;
}
