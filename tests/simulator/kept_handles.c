/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the tests of the simulator under AddressSanitizer, which calls these. A test may end with
 * library handles that it made; memory that a destroyed one leaves behind is still reported. */
#pragma GCC visibility push(default)
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:vs_library_new\n";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
