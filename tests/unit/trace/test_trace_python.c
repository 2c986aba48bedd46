/* SPDX-License-Identifier: Apache-2.0
 *
 * Which interpreters are read and which are left alone, and frames in memory that only
 * looks like an interpreter's. What real ones say is in tests/python. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/python.h"

static uint64_t runtime_words[128];

/* As the headers of 3.13 lay the first words of _PyRuntime out. */
static void describe_3_13(void)
{
    static const struct {
        unsigned at;
        uint64_t value;
    } told[] = {{1, UINT64_C(0x030d00f0)}, {4, 608}, {5, 632}, {23, 72}, {24, 152}, {29, 8},
                {30, 0}, {31, 56}, {33, 70}, {35, 112}, {36, 120}, {37, 128}, {38, 136},
                {39, 68}, {43, 200}, {70, 40}};
    memset(runtime_words, 0, sizeof runtime_words);
    memcpy(runtime_words, "xdebugpy", 8);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        runtime_words[told[i].at] = told[i].value;
}

static void versions_without_a_layout_are_left_alone(void **state)
{
    (void)state;
    struct vs_python_layout layout;
    const char *why = NULL;
    static const unsigned refused[] = {0, 6, 8, 16, 99};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(vs_python_layout(refused[i], runtime_words, &layout, &why));
        assert_non_null(why);
    }
    for (unsigned minor = 9; minor <= 12; minor++)
        assert_true(vs_python_layout(minor, runtime_words, &layout, &why));
}

static void what_the_interpreter_tells_counts(void **state)
{
    (void)state;
    struct vs_python_layout layout;
    const char *why;
    describe_3_13();
    assert_true(vs_python_layout(13, runtime_words, &layout, &why));
    assert_int_equal(layout.thread_top, 72);
    assert_int_equal(layout.code_name, 128);
    assert_int_equal(layout.code_traceable, 184);
    runtime_words[23] = 80;
    runtime_words[43] = 216;
    assert_true(vs_python_layout(13, runtime_words, &layout, &why));
    assert_int_equal(layout.thread_top, 80);
    assert_int_equal(layout.code_traceable, 200);
    runtime_words[23] = UINT64_MAX;
    assert_false(vs_python_layout(13, runtime_words, &layout, &why));
}

static void builds_without_gil_or_description_are_left_alone(void **state)
{
    (void)state;
    struct vs_python_layout layout;
    const char *why;
    describe_3_13();
    runtime_words[2] = 1;
    assert_false(vs_python_layout(13, runtime_words, &layout, &why));
    assert_non_null(strstr(why, "GIL"));
    describe_3_13();
    assert_false(vs_python_layout(14, runtime_words, &layout, &why)); /* another version's */
    runtime_words[0] = 0;
    assert_false(vs_python_layout(13, runtime_words, &layout, &why));
}

/* A thread state, a frame and a code object of 3.12's shape, and nothing behind them. */
struct fake {
    uint64_t thread[32], cframe[4], frame[16], entry[16], code[32], name[8], table[8];
    struct vs_python python;
};

static void *no_thread(void)
{
    return NULL;
}

static int not_initialized(void)
{
    return 0;
}

static uint64_t at(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static void make(struct fake *f)
{
    const char *why;
    memset(f, 0, sizeof *f);
    assert_true(vs_python_layout(12, runtime_words, &f->python.layout, &why));
    f->python.code_type = 0x5000;
    f->python.text_type = 0x6000;
    f->python.this_thread = no_thread;
    f->python.initialized = not_initialized;
    f->python.runtime = (const char *)runtime_words;
    f->thread[56 / 8] = at(f->cframe);
    f->cframe[0] = at(f->frame);
    f->frame[0] = at(f->code);
    f->frame[1] = at(f->entry);
    f->frame[56 / 8] = at(f->code) + 192 + 20;
    f->entry[0] = at(f->code);
    ((unsigned char *)f->entry)[70] = 3;
    f->code[1] = f->python.code_type;
    ((uint32_t *)f->code)[92 / 4] = 77; /* its number */
    ((uint32_t *)f->code)[68 / 4] = 5;  /* its first line */
    f->code[112 / 8] = f->code[128 / 8] = at(f->name);
    f->code[136 / 8] = at(f->table);
    f->name[1] = f->python.text_type;
    f->name[2] = 3;
    ((uint32_t *)f->name)[32 / 4] = 1u << 2 | 0x60;
    memcpy((char *)f->name + 40, "abc", 4);
}

static size_t steps_of(const struct fake *f, struct vs_python_step *steps)
{
    return vs_python_steps(&f->python, (const char *)f->thread, 128, steps);
}

static void a_frame_and_the_end_of_its_run_are_found(void **state)
{
    (void)state;
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    struct vs_python_place place;
    make(&f);
    assert_int_equal(steps_of(&f, steps), 2);
    assert_int_equal(steps[0].code, at(f.code));
    assert_int_equal(steps[1].code, 0);
    assert_int_equal(steps[1].instr, at(f.entry));
    assert_true(vs_python_place(&f.python, &steps[0], &place));
    assert_int_equal(place.line, 5);
    assert_int_equal(place.function_bytes, 3);
    assert_memory_equal(place.file, "abc", 3);
}

static void another_code_object_at_the_same_address_is_another_key(void **state)
{
    (void)state;
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    make(&f);
    uint64_t before = vs_python_key(steps, steps_of(&f, steps));
    assert_int_equal(vs_python_key(steps, steps_of(&f, steps)), before);
    ((uint32_t *)f.code)[92 / 4]++;
    assert_int_not_equal(vs_python_key(steps, steps_of(&f, steps)), before);
    ((uint32_t *)f.code)[92 / 4]--;
    f.frame[56 / 8] += 2;
    assert_int_not_equal(vs_python_key(steps, steps_of(&f, steps)), before);
}

static void what_is_no_code_object_ends_the_walk(void **state)
{
    (void)state;
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    static const uint64_t wrong[] = {0, 1, 7, 4088, UINT64_C(1) << 47, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make(&f);
        f.frame[0] = wrong[i];
        assert_int_equal(steps_of(&f, steps), 0);
        make(&f);
        f.frame[1] = wrong[i];
        assert_int_equal(steps_of(&f, steps), 1);
        make(&f);
        f.thread[56 / 8] = wrong[i];
        assert_int_equal(steps_of(&f, steps), 0);
    }
    make(&f);
    f.code[1] = 0x5008;
    assert_int_equal(steps_of(&f, steps), 0);
}

static void frames_in_a_circle_end(void **state)
{
    (void)state;
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    make(&f);
    f.frame[1] = at(f.frame);
    assert_int_equal(steps_of(&f, steps), 128);
    f.frame[1] = at(f.entry);
    f.entry[1] = at(f.entry); /* an end after the other */
    assert_in_range(steps_of(&f, steps), 1, VS_PYTHON_STEPS_MAX);
}

static void names_that_went_away_are_no_fault(void **state)
{
    (void)state;
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    struct vs_python_place place;
    make(&f);
    assert_int_equal(steps_of(&f, steps), 2);
    static const uint64_t wrong[] = {0, 8, 0x10000, UINT64_C(0x7ffffffff000), UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f.code[128 / 8] = wrong[i];
        assert_false(vs_python_place(&f.python, &steps[0], &place));
        f.code[128 / 8] = at(f.name);
        f.code[136 / 8] = wrong[i]; /* no table: the first line */
        assert_true(vs_python_place(&f.python, &steps[0], &place));
        assert_int_equal(place.line, 5);
    }
    f.name[2] = UINT64_MAX; /* longer than any text is */
    assert_in_range(vs_python_place(&f.python, &steps[0], &place), 0, 1);
    assert_in_range(place.function_bytes, 0, VS_PYTHON_TEXT_MAX);
}

static void an_interpreter_that_is_not_running_has_no_thread(void **state)
{
    (void)state;
    struct fake f;
    make(&f);
    assert_null(vs_python_thread(&f.python));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_without_a_layout_are_left_alone),
        cmocka_unit_test(what_the_interpreter_tells_counts),
        cmocka_unit_test(builds_without_gil_or_description_are_left_alone),
        cmocka_unit_test(a_frame_and_the_end_of_its_run_are_found),
        cmocka_unit_test(another_code_object_at_the_same_address_is_another_key),
        cmocka_unit_test(what_is_no_code_object_ends_the_walk),
        cmocka_unit_test(frames_in_a_circle_end),
        cmocka_unit_test(names_that_went_away_are_no_fault),
        cmocka_unit_test(an_interpreter_that_is_not_running_has_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
