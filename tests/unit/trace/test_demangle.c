/* SPDX-License-Identifier: Apache-2.0
 *
 * C++ and Rust names in readable form, and names that only look mangled. */
#include <stdio.h>

#include "support/cmocka_test.h"
#include "trace/symbols/demangle.h"

static void assert_plain(const char *mangled, const char *plain)
{
    char *got = vs_demangle(mangled);
    if (!plain)
        assert_null(got);
    else
        assert_string_equal(got ? got : "(none)", plain);
    free(got);
}

TEST(cxx)
{
    assert_plain("_ZN4demo3BoxIiE4fillEPFvPvES2_", "demo::Box<int>::fill(void (*)(void*), void*)");
    assert_plain("main", NULL);
    assert_plain("_Znonsense", NULL);
    assert_plain("", NULL);
}

TEST(rust_v0)
{
    assert_plain("_RINvCs6GmmlP4bgsG_1r4showReEB2_", "r::show::<&str>");
    assert_plain("_RINvNtCs6GmmlP4bgsG_1r5inner3arrKj7_EB4_", "r::inner::arr::<7>");
    assert_plain("_RINvNtCs6GmmlP4bgsG_1r5inner5applyNCNvB4_4mains_0EB4_",
                 "r::inner::apply::<r::main::{closure#1}>");
    assert_plain("_RINvMNtNtCsgEmfK2I1SDS_4core3fmt2rtNtB3_8Argument9new_debugQTlReEECs6GmmlP4bgsG_1r",
                 "<core::fmt::rt::Argument>::new_debug::<&mut (i32, &str)>");
    assert_plain("_RNvNtCslNYArtu3iFV_5alloc5alloc18handle_alloc_error",
                 "alloc::alloc::handle_alloc_error");
    assert_plain("_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxD"
                 "INtNtNtB4_3ops8function2FnThEEp6OutputhEL_EECs6GmmlP4bgsG_1r",
                 "core::ptr::drop_in_place::<alloc::boxed::Box<dyn core::ops::function::Fn<(u8,), "
                 "Output = u8>>>");
    assert_plain("_RNvCs6GmmlP4bgsG_1r", NULL); /* cut off */
    assert_plain("_R", NULL);
}

TEST(rust_legacy)
{
    assert_plain("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    assert_plain("_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$4drop17h"
                 "0123456789abcdefE",
                 "<alloc::vec::Vec<T> as core::Drop>::drop");
    assert_plain("_ZN4core3fmt9Formatter3pad17hxyz3456789abcdefE",
                 "core::fmt::Formatter::pad::hxyz3456789abcdef"); /* C++: not a hash */
}

/* A Rust type that occurred before at *position*, 1 or later, after "_R". */
static void append_again(char *name, size_t position)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char number[8] = "", *p = number + sizeof number - 2;
    *p = '_';
    size_t rest = position - 1;
    do
        *--p = digits[rest % 62];
    while ((rest /= 62) > 0);
    strcat(strcat(name, "B"), p);
}

/* A pair, a pair of those, a pair of those, ...: 2^31 times i8 in about 200 characters. */
TEST(a_short_name_of_a_long_text_is_cut)
{
    char name[1000] = "_RINvC1a1fTaaE";
    size_t last = strlen("INvC1a1f");
    for (int i = 0; i < 30; i++) {
        size_t position = strlen(name) - 2;
        strcat(name, "T");
        append_again(name, last);
        append_again(name, last);
        strcat(name, "E");
        last = position;
    }
    strcat(name, "E");
    char *plain = vs_demangle(name);
    assert_non_null(plain);
    assert_int_equal(strlen(plain), VS_DEMANGLED_MAX - 1);
    assert_memory_equal(plain, "a::f::<(i8, i8), ((i8", 21);
    free(plain);
}

/* Names that repeat themselves endlessly, are deeply nested, or invalid. */
TEST(wrong_names_end)
{
    char name[3000];
    assert_plain("_RB_", NULL);
    assert_plain("_RNvB0_1a", NULL);
    memset(name, 'S', sizeof name);
    memcpy(name, "_RINvC1a1f", 10);
    name[sizeof name - 1] = '\0';
    assert_plain(name, NULL);
    uint64_t seed = 1;
    static const char letters[] = "BINMXYCTRSAEKFDGLpsvt_0123456789abcdz";
    for (int round = 0; round < 20000; round++) {
        size_t n = 3 + (size_t)(round % 60);
        memcpy(name, round % 2 ? "_Z" : "_R", 2);
        for (size_t i = 2; i < n; i++)
            name[i] = letters[vs_random(&seed) % (sizeof letters - 1)];
        name[n] = '\0';
        char *plain = vs_demangle(name);
        assert_true(!plain || strlen(plain) < VS_DEMANGLED_MAX);
        free(plain);
    }
}
