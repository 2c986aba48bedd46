/* SPDX-License-Identifier: Apache-2.0
 *
 * Error codes are in traces and in --json output: their numbers and names must not change. */
#include "support/cmocka_test.h"

#include <string.h>

#include "base/vs_err.h"

TEST(numbers_and_names_are_pinned)
{
    static const char *const names[] = {
        "ok",    "arg",       "nomem",   "io",    "format",     "corrupt", "version",     "end",
        "not_found", "foreign", "state", "device_oom", "device", "unsupported", "limit",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(vs_err_name((enum vs_err)i), names[i]);
    assert_int_equal(VS_ERR_LIMIT, sizeof names / sizeof *names - 1);
}

TEST(every_code_has_a_sentence_of_its_own)
{
    for (int i = 0; i <= VS_ERR_LIMIT; i++) {
        assert_true(strlen(vs_err_text((enum vs_err)i)) > 3);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(vs_err_text((enum vs_err)i), vs_err_text((enum vs_err)j));
    }
}

TEST(a_number_outside_the_table_is_unknown)
{
    assert_string_equal(vs_err_name((enum vs_err)(VS_ERR_LIMIT + 1)), "unknown");
    assert_string_equal(vs_err_name((enum vs_err)-1), "unknown");
    assert_string_equal(vs_err_text((enum vs_err)9999), "unknown error");
}
