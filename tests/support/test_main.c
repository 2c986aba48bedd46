/* SPDX-License-Identifier: Apache-2.0
 *
 * The main of test programs without one of their own. */
#include "support/cmocka_test.h"

FIXTURE(setup)
{
    return vs_run_fixtures(vs_fixtures.setup, state);
}

FIXTURE(teardown)
{
    return vs_run_fixtures(vs_fixtures.teardown, state);
}

FIXTURE(before)
{
    return vs_run_fixtures(vs_fixtures.before, state);
}

FIXTURE(after)
{
    return vs_run_fixtures(vs_fixtures.after, state);
}

int main(void)
{
    if (!vs_test_count)
        return 1;
    return vs_run_tests_around("tests", setup, teardown, before, after);
}
