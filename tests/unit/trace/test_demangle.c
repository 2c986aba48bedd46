/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of C++ and Rust as people write them, and names that only look mangled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/symbols/demangle.h"
#include "trace/symbols/demangle_rust.h"

static void assert_plain(const char *mangled, const char *plain)
{
    char *got = vs_demangle(mangled);
    if (!plain)
        assert_null(got);
    else
        assert_string_equal(got ? got : "(none)", plain);
    free(got);
}

static void cxx(void **state)
{
    (void)state;
    assert_plain("_ZN4demo3BoxIiE4fillEPFvPvES2_", "demo::Box<int>::fill(void (*)(void*), void*)");
    assert_plain("main", NULL);
    assert_plain("_Znonsense", NULL);
    assert_plain("", NULL);
}

static void rust_v0(void **state)
{
    (void)state;
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

static void rust_legacy(void **state)
{
    (void)state;
    assert_plain("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    assert_plain("_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$4drop17h"
                 "0123456789abcdefE",
                 "<alloc::vec::Vec<T> as core::Drop>::drop");
    assert_false(vs_demangle_rust_is_legacy("_ZN4core3fmt9Formatter3pad17hxyz3456789abcdefE"));
}

/* Short names that would become very long, deep or endless. */
static void wrong_names_end(void **state)
{
    (void)state;
    char name[3000], out[VS_RUST_NAME_MAX];
    strcpy(name, "_RINvC1a1f");
    for (int i = 0; i < 200; i++)
        strcat(name, i % 2 ? "TB8_" : "S");
    vs_demangle_rust(name, out);
    assert_false(vs_demangle_rust("_RB_", out));
    assert_false(vs_demangle_rust("_RNvB0_1a", out));
    memset(name, 'S', sizeof name);
    memcpy(name, "_RINvC1a1f", 10);
    name[sizeof name - 1] = '\0';
    assert_false(vs_demangle_rust(name, out));
    uint64_t seed = 1;
    static const char letters[] = "BINMXYCTRSAEKFDGLpsvt_0123456789abcdz";
    for (int round = 0; round < 20000; round++) {
        size_t n = 3 + (size_t)(round % 60);
        memcpy(name, "_R", 2);
        for (size_t i = 2; i < n; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            name[i] = letters[(seed >> 33) % (sizeof letters - 1)];
        }
        name[n] = '\0';
        if (vs_demangle_rust(name, out))
            assert_true(strlen(out) < VS_RUST_NAME_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cxx),
        cmocka_unit_test(rust_v0),
        cmocka_unit_test(rust_legacy),
        cmocka_unit_test(wrong_names_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
