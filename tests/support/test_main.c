/* SPDX-License-Identifier: Apache-2.0
 *
 * The main of test programs without one of their own. */
#include "support/cmocka_test.h"

int main(void)
{
    if (!vs_test_count)
        return 1;
    return vs_run_tests_around("tests", vs_fixtures.setup, vs_fixtures.teardown, vs_fixtures.before,
                               vs_fixtures.after);
}
