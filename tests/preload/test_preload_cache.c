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
        run(&o, (enum front)f, VS_REUSE_VICTIM, "");
        assert_string_equal(o.out, "bytes overwritten: 0\n");
        assert_int_equal(o.status, 0);
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

/* The driver did not know the blocks, or freed a whole segment for one. */
TEST(libraries_free_cached_memory_after_our_own_end)
{
    struct outcome alone, with;
    run(&alone, ALONE, VS_DRIVER_VICTIM, "library");
    assert_string_equal(alone.out, "library started: 1\nlibrary ended: 0 0 0 byte 7\n");
    for (int f = OBSERVE; f <= CACHING; f++) {
        run(&with, (enum front)f, VS_DRIVER_VICTIM, "library");
        assert_same(&with, &alone);
    }
}

TEST(freed_memory_is_not_reused_under_another_devices_work)
{
    static const char *const modes[] = {"peer", "devices"};
    struct outcome o;
    for (int m = 0; m < 2; m++) {
        /* the cache alone: the simulated cudaFree does not wait for peers, the real one does */
        run_with(&o, CACHING, two_devices, VS_REUSE_VICTIM, modes[m]);
        assert_string_equal(o.out, "bytes overwritten: 0\n");
        assert_int_equal(o.status, 0);
    }
}

#ifdef VS_API_CPP
static void checked(void)
{
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,capacity=1GiB,context=400MiB,check=fail", 1);
}

static void checked_and_compact(void)
{
    checked();
    setenv("VRAMSCOPE_POLICY", "compact", 1);
}

static void checked_and_not_preloaded(void)
{
    checked();
    not_preloaded();
}
#endif

TEST(memory_in_stream_order_is_served_in_front_of_cuda_and_behind_it)
{
#ifdef VS_API_CPP
    struct outcome o;
    struct count c;
    void (*const ways[])(void) = {checked, checked_and_not_preloaded, checked_and_compact};
    for (int i = 0; i < 3; i++) {
        run_with(&o, OBSERVE, ways[i], VS_ENTRY_VICTIM, "");
        assert_string_equal(o.out, "ok\n");
        assert_int_equal(o.status, 0);
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

static void expandable(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "expandable_segments:True", 1);
}

static void expandable_with_an_unknown_key(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "no_such_key:1,expandable_segments:True", 1);
}

static void unreadable_conf(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "max_split_size_mb:many", 1);
}

static void conf_of_pytorch(void)
{
    setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1);
}

static const char *const ordinary_modes[] = {"device", "families", "oom",     "query",
                                             "reset",  "threads",  "atexit",  "destructor",
                                             "_exit",  "fork",     "copies",  "nearly-full",
                                             "silent-fork"};

/* With *placement*, by mapped memory alone. */
static void assert_ordinary(void (*placement)(void))
{
    struct outcome alone, with;
    struct count c;
    for (size_t m = 0; m < sizeof ordinary_modes / sizeof *ordinary_modes; m++) {
        run(&alone, ALONE, builds[m % 2], ordinary_modes[m]);
        run_with(&with, CACHING, placement, builds[m % 2], ordinary_modes[m]);
        assert_same(&with, &alone);
        count_trace(&c, with.trace);
        assert_true(c.maps > 0);
        assert_int_equal(c.segments, 0);
    }
    run_with(&with, CACHING, placement, VS_REUSE_VICTIM, "");
    assert_string_equal(with.out, "bytes overwritten: 0\n");
    run_with(&with, CACHING, placement, VS_DRIVER_VICTIM, "");
    assert_int_equal(with.status, 0);
}

TEST(expandable_segments_look_the_same_to_programs)
{
    assert_ordinary(expandable);
}

static void compact(void)
{
    setenv("VRAMSCOPE_POLICY", "compact", 1);
}

TEST(compact_placement_looks_the_same_to_programs)
{
    struct outcome with;
    struct count c;
    assert_ordinary(compact);
    run_with(&with, CACHING, compact, VS_VICTIM_SHARED, "resets");
    assert_string_equal(with.out, "40 resets\n");
    count_trace(&c, with.trace);
    assert_int_equal(c.reserved, 0);
}

TEST(memory_of_expandable_segments_goes_back_with_its_context)
{
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, expandable, VS_VICTIM_SHARED, "resets");
    assert_string_equal(o.out, "40 resets\n");
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 40);
    assert_int_equal(c.unmaps, 40);
    assert_int_equal(c.reserved, 0);
}

TEST(wrong_calls_to_the_cache_cost_a_line)
{
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, expandable_with_an_unknown_key, VS_VICTIM_SHARED, "device");
    assert_non_null(strstr(o.err, "no_such_key"));
    assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
    count_trace(&c, o.trace);
    assert_true(c.maps > 0);
    run_with(&o, CACHING, unreadable_conf, VS_VICTIM_SHARED, "device");
    assert_non_null(strstr(o.err, "max_split_size_mb"));
    assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 0);
    assert_true(c.segments > 0);
}

TEST(cached_memory_may_be_freed_in_stream_order)
{
    struct outcome o;
    struct count c;
    run(&o, CACHING, VS_VICTIM_SHARED, "free-async");
    assert_string_equal(o.out, "served again\n");
    count_trace(&c, o.trace);
    assert_int_equal(c.requested_live, 0);
    assert_int_equal(c.segments, 1);
}

/* --- sharing between processes --- */

static const char *policy_to_share;

static void always(void)
{
    setenv("VRAMSCOPE_POLICY", policy_to_share, 1);
    setenv("VRAMSCOPE_IPC", "always", 1);
}

static void automatic(void)
{
    setenv("VRAMSCOPE_POLICY", policy_to_share, 1);
}

TEST(with_ipc_always_every_block_is_shared_as_it_is)
{
    static const char *const policies[] = {"pytorch", "compact"};
    struct outcome o;
    for (int i = 0; i < 2; i++) {
        policy_to_share = policies[i];
        run_with(&o, CACHING, always, VS_IPC_VICTIM, "all");
        assert_string_equal(o.out, "ok\n");
        assert_string_equal(o.err, "");
        assert_int_equal(o.status, 0);
    }
}

TEST(without_it_programs_under_us_share_blocks_inside_segments)
{
    struct outcome o;
    policy_to_share = "pytorch";
    static const char *const modes[] = {"all", "base"};
    for (int i = 0; i < 2; i++) {
        run_with(&o, CACHING, automatic, VS_IPC_VICTIM, modes[i]);
        assert_string_equal(o.out, "ok\n");
        assert_string_equal(o.err, "");
        assert_int_equal(o.status, 0);
    }
}

TEST(without_it_mapped_memory_is_refused_once_and_never_wrong)
{
    static const char *const modes[] = {"late", "late-ordered"};
    struct outcome o;
    policy_to_share = "compact";
    for (int i = 0; i < 2; i++) {
        run_with(&o, CACHING, automatic, VS_IPC_VICTIM, modes[i]);
        assert_string_equal(o.out, "ok\n");
        assert_non_null(strstr(o.err, "--ipc=always"));
        assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
        assert_int_equal(o.status, 0);
    }
}

#ifdef VS_API_CPP
static void checked_and_unwritable(void)
{
    checked();
    unwritable_output();
}

static void checked_and_expandable(void)
{
    checked();
    expandable();
}
#endif

/* The driver freed the whole segment, including other blocks in it. */
TEST(memory_in_stream_order_is_not_freed_by_cudas_own_functions)
{
#ifdef VS_API_CPP
    struct outcome o;
    void (*const ways[])(void) = {checked, checked_and_not_preloaded, checked_and_compact,
                                  checked_and_expandable, checked_and_unwritable};
    for (int f = OBSERVE; f <= CACHING; f++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            run_with(&o, (enum front)f, ways[i], VS_ENTRY_VICTIM, "frees");
            assert_string_equal(o.out, "ok\n");
            assert_int_equal(o.status, 0);
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
    run_with(&o, CACHING, conf_of_pytorch, VS_VICTIM_SHARED, "device");
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 0);
#ifdef VS_API_CPP
    run_with(&o, CACHING, conf_of_pytorch, VS_ENTRY_VICTIM, "streams");
    assert_string_equal(o.out, "ok\n");
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
    run_with(&with, CACHING, expandable, VS_DRIVER_VICTIM, "questions");
    assert_string_equal(with.out, alone.out);
    assert_non_null(strstr(with.err, "exported 801 801 then 0\n"));
    assert_non_null(strstr(with.err, "--ipc=always"));
}

static void expandable_on_two_devices(void)
{
    expandable();
    two_devices();
}

TEST(mapped_memory_is_open_to_peers_let_in_before_and_after)
{
    struct outcome o;
    run_with(&o, CACHING, expandable_on_two_devices, VS_DRIVER_VICTIM, "peers");
    assert_string_equal(o.out, "access 0 then 3, of new memory 3\n");
    static const char *const modes[] = {"peer", "devices"};
    for (int m = 0; m < 2; m++) {
        run_with(&o, CACHING, expandable_on_two_devices, VS_REUSE_VICTIM, modes[m]);
        assert_string_equal(o.out, "bytes overwritten: 0\n");
    }
}

int main(void)
{
    return vs_run_tests(make_folder, remove_folder);
}
