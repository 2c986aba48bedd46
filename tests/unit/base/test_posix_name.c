/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of error and signal numbers, and of numbers that are neither. */
#include "support/cmocka_test.h"

#include <errno.h>
#include <signal.h>

#include "base/vs_posix_name.h"

static const uint64_t foreign[] = {4095, 100000, UINT64_C(1) << 31, (UINT64_C(1) << 32) + ENOSPC,
                                   UINT64_MAX};

TEST(known_numbers_have_names)
{
    assert_string_equal(vs_errno_text(ENOSPC), "No space left on device");
    assert_string_equal(vs_signal_name(SIGSEGV), "SEGV");
    assert_string_equal(vs_signal_name(SIGKILL), "KILL");
}

TEST(other_numbers_have_none)
{
    assert_null(vs_errno_text(0));
    assert_null(vs_signal_name(0));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        assert_null(vs_errno_text(foreign[i]));
        assert_null(vs_signal_name(foreign[i]));
    }
}
