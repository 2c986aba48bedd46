/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of sizes: its rows are found by library, version, architecture and problem. */
#include "sim_test.h"

#include <limits.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

const struct vs_library vs_library = {.name = "a library", .package = "cudnn"};

static const struct vs_size_row table[] = {
    {"cudnn", 90100, 90509, 90, "convolution", "k", 100, false, "a guess"},
    {"cudnn", 90100, 90509, 90, "convolution", "k", 200, true, "an H100"},
    {"cudnn", 0, INT_MAX, 0, "handle", "*", 300, false, "no figure"},
};

static const struct vs_size_row *find(int version, int architecture, const char *what, const char *key)
{
    struct vs_size_query query = {"cudnn", version, architecture, what, key};
    return vs_size_find(table, sizeof table / sizeof *table, &query);
}

TEST(a_measured_row_wins_over_an_assumed_one)
{
    assert_ptr_equal(find(90300, 90, "convolution", "k"), &table[1]);
}

TEST(rows_of_other_versions_devices_and_problems_do_not_apply)
{
    assert_null(find(90600, 90, "convolution", "k"));
    assert_null(find(90300, 80, "convolution", "k"));
    assert_null(find(90300, 90, "convolution", "other"));
    assert_ptr_equal(find(99999, 75, "handle", "anything"), &table[2]);
}
