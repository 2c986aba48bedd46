/* SPDX-License-Identifier: Apache-2.0
 *
 * The public C interface (include/vramscope.h) in programs: found if loaded, linked, from C and
 * from C++; its results agree with the program's allocations. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "preload/victim_run.h"

TEST(the_public_interface_agrees_with_what_the_program_did)
{
    static const char *const modes[] = {"statistics", "snapshot", "fraction", "windows",
                                        "window-threads"};
    struct outcome o;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        run(&o, ALONE, VS_API_WEAK, modes[m]);
        assert_string_equal(o.out, "absent\n");
        run(&o, CACHING, VS_API_WEAK, modes[m]);
        assert_string_equal(o.out, "ok\n");
        assert_string_equal(o.err, "");
    }
}

TEST(only_ordinals_of_devices_that_exist_are_taken)
{
    struct outcome o;
    run(&o, CACHING, VS_API_WEAK, "one-device");
    assert_string_equal(o.out, "ok\n");
    run(&o, OBSERVE, VS_API_WEAK, "one-device");
    assert_string_equal(o.out, "ok\n");
    run_with(&o, CACHING, two_devices, VS_API_WEAK, "two-devices");
    assert_string_equal(o.out, "ok\n");
    assert_string_equal(o.err, "");
}

static void without_a_trace(void)
{
    setenv("VRAMSCOPE_RECORD", "off", 1);
}

TEST(windows_are_exact_where_the_program_is_only_observed)
{
    struct outcome o;
    run(&o, OBSERVE, VS_API_WEAK, "windows");
    assert_string_equal(o.out, "ok\n");
    run(&o, OBSERVE, VS_API_WEAK, "window-threads");
    assert_string_equal(o.out, "ok\n");
}

TEST(windows_need_no_trace)
{
    struct outcome o;
    run_with(&o, CACHING, without_a_trace, VS_API_WEAK, "windows");
    assert_string_equal(o.out, "ok\n");
    assert_int_equal(o.traces, 0);
}

/* Whether a lost free was recorded was read while another thread stopped the recording. */
TEST(frees_that_were_not_seen_are_counted_while_the_recording_stops)
{
    struct outcome o;
    run(&o, OBSERVE, VS_API_WEAK, "lost");
    assert_string_equal(o.err, "");
    assert_string_equal(o.out, "ok\n");
}

/* It returned that it recorded, and that there was nothing to copy (ESRCH). */
TEST(a_recording_that_failed_is_reported)
{
    struct outcome o;
    run(&o, OBSERVE, VS_API_WEAK, "failed");
    assert_string_equal(o.out, "ok\n");
    assert_non_null(strstr(o.err, "recording has stopped"));
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
        run(&o, fronts[i], VS_API_WEAK, "control-threads");
        assert_string_equal(o.err, "");
        assert_string_equal(o.out, "ok\n");
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
    run_with(&o, CACHING, without_a_trace, VS_API_WEAK, "control-threads");
    assert_string_equal(o.err, "");
    assert_string_equal(o.out, "ok\n");
}

TEST(a_forked_child_is_sent_no_memory)
{
    struct outcome o;
    run(&o, CACHING, VS_API_WEAK, "fork");
    assert_string_equal(o.out, "ok\n");
    assert_string_equal(o.err, "");
}

static void an_eighth(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "per_process_memory_fraction:0.125", 1);
}

TEST(the_options_may_limit_what_is_taken_from_the_device)
{
    struct outcome o;
    run_with(&o, CACHING, an_eighth, VS_API_WEAK, "limited");
    assert_string_equal(o.out, "ok\n");
    assert_string_equal(o.err, "");
}

TEST(the_public_interface_serves_programs_linked_with_it)
{
    static const char *const modes[] = {"statistics", "snapshot", "fraction"};
    struct outcome o;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        run_with(&o, CACHING, not_preloaded, VS_API_LINKED, modes[m]);
        assert_string_equal(o.out, "ok\n");
        assert_int_equal(o.traces, 1);
    }
}

TEST(the_public_interface_is_usable_from_cpp)
{
#ifdef VS_API_CPP
    struct outcome o;
    run(&o, ALONE, VS_API_CPP, "");
    assert_string_equal(o.out, "absent\n");
    run(&o, CACHING, VS_API_CPP, "");
    assert_string_equal(o.out, "ok\n");
    assert_int_equal(o.traces, 0);
#else
    skip(); /* no C++ compiler */
#endif
}

int main(void)
{
    return vs_run_tests(make_folder, remove_folder);
}
