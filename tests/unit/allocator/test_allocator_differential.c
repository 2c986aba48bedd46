/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator against the reference model: random requests, frees, streams,
 * events, synchronisations, emptied caches and memory pressure, with equal
 * placement, errors and statistics after every step and every invariant walked.
 * For VS_REUSE_AFTER_SYNC an oracle of its own watches byte ranges: memory freed
 * and not yet covered by a synchronisation must never be handed out.
 *
 * Arguments: [STEPS [SEED]], for longer runs than ctest makes. */
#include <stdio.h>
#include <stdlib.h>

#include "allocator_test.h"
#include "reference_model.h"

#define LIVE_MAX 150
#define RANGES_MAX 4096
#define TICKETS_MAX 4

static int steps = 17000;
static uint64_t seed = 20260101;

struct run {
    struct fake_device device, model_device;
    struct vs_allocator *real;
    struct model *model;
    uint64_t random;
    uint64_t live[LIVE_MAX];
    int live_count;
    /* freed bytes no completed synchronisation covers yet, and when they were freed */
    struct { uint64_t addr, size, time; } unsafe[RANGES_MAX];
    int unsafe_count;
    uint64_t time;
    struct { uint64_t ticket, begun; } open[TICKETS_MAX];
    int open_count;
    int ooms;
};

static uint64_t draw(struct run *r, uint64_t below)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return (r->random * UINT64_C(0x2545f4914f6cdd1d) >> 16) % below;
}

/* Log-uniform, sometimes exactly a power of two or near one. */
static uint64_t draw_size(struct run *r)
{
    uint64_t power = UINT64_C(1) << (draw(r, 4) ? draw(r, 21) : 20 + draw(r, 7));
    switch (draw(r, 4)) {
    case 0:
        return power;
    case 1:
        return power + 1;
    default:
        return power + draw(r, power);
    }
}

static void cover(struct run *r, uint64_t begun)
{
    int kept = 0;
    for (int i = 0; i < r->unsafe_count; i++) {
        if (r->unsafe[i].time >= begun)
            r->unsafe[kept++] = r->unsafe[i];
    }
    r->unsafe_count = kept;
}

/* A device-wide synchronisation made by the allocator itself. */
static void on_sync(void *arg)
{
    struct run *r = arg;
    cover(r, ++r->time);
}

/* What the device took back is the device's to make safe. */
static void on_event(void *ctx, const struct vs_allocator_event *event)
{
    struct run *r = ctx;
    int kept = 0;
    if (event->kind != VS_ALLOCATOR_SEGMENT_FREE)
        return;
    for (int i = 0; i < r->unsafe_count; i++) {
        if (r->unsafe[i].addr - event->addr >= event->size)
            r->unsafe[kept++] = r->unsafe[i];
    }
    r->unsafe_count = kept;
}

/* The model knows addresses and sizes; segment and serial are held elsewhere. */
static void assert_same_allocation(const struct vs_allocation *a, const struct vs_allocation *b)
{
    assert_int_equal(a->addr, b->addr);
    assert_int_equal(a->requested, b->requested);
    assert_int_equal(a->size, b->size);
}

static void step_malloc(struct run *r)
{
    struct vs_allocation a = {0}, b = {0};
    uint64_t bytes = draw_size(r), stream = draw(r, 3) ? 0 : draw(r, 4);
    enum vs_err have = vs_allocator_malloc(r->real, bytes, stream, &a);
    enum vs_err want = model_malloc(r->model, bytes, stream, &b);
    assert_int_equal(have, want);
    assert_same_allocation(&a, &b);
    if (have) {
        r->ooms++;
        return;
    }
    for (int i = 0; i < r->unsafe_count; i++) {
        assert_true(a.addr >= r->unsafe[i].addr + r->unsafe[i].size ||
                    r->unsafe[i].addr >= a.addr + a.size);
    }
    r->live[r->live_count++] = a.addr;
}

static void step_free(struct run *r)
{
    int i = (int)draw(r, (uint64_t)r->live_count);
    uint64_t addr = r->live[i];
    struct vs_allocation block;
    bool live;
    assert_int_equal(vs_allocator_find(r->real, addr, &block, &live), VS_OK);
    r->live[i] = r->live[--r->live_count];
    assert_int_equal(vs_allocator_free(r->real, addr), VS_OK);
    assert_int_equal(model_free(r->model, addr), VS_OK);
    if (r->device.on_sync) {
        assert_true(r->unsafe_count < RANGES_MAX);
        r->unsafe[r->unsafe_count].addr = addr;
        r->unsafe[r->unsafe_count].size = block.size;
        r->unsafe[r->unsafe_count++].time = r->time;
    }
}

static void step_record(struct run *r)
{
    uint64_t addr = r->live[draw(r, (uint64_t)r->live_count)], stream = draw(r, 4);
    assert_int_equal(vs_allocator_record_stream(r->real, addr, stream), VS_OK);
    assert_int_equal(model_record_stream(r->model, addr, stream), VS_OK);
}

static void step_complete(struct run *r)
{
    uint64_t stream = draw(r, 4);
    assert_int_equal(r->device.recorded[stream], r->model_device.recorded[stream]);
    uint64_t count = r->device.completed[stream] +
                     draw(r, r->device.recorded[stream] - r->device.completed[stream] + 1);
    fake_device_complete(&r->device, stream, count);
    fake_device_complete(&r->model_device, stream, count);
}

static void step_sync(struct run *r)
{
    if (r->open_count < TICKETS_MAX && draw(r, 2)) {
        uint64_t ticket = vs_allocator_sync_begin(r->real);
        assert_int_equal(ticket, model_sync_begin(r->model));
        r->open[r->open_count].ticket = ticket;
        r->open[r->open_count++].begun = ++r->time;
    } else if (r->open_count) {
        int i = (int)draw(r, (uint64_t)r->open_count);
        vs_allocator_sync_end(r->real, r->open[i].ticket);
        model_sync_end(r->model, r->open[i].ticket);
        cover(r, r->open[i].begun);
        r->open[i] = r->open[--r->open_count];
    }
}

/* A pointer anywhere near: inside, outside, live, cached, freed twice. */
static void step_probe(struct run *r)
{
    uint64_t addr = FAKE_BASE + draw(r, UINT64_C(300) << 20);
    if (r->live_count && draw(r, 2))
        addr = r->live[draw(r, (uint64_t)r->live_count)] + draw(r, 4096) * 512 - MIB;
    struct vs_allocation a = {0}, b = {0};
    bool live = false, want_live = false;
    enum vs_err have = vs_allocator_find(r->real, addr, &a, &live);
    assert_int_equal(have, model_find(r->model, addr, &b, &want_live));
    assert_same_allocation(&a, &b);
    assert_int_equal(live, want_live);
    if (live && a.addr == addr)
        return; /* a proper free is step_free's */
    assert_int_equal(vs_allocator_free(r->real, addr), model_free(r->model, addr));
}

static void step_cache(struct run *r)
{
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(r->real, &released), VS_OK);
    assert_int_equal(released, model_empty_cache(r->model));
}

static void step_reset(struct run *r)
{
    if (draw(r, 2)) {
        vs_allocator_reset_peaks(r->real);
        model_reset_peaks(r->model);
    } else {
        vs_allocator_reset_accumulated(r->real);
        model_reset_accumulated(r->model);
    }
}

static void step(struct run *r, uint64_t full)
{
    uint64_t what = draw(r, 1000);
    if (what < 2)
        step_cache(r);
    else if (what < 4)
        step_reset(r);
    else if (what < 60)
        step_complete(r);
    else if (what < 120)
        step_sync(r);
    else if (what < 200)
        step_probe(r);
    else if (what < 260 && r->live_count)
        step_record(r);
    else if ((uint64_t)r->live_count < full && (!r->live_count || draw(r, 2)))
        step_malloc(r);
    else
        step_free(r);
}

static void compare(struct run *r)
{
    struct vs_allocator_stats have;
    vs_allocator_stats(r->real, &have);
    assert_memory_equal(&have, model_stats(r->model), sizeof have);
    assert_int_equal(vs_allocator_check(r->real), VS_OK);
    assert_int_equal(r->device.segment_count, r->model_device.segment_count);
    assert_memory_equal(r->device.segments, r->model_device.segments,
                        r->device.segment_count * sizeof *r->device.segments);
    assert_int_equal(r->device.syncs, r->model_device.syncs);
}

static void differential(const struct vs_allocator_config *config, uint64_t capacity)
{
    static struct run run;
    struct run *r = &run;
    memset(r, 0, sizeof *r);
    r->random = seed;
    fake_device_init(&r->device, capacity);
    fake_device_init(&r->model_device, capacity);
    if (config->reuse == VS_REUSE_AFTER_SYNC) {
        r->device.on_sync = on_sync;
        r->device.on_sync_arg = r;
    }
    static const struct vs_event_sink sink = {on_event};
    assert_int_equal(
        vs_allocator_create(config, &fake_device_ops, &r->device, &sink, r, &r->real), VS_OK);
    r->model = model_new(config, &r->model_device);
    for (int i = 0; i < steps; i++) {
        /* phases of filling and draining */
        step(r, i % 2000 < 1500 ? LIVE_MAX : 20);
        compare(r);
    }
    assert_true(r->ooms > 0); /* the capacity was small enough to matter */
    vs_allocator_destroy(r->real);
    model_delete(r->model);
    assert_int_equal(r->device.segment_count, 0);
}

static void the_default_configuration_agrees_with_the_model(void **state)
{
    (void)state;
    differential(&pytorch_config, 400 * MIB);
}

static void max_split_size_agrees_with_the_model(void **state)
{
    (void)state;
    struct vs_allocator_config c = {.max_split_size = 20 * MIB, .max_non_split_rounding = 10 * MIB};
    differential(&c, 500 * MIB);
}

static void rounding_to_divisions_agrees_with_the_model(void **state)
{
    (void)state;
    struct vs_allocator_config c = {
        .max_split_size = 33 * MIB,
        .roundup_power2_divisions = {4, 2, 8, 16, 1, 0, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4}};
    differential(&c, 500 * MIB);
}

static void fraction_and_garbage_collection_agree_with_the_model(void **state)
{
    (void)state;
    struct vs_allocator_config c = {.memory_fraction = 0.8, .garbage_collection_threshold = 0.6};
    differential(&c, 600 * MIB);
}

static void all_options_together_agree_with_the_model(void **state)
{
    (void)state;
    struct vs_allocator_config c = {.memory_fraction = 0.9,
                                    .garbage_collection_threshold = 0.5,
                                    .max_split_size = 24 * MIB,
                                    .roundup_power2_divisions = {8, 8, 8, 8, 8, 8}};
    differential(&c, 600 * MIB);
}

static void reuse_after_synchronisation_agrees_with_the_model(void **state)
{
    (void)state;
    differential(&after_sync_config, 400 * MIB);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 0) | 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_configuration_agrees_with_the_model),
        cmocka_unit_test(max_split_size_agrees_with_the_model),
        cmocka_unit_test(rounding_to_divisions_agrees_with_the_model),
        cmocka_unit_test(fraction_and_garbage_collection_agree_with_the_model),
        cmocka_unit_test(all_options_together_agree_with_the_model),
        cmocka_unit_test(reuse_after_synchronisation_agrees_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
