/* SPDX-License-Identifier: Apache-2.0
 *
 * How a call site's function is shown: without its parameters, and never cut in a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "viewer/common/text_style.h"

static void parameters_are_left_out_and_names_are_whole(void **state)
{
    (void)state;
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
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"<signal handler called>", "<signal handler called>"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[VS_CHAIN_TEXT_MAX];
        struct vs_report_frame frame = {.function = cases[i].function};
        struct vs_report_site site = {.frames = &frame, .frame_count = 1};
        assert_string_equal(vs_text_site(out, &site, 1), cases[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_left_out_and_names_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
