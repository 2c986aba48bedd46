/* SPDX-License-Identifier: Apache-2.0
 *
 * The main of test programs without one of their own. */
#include "support/cmocka_test.h"

static int run_all(const CMFixtureFunction *fixtures, void **state)
{
    int failed = 0;
    for (unsigned i = 0; i < VS_FIXTURES_MAX && fixtures[i]; i++)
        failed |= fixtures[i](state);
    return failed;
}

FIXTURE(setup)
{
    return run_all(vs_fixtures.setup, state);
}

FIXTURE(teardown)
{
    return run_all(vs_fixtures.teardown, state);
}

FIXTURE(before)
{
    return run_all(vs_fixtures.before, state);
}

FIXTURE(after)
{
    return run_all(vs_fixtures.after, state);
}

int main(void)
{
    if (!vs_test_count)
        return 1;
    return vs_run_tests_around("tests", setup, teardown, before, after);
}
