/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of the option `limit`, and their meaning for each device. */
#include "support/cmocka_test.h"

#include "base/vs_limit_spec.h"
#include "base/vs_option.h"
#include "base/vs_size.h"

#define TOTAL (UINT64_C(16) * VS_GIB)

static uint64_t limit_of(const char *text, uint32_t device, uint64_t total)
{
    struct vs_limit_spec spec;
    assert_int_equal(vs_limit_parse(text, &spec), VS_OK);
    return vs_limit_bytes(&spec, device, total);
}

TEST(nothing_limits_nothing)
{
    assert_true(limit_of("", 0, TOTAL) == VS_LIMIT_NONE);
}

TEST(one_amount_holds_for_every_device)
{
    assert_true(limit_of("8GiB", 0, TOTAL) == 8 * VS_GIB);
    assert_true(limit_of("8GiB", 63, TOTAL) == 8 * VS_GIB);
    assert_true(limit_of("8GiB", 0, 0) == 8 * VS_GIB);
    assert_true(limit_of("1000", 3, TOTAL) == 1000);
}

TEST(a_device_has_its_own_before_what_holds_for_all)
{
    assert_true(limit_of("0:8GiB,1:16GiB", 0, TOTAL) == 8 * VS_GIB);
    assert_true(limit_of("0:8GiB,1:16GiB", 1, TOTAL) == 16 * VS_GIB);
    assert_true(limit_of("0:8GiB,1:16GiB", 2, TOTAL) == VS_LIMIT_NONE);
    assert_true(limit_of("1:2GiB,4GiB", 0, TOTAL) == 4 * VS_GIB);
    assert_true(limit_of("1:2GiB,4GiB", 1, TOTAL) == 2 * VS_GIB);
    assert_true(limit_of("63:50%", 63, TOTAL) == 8 * VS_GIB);
}

TEST(a_share_is_of_the_device_and_nothing_while_that_is_unknown)
{
    assert_true(limit_of("50%", 0, TOTAL) == 8 * VS_GIB);
    assert_true(limit_of("12.5%", 0, TOTAL) == 2 * VS_GIB);
    assert_true(limit_of("100%", 0, TOTAL) == TOTAL);
    assert_true(limit_of("0.0000001%", 0, 1000) == 1);
    assert_true(limit_of("50%", 0, 0) == VS_LIMIT_NONE);
}

TEST(anything_else_is_refused_and_leaves_the_result)
{
    static const char *const bad[] = {
        "0", "0%", "101%", "%", "-1", "8GiB,", ",8GiB", "8GiB,4GiB", "0:1GiB,0:2GiB", "64:1GiB",
        "100:1GiB", ":1GiB", "a:1GiB", "0:", "0:1:1GiB", "1e3%", "0x10%", "nan%", "8 lightyears",
        "1..5%", "8GiB;1:2GiB", " ", "0.1", "-1:2GiB"};
    struct vs_limit_spec spec, before;
    memset(&spec, 0x5a, sizeof spec);
    before = spec;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (vs_limit_parse(bad[i], &spec) != VS_ERR_ARG)
            fail_msg("'%s' was taken", bad[i]);
        assert_memory_equal(&spec, &before, sizeof spec);
    }
    char longest[4096];
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(vs_limit_parse(longest, &spec), VS_ERR_ARG);
}

TEST(what_is_wrong_is_said)
{
    static const char *const bad[][2] = {
        {"150%", "more than 100 %"},
        {"1:101%", "more than 100 %"},
        {"0", "must be above 0"},
        {"8GiB,4GiB", "two values without a device"},
        {"0:1GiB,0:2GiB", "one device given twice"},
        {"64:1GiB", "device numbers are below 64"},
        {"99999999999999999999:1GiB", "device numbers are below 64"},
        {"8GiB,", "nothing next to a comma"},
        {",8GiB", "nothing next to a comma"}};
    static struct vs_options options;
    char why[VS_OPTION_TEXT_MAX];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(vs_limit_complaint(bad[i][0]));
        assert_string_equal(vs_limit_complaint(bad[i][0]), bad[i][1]);
        assert_int_equal(vs_options_set(&options, VS_OPT_limit, bad[i][0], VS_FROM_COMMAND, why),
                         VS_ERR_ARG);
        assert_non_null(strstr(why, bad[i][1]));
        assert_non_null(strstr(why, "; expected a size or share"));
    }
    assert_null(vs_limit_complaint("0:8GiB,25%"));
    assert_null(vs_limit_complaint("much"));
}

TEST(the_option_says_what_it_takes)
{
    static struct vs_options options;
    char why[VS_OPTION_TEXT_MAX] = "";
    vs_options_init(&options);
    assert_int_equal(vs_options_set(&options, VS_OPT_limit, "0:8GiB,25%", VS_FROM_COMMAND, why),
                     VS_OK);
    assert_string_equal(options.text[VS_OPT_limit], "0:8GiB,25%");
    assert_int_equal(vs_options_set(&options, VS_OPT_limit, "much", VS_FROM_COMMAND, why),
                     VS_ERR_ARG);
    assert_non_null(strstr(why, "'much' is not a value for --limit")); /* the value as given */
    assert_int_equal(vs_options_set(&options, VS_OPT_max_trace_size, "1KiB", VS_FROM_COMMAND, why),
                     VS_ERR_ARG);
    assert_non_null(strstr(why, "'1KiB' is not a value for --max-trace-size"));
    assert_int_equal(vs_options_set(&options, VS_OPT_limit, "much", VS_FROM_ENVIRONMENT, why),
                     VS_ERR_ARG);
    assert_non_null(strstr(why, "'much' is not a value for limit"));
    assert_non_null(strstr(why, "8GiB or 50%"));
    assert_string_equal(options.text[VS_OPT_limit], "0:8GiB,25%");
}
