/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the allocator's tests: an allocator on a fake device that is checked after every step,
 * and an event log. */
#ifndef ALLOCATOR_TEST_H
#define ALLOCATOR_TEST_H

#include <string.h>

#include "support/cmocka_test.h"
#include "allocator/core/allocator.h"
#include "support/fake_device.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define LOG_MAX 256
struct fixture {
    struct fake_device device;
    struct vs_allocator *allocator;
    struct vs_allocator_event events[LOG_MAX];
    size_t event_count;
};

static inline void fixture_log(void *ctx, const struct vs_allocator_event *event)
{
    struct fixture *f = ctx;
    if (f->event_count < LOG_MAX)
        f->events[f->event_count++] = *event;
}

static inline void fixture_start(struct fixture *f, const struct vs_allocator_config *config,
                                 uint64_t capacity)
{
    static const struct vs_event_sink sink = {.event = fixture_log};
    memset(f, 0, sizeof *f);
    fake_device_init(&f->device, capacity);
    assert_int_equal(
        vs_allocator_create(config, &fake_device_ops, &f->device, &sink, f, &f->allocator), VS_OK);
}

/* Ends an allocator that was abandoned: what it held of the device stays. */
static inline void fixture_destroy(struct fixture *f)
{
    vs_allocator_destroy(f->allocator);
    fake_device_free(&f->device);
    f->allocator = NULL;
}

static inline void fixture_stop(struct fixture *f)
{
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    vs_allocator_destroy(f->allocator);
    assert_int_equal(f->device.segment_count, 0);
    assert_int_equal(f->device.events_held, 0);
    assert_int_equal(f->device.memory.range_count, 0);
    assert_int_equal(f->device.memory.mapping_count, 0);
    if (f->device.memory.next_range)
        assert_int_equal(f->device.used, 0); /* no handle was leaked */
    fake_device_free(&f->device);
    f->allocator = NULL;
}

/* A request that must succeed. */
static inline struct vs_allocation take_on(struct fixture *f, uint64_t bytes, uint64_t stream)
{
    struct vs_allocation got;
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, stream, &got), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    return got;
}

static inline uint64_t take(struct fixture *f, uint64_t bytes)
{
    return take_on(f, bytes, 0).addr;
}

/* A request that must fail with *want*. */
static inline void refuse(struct fixture *f, uint64_t bytes, enum vs_err want)
{
    struct vs_allocation got = {.addr = 1, .requested = 2, .size = 3};
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, 0, &got), want);
    assert_int_equal(got.addr, 1); /* unwritten */
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
}

static inline void give(struct fixture *f, uint64_t addr)
{
    assert_int_equal(vs_allocator_free(f->allocator, addr), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
}

/* The same without the check after each step, which would take too long. */
static inline uint64_t take_unchecked(struct fixture *f, uint64_t bytes, uint64_t stream)
{
    struct vs_allocation got;
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, stream, &got), VS_OK);
    return got.addr;
}

static inline void give_unchecked(struct fixture *f, uint64_t addr)
{
    assert_int_equal(vs_allocator_free(f->allocator, addr), VS_OK);
}

static inline struct vs_allocator_stats stats_of(struct fixture *f)
{
    struct vs_allocator_stats stats;
    vs_allocator_stats(f->allocator, &stats);
    return stats;
}

static inline uint64_t empty(struct fixture *f)
{
    uint64_t released = 0;
    assert_int_equal(vs_allocator_empty_cache(f->allocator, &released), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    return released;
}

static inline uint64_t reserved(struct fixture *f)
{
    return stats_of(f).reserved_bytes[VS_STAT_ALL].current;
}

#define assert_stat(stat, current_, peak_, allocated_, freed_)  \
    do {                                                        \
        struct vs_stat stat_ = (stat);                          \
        assert_int_equal(stat_.current, (current_));            \
        assert_int_equal(stat_.peak, (peak_));                  \
        assert_int_equal(stat_.allocated, (allocated_));        \
        assert_int_equal(stat_.freed, (freed_));                \
    } while (0)

/* The test's own; `stop_fixture` after each test stops it if it runs. */
static struct fixture f;

AFTER(stop_fixture)
{
    f.device.on_sync = NULL; /* its argument may be a variable of the test */
    if (f.allocator)
        fixture_stop(&f);
    return 0;
}

static const struct vs_allocator_config pytorch_config = {.reuse = VS_REUSE_STREAM_ORDERED};
static const struct vs_allocator_config after_sync_config = {.reuse = VS_REUSE_AFTER_SYNC};

/* A call of the allocator of *f*, the fixture, that must succeed, or must return *err*. */
#define ok(call)                                                      \
    do {                                                              \
        assert_int_equal((call), VS_OK);                              \
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);     \
    } while (0)

#define fails(call, err)                                              \
    do {                                                              \
        assert_int_equal((call), (err));                              \
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);     \
    } while (0)

#endif
