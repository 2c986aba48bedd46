/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording of victim programs, under observe and under caching: same output, same exit status,
 * and a trace that agrees with the victim's own tally; and processes, beyond the cases of
 * compat/process. Memory served by the cache is in test_preload_cache.c, and the public interface in
 * test_preload_interface.c. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/victim_run.h"

TEST(device_counts_equal_the_programs_own_in_both_builds_and_both_ways)
{
    struct count c[2][2];
    everywhere("device", c);
    struct outcome o;
    run(&o, ALONE, VS_VICTIM_SHARED, "device");
    unsigned long allocations, frees;
    size_t at_end, peak;
    assert_int_equal(sscanf(o.out, "allocations %lu frees %lu live %zu peak %zu", &allocations,
                            &frees, &at_end, &peak), 4);
    for (int b = 0; b < 2; b++) {
        for (int f = 0; f < 2; f++) {
            assert_int_equal(c[b][f].allocs[VS_FAMILY_DEVICE], allocations);
            assert_int_equal(c[b][f].frees, frees);
            assert_int_equal(c[b][f].requested_peak, peak);
            assert_int_equal(c[b][f].requested_live, at_end);
            assert_int_equal(c[b][f].condition, VS_TRACE_COMPLETE);
            assert_true(c[b][f].ended);
        }
        assert_int_equal(c[b][0].segments, 0);
        assert_true(c[b][1].segments > 0);
    }
    assert_non_null(strstr(c[0][0].apis, "[cudaMalloc]"));
    assert_non_null(strstr(c[1][0].apis, "[cuMemAlloc]"));
}

TEST(nvtx_ranges_arrive_also_those_opened_before_cuda)
{
    struct count c[2][2];
    everywhere("nvtx", c);
    assert_string_equal(c[0][0].phases, "[before cuda][step 0][forward][half][step 1][step 2]");
    assert_string_equal(c[1][1].phases, c[0][0].phases);
}

TEST(nvtx_ranges_of_other_threads_that_were_open_are_known_too)
{
    struct count c[2][2];
    everywhere("nvtx-threads", c);
    assert_string_equal(c[0][0].phases, "[of another thread][of its domain][of no thread]");
    assert_string_equal(c[1][1].phases, c[0][0].phases);
}

TEST(what_was_collected_before_another_profiler_came_is_kept)
{
    struct outcome *o = malloc(sizeof *o);
    struct count c;
    run(o, OBSERVE, VS_PROFILED, "comes_later");
    assert_int_equal(o->status, 0);
    assert_non_null(strstr(o->err, "another tool in this process uses CUPTI"));
    count_trace(&c, o->trace);
    assert_int_equal(c.copies, 30); /* its own 20, and the 10 after it, are not in our trace */
    assert_int_equal(c.sets, 60);
    assert_non_null(strstr(c.notes, "gets the kernels and copies"));
    assert_int_equal(c.live, 0);
    free(o);
}

TEST(copies_between_devices_are_collected)
{
    struct outcome *o = malloc(sizeof *o);
    struct count c;
    run_with(o, OBSERVE, TWO_DEVICES, VS_PROFILED, "peer_copies");
    assert_int_equal(o->status, 0);
    count_trace(&c, o->trace);
    assert_int_equal(c.copies, 5);
    assert_int_equal(c.copy_bytes, 5 << 20);
    free(o);
}

TEST(copies_and_memsets_are_collected_with_their_bytes)
{
    struct count c[2][2];
    everywhere("copies", c);
    for (int b = 0; b < 2; b++) {
        assert_int_equal(c[b][0].copies, 40);
        assert_int_equal(c[b][0].copy_bytes, (uint64_t)40 << 20);
        assert_int_equal(c[b][1].sets, 20);
    }
}

/* On a simulated GPU without its CUPTI: the driver and the runtime alone. */
TEST(without_cupti_memory_is_recorded_and_it_is_said_once)
{
    struct outcome alone, with;
    struct count c;
    char setting[PATH_MAX + 32], command[3 * PATH_MAX + 200];
    snprintf(setting, sizeof setting, "LD_LIBRARY_PATH=%s/.sim", folder);
    snprintf(command, sizeof command, "mkdir '%s/.sim' && ln -s '%s/libcuda.so.1' '%s/libcudart.so.13' "
             "'%s/.sim'", folder, VS_SIMULATOR_PATH, VS_SIMULATOR_PATH, folder);
    assert_int_equal(system(command), 0);
    run(&alone, ALONE, VS_VICTIM_SHARED, "copies");
    run_with(&with, OBSERVE, setting, VS_VICTIM_SHARED, "copies");
    snprintf(command, sizeof command, "rm -r '%s/.sim'", folder);
    assert_int_equal(system(command), 0);
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
    char *said = strstr(with.err, "libcupti was not found");
    assert_non_null(said);
    assert_null(strstr(said + 1, "libcupti was not found"));
    count_trace(&c, with.trace);
    assert_int_equal(c.allocs[VS_FAMILY_DEVICE], 1);
    assert_int_equal(c.copies + c.kernels, 0);
}

/* Flushing CUPTI and recording took locks that the interrupted thread held. */
TEST(programs_that_end_in_signal_handlers_end)
{
    static const char *const modes[] = {"handler-_exit", "handler-exit"};
    struct outcome o;
    for (int i = 0; i < 20; i++) {
        run(&o, i % 4 < 2 ? OBSERVE : CACHING, VS_VICTIM_SHARED, modes[i % 2]);
        assert_string_equal(o.err, "");
        assert_true(WIFEXITED(o.status));
        assert_int_equal(WEXITSTATUS(o.status), 11);
        assert_int_equal(o.traces, 1);
    }
}

TEST(processes_given_one_name_lose_no_trace)
{
    struct outcome o;
    char setting[PATH_MAX + 32];
    snprintf(setting, sizeof setting, "VRAMSCOPE_OUTPUT=%s/one.vst", folder);
    for (int i = 0; i < 5; i++) {
        run_printing(&o, OBSERVE, setting, VS_VICTIM_STATIC, "fork-race", "failed 0\n", NULL);
        assert_int_equal(o.traces, 6);
    }
}
