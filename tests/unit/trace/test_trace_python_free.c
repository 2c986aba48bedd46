/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of free-threaded Python 3.14, in memory laid out as in its headers with Py_GIL_DISABLED:
 * each thread runs its own copy of a function's instructions. */
#include "unit/trace/trace_test.h"

#include "trace/stacks/python.h"

#define CODE 232 /* where a code object has its instructions */
#define UNITS 20
#define UNMAPPED 0x10000u

static uint64_t runtime_words[128];

struct fake {
    uint64_t thread[32], frame[16], entry[16], code[64], name[8], table[8];
    uint64_t copies[4];
    unsigned char copy[2 * UNITS];
    struct vs_python python;
};

static uint64_t at(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static void set_half(uint64_t *object, unsigned offset, uint32_t value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

/* A frame of line 5, *step* bytes into copy number *copy* of its instructions. */
static void make(struct fake *f, uint32_t copy, unsigned step)
{
    memset(f, 0, sizeof *f);
    static const struct {
        unsigned at;
        uint64_t value;
    } offsets[] = {{1, UINT64_C(0x030e00f0)}, {2, 1}, {4, 784}, {5, 808}, {7, 7280}, {25, 16},
                {26, 72}, {27, 152}, {32, 8}, {33, 0}, {34, 56}, {36, 78}, {38, 72}, {40, 128},
                {42, 144}, {43, 152}, {44, 84}, {48, CODE}, {49, 224}, {80, 56}};
    const char *why;
    memset(runtime_words, 0, sizeof runtime_words);
    memcpy(runtime_words, "xdebugpy", 8);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        runtime_words[offsets[i].at] = offsets[i].value;
    assert_true(vs_python_layout(14, runtime_words, &f->python.layout, &why));
    f->python.code_type = 0x5000;
    f->python.text_type = 0x6000;
    f->thread[72 / 8] = at(f->frame);
    f->frame[0] = at(f->code) | 1; /* a reference held only by the frame */
    f->frame[1] = at(f->entry);
    f->frame[56 / 8] = (copy ? at(f->copy) : at(f->code) + CODE) + step;
    set_half(f->frame, 72, copy);
    ((unsigned char *)f->entry)[78] = 3;
    f->code[24 / 8] = f->python.code_type;
    f->code[32 / 8] = UNITS;
    set_half(f->code, 84, 5);   /* the first line */
    set_half(f->code, 108, 77); /* its number */
    f->code[128 / 8] = f->code[144 / 8] = at(f->name);
    f->code[152 / 8] = at(f->table);
    f->code[224 / 8] = at(f->copies);
    f->copies[0] = 2;
    f->copies[1] = at(f->code) + CODE;
    f->copies[2] = at(f->copy);
    f->name[24 / 8] = f->python.text_type;
    f->name[32 / 8] = 3;
    set_half(f->name, 48, (1u << 2 | VS_PYTHON_COMPACT | VS_PYTHON_ASCII) << 6);
    memcpy((char *)f->name + 56, "abc", 3);
    /* two entries of two units each, without columns: on this line and two lines below */
    f->table[32 / 8] = 4;
    memcpy((char *)f->table + 48, "\xe9\x00\xe9\x04", 4);
}

static size_t steps_of(const struct fake *f, struct vs_python_step *steps)
{
    return vs_python_steps(&f->python, (const char *)f->thread, 128, steps);
}

TEST(a_frame_has_its_names_and_line)
{
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    struct vs_python_place place;
    make(&f, 0, 4);
    assert_int_equal(steps_of(&f, steps), 2);
    assert_int_equal(steps[0].code, at(f.code));
    assert_true(vs_python_place(&f.python, &steps[0], &place));
    assert_int_equal(place.line, 7);
    assert_int_equal(place.function_bytes, 3);
    assert_memory_equal(place.file, "abc", 3);
}

TEST(a_place_is_the_same_in_every_threads_copy)
{
    struct fake f;
    struct vs_python_step first[VS_PYTHON_STEPS_MAX], other[VS_PYTHON_STEPS_MAX];
    for (unsigned step = 0; step < 2 * UNITS; step += 2) {
        for (unsigned attached = 0; attached < 2; attached++) {
            make(&f, 0, step);
            size_t count = steps_of(&f, first);
            make(&f, 1, step);
            set_half(f.thread, 44, attached);
            assert_int_equal(steps_of(&f, other), count);
            assert_int_equal(other[0].instr, at(f.code) + CODE + step);
            assert_int_equal(vs_python_key(other, count), vs_python_key(first, count));
        }
    }
}

TEST(a_copy_that_cannot_be_means_no_frames)
{
    struct fake f;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    static const uint32_t beyond[] = {2, 3, 1u << 20, UINT32_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        make(&f, 1, 4);
        set_half(f.frame, 72, beyond[i]);
        assert_int_equal(steps_of(&f, steps), 0);
    }
    make(&f, 1, 2 * UNITS); /* after its instructions */
    assert_int_equal(steps_of(&f, steps), 0);
    make(&f, 1, 4);
    f.copies[2] += 8; /* before them */
    assert_int_equal(steps_of(&f, steps), 0);
    make(&f, 1, 4);
    f.copies[2] = 0; /* not made */
    assert_int_equal(steps_of(&f, steps), 0);
    make(&f, 1, 4);
    f.code[224 / 8] = 0;
    assert_int_equal(steps_of(&f, steps), 0);
    f.code[224 / 8] = UNMAPPED; /* freed under a thread that is not attached */
    assert_int_equal(steps_of(&f, steps), 0);
}
