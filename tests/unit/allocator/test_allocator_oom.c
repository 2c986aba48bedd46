/* SPDX-License-Identifier: Apache-2.0
 *
 * Out of memory: the program's callbacks, and the report of a failed request. */
#include "allocator_test.h"

struct hoard {
    struct fixture *f;
    uint64_t kept;
    int calls;
};

static bool give_up(void *ctx)
{
    struct hoard *h = ctx;
    h->calls++;
    if (!h->kept)
        return false;
    assert_int_equal(vs_allocator_free(h->f->allocator, h->kept), VS_OK);
    h->kept = 0;
    return true;
}

TEST(callbacks_free_memory_before_the_device_is_asked)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct hoard idle = {.f = &f}, hoard = {.f = &f, .kept = take(&f, 30 * MIB)};
    uint64_t kept = hoard.kept;
    ok(vs_allocator_add_free_callback(f.allocator, give_up, &hoard));
    ok(vs_allocator_add_free_callback(f.allocator, give_up, &idle));
    play("asked = allocs");
    assert_int_equal(take(&f, 30 * MIB), kept);
    play("allocs asked");
    assert_int_equal(hoard.calls, 1);
    assert_int_equal(idle.calls, 1); /* all are called */
    play("take 30M; allocs asked+1");
    assert_int_equal(hoard.calls, 2);
    fails(vs_allocator_add_free_callback(f.allocator, NULL, NULL), VS_ERR_ARG);
    for (int i = 2; i < VS_FREE_CALLBACKS_MAX; i++)
        ok(vs_allocator_add_free_callback(f.allocator, give_up, &idle));
    fails(vs_allocator_add_free_callback(f.allocator, give_up, &idle), VS_ERR_LIMIT);
}

static bool abandon(void *ctx)
{
    vs_allocator_abandon(ctx);
    return true;
}

TEST(an_allocator_abandoned_in_a_callback_fails_the_request)
{
    fixture_start(&f, &pytorch_config, GIB);
    ok(vs_allocator_add_free_callback(f.allocator, abandon, f.allocator));
    play("refuse 512 state");
}

TEST(a_failed_request_is_described)
{
    struct vs_allocator_config c = {.memory_fraction = 0.75};
    fixture_start(&f, &c, 400 * MIB);
    struct vs_oom_report r;
    fails(vs_allocator_last_oom(f.allocator, &r), VS_ERR_NOT_FOUND);
    play("begin one");
    take_on(&f, 2 * MIB, 3); /* 18 MiB cached in a private pool */
    play("end one; take 100M; take 5M; " /* 15 MiB cached */
         "refuse 201M-100 oom");
    ok(vs_allocator_last_oom(f.allocator, &r));
    assert_int_equal(r.count, 1);
    assert_int_equal(r.requested, 201 * MIB - 100);
    assert_int_equal(r.rounded, 201 * MIB);
    assert_int_equal(r.tried, 202 * MIB);
    assert_int_equal(r.device_total, 400 * MIB);
    assert_int_equal(r.device_free, 260 * MIB);
    assert_int_equal(r.allowed, 300 * MIB);
    assert_int_equal(r.allocated, 107 * MIB);
    assert_int_equal(r.cached_private, 18 * MIB);
    assert_int_equal(r.unallocated, 15 * MIB);
    assert_int_equal(r.pool_id.second, 0);
    assert_false(r.expandable_segments);
    refuse(&f, VS_ALLOCATOR_REQUEST_MAX + 1, VS_ERR_DEVICE_OOM);
    ok(vs_allocator_last_oom(f.allocator, &r));
    assert_int_equal(r.count, 2);
    assert_int_equal(r.tried, VS_ALLOCATOR_REQUEST_MAX + 1);
}

TEST(the_size_of_large_segments_can_be_chosen)
{
    struct vs_allocator_config c = {.large_segment_size = 12 * MIB};
    play_with(&c, GIB, "take 2M; reserved 12M; take 512; reserved 14M; take 11M; reserved 26M");
    fixture_stop(&f);
    c.expandable_segments = true;
    play_with(&c, GIB, "take 15M; reserved 24M");
    fixture_stop(&f);
    struct vs_allocator *a;
    c.large_segment_size = 13 * MIB; /* handles are whole pages */
    assert_int_equal(vs_allocator_create(&c, &fake_device_ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
    c.large_segment_size = 10 * MIB;
    assert_int_equal(vs_allocator_create(&c, &fake_device_ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
}
