/* SPDX-License-Identifier: Apache-2.0
 *
 * The public C interface (include/vramscope.h) in programs: found if loaded, linked, from C and
 * from C++; its results agree with the program's allocations. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>

#include "preload/victim_run.h"

#define WITHOUT_A_TRACE "VRAMSCOPE_RECORD=off"

/* api_victim.c says what each mode compares. */
static const struct {
    const char *test;
    enum front front;
    const char *settings, *mode, *err;
    int traces; /* -1: any number */
} interface_rows[] = {
    {"statistics agree with what the program did", CACHING, NULL, "statistics", "", -1},
    {"blocks agree with what the program did", CACHING, NULL, "snapshot", "", -1},
    {"a fraction is what the program may take", CACHING, NULL, "fraction", "", -1},
    {"windows are exact", CACHING, NULL, "windows", "", -1},
    {"windows are exact", CACHING, NULL, "window-threads", "", -1},
    {"only ordinals of devices that exist are taken", CACHING, NULL, "one-device", "", -1},
    {"only ordinals of devices that exist are taken", OBSERVE, NULL, "one-device", "", -1},
    {"only ordinals of devices that exist are taken", CACHING, TWO_DEVICES, "two-devices", "", -1},
    {"windows are exact where the program is only observed", OBSERVE, NULL, "windows", "", -1},
    {"windows are exact where the program is only observed", OBSERVE, NULL, "window-threads", "", -1},
    {"windows need no trace", CACHING, WITHOUT_A_TRACE, "windows", "", 0},
    /* whether a lost free was recorded was read while another thread stopped the recording */
    {"unseen frees are counted while the recording stops", OBSERVE, NULL, "lost", "", -1},
    /* it returned that it recorded, and that there was nothing to copy (ESRCH) */
    {"a recording that failed is reported", OBSERVE, NULL, "failed", "recording has stopped", -1},
    {"a forked child is sent no memory", CACHING, NULL, "fork", "", -1},
    {"the options may limit what is taken from the device", CACHING,
     "VRAMSCOPE_ALLOC_CONF=per_process_memory_fraction:0.125", "limited", "", -1},
};

TEST(the_interface_keeps_its_word_in_every_mode)
{
    struct outcome o;
    run_printing(&o, ALONE, NULL, VS_API_WEAK, "", "absent\n", "");
    for (size_t i = 0; i < sizeof interface_rows / sizeof *interface_rows; i++) {
        print_message("%s\n", interface_rows[i].test);
        run_printing(&o, interface_rows[i].front, interface_rows[i].settings, VS_API_WEAK,
                     interface_rows[i].mode, "ok\n", interface_rows[i].err);
        if (interface_rows[i].traces >= 0)
            assert_int_equal(o.traces, interface_rows[i].traces);
    }
}

/* Threads that annotate, allocate, open windows, stop, start, copy and read, from before the first
 * CUDA call on. The trace and the copy made after all of that are complete. */
TEST(threads_may_use_all_of_the_interface_at_once)
{
    static const enum front fronts[] = {OBSERVE, CACHING};
    struct outcome o;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        struct count whole, copy;
        char path[sizeof o.trace + 8];
        run_printing(&o, fronts[i], NULL, VS_API_WEAK, "control-threads", "ok\n", "");
        assert_int_equal(o.traces, 1);
        count_trace(&whole, o.trace);
        snprintf(path, sizeof path, "%s.copy", o.trace);
        count_trace(&copy, path);
        assert_true(whole.ended && whole.end_reason == VS_END_EXIT && copy.ended);
        assert_int_equal(copy.end_reason, VS_END_COPY);
        assert_int_equal(whole.condition, VS_TRACE_COMPLETE);
        assert_int_equal(copy.condition, VS_TRACE_COMPLETE);
        assert_int_equal(whole.requested_live, 0);
        assert_int_equal(copy.requested_live, 0);
        assert_int_equal(copy.allocs[VS_FAMILY_DEVICE], whole.allocs[VS_FAMILY_DEVICE]);
    }
    run_printing(&o, CACHING, WITHOUT_A_TRACE, VS_API_WEAK, "control-threads", "ok\n", "");
}

TEST(the_public_interface_serves_programs_linked_with_it)
{
    static const char *const modes[] = {"statistics", "snapshot", "fraction"};
    struct outcome o;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        run_printing(&o, CACHING, NOT_PRELOADED, VS_API_LINKED, modes[m], "ok\n", NULL);
        assert_int_equal(o.traces, 1);
    }
}

/* linked_victim.c: 3 allocations by the runtime, 5 by the driver if it is linked, 7 by a pointer. */
TEST(a_program_that_links_the_library_is_recorded_wherever_it_stands)
{
    static const struct {
        const char *program;
        unsigned allocs;
    } rows[] = {{VS_LINKED "first", 10}, {VS_LINKED "behind", 10}, {VS_LINKED "static", 10},
                {VS_LINKED "before_driver", 15}, {VS_LINKED "behind_driver", 10}};
    static const char *const scopes[] = {"local", "global"};
    struct outcome o;
    struct count c;
    if (*VS_SANITIZER_PRELOAD)
        skip(); /* its runtime must be the first library */
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        run_with(&o, i % 2 ? OBSERVE : CACHING, NOT_PRELOADED, rows[i / 2].program, "");
        assert_string_equal(o.out, "done\n");
        assert_string_equal(o.err, "");
        assert_int_equal(WEXITSTATUS(o.status), 4);
        assert_int_equal(o.traces, 1);
        count_trace(&c, o.trace);
        assert_int_equal(c.allocs[VS_FAMILY_DEVICE], rows[i / 2].allocs);
        assert_int_equal(c.frees, rows[i / 2].allocs);
    }
    run_with(&o, OBSERVE, NOT_PRELOADED, VS_LINKED "dropped", "");
    assert_int_equal(WEXITSTATUS(o.status), 99);
    assert_one_line(o.err, "the CUDA runtime is not loaded");
    for (int i = 0; i < 2; i++) {
        run_printing(&o, OBSERVE, NOT_PRELOADED " LINKED_LIBRARY=" VS_PRELOAD_PATH,
                     VS_LINKED "not", scopes[i], "recording 0\n", "");
        assert_int_equal(o.traces, 0);
    }
}

TEST(the_public_interface_is_usable_from_cpp)
{
#ifdef VS_API_CPP
    struct outcome o;
    run_printing(&o, ALONE, NULL, VS_API_CPP, "", "absent\n", NULL);
    run_printing(&o, CACHING, NULL, VS_API_CPP, "", "ok\n", NULL);
    assert_int_equal(o.traces, 0);
#else
    skip(); /* no C++ compiler */
#endif
}
