/* SPDX-License-Identifier: Apache-2.0
 *
 * Which interpreters are read and which are ignored, and frames in memory that only looks like an
 * interpreter's. Real interpreters are tested in tests/python. */
#include "unit/trace/trace_test.h"

#include <pthread.h>

#include "base/vs_log.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/python.h"

static uint64_t runtime_words[128];

/* The first words of _PyRuntime as in the headers of 3.13. */
static void describe_3_13(void)
{
    static const struct {
        unsigned at;
        uint64_t value;
    } offsets[] = {{1, UINT64_C(0x030d00f0)}, {4, 608}, {5, 632}, {23, 72}, {24, 152}, {29, 8},
                {30, 0}, {31, 56}, {33, 70}, {35, 112}, {36, 120}, {37, 128}, {38, 136},
                {39, 68}, {43, 200}, {70, 40}, {7, 7272}, {22, 16}};
    memset(runtime_words, 0, sizeof runtime_words);
    memcpy(runtime_words, "xdebugpy", 8);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        runtime_words[offsets[i].at] = offsets[i].value;
}

static struct vs_python_layout layout;
static const char *why;

TEST(versions_without_a_layout_are_left_alone)
{
    static const unsigned refused[] = {0, 6, 8, 16, 99};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(vs_python_layout(refused[i], runtime_words, &layout, &why));
        assert_non_null(why);
    }
    for (unsigned minor = 9; minor <= 12; minor++)
        assert_true(vs_python_layout(minor, runtime_words, &layout, &why));
}

TEST(offsets_published_by_the_interpreter_count)
{
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

TEST(builds_without_description_are_left_alone)
{
    describe_3_13();
    assert_false(vs_python_layout(14, runtime_words, &layout, &why)); /* another version's table */
    runtime_words[0] = 0;
    assert_false(vs_python_layout(13, runtime_words, &layout, &why));
}

/* The layouts in the headers of 3.13 and 3.14 with Py_GIL_DISABLED. */
TEST(builds_without_gil_have_more_before_each_object)
{
    describe_3_13();
    assert_true(vs_python_layout(13, runtime_words, &layout, &why));
    assert_int_equal(layout.object_type, 8);
    assert_int_equal(layout.frame_copy, VS_PYTHON_NONE);
    runtime_words[2] = 1;
    runtime_words[43] = 216;
    assert_true(vs_python_layout(13, runtime_words, &layout, &why));
    assert_int_equal(layout.object_type, 24);
    assert_int_equal(layout.type_name, 40);
    assert_int_equal(layout.text_state, 48);
    assert_int_equal(layout.text_shift, 0);
    assert_int_equal(layout.code_version, 108);
    assert_int_equal(layout.code_traceable, 200);
    assert_int_equal(layout.frame_copy, VS_PYTHON_NONE); /* all threads run the same instructions */
    runtime_words[1] = UINT64_C(0x030e00f0);
    runtime_words[48] = 232;
    runtime_words[49] = 224;
    runtime_words[38] = 72;
    assert_true(vs_python_layout(14, runtime_words, &layout, &why));
    assert_int_equal(layout.text_shift, 6);
    assert_int_equal(layout.code_version, 108);
    assert_int_equal(layout.code_traceable, 208);
    assert_int_equal(layout.frame_copy, 72);
    assert_int_equal(layout.code_copies, 224);
    runtime_words[49] = UINT64_MAX;
    assert_false(vs_python_layout(14, runtime_words, &layout, &why));
}

/* A thread state, a frame and a code object in 3.12's layout, with no memory after them. */
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

static void make(struct fake *fake)
{
    memset(fake, 0, sizeof *fake);
    assert_true(vs_python_layout(12, runtime_words, &fake->python.layout, &why));
    fake->python.code_type = 0x5000;
    fake->python.text_type = 0x6000;
    fake->python.this_thread = no_thread;
    fake->python.initialized = not_initialized;
    fake->python.runtime = (const char *)runtime_words;
    fake->thread[56 / 8] = at(fake->cframe);
    fake->cframe[0] = at(fake->frame);
    fake->frame[0] = at(fake->code);
    fake->frame[1] = at(fake->entry);
    fake->frame[56 / 8] = at(fake->code) + 192 + 20;
    fake->entry[0] = at(fake->code);
    ((unsigned char *)fake->entry)[70] = 3;
    fake->code[1] = fake->python.code_type;
    ((uint32_t *)fake->code)[92 / 4] = 77; /* its number */
    ((uint32_t *)fake->code)[68 / 4] = 5;  /* its first line */
    fake->code[112 / 8] = fake->code[128 / 8] = at(fake->name);
    fake->code[136 / 8] = at(fake->table);
    fake->name[1] = fake->python.text_type;
    fake->name[2] = 3;
    ((uint32_t *)fake->name)[32 / 4] = 1u << 2 | 0x60;
    memcpy((char *)fake->name + 40, "abc", 4);
}

static struct fake f;
static struct vs_python_step steps[VS_PYTHON_STEPS_MAX];

static size_t steps_of(void)
{
    return vs_python_steps(&f.python, (const char *)f.thread, 128, steps);
}

static uint64_t key_of(void)
{
    return vs_python_key(steps, steps_of());
}

TEST(a_frame_and_the_end_of_its_run_are_found)
{
    struct vs_python_place place;
    make(&f);
    assert_int_equal(steps_of(), 2);
    assert_int_equal(steps[0].code, at(f.code));
    assert_int_equal(steps[1].code, 0);
    assert_int_equal(steps[1].instr, at(f.entry));
    assert_true(vs_python_place(&f.python, &steps[0], &place));
    assert_int_equal(place.line, 5);
    assert_int_equal(place.function_bytes, 3);
    assert_memory_equal(place.file, "abc", 3);
}

TEST(another_code_object_at_the_same_address_is_another_key)
{
    make(&f);
    uint64_t before = key_of();
    assert_int_equal(key_of(), before);
    ((uint32_t *)f.code)[92 / 4]++;
    assert_int_not_equal(key_of(), before);
    ((uint32_t *)f.code)[92 / 4]--;
    f.frame[56 / 8] += 2;
    assert_int_not_equal(key_of(), before);
}

/* Each interpreter numbers its code objects from the same number on, and gets the same memory. */
TEST(code_of_another_interpreter_is_another_key)
{
    uint64_t interpreter[2] = {0}, seen[4];
    make(&f);
    f.thread[16 / 8] = at(interpreter);
    for (uint64_t id = 0; id < 4; id++) {
        interpreter[1] = id;
        seen[id] = key_of();
        for (uint64_t i = 0; i < id; i++)
            assert_int_not_equal(seen[i], seen[id]);
    }
}

TEST(what_is_no_code_object_ends_the_walk)
{
    static const uint64_t wrong[] = {0, 1, 7, 4088, UINT64_C(1) << 47, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make(&f);
        f.frame[0] = wrong[i];
        assert_int_equal(steps_of(), 0);
        make(&f);
        f.frame[1] = wrong[i];
        assert_int_equal(steps_of(), 1);
        make(&f);
        f.thread[56 / 8] = wrong[i];
        assert_int_equal(steps_of(), 0);
    }
    make(&f);
    f.code[1] = 0x5008;
    assert_int_equal(steps_of(), 0);
}

TEST(frames_in_a_circle_end)
{
    make(&f);
    f.frame[1] = at(f.frame);
    assert_int_equal(steps_of(), 128);
    f.frame[1] = at(f.entry);
    f.entry[1] = at(f.entry); /* one end after the other */
    assert_in_range(steps_of(), 1, VS_PYTHON_STEPS_MAX);
}

TEST(names_that_went_away_are_no_fault)
{
    struct vs_python_place place;
    make(&f);
    assert_int_equal(steps_of(), 2);
    static const uint64_t wrong[] = {0, 8, 0x10000, UINT64_C(0x7ffffffff000), UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f.code[128 / 8] = wrong[i];
        assert_false(vs_python_place(&f.python, &steps[0], &place));
        f.code[128 / 8] = at(f.name);
        f.code[136 / 8] = wrong[i]; /* no table: the first line */
        assert_true(vs_python_place(&f.python, &steps[0], &place));
        assert_int_equal(place.line, 5);
    }
    f.name[2] = UINT64_MAX; /* longer than any valid text */
    assert_in_range(vs_python_place(&f.python, &steps[0], &place), 0, 1);
    assert_in_range(place.function_bytes, 0, VS_PYTHON_TEXT_MAX);
}

TEST(an_interpreter_that_is_not_running_has_no_thread)
{
    make(&f);
    assert_null(vs_python_thread(&f.python));
}

/* --- a running interpreter --- */

static _Thread_local struct fake *running; /* the calling thread's present code */

static void *this_thread(void)
{
    return running ? running->thread : NULL;
}

static int initialized(void)
{
    return 1;
}

/* Of a version that does not publish its offsets; of one whose states have the thread's id. */
static void begin(struct fake *fake, unsigned minor)
{
    make(fake);
    describe_3_13();
    if (minor != 12)
        assert_true(vs_python_layout(minor, runtime_words, &fake->python.layout, &why));
    fake->python.this_thread = this_thread;
    fake->python.initialized = initialized;
    memset(runtime_words, 0, sizeof runtime_words); /* no shutdown in progress */
    fake->thread[fake->python.layout.thread_id / 8] = (uint64_t)pthread_self();
    running = fake;
}

/* A build with another layout has another value at the id's offset. */
TEST(a_state_that_is_not_this_threads_is_not_believed)
{
    static const uint64_t others[] = {0, 1, UINT64_MAX};
    for (unsigned minor = 9; minor <= 13; minor++) {
        begin(&f, minor);
        uint64_t *id = &f.thread[f.python.layout.thread_id / 8];
        assert_ptr_equal(vs_python_thread(&f.python), f.thread);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            *id = others[i];
            const char *thread = vs_python_thread(&f.python);
            if (minor <= 12)
                assert_null(thread);
            else
                assert_ptr_equal(thread, f.thread); /* the runtime published its offsets */
        }
        *id = (uint64_t)pthread_self() + 8;
        assert_int_equal(vs_python_thread(&f.python) == NULL, minor <= 12);
    }
    running = NULL;
}

/* --- limits --- */

#define BOUND 16u

static struct vs_recorder *open_python(const char *path, size_t window_bytes, unsigned compression)
{
    struct vs_recorder *r = open_with((struct vs_recorder_config){.path = path,
        .compression = compression, .stack_depth_max = 64, .flush_ms = 1000, .python = true,
        .no_native = true, .window_bytes = window_bytes});
    r->python_places_max = r->python_functions_max = BOUND;
    return r;
}

/* The code number *version* runs the function of that name; returns its stack id, 0 when it has no
 * stack. */
static uint64_t stack_of(struct vs_recorder *r, struct fake *fake, uint32_t version, const char *name)
{
    struct vs_walk_owner owner = {r->number, 0};
    struct vs_walk_start start = {0};
    uint64_t id = 0;
    ((uint32_t *)fake->code)[92 / 4] = version;
    memcpy((char *)fake->name + 40, name, 4);
    return vs_python_stack(r, &fake->python, owner, &start, &id) ? id : 0;
}

static void *read_to_the_end(struct vs_reader *reader)
{
    for (struct vs_event event; next_plain(reader, &event);)
        continue;
    return reader;
}

/* The recorded name of the stack's only function; "" for none. */
static const char *name_of(struct vs_reader *reader, uint64_t id)
{
    struct vs_frame frames[4];
    if (vs_reader_stack(reader, id, frames, 4) != 1)
        return "no such stack";
    if (frames[0].module == VS_NO_MODULE)
        return "";
    const struct vs_module *module = vs_reader_module(reader, frames[0].module);
    return frames[0].pc == 5 ? module->function : "another line";
}

/* Code that is compiled again each time: the same function at ever new places. */
TEST(more_places_than_are_kept_change_nothing)
{
    const char *path = scratch("places.vst");
    struct vs_recorder *r = open_python(path, 0, 1);
    static const char *const names[] = {"abc", "abd", "abe"};
    uint64_t ids[3] = {0};
    begin(&f, 12);
    for (uint32_t i = 0; i < 40 * BOUND; i++) {
        uint64_t id = stack_of(r, &f, 1000 + i, names[i % 3]);
        assert_true(id);
        assert_true(!ids[i % 3] || ids[i % 3] == id);
        ids[i % 3] = id;
        assert_in_range(r->python_places.count, 1, BOUND);
        assert_in_range(r->stack_ids.count, 1, BOUND);
    }
    assert_true(r->python_places_dropped >= 30);
    assert_int_equal(r->python_functions.count, 3);
    running = NULL;
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = read_to_the_end(open_reader(path));
    for (int i = 0; i < 3; i++)
        assert_string_equal(name_of(reader, ids[i]), names[i]);
    vs_reader_close(reader);
}

static void number_name(char *name, unsigned number)
{
    snprintf(name, 4, "%03x", number);
}

TEST(functions_beyond_the_last_have_no_name_which_is_said_once)
{
    char name[4], said[600];
    size_t bytes;
    uint64_t ids[3 * BOUND];
    const char *path = scratch("functions.vst"), *log = scratch("log.txt");
    int stderr_fd = dup(STDERR_FILENO), log_fd = open(log, O_WRONLY | O_CREAT, 0600);
    assert_true(stderr_fd >= 0 && log_fd >= 0);
    dup2(log_fd, STDERR_FILENO);
    vs_log_remember();
    struct vs_recorder *r = open_python(path, 0, 1);
    begin(&f, 12);
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < 3 * BOUND; i++) {
            number_name(name, i);
            uint64_t id = stack_of(r, &f, 1 + i, name);
            assert_true(id && (!turn || id == ids[i]));
            ids[i] = id;
        }
    }
    running = NULL;
    vs_recorder_close(r, VS_END_EXIT, 0);
    dup2(stderr_fd, STDERR_FILENO);
    vs_log_remember();
    close(stderr_fd);
    close(log_fd);
    struct vs_reader *reader = read_to_the_end(open_reader(path));
    for (unsigned i = 0; i < 3 * BOUND; i++) {
        number_name(name, i);
        assert_string_equal(name_of(reader, ids[i]), i < BOUND ? name : "");
    }
    vs_reader_close(reader);
    char *text = (char *)slurp(log, &bytes);
    snprintf(said, sizeof said, "%s: more than %u Python functions; the others have no name\n",
             path, BOUND);
    assert_non_null(strstr(text, said));
    assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
    free(text);
}

/* Threads with new places discard the cached old ones meanwhile, while all wait repeatedly for room
 * in the trace: no stack loses its names. */
#define WORKERS 4u
#define STACKS 4000u

struct worker {
    pthread_t thread;
    struct vs_recorder *recorder;
    struct fake fake;
    unsigned number;
    uint64_t ids[STACKS];
};

static void worker_name(char *name, const struct worker *w, unsigned i)
{
    number_name(name, w->number << 8 | (i * 7 % STACKS & 0xff));
}

static void *work(void *arg)
{
    struct worker *w = arg;
    char name[4];
    running = &w->fake;
    w->fake.thread[w->fake.python.layout.thread_id / 8] = (uint64_t)pthread_self();
    for (unsigned i = 0; i < STACKS; i++) {
        worker_name(name, w, i);
        w->ids[i] = stack_of(w->recorder, &w->fake, w->number << 16 | (1 + i), name);
        for (int k = 0; k < 20; k++) /* the window becomes full */
            record_event(w->recorder, EVENT(free, .addr = (uint64_t)i << 20));
    }
    running = NULL;
    return NULL;
}

TEST(threads_that_drop_places_lose_no_name)
{
    char name[4];
    const char *path = scratch("threads.vst");
    struct worker *workers = calloc(WORKERS, sizeof *workers);
    assert_non_null(workers);
    struct vs_recorder *r = open_python(path, 1, 12);
    r->python_functions_max = UINT32_MAX;
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].recorder = r;
        workers[i].number = i;
        begin(&workers[i].fake, 12);
    }
    running = NULL;
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_true(r->python_places_dropped > STACKS * WORKERS / BOUND / 2);
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = read_to_the_end(open_reader(path));
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned k = 0; k < STACKS; k++) {
            worker_name(name, &workers[i], k);
            assert_string_equal(name_of(reader, workers[i].ids[k]), name);
        }
    }
    vs_reader_close(reader);
    free(workers);
}
