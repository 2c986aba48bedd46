/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the allocator that the reference model does not have, edges of others, and rejected
 * configurations. */
#include "allocator_test.h"

static const struct program programs[] = {
    {"garbage_collection_is_off_without_a_memory_fraction",
     &(struct vs_allocator_config){.garbage_collection_threshold = 0.1}, GIB,
     "x = 300M; free x; take 400M; frees 0"},
    /* No block can be that large; the free index has no bin for such a size. */
    {"a_max_split_size_beyond_all_blocks_is_no_limit",
     &(struct vs_allocator_config){.max_split_size = UINT64_C(1) << 63}, 40 * MIB,
     "x = 30M; free x; refuse 60M oom; take 30M"},
    /* Of two equally large free blocks the newer one has the lower address. */
    {"of_equal_blocks_the_lowest_is_taken",
     &(struct vs_allocator_config){.tie = VS_TIE_LOWEST_ADDRESS}, GIB,
     "gone = 20M; older = 20M; free gone; empty; newer = 20M; newer is gone; free older; "
     "free newer; take 20M at newer; take 20M at older"},
    {"of_equal_blocks_that_of_the_oldest_segment_is_taken",
     &(struct vs_allocator_config){.tie = VS_TIE_OLDEST_SEGMENT}, GIB,
     "gone = 20M; older = 20M; free gone; empty; newer = 20M; newer is gone; free older; "
     "free newer; take 20M at older; take 20M at newer"},
};

ROWS(programs, a_program_is_played)
{
    play_program(*state);
}

static void assert_range_tie(enum vs_tie tie, bool older_expected)
{
    struct vs_allocator_config c = {.tie = tie, .expandable_segments = true,
                                    .expandable_reserve_bytes = 40 * MIB};
    fixture_start(&f, &c, GIB);
    f.device.memory.falling = true;
    uint64_t older = take(&f, 20 * MIB);
    take(&f, 20 * MIB);
    uint64_t newer = take(&f, 20 * MIB); /* the first range is full */
    take(&f, 20 * MIB);
    assert_true(newer < older);
    give(&f, newer);
    give(&f, older);
    assert_int_equal(take(&f, 20 * MIB), older_expected ? older : newer);
    fixture_stop(&f);
}

TEST(an_expandable_segment_is_as_old_as_its_addresses)
{
    assert_range_tie(VS_TIE_LOWEST_ADDRESS, false);
    assert_range_tie(VS_TIE_OLDEST_SEGMENT, true);
}

TEST(configurations_out_of_range_are_refused)
{
    static struct fake_device device;
    fake_device_init(&device, GIB);
    struct vs_allocator *a = NULL;
    const struct vs_allocator_config bad[] = {
        {.max_split_size = 20 * MIB - 1},
        {.garbage_collection_threshold = 1.0},
        {.garbage_collection_threshold = -0.1},
        {.memory_fraction = 1.01},
        {.memory_fraction = -1},
        {.roundup_power2_divisions = {[5] = 3}},
        {.reuse = (enum vs_reuse)7},
        {.tie = (enum vs_tie)2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(vs_allocator_create(&bad[i], &fake_device_ops, &device, NULL, NULL, &a),
                         VS_ERR_ARG);
    struct vs_device_ops ops = fake_device_ops;
    ops.memory_info = NULL;
    struct vs_allocator_config fraction = {.memory_fraction = 0.5};
    assert_int_equal(vs_allocator_create(&fraction, &ops, &device, NULL, NULL, &a), VS_ERR_ARG);
    ops.synchronize = NULL;
    assert_int_equal(vs_allocator_create(&after_sync_config, &ops, &device, NULL, NULL, &a), VS_ERR_ARG);
    assert_null(a);
    fraction.total_memory = GIB;
    assert_int_equal(vs_allocator_create(&fraction, &ops, &device, NULL, NULL, &a), VS_OK);
    vs_allocator_destroy(a);
    vs_allocator_destroy(NULL);
}

TEST(exportable_blocks_share_their_allocation_with_none)
{
    static const size_t sizes[] = {1, 512, 1000, 700 * 1024, 3 * MIB, 3 * MIB, 30 * MIB};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (int policy = 0; policy < VS_POLICY_COUNT; policy++) {
        const struct vs_allocator_config config = {.policy = (enum vs_policy_id)policy};
        struct vs_allocation got[COUNT], again;
        uint64_t released;
        fixture_start(&f, &config, GIB);
        give(&f, take(&f, 20 * MIB)); /* the other pool's cache is not used for it */
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(vs_allocator_malloc_for(f.allocator, sizes[i], 0, true, NULL, &got[i]),
                             VS_OK);
            assert_int_equal(got[i].addr, got[i].segment);
            assert_int_equal(got[i].size, (sizes[i] + 511) & ~(size_t)511);
            bool alone = false;
            for (size_t s = 0; s < f.device.segment_count; s++)
                alone |= f.device.segments[s].addr == got[i].addr &&
                         f.device.segments[s].size == got[i].size;
            assert_true(alone);
        }
        uint64_t asked = f.device.allocs;
        give(&f, got[6].addr);
        assert_int_equal(vs_allocator_malloc_for(f.allocator, 26 * MIB, 0, true, NULL, &again),
                         VS_OK);
        assert_int_not_equal(again.addr, got[6].addr); /* the rest could not be used */
        assert_int_equal(f.device.allocs, ++asked);
        assert_int_equal(vs_allocator_malloc_for(f.allocator, 27 * MIB, 0, true, NULL, &got[6]),
                         VS_OK);
        assert_int_equal(got[6].size, 30 * MIB);
        assert_int_equal(f.device.allocs, asked);
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
        for (int i = 0; i < COUNT; i++)
            give(&f, got[i].addr);
        give(&f, again.addr);
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
        assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_OK);
        assert_int_equal(f.device.used, 0);
        fixture_stop(&f);
    }
}
