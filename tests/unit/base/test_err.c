/* SPDX-License-Identifier: Apache-2.0
 *
 * Error codes are in traces and in --json output: their numbers must not change. */
#include "support/cmocka_test.h"

#include "base/vs_err.h"

TEST(numbers_are_pinned)
{
    static const enum vs_err codes[] = {
        VS_OK,         VS_ERR_ARG,       VS_ERR_NOMEM,   VS_ERR_IO,    VS_ERR_FORMAT,
        VS_ERR_CORRUPT, VS_ERR_VERSION,  VS_ERR_END,     VS_ERR_NOT_FOUND, VS_ERR_FOREIGN,
        VS_ERR_STATE,  VS_ERR_DEVICE_OOM, VS_ERR_DEVICE, VS_ERR_UNSUPPORTED, VS_ERR_LIMIT,
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_int_equal(codes[i], i);
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
    assert_string_equal(vs_err_text((enum vs_err)(VS_ERR_LIMIT + 1)), "unknown error");
    assert_string_equal(vs_err_text((enum vs_err)-1), "unknown error");
    assert_string_equal(vs_err_text((enum vs_err)9999), "unknown error");
}
