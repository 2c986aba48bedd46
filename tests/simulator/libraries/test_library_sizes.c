/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of sizes: the kept file is well formed, and its rows are found by library, version,
 * architecture and problem. */
#include "sim_test.h"

#include <stdio.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

const struct vs_library vs_library = {.name = "a library", .package = "cudnn"};

static const char table[] = "# a comment\n"
                            "cudnn\t9.1.0-9.5.9\tsm_90\tconvolution\tk\t100\tassumed\ta guess\n"
                            "cudnn\t9.1.0-9.5.9\tsm_90\tconvolution\tk\t200\tmeasured\tan H100\n"
                            "cudnn\t*\t*\thandle\t*\t300\tassumed\tno figure\n";

static bool find(int version, int architecture, const char *what, const char *key,
                 struct vs_size_answer *answer)
{
    struct vs_size_query query = {"cudnn", version, architecture, what, key};
    return vs_size_find(table, table + sizeof table - 1, &query, answer);
}

TEST(a_measured_row_wins_over_an_assumed_one)
{
    struct vs_size_answer a;
    assert_true(find(90300, 90, "convolution", "k", &a));
    assert_int_equal(a.bytes, 200);
    assert_true(a.measured);
    assert_string_equal(a.source, "an H100");
}

TEST(rows_of_other_versions_devices_and_problems_do_not_apply)
{
    struct vs_size_answer a;
    assert_false(find(90600, 90, "convolution", "k", &a));
    assert_false(find(90300, 80, "convolution", "k", &a));
    assert_false(find(90300, 90, "convolution", "other", &a));
    assert_true(find(99999, 75, "handle", "anything", &a));
    assert_int_equal(a.bytes, 300);
    assert_false(a.measured);
}

TEST(bad_rows_are_found)
{
    static const char *const bad[] = {
        "cudnn\t*\t*\thandle\t*\t300\tassumed\n",          "cudnn\t9.1\t*\thandle\t*\t300\tassumed\tx\n",
        "cudnn\t*\t90\thandle\t*\t300\tassumed\tx\n",      "cudnn\t*\t*\thandle\t*\t3MiB\tassumed\tx\n",
        "cudnn\t*\t*\thandle\t*\t300\tguessed\tx\n",       "cudnn\t*\t*\thandle\t*\t\tassumed\tx\n",
        "cudnn\t*\t*\thandle\t*\t300\tassumed\tx\tmore\n",
    };
    unsigned line;
    assert_true(vs_size_check(table, table + sizeof table - 1, &line));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(vs_size_check(bad[i], bad[i] + strlen(bad[i]), &line));
        assert_int_equal(line, 1);
    }
}

TEST(the_kept_table_is_well_formed)
{
    static char text[1 << 24];
    unsigned line;
    FILE *f = fopen(VS_SIZES_FILE, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_true(n > 0 && n < sizeof text);
    if (!vs_size_check(text, text + n, &line))
        fail_msg("%s:%u: this row is not well formed", VS_SIZES_FILE, line);
}
