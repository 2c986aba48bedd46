/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, times and counts: parsing, rejected values, printing. */
#include "support/cmocka_test.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/vs_size.h"

static uint64_t parsed(const char *text)
{
    uint64_t bytes = 0;
    if (vs_size_parse(text, &bytes))
        fail_msg("'%s' was refused", text);
    return bytes;
}

TEST(numbers_units_fractions_and_spaces_are_read)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        /* binary units are powers of 1024, SI units of 1000 */
        {"1KiB", 1024}, {"1k", 1024}, {"1Ki", 1024}, {"512M", 512 * VS_MIB}, {"8GiB", 8 * VS_GIB},
        {"8gib", 8 * VS_GIB}, {"2T", 2048 * VS_GIB}, {"3PiB", 3 * 1024 * 1024 * VS_GIB},
        {"1kB", 1000}, {"80gb", UINT64_C(80000000000)}, {"80GB", UINT64_C(80000000000)},
        {"2mb", 2000000}, {"1TB", UINT64_C(1000000000000)},
        {"0", 0}, {"4096", 4096}, {"4096B", 4096}, {"4096 bytes", 4096},
        {"18446744073709551615", UINT64_MAX},
        {"1.5GiB", VS_GIB + VS_GIB / 2}, {" 1.5 GiB ", VS_GIB + VS_GIB / 2}, {".5k", 512},
        {"0.25 MiB", 256 * VS_KIB},
        /* the largest below the limit */
        {"16383PiB", UINT64_C(16383) << 50}, {"16777215TiB", UINT64_C(16777215) << 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (parsed(cases[i].text) != cases[i].bytes)
            fail_msg("'%s' is %" PRIu64, cases[i].text, parsed(cases[i].text));
}

TEST(anything_else_is_refused_and_leaves_the_result_alone)
{
    static const char *const refused[] = {
        "", " ", "-1", "-1GiB", "+1", "GiB", "1.2.3", ".", "1 Gi B", "1GiBs", "1X", "1e9", "0x10",
        "inf", "nan", "1G 1G", "12kk", "1bytess", "8GiB/s", "\t", "1,5G",
        "18446744073709551616", "16777216TiB", "99999999999999999999999999",
        "0000000000000000000000000000000000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        uint64_t bytes = 77;
        if (vs_size_parse(refused[i], &bytes) != VS_ERR_ARG)
            fail_msg("'%s' was read as %" PRIu64, refused[i], bytes);
        assert_int_equal(bytes, 77);
    }
    uint64_t bytes;
    assert_int_equal(vs_size_parse(NULL, &bytes), VS_ERR_ARG);
}

TEST(sizes_have_one_decimal_below_1_gib_and_two_from_there_on)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"}, {512, "512 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1536, "1.5 KiB"},
        {VS_MIB - 1, "1.0 MiB"}, /* never "1024.0 KiB" */
        {VS_MIB, "1.0 MiB"}, {VS_GIB - 1, "1.00 GiB"}, {VS_GIB + VS_GIB / 2, "1.50 GiB"},
        {80 * VS_GIB, "80.00 GiB"}, {UINT64_MAX, "16.00 EiB"},
    };
    char out[VS_SIZE_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(vs_size_format(out, cases[i].bytes), cases[i].text);
}

TEST(a_printed_size_reads_back_within_its_rounding)
{
    uint64_t seed = 42;
    char out[VS_SIZE_TEXT_MAX];
    for (int i = 0; i < 20000; i++) {
        uint64_t bytes = vs_random(&seed) >> (8 + vs_random(&seed) % 56); /* below 64 PiB: no EiB unit */
        assert_null(strstr(vs_size_format(out, bytes), "1024.0"));
        assert_true(strlen(out) < VS_SIZE_TEXT_MAX);
        uint64_t back = parsed(out);
        /* one decimal of a number of at least 1.0: at most half of 0.1 off */
        uint64_t off = back > bytes ? back - bytes : bytes - back;
        if (off > bytes / 20)
            fail_msg("%" PRIu64 " printed as '%s' read back as %" PRIu64, bytes, out, back);
        if (bytes < 1024)
            assert_int_equal(back, bytes);
    }
}

TEST(times_print_in_their_unit_and_counts_with_commas_between_thousands)
{
    static const struct {
        uint64_t number;
        const char *time, *count;
    } cases[] = {
        {0, "0 ns", "0"}, {850, "850 ns", "850"}, {999, "999 ns", "999"}, {1000, "1.0 µs", "1,000"},
        {12300, "12.3 µs", "12,300"}, {4560000, "4.56 ms", "4,560,000"},
        {1234000000, "1.234 s", "1,234,000,000"}, {1000000, "1.00 ms", "1,000,000"},
        {1000000000, "1.000 s", "1,000,000,000"},
        {UINT64_C(125000000000), "2 min 05 s", "125,000,000,000"},
        {UINT64_MAX, NULL, "18,446,744,073,709,551,615"},
    };
    char out[VS_SIZE_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(vs_count_format(out, cases[i].number), cases[i].count);
        assert_true(strlen(vs_time_format(out, cases[i].number)) < VS_SIZE_TEXT_MAX);
        if (cases[i].time)
            assert_string_equal(out, cases[i].time);
    }
}

TEST(two_sizes_that_differ_differ_in_print)
{
    static const struct {
        uint64_t a, b;
        const char *first, *second;
    } cases[] = {
        {16 * VS_MIB, 4 * VS_MIB, "16.0 MiB", "4.0 MiB"},
        {4 * VS_MIB, 4 * VS_MIB, "4.0 MiB", "4.0 MiB"},
        {4 * VS_MIB + VS_MIB / 100, 4 * VS_MIB, "4.01 MiB", "4.00 MiB"},
        {2 * VS_GIB + 2 * VS_MIB, 2 * VS_GIB, "2.002 GiB", "2.000 GiB"},
        {4 * VS_MIB, 4 * VS_MIB + 1, "4,194,304 B", "4,194,305 B"},
        {UINT64_MAX, UINT64_MAX - 1, "18,446,744,073,709,551,615 B", "18,446,744,073,709,551,614 B"},
        {1, 2, "1 B", "2 B"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vs_size_pair pair = vs_sizes_apart(cases[i].a, cases[i].b);
        assert_string_equal(pair.a, cases[i].first);
        assert_string_equal(pair.b, cases[i].second);
    }
}
