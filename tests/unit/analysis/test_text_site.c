/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a call site's function: without its parameters, and never cut within a name. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "viewer/common/text_style.h"

TEST(parameters_are_left_out_and_names_are_whole)
{
    static const struct {
        const char *function, *shown;
    } cases[] = {
        {"f(int, float)", "f"},
        {"main", "main"},
        {"n::S::get(int (*)(void)) const", "n::S::get"},
        {"operator()", "operator()"},
        {"main::{lambda}::operator()", "main::{lambda}::operator()"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"S::operator()()", "S::operator()"},
        {"my_operator()", "my_operator"},
        {"n::S::call<int, n::none>(void (*)(int)) &&", "n::S::call<int, n::none>"},
        {"S::get(int) const volatile &", "S::get"},
        {"S::operator&&", "S::operator&&"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"<signal handler called>", "<signal handler called>"},
        {"std::unique_ptr<char, Deleter<char> > make<char, 1048576ul>()", "make<char, 1048576ul>"},
        {"unsigned long const& n::S<int>::get<void (*)(int)>(int) const", "n::S<int>::get<void (*)(int)>"},
        {"auto main::{lambda(auto:1, int)#1}::operator()<float>(float, int) const",
         "main::{lambda(auto:1, int)#1}::operator()<float>"},
        {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
        {"decltype ((a->b)()) f<int>(int)", "f<int>"},
        {"n::vector<int, n::alloc<int> >::vector(int)", "n::vector<…>::vector"},
        {"f<int> [clone .cold]", "f<int> [clone .cold]"},
        {"<T as n::Drop<U>>::drop<V>", "<T as n::Drop<U>>::drop<V>"},
        {"main.<locals>.<lambda>", "main.<locals>.<lambda>"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[VS_CHAIN_TEXT_MAX];
        struct vs_report_frame frame = {.function = cases[i].function};
        struct vs_report_site site = {.frames = &frame, .frame_count = 1};
        assert_string_equal(vs_text_site(out, &site, 1), cases[i].shown);
    }
}

/* The printed text of three sites of 900, 95 and 5 bytes. */
static char *listed(bool small_sites, size_t rows)
{
    struct vs_report_site items[3] = {{.bytes = 900, .count = 1, .api = "first"},
                                      {.bytes = 95, .count = 1, .api = "second"},
                                      {.bytes = 5, .count = 1, .api = "third"}};
    struct vs_report_sites sites = {.items = items, .count = 3, .total_bytes = 1000};
    struct vs_style style;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    vs_style_init(&style, out);
    style.sites = rows;
    style.small_sites = small_sites;
    vs_text_sites(&style, &sites);
    fclose(out);
    return text;
}

TEST(sites_of_less_than_a_hundredth_are_summed_up)
{
    char *text = listed(false, 5);
    assert_non_null(strstr(text, "second"));
    assert_null(strstr(text, "third"));
    assert_non_null(strstr(text, "at 1 more call site"));
    free(text);
    text = listed(true, 5);
    assert_non_null(strstr(text, "third"));
    assert_null(strstr(text, "more call site"));
    free(text);
    text = listed(true, 1);
    assert_null(strstr(text, "second"));
    assert_non_null(strstr(text, "at 2 more call sites"));
    free(text);
}
