/* SPDX-License-Identifier: Apache-2.0
 *
 * The user's level of a device: blocks of a framework, and memory that does not hold them; its peak
 * is that of the sum. */
#include "support/cmocka_test.h"

#include <string.h>

#include "ledger/book.h"

#define DEVICE 3

static struct vs_book book;

static void change(enum vs_level level, bool freed, uint64_t bytes, bool holds)
{
    struct vs_change one = freed ? vs_change_free(level, VS_FAMILY_DEVICE, DEVICE, bytes, bytes)
                                 : vs_change_alloc(level, VS_FAMILY_DEVICE, DEVICE, bytes, bytes);
    one.holds = holds;
    vs_book_apply(&book, &one);
}

BEFORE(empty)
{
    memset(&book, 0, sizeof book);
    return 0;
}

TEST(without_a_framework_it_is_the_level_of_the_device)
{
    change(VS_LEVEL_DEVICE, false, 7 * MIB, false);
    change(VS_LEVEL_BLOCK, false, 5 * MIB, false);
    change(VS_LEVEL_DEVICE, true, 7 * MIB, false);
    struct vs_change segment = vs_change_segment(DEVICE, true, 20 * MIB);
    vs_book_apply(&book, &segment);
    assert_int_equal(vs_book_user_now(&book, DEVICE), 5 * MIB);
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 12 * MIB);
}

TEST(tensors_count_and_the_memory_that_holds_them_does_not)
{
    change(VS_LEVEL_DEVICE, false, 500 * MIB, false);
    change(VS_LEVEL_DEVICE, false, 20 * MIB, true);
    change(VS_LEVEL_FRAMEWORK, false, 10 * MIB, false);
    assert_int_equal(vs_book_user_now(&book, DEVICE), 510 * MIB);
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 510 * MIB);
    change(VS_LEVEL_FRAMEWORK, true, 10 * MIB, false);
    change(VS_LEVEL_DEVICE, true, 20 * MIB, true);
    assert_int_equal(vs_book_user_now(&book, DEVICE), 500 * MIB);
    assert_int_equal(book.user[DEVICE].holding, 0);
    assert_int_equal(book.user[DEVICE].allocs - book.user[DEVICE].frees, 0);
}

TEST(the_peak_is_that_of_the_sum)
{
    change(VS_LEVEL_DEVICE, false, 100 * MIB, true);
    change(VS_LEVEL_FRAMEWORK, false, 80 * MIB, false);
    change(VS_LEVEL_FRAMEWORK, true, 80 * MIB, false);
    change(VS_LEVEL_DEVICE, false, 60 * MIB, false);
    change(VS_LEVEL_DEVICE, true, 60 * MIB, false);
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 80 * MIB);
    vs_book_restart_peaks(&book, DEVICE);
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 0);
}

TEST(a_peak_before_the_framework_is_kept)
{
    change(VS_LEVEL_DEVICE, false, 90 * MIB, false);
    change(VS_LEVEL_DEVICE, true, 90 * MIB, false);
    change(VS_LEVEL_DEVICE, false, 20 * MIB, true);
    change(VS_LEVEL_FRAMEWORK, false, 10 * MIB, false);
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 90 * MIB);
}

TEST(memory_found_to_hold_tensors_later_is_taken_out)
{
    change(VS_LEVEL_DEVICE, false, 5 * MIB, false);
    change(VS_LEVEL_BLOCK, false, 20 * MIB, false);
    vs_book_holds(&book, DEVICE, 20 * MIB);
    change(VS_LEVEL_FRAMEWORK, false, 8 * MIB, false);
    assert_int_equal(vs_book_user_now(&book, DEVICE), 13 * MIB);
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 13 * MIB);
    assert_int_equal(book.user[DEVICE].allocs, 1);
    change(VS_LEVEL_BLOCK, true, 20 * MIB, true);
    assert_int_equal(vs_book_user_now(&book, DEVICE), 13 * MIB);
}

TEST(host_memory_and_imports_are_not_in_it)
{
    change(VS_LEVEL_FRAMEWORK, false, 1 * MIB, false);
    for (int f = 0; f < 2; f++) {
        struct vs_change one = vs_change_alloc(
            VS_LEVEL_DEVICE, f ? VS_FAMILY_PINNED : VS_FAMILY_IPC, DEVICE, 4 * MIB, 4 * MIB);
        vs_book_apply(&book, &one);
    }
    assert_int_equal(vs_book_user_peak(&book, DEVICE), 1 * MIB);
}

/* Any changes: the sum and its peak are those of a plain list. */
TEST(random_changes_have_the_peak_of_a_list)
{
    enum { KINDS = 3, SLOTS = 30, STEPS = 20000 };
    static const enum vs_level levels[KINDS] = {VS_LEVEL_DEVICE, VS_LEVEL_DEVICE, VS_LEVEL_FRAMEWORK};
    uint64_t live[KINDS][SLOTS] = {{0}}, sum = 0, peak = 0;
    srand(5);
    for (int i = 0; i < STEPS; i++) {
        int kind = rand() % KINDS;
        uint64_t *slot = &live[kind][rand() % SLOTS];
        bool holds = kind == 1, freed = *slot != 0;
        uint64_t bytes = freed ? *slot : (uint64_t)rand() % 1000 + 1;
        *slot = freed ? 0 : bytes;
        change(levels[kind], freed, bytes, holds);
        if (!holds)
            sum += freed ? 0 - bytes : bytes;
        peak = sum > peak ? sum : peak;
        assert_int_equal(vs_book_user_now(&book, DEVICE), sum);
        assert_int_equal(vs_book_user_peak(&book, DEVICE), peak);
        if (i % 1000 == 999) {
            vs_book_restart_peaks(&book, DEVICE);
            peak = sum;
        }
    }
}
