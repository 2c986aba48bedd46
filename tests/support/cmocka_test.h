/* SPDX-License-Identifier: Apache-2.0
 *
 * A test is written once: TEST(name) { ... } defines it and adds it to the tests of the program, which
 * run in the order of the file. So are the fixtures: SETUP(name) and TEARDOWN(name) run before and
 * after all tests, BEFORE(name) and AFTER(name) around each, and return 0 unless they failed. The
 * main of test_main.c runs them, unless the file has one. Includes cmocka with the headers that it
 * needs. */
#ifndef VS_CMOCKA_TEST_H
#define VS_CMOCKA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { VS_TESTS_MAX = 256 }; /* of one program */

enum { VS_FIXTURES_MAX = 4 }; /* of one kind */

/* GOT: what a call that must return 0 stores in *got*, which is of this type. */
#define GOT(type, call)                   \
    __extension__({                       \
        type got;                         \
        memset(&got, 0x5a, sizeof got);   \
        assert_int_equal((call), 0);      \
        got;                              \
    })

#ifndef VS_TESTS_SHARED /* "static": of each file its own, which vs_run_tests_around runs */
#define VS_TESTS_SHARED __attribute__((weak)) /* one for all files of the program */
#endif
VS_TESTS_SHARED struct CMUnitTest vs_tests[VS_TESTS_MAX];
VS_TESTS_SHARED int vs_test_lines[VS_TESTS_MAX];
VS_TESTS_SHARED size_t vs_test_count;
VS_TESTS_SHARED struct vs_fixtures {
    CMFixtureFunction setup[VS_FIXTURES_MAX], teardown[VS_FIXTURES_MAX], before[VS_FIXTURES_MAX],
        after[VS_FIXTURES_MAX];
} vs_fixtures;

static inline int vs_run_fixtures(const CMFixtureFunction *fixtures, void **state)
{
    int failed = 0;
    for (unsigned i = 0; i < VS_FIXTURES_MAX && fixtures[i]; i++)
        failed |= fixtures[i](state);
    return failed;
}

/* splitmix64: a failing sequence can be repeated from its seed. */
static inline uint64_t vs_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* How often *part* is in *text*. */
static inline size_t vs_times(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* By line: compilers do not keep the order of constructors. Returns its place. */
static inline size_t vs_add_test(const char *name, CMUnitTestFunction test, int line)
{
    size_t i = vs_test_count++;
    if (i >= VS_TESTS_MAX)
        abort();
    for (; i && vs_test_lines[i - 1] > line; i--) {
        vs_tests[i] = vs_tests[i - 1];
        vs_test_lines[i] = vs_test_lines[i - 1];
    }
    vs_tests[i].name = name;
    vs_tests[i].test_func = test;
    vs_tests[i].initial_state = NULL;
    vs_test_lines[i] = line;
    return i;
}

/* *state* is what the set-up stored there, as in cmocka. */
#define TEST(test_name)                                                                      \
    static void test_name(void **state);                                                     \
    __attribute__((constructor)) static void vs_add_##test_name(void)                        \
    {                                                                                        \
        vs_add_test(#test_name, test_name, __LINE__);                                        \
    }                                                                                        \
    static void test_name(__attribute__((unused)) void **state)

/* Each row of *rows*, an array of structs that begin with a name, is a test: *state* is the row. */
#define ROWS(rows, run_row)                                                                  \
    static void run_row(void **state);                                                       \
    __attribute__((constructor)) static void vs_add_##run_row(void)                          \
    {                                                                                        \
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {                            \
            size_t at = vs_add_test(*(const char *const *)&rows[i], run_row, __LINE__);      \
            vs_tests[at].initial_state = (void *)(uintptr_t)&rows[i];                        \
        }                                                                                    \
    }                                                                                        \
    static void run_row(void **state)

#define FIXTURE(fixture_name) static int fixture_name(__attribute__((unused)) void **state)

#define VS_FIXTURE(when, fixture_name)                                                       \
    FIXTURE(fixture_name);                                                                   \
    __attribute__((constructor)) static void vs_use_##fixture_name(void)                     \
    {                                                                                        \
        unsigned i = 0;                                                                      \
        while (vs_fixtures.when[i])                                                          \
            i++;                                                                             \
        if (i == VS_FIXTURES_MAX)                                                            \
            abort();                                                                         \
        vs_fixtures.when[i] = fixture_name;                                                  \
    }                                                                                        \
    FIXTURE(fixture_name)

#define SETUP(fixture_name) VS_FIXTURE(setup, fixture_name)
#define TEARDOWN(fixture_name) VS_FIXTURE(teardown, fixture_name)
#define BEFORE(fixture_name) VS_FIXTURE(before, fixture_name)
#define AFTER(fixture_name) VS_FIXTURE(after, fixture_name)

/* vs_run_tests_around: runs the file's tests as the group *name*, with *setup* before and *teardown*
 * after all of them, *before* and *after* around each; each may be NULL. Returns the number of
 * failed tests. */
static inline int vs_run_tests_around(const char *name, CMFixtureFunction setup,
                                      CMFixtureFunction teardown, CMFixtureFunction before,
                                      CMFixtureFunction after)
{
    for (size_t i = 0; i < vs_test_count; i++) {
        vs_tests[i].setup_func = before;
        vs_tests[i].teardown_func = after;
    }
    return _cmocka_run_group_tests(name, vs_tests, vs_test_count, setup, teardown);
}

static inline int vs_run_tests(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return vs_run_tests_around("tests", setup, teardown, NULL, NULL);
}

#endif
