/* SPDX-License-Identifier: Apache-2.0
 *
 * Shards used from one thread: operations that need only one lock take one. That the counts, peaks
 * included, are the same as when every call takes all locks is seen by test_allocator_differential. */
#include "allocator_test.h"

#include "allocator/core/allocator_internal.h"

static uint64_t in_shards(const struct vs_allocator *a)
{
    uint64_t requests = 0;
    for (uint32_t i = 0; i < a->shards.count; i++) {
        const struct vs_tally *tally = &a->shards.shard[i].tally;
        requests += tally->up[VS_POOL_SMALL][VS_TALLY_BLOCKS];
        requests += tally->up[VS_POOL_LARGE][VS_TALLY_BLOCKS];
    }
    return requests;
}

TEST(a_request_the_cache_serves_takes_one_shard)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t held[8]; /* gives both shards some room below the peaks */
    for (int i = 0; i < 8; i++)
        held[i] = take_on(&f, 1000, i % 2 ? 7 : 0).addr;
    for (int i = 0; i < 8; i++)
        give(&f, held[i]);
    assert_int_equal(f.allocator->shards.count, 2);
    for (uint64_t stream = 0; stream <= 7; stream += 7) {
        struct vs_allocation got;
        uint64_t before = in_shards(f.allocator);
        assert_int_equal(vs_allocator_malloc(f.allocator, 1000, stream, &got), VS_OK);
        assert_int_equal(vs_allocator_free(f.allocator, got.addr), VS_OK);
        assert_int_equal(in_shards(f.allocator), before + 1);
    }
}

TEST(a_request_that_would_raise_a_peak_locks_all_shards)
{
    struct vs_allocation got;
    fixture_start(&f, &pytorch_config, GIB);
    give(&f, take(&f, 1000));
    assert_int_equal(vs_allocator_malloc(f.allocator, 1000, 0, &got), VS_OK);
    uint64_t before = in_shards(f.allocator);
    assert_int_equal(before, 1);
    assert_int_equal(vs_allocator_malloc(f.allocator, 1000, 0, &got), VS_OK);
    assert_int_equal(in_shards(f.allocator), 0); /* folded */
    assert_int_equal(stats_of(&f).allocation[VS_STAT_ALL].peak, 2);
}

TEST(streams_share_shards_when_there_are_many)
{
    fixture_start(&f, &pytorch_config, GIB);
    for (uint64_t stream = 0; stream < 100; stream++)
        take_on(&f, 512, stream * 4096);
    assert_int_equal(f.allocator->shards.count, f.allocator->shards.limit);
    assert_true(f.allocator->shards.limit <= VS_SHARDS_MAX);
}

/* Regression: the nodes of two streams' first blocks were adjacent, 56 bytes each, and two threads
 * with a stream each were slower together than one after the other. */
TEST(blocks_of_two_shards_share_no_cache_line)
{
    struct vs_block *block[16];
    fixture_start(&f, &pytorch_config, GIB);
    for (int i = 0; i < 16; i++) {
        struct vs_allocation got = take_on(&f, i % 4 < 2 ? 64 << 10 : 3 << 20, i % 2 ? 7 : 0);
        block[i] = vs_live_get_locked(f.allocator, got.addr);
        assert_non_null(block[i]);
    }
    assert_int_equal(f.allocator->shards.count, 2);
    for (int i = 0; i < 16; i += 2) { /* even ones in one shard, odd ones in the other */
        uintptr_t first = (uintptr_t)block[i] / 64, last = ((uintptr_t)(block[i] + 1) - 1) / 64;
        for (int j = 1; j < 16; j += 2)
            assert_true(((uintptr_t)(block[j] + 1) - 1) / 64 < first ||
                        (uintptr_t)block[j] / 64 > last);
    }
}

/* Regression: all nodes of segments and ranges went to the first shard. */
TEST(nodes_go_back_where_they_came_from)
{
    for (int policy = 0; policy < VS_POLICY_COUNT; policy++) {
        struct vs_allocator_config config = pytorch_config;
        config.policy = (enum vs_policy_id)policy;
        uint64_t early = 0, hole;
        fixture_start(&f, &config, 4 * GIB);
        take_on(&f, 2 * MIB, 1);
        for (int i = 0; i < 800; i++) {
            hole = take_unchecked(&f, 42 * MIB, 7);
            uint64_t last = take_unchecked(&f, 22 * MIB, 7);
            give_unchecked(&f, hole);
            assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
            give_unchecked(&f, last);
            assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
            if (i == 10)
                early = f.allocator->blocks_made;
        }
        assert_int_equal(f.allocator->blocks_made, early);
        fixture_stop(&f);
    }
}

TEST(a_block_is_freed_although_its_page_points_elsewhere)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t addr = take_on(&f, 512, 1).addr;
    take_on(&f, 512, 2);
    struct vs_shards *shards = &f.allocator->shards;
    struct vs_shard *other = vs_shards_of_stream(shards, 2);
    assert_ptr_not_equal(vs_shards_of_page(shards, addr), other);
    vs_shards_hint_locked(shards, addr, 512, other);
    struct vs_allocation found;
    bool live = false;
    assert_int_equal(vs_allocator_find(f.allocator, addr + 5, &found, &live), VS_OK);
    assert_true(live && found.addr == addr);
    give(&f, addr);
    assert_int_equal(vs_allocator_free(f.allocator, addr), VS_ERR_STATE);
}

TEST(serials_of_one_stream_rise_by_one)
{
    fixture_start(&f, &pytorch_config, GIB);
    for (uint64_t i = 1; i <= 10000; i++) {
        struct vs_allocation got;
        assert_int_equal(vs_allocator_malloc(f.allocator, 512, 3, &got), VS_OK);
        assert_int_equal(got.serial, i);
        assert_int_equal(vs_allocator_free(f.allocator, got.addr), VS_OK);
    }
}

/* --- memory per live block --- */

#define MANY 1310721

TEST(a_live_block_costs_at_most_64_bytes_of_host_memory)
{
    static uint64_t addr[MANY];
    fixture_start(&f, &pytorch_config, 64 * GIB);
    for (uint64_t i = 0; i < MANY; i++) {
        struct vs_allocation got;
        assert_int_equal(vs_allocator_malloc(f.allocator, 512, 0, &got), VS_OK);
        addr[i] = got.addr;
        /* the maxima are right after the pointer table has grown */
        if (i + 1 != 655361 && i + 1 != 1000000 && i + 1 != MANY)
            continue;
        const struct vs_allocator *a = f.allocator;
        uint64_t bytes = sizeof *a + a->arena.bytes_mapped + a->slabs.count * VS_SLAB_BYTES +
                         a->segment_capacity * sizeof *a->segments;
        for (uint32_t k = 0; k < a->shards.count; k++) {
            const struct vs_live_index *live = &a->shards.shard[k].live;
            bytes += live->heads ? sizeof *live->heads << (64 - live->shift) : 0;
        }
        assert_true(bytes <= 64 * (i + 1));
    }
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(vs_allocator_free(f.allocator, addr[i]), VS_OK);
}
