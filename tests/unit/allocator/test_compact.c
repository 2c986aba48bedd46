/* SPDX-License-Identifier: Apache-2.0
 *
 * The compact policy: each mechanism in a minimal case, computed by hand. */
#include "physical_owners.h"

static const struct vs_allocator_config compact_config = {
    .policy = VS_POLICY_COMPACT, .reuse = VS_REUSE_STREAM_ORDERED};
static const struct vs_allocator_config compact_sync_config = {
    .policy = VS_POLICY_COMPACT, .reuse = VS_REUSE_AFTER_SYNC};

static void start(struct fixture *fixture)
{
    fixture_start(fixture, &compact_config, GIB);
}

static uint64_t handle_of(struct fixture *fixture, uint64_t addr)
{
    uint64_t handle, offset;
    assert_true(fake_memory_at(&fixture->device.memory, addr, &handle, &offset));
    return handle;
}

TEST(without_virtual_memory_the_policy_is_refused)
{
    struct vs_device_ops ops = fake_device_ops;
    struct vs_allocator *allocator;
    struct fake_device device;
    fake_device_init(&device, GIB);
    ops.range_reserve = NULL;
    ops.range_release = NULL;
    ops.memory_create = NULL;
    ops.memory_release = NULL;
    ops.memory_map = NULL;
    ops.memory_unmap = NULL;
    assert_int_equal(vs_allocator_create(&compact_config, &ops, &device, NULL, NULL, &allocator),
                     VS_ERR_UNSUPPORTED);
    ops = fake_device_ops;
    ops.stream_synchronize = NULL;
    assert_int_equal(vs_allocator_create(&compact_config, &ops, &device, NULL, NULL, &allocator),
                     VS_ERR_UNSUPPORTED);
    fake_device_free(&device);
}

static const struct program programs[] = {
    {"memory_grows_by_the_page_and_is_packed_to_512_bytes", &compact_config, GIB,
     "a = 2560K+1; b = 1M; b is a+2560K+512; used 4M; reserved 4M; free a; free b; "
     "used 4M"}, /* cached */
    {"a_freed_view_gives_its_pages_back_at_once", &compact_config, GIB,
     "punch 4M 4; view = 8M; free view; before = maps; take 4M at a0; take 4M at a2; "
     "maps before; stream_syncs 0"},
    {"a_view_serves_again_without_a_driver_call", &compact_config, GIB,
     "punch 4M 4; view = 8M; free view; before = maps; take 8M at view; free view; "
     "take 7M at view; " /* its last page is still used */
     "maps before"},
    {"a_view_that_a_request_would_leave_a_page_of_does_not_serve", &compact_config, GIB,
     "punch 4M 6; view = 12M; free view; got = 8M; got isnt view; used 24M"},
    {"a_view_whose_memory_is_taken_does_not_serve", &compact_config, GIB,
     "punch 4M 4; view = 8M; free view; take 512 at a0; take 8M not view"},
    {"the_rest_of_a_page_stays_free_at_home", &compact_config, GIB,
     "punch 4M 4; take 7M; take 1M at a2+3M; used 16M"},
    {"pages_return_when_the_device_does_not_synchronise", &compact_sync_config, GIB,
     "punch 4M 4; fail sync device; refuse 8M device; fail sync ok; take 4M at a0"},
    {"a_device_that_does_not_map_changes_nothing", &compact_config, GIB,
     "punch 4M 4; fail map device; refuse 8M device; fail map ok; used 16M; view = 8M; used 16M; "
     "free view"},
    {"another_streams_use_of_a_view_keeps_its_pages", &compact_config, GIB,
     "punch 4M 4; view = 8M; use view 3; free view; take 4M; used 20M; " /* new memory */
     "done 3 1; take 8M at view"},
    {"only_missing_pages_are_created", &compact_config, GIB,
     "a = 4M; take 4M; take 4M; free a; take 10M; used 18M"},
    /* A graph uses the addresses of its capture at every launch: views made for a captured stream
     * would have to stay as long as the pool does. */
    {"a_private_pool_grows_instead_of_making_views", &compact_config, GIB,
     "begin one; punch 4M 4; created = used; take 8M; ranges 1; used created+8M; end one"},
    {"a_view_waits_for_the_latest_free_among_its_pages", &compact_sync_config, GIB,
     "a = 4M; take 4M; c = 4M; take 4M; free a; ticket = ticket; free c; ended ticket; "
     "before = syncs; take 8M; syncs before+1"},
    {"a_view_of_safe_pages_does_not_wait", &compact_sync_config, GIB,
     "punch 4M 4; sync; before = syncs; view = 8M; syncs before; free view; "
     "take 8M at view; " /* freed without a synchronisation: not safe */
     "syncs before+1"},
};

ROWS(programs, a_program_is_played)
{
    play_program(*state);
}

TEST(free_pages_that_lie_apart_serve_one_request)
{
    play_with(&compact_config, GIB, "punch 4M 4; before = creates");
    uint64_t first = handle_of(&f, named("a0")), third = handle_of(&f, named("a2"));
    play("b = 8M; creates before; used 16M; reserved 16M");
    assert_int_equal(handle_of(&f, named("b")), first);
    assert_int_equal(handle_of(&f, named("b") + 4 * MIB), third);
}

TEST(a_repeating_sequence_soon_calls_the_driver_no_more)
{
    for (uint64_t first = 0; first < 32; first++) {
        uint64_t sizes[40], before = 0, seed = first;
        int last = 0; /* round that called it */
        start(&f);
        take(&f, 5 * MIB / 2);
        for (size_t i = 0; i < 40; i++)
            sizes[i] = (vs_random(&seed) % 24 + 1) * 700 * KIB;
        for (int round = 0; round < 24; round++) {
            /* An iteration whose requests overlap differently each time. */
            uint64_t addrs[64];
            for (size_t i = 0; i < 40; i++)
                addrs[i] = take(&f, sizes[i]);
            for (size_t i = 1; i < 40; i += 2)
                give(&f, addrs[i]);
            for (size_t i = 1; i + 2 < 40; i += 4)
                addrs[i] = take(&f, sizes[i] + sizes[i + 2]);
            for (size_t i = 0; i < 40; i += 2)
                give(&f, addrs[i]);
            for (size_t i = 1; i + 2 < 40; i += 4)
                give(&f, addrs[i]);
            uint64_t calls = f.device.maps + f.device.creates + f.device.unmaps;
            last = calls != before ? round : last;
            before = calls;
        }
        assert_int_equal(f.device.stream_syncs, 0);
        fixture_stop(&f);
        assert_true(last <= 3);
    }
}

TEST(emptying_the_cache_keeps_only_pages_in_use)
{
    play_with(&compact_config, GIB, "punch 4M 6; dormant = 12M; free dormant; view = 7M; "
              "empty 4M; used 20M");
    handle_of(&f, named("view"));
    handle_of(&f, named("view") + 6 * MIB);
    play("free view; empty 8M; used 12M");
    /* the original places are free again */
    play("take 4M at a0");
}

TEST(memory_short_makes_other_streams_give_back)
{
    play_with(&compact_config, 32 * MIB, "a = 20M on 1; free a");
    for (int i = 0; i < 14; i++)
        take_on(&f, 2 * MIB, 2);
    play("used 28M; num_alloc_retries 1; refuse 6M oom; num_ooms 1; take 4M");
}

TEST(streams_share_no_pages)
{
    play_with(&compact_config, GIB, "a = 20M on 1; free a; b = 20M on 2");
    assert_int_not_equal(handle_of(&f, named("b")), handle_of(&f, named("a")));
    play("used 40M; take 20M on 1 at a");
}

static bool no_stream(void *ctx, uint64_t stream)
{
    (void)ctx;
    (void)stream;
    return false;
}

/* A view of every pair of HOLES separate pages, one at a time, each freed again. */
enum { HOLES = 24, PAIRS = HOLES * (HOLES - 1) / 2 };
static void make_pairs(struct fixture *fixture, uint64_t views[PAIRS])
{
    uint64_t a[2 * HOLES];
    size_t made = 0;
    for (size_t i = 0; i < 2 * HOLES; i++)
        a[i] = take(fixture, VS_PAGE_BYTES);
    for (size_t i = 0; i < HOLES; i++) {
        for (size_t k = i + 1; k < HOLES; k++) {
            give_unchecked(fixture, a[2 * i]);
            give_unchecked(fixture, a[2 * k]);
            views[made] = take(fixture, 2 * VS_PAGE_BYTES);
            give_unchecked(fixture, views[made++]);
            a[2 * i] = take_unchecked(fixture, VS_PAGE_BYTES, 0);
            a[2 * k] = take_unchecked(fixture, VS_PAGE_BYTES, 0);
        }
    }
}

static size_t still_mapped(const struct fixture *fixture, const uint64_t views[PAIRS])
{
    uint64_t handle, offset;
    size_t count = 0;
    for (size_t i = 0; i < PAIRS; i++)
        count += fake_memory_at(&fixture->device.memory, views[i], &handle, &offset);
    return count;
}

TEST(dormant_views_are_bounded)
{
    uint64_t views[PAIRS];
    start(&f);
    make_pairs(&f, views);
    assert_in_range(still_mapped(&f, views), 128, 256);
    assert_int_equal(f.device.memory.range_count, 1 + still_mapped(&f, views));
    assert_int_equal(f.device.used, 2 * HOLES * VS_PAGE_BYTES);
}

TEST(views_are_not_unmapped_during_a_capture)
{
    uint64_t views[PAIRS];
    start(&f);
    ok(vs_allocator_pool_begin(f.allocator, pool_of("one"), no_stream, NULL));
    make_pairs(&f, views);
    play("stream_syncs 0; end one"); /* dropping it would need a wait */
}

TEST(an_exportable_block_is_in_an_allocation_of_the_device)
{
    struct vs_allocation got;
    play_with(&compact_config, GIB, "take 4M");
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 12 * MIB, 0, true, NULL, &got), VS_OK);
    play("segment_count 1");
    assert_int_equal(got.addr, f.device.segments[0].addr);
    assert_int_equal(got.segment, got.addr);
    give(&f, got.addr);
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 12 * MIB, 0, true, NULL, &got), VS_OK);
    play("allocs 1");
    give(&f, got.addr);
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_OK);
    play("segment_count 0");
    assert_int_equal(released, 12 * MIB);
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 1000, 0, true, NULL, &got), VS_OK);
    assert_int_equal(f.device.segments[0].size, 1024); /* it shares its segment with no other block */
    give(&f, got.addr);
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_OK);
    /* it does not use memory of ranges */
    play("x = 16M; free x");
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 3 * MIB, 0, true, NULL, &got), VS_OK);
    play("segment_count 1");
}

struct freeing {
    struct fixture *f;
    uint64_t addr;
};

static void free_it(void *arg)
{
    struct freeing *freeing = arg;
    if (freeing->addr)
        assert_int_equal(vs_allocator_free(freeing->f->allocator, freeing->addr), VS_OK);
    freeing->addr = 0;
}

TEST(a_view_freed_while_the_cache_is_given_back_keeps_only_its_pages)
{
    play_with(&compact_sync_config, 32 * MIB, "punch 4M 8");
    struct freeing freeing = {&f, take(&f, 8 * MIB)};
    play("free a1");
    f.device.on_sync = free_it;
    f.device.on_sync_arg = &freeing;
    play("take 16M"); /* 12 MiB of pages were free, 8 in the view */
    assert_int_equal(freeing.addr, 0);
    assert_true(f.device.used <= 32 * MIB);
}

struct seen {
    uint64_t reserved, live, lent, views;
};

static void look(void *ctx, const struct vs_segment_info *segment,
                 const struct vs_block_info *block)
{
    struct seen *seen = ctx;
    if (!block) {
        if (segment->view)
            seen->views++;
        else
            seen->reserved += segment->size;
    } else if (block->state == VS_BLOCK_LIVE) {
        seen->live += block->size;
    } else if (block->state == VS_BLOCK_LENT) {
        seen->lent += block->size;
    }
}

TEST(a_snapshot_counts_each_page_once)
{
    struct seen seen = {0};
    play_with(&compact_config, GIB, "punch 4M 6; dormant = 12M; free dormant; take 7M");
    vs_allocator_snapshot(f.allocator, look, &seen);
    assert_int_equal(seen.reserved, 24 * MIB);
    assert_int_equal(seen.views, 1);
    assert_int_equal(seen.lent, 7 * MIB);
    assert_int_equal(seen.live, 12 * MIB + 7 * MIB);
}

TEST(a_view_is_found_by_any_of_its_addresses)
{
    struct vs_allocation found;
    bool live;
    play_with(&compact_config, GIB, "punch 4M 4; view = 8M");
    assert_int_equal(vs_allocator_find(f.allocator, named("view") + 5 * MIB, &found, &live), VS_OK);
    assert_true(live && found.addr == named("view") && found.size == 8 * MIB);
    play("free view+512 arg; free a0 state; " /* lent */
         "free view; free view state");
}
