/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena: zeroed, aligned, never overlapping, rejecting impossible sizes. */
#include "support/cmocka_test.h"

#include "base/vs_arena.h"

TEST(memory_is_zeroed_aligned_and_apart)
{
    enum { COUNT = 4000 };
    static struct {
        unsigned char *p;
        size_t bytes;
    } piece[COUNT];
    struct vs_arena arena = {0};
    uint64_t seed = 3;
    for (int i = 0; i < COUNT; i++) {
        /* mostly small, sometimes larger than a chunk */
        piece[i].bytes = 1 + vs_random(&seed) % (i % 500 == 499 ? 600000 : 900);
        piece[i].p = vs_arena_alloc(&arena, piece[i].bytes);
        assert_non_null(piece[i].p);
        assert_int_equal((uintptr_t)piece[i].p % 16, 0);
        for (size_t j = 0; j < piece[i].bytes; j++)
            assert_int_equal(piece[i].p[j], 0);
        memset(piece[i].p, i % 255 + 1, piece[i].bytes);
    }
    /* if two pieces overlapped, the earlier one's fill would be overwritten */
    for (int i = 0; i < COUNT; i++)
        for (size_t j = 0; j < piece[i].bytes; j++)
            assert_int_equal(piece[i].p[j], i % 255 + 1);
    vs_arena_free_all(&arena);
}

TEST(what_is_mapped_is_counted_and_stays_near_what_was_asked)
{
    struct vs_arena arena = {0};
    for (int i = 0; i < 10000; i++)
        assert_non_null(vs_arena_alloc(&arena, 100)); /* 112 with alignment */
    assert_true(arena.bytes_mapped >= 1120000);
    assert_true(arena.bytes_mapped <= 1120000 + (512 << 10));
    vs_arena_free_all(&arena);
    assert_int_equal(arena.bytes_mapped, 0);
    assert_null(arena.chunks);
}

TEST(a_large_piece_does_not_waste_the_chunk_in_use)
{
    struct vs_arena arena = {0};
    char *first = vs_arena_alloc(&arena, 64);
    assert_non_null(vs_arena_alloc(&arena, 1 << 20));
    char *second = vs_arena_alloc(&arena, 64);
    assert_ptr_equal(second, first + 64);
    vs_arena_free_all(&arena);
}

TEST(an_impossible_size_is_refused_and_the_arena_goes_on)
{
    struct vs_arena arena = {0};
    assert_null(vs_arena_alloc(&arena, SIZE_MAX));
    assert_null(vs_arena_alloc(&arena, SIZE_MAX / 2));
    assert_int_equal(arena.bytes_mapped, 0);
    assert_non_null(vs_arena_alloc(&arena, 16));
    vs_arena_free_all(&arena);
}

TEST(an_arena_can_be_used_again_after_everything_was_freed)
{
    struct vs_arena arena = {0};
    vs_arena_free_all(&arena);
    for (int i = 0; i < 3; i++) {
        unsigned char *p = vs_arena_alloc(&arena, 5000);
        assert_non_null(p);
        assert_int_equal(p[4999], 0);
        memset(p, 0xff, 5000);
        vs_arena_free_all(&arena);
    }
}

TEST(pages_are_zeroed_and_a_null_mapping_can_be_given_back)
{
    unsigned char *p = vs_pages_map(100000);
    assert_non_null(p);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(p[i], 0);
    vs_pages_unmap(p, 100000);
    vs_pages_unmap(NULL, 100000);
    assert_null(vs_pages_map(SIZE_MAX / 2));
}
