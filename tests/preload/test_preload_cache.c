/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory served by the cache instead of CUDA, under every kind of placement: programs, other
 * processes and other devices see no difference. */
#define _GNU_SOURCE
#include <string.h>

#include "preload/victim_run.h"

TEST(freed_memory_is_not_reused_under_queued_work)
{
    struct outcome o;
    for (int f = ALONE; f <= CACHING; f++) {
        run_printing(&o, (enum front)f, NULL, VS_REUSE_VICTIM, "", "bytes overwritten: 0\n", NULL);
    }
}

TEST(memory_that_the_driver_has_is_given_also_where_no_segment_fits)
{
    struct count c[2][2];
    everywhere("nearly-full", c);
    assert_int_equal(c[0][1].failed, 0);
    assert_int_equal(c[0][1].allocs[VS_FAMILY_DEVICE], 2);
    assert_int_equal(c[0][1].frees, 2);
}

TEST(freed_memory_is_not_reused_under_another_devices_work)
{
    static const char *const modes[] = {"peer", "devices"};
    struct outcome o;
    for (int m = 0; m < 2; m++) {
        /* the cache alone: the simulated cudaFree does not wait for peers, the real one does */
        run_printing(&o, CACHING, TWO_DEVICES, VS_REUSE_VICTIM, modes[m],
                     "bytes overwritten: 0\n", NULL);
    }
}

#define CHECKED SIMULATED ",check=fail"
#define COMPACT "VRAMSCOPE_POLICY=compact"
#define EXPANDABLE "VRAMSCOPE_ALLOC_CONF=expandable_segments:True"
#define CONF_OF_PYTORCH "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"

TEST(memory_in_stream_order_is_served_in_front_of_cuda_and_behind_it)
{
#ifdef VS_API_CPP
    struct outcome o;
    struct count c;
    static const char *const ways[] = {CHECKED, CHECKED " " NOT_PRELOADED, CHECKED " " COMPACT};
    for (int i = 0; i < 3; i++) {
        run_printing(&o, OBSERVE, ways[i], VS_ENTRY_VICTIM, "", "ok\n", NULL);
        count_trace(&c, o.trace);
        assert_non_null(strstr(c.apis, "[vramscope_torch_alloc]"));
        assert_int_equal(c.requested_live, 1); /* left live on purpose */
        assert_true(c.segments > 0 && c.segment_frees > 0);
        assert_true(c.failed >= 1);
    }
    run(&o, OBSERVE, VS_ENTRY_VICTIM, VS_C10_LIBRARY);
    assert_string_equal(o.out, "ok\n");
#else
    skip(); /* no C++ compiler */
#endif
}

/* --- other placement policies --- */

/* Modes of victim.c, and cases of compat's programs. */
static const struct {
    const char *program, *mode;
} ordinary[] = {
    {VS_VICTIM_SHARED, "device"},
    {VS_VICTIM_STATIC, "families"},
    {VS_VICTIM_SHARED, "oom"},
    {VS_COMPAT "answers_queries_shared", "attributes"},
    {VS_COMPAT "contexts_many_shared", "reset_in_mid_run"},
    {VS_COMPAT "contexts_many_shared", "destroyed_with_every_family"},
    {VS_COMPAT "injection_shared", "threads"},
    {VS_VICTIM_SHARED, "atexit"},
    {VS_VICTIM_STATIC, "destructor"},
    {VS_COMPAT "process_exit_shared", "end_by_underscore_exit"},
    {VS_COMPAT "process_fork_shared", "child_of_fork"},
    {VS_VICTIM_SHARED, "copies"},
    {VS_VICTIM_STATIC, "nearly-full"},
    {VS_COMPAT "process_fork_shared", "raw_clone_child_exits"},
};

/* With *placement*, by mapped memory alone. */
static void assert_ordinary(const char *placement)
{
    struct outcome alone, with;
    struct count c;
    for (size_t m = 0; m < sizeof ordinary / sizeof *ordinary; m++) {
        run(&alone, ALONE, ordinary[m].program, ordinary[m].mode);
        run_with(&with, CACHING, placement, ordinary[m].program, ordinary[m].mode);
        assert_same(&with, &alone);
        count_trace(&c, with.trace);
        assert_true(c.maps > 0);
        assert_int_equal(c.segments, 0);
    }
    run_printing(&with, CACHING, placement, VS_REUSE_VICTIM, "", "bytes overwritten: 0\n", NULL);
}

TEST(expandable_segments_look_the_same_to_programs)
{
    assert_ordinary(EXPANDABLE);
}

TEST(compact_placement_looks_the_same_to_programs)
{
    struct outcome with;
    struct count c;
    assert_ordinary(COMPACT);
    run_printing(&with, CACHING, COMPACT, VS_VICTIM_SHARED, "resets", "40 resets\n", NULL);
    count_trace(&c, with.trace);
    assert_int_equal(c.reserved, 0);
}

TEST(memory_of_expandable_segments_goes_back_with_its_context)
{
    struct outcome o;
    struct count c;
    run_printing(&o, CACHING, EXPANDABLE, VS_VICTIM_SHARED, "resets", "40 resets\n", NULL);
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 40);
    assert_int_equal(c.unmaps, 40);
    assert_int_equal(c.reserved, 0);
}

TEST(wrong_calls_to_the_cache_cost_a_line)
{
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, "VRAMSCOPE_ALLOC_CONF=no_such_key:1,expandable_segments:True",
             VS_VICTIM_SHARED, "device");
    assert_one_line(o.err, "no_such_key");
    count_trace(&c, o.trace);
    assert_true(c.maps > 0);
    run_with(&o, CACHING, "VRAMSCOPE_ALLOC_CONF=max_split_size_mb:many", VS_VICTIM_SHARED, "device");
    assert_one_line(o.err, "max_split_size_mb");
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 0);
    assert_true(c.segments > 0);
}

TEST(cached_memory_may_be_freed_in_stream_order)
{
    struct outcome o;
    struct count c;
    run_printing(&o, CACHING, NULL, VS_VICTIM_SHARED, "free-async", "served again\n", NULL);
    count_trace(&c, o.trace);
    assert_int_equal(c.requested_live, 0);
    assert_int_equal(c.segments, 1);
}

/* --- sharing between processes --- */

TEST(with_ipc_always_every_block_is_shared_as_it_is)
{
    static const char *const settings[] = {"VRAMSCOPE_IPC=always VRAMSCOPE_POLICY=pytorch",
                                           "VRAMSCOPE_IPC=always VRAMSCOPE_POLICY=compact"};
    struct outcome o;
    for (int i = 0; i < 2; i++)
        run_printing(&o, CACHING, settings[i], VS_IPC_VICTIM, "all", "ok\n", "");
}

TEST(without_it_programs_under_us_share_blocks_inside_segments)
{
    struct outcome o;
    static const char *const modes[] = {"all", "base"};
    for (int i = 0; i < 2; i++)
        run_printing(&o, CACHING, "VRAMSCOPE_POLICY=pytorch", VS_IPC_VICTIM, modes[i], "ok\n", "");
}

TEST(without_it_mapped_memory_is_refused_once_and_never_wrong)
{
    struct outcome o;
    run_printing(&o, CACHING, COMPACT, VS_IPC_VICTIM, "late", "ok\n", "--ipc=always");
}

/* The driver freed the whole segment, including other blocks in it. */
TEST(memory_in_stream_order_is_not_freed_by_cudas_own_functions)
{
#ifdef VS_API_CPP
    struct outcome o;
    static const char *const ways[] = {CHECKED, CHECKED " " NOT_PRELOADED, CHECKED " " COMPACT,
                                       CHECKED " " EXPANDABLE, CHECKED " " UNWRITABLE};
    for (int f = OBSERVE; f <= CACHING; f++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            run_printing(&o, (enum front)f, ways[i], VS_ENTRY_VICTIM, "frees", "ok\n", NULL);
        }
    }
#else
    skip(); /* no C++ compiler */
#endif
}

TEST(pytorchs_variable_is_for_its_entry_points_alone)
{
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, CONF_OF_PYTORCH, VS_VICTIM_SHARED, "device");
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 0);
#ifdef VS_API_CPP
    run_printing(&o, CACHING, CONF_OF_PYTORCH, VS_ENTRY_VICTIM, "streams", "ok\n", NULL);
    count_trace(&c, o.trace);
    assert_true(c.maps > 0);
#endif
}

TEST(libraries_get_the_drivers_answers_about_cached_memory)
{
    struct outcome alone, with;
    run(&alone, ALONE, VS_DRIVER_VICTIM, "questions");
    assert_int_equal(alone.status, 0);
    assert_string_equal(alone.err, "exported 0 0 then 0\n");
    run(&with, CACHING, VS_DRIVER_VICTIM, "questions");
    assert_string_equal(with.out, alone.out);
    assert_string_equal(with.err, "exported 0 0 then 0\n");
    run_with(&with, CACHING, EXPANDABLE, VS_DRIVER_VICTIM, "questions");
    assert_string_equal(with.out, alone.out);
    assert_non_null(strstr(with.err, "exported 801 801 then 0\n"));
    assert_non_null(strstr(with.err, "--ipc=always"));
}

TEST(mapped_memory_is_open_to_peers_let_in_before_and_after)
{
    struct outcome o;
    run_printing(&o, CACHING, EXPANDABLE " " TWO_DEVICES, VS_DRIVER_VICTIM, "peers",
                 "access 0 then 3, of new memory 3\n", NULL);
    static const char *const modes[] = {"peer", "devices"};
    for (int m = 0; m < 2; m++) {
        run_printing(&o, CACHING, EXPANDABLE " " TWO_DEVICES, VS_REUSE_VICTIM, modes[m],
                     "bytes overwritten: 0\n", NULL);
    }
}
