/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance of a device's memory: the parts of traces with known contents, and the result when
 * something is missing, late or counted twice. */
#include "analysis/state/balance.h"
#include "analysis/naming/library.h"
#include "unit/analysis/report_facts.h"

#define GPU "device 16G Test GPU; "
#define REPORTED(number, size) \
    "context " number "; overhead context " number " " size " reported; "
#define CONTEXT GPU "context 1; overhead context 1 400M; "

/* The facts are of the last reading. */
static const struct report_case balances[] = {
    {"every_kind_of_memory_is_a_part_of_its_own",
     GPU REPORTED("1", "400M") "overhead module 1 6M; overhead limit 1 8M; segment 0 20M; "
     "alloc 0 3M; alloc 100 5M; " /* 6 in pages */
     "alloc 200 10M async; alloc 500 3M array; " /* 4 in pages */
     "alloc 300 4M vmm; alloc 400 64M ipc; usage pools 32M; usage others 1G count 2; "
     "usage process 1023M pid 77; usage process 1M pid 78; sample 14880M-12345",
     "parts/live/device 8M; parts/live/async 10M; parts/live/array 3M; parts/live/vmm 4M; "
     "parts/live/ipc none; imported_bytes 64M; parts/cached 17M; parts/pools 22M; "
     "parts/rounding 2M; parts/contexts 400M; contexts_known reported_by_nvml; parts/modules 6M; "
     "parts/limits 8M; parts/other_processes 1G; processes/largest count 2; "
     "processes/largest/0/pid 77; parts/unexplained 12345"},
    {"small_arrays_take_the_room_beside_small_blocks",
     CONTEXT "alloc 500 4000 array; sample 15982M",
     "parts/rounding 2M-4000; parts/unexplained 0"},
    {"two_small_arrays_need_no_more_than_a_page_each",
     CONTEXT "alloc 0 512K; alloc 500 1M-1 array; alloc 600 1M-1 array; sample 15980M",
     "small_arrays 2; parts/rounding 1572866; parts/unexplained 0"},
    {"managed_memory_explains_no_more_than_what_is_left",
     CONTEXT "alloc 0 64M managed; sample 15960M",
     "parts/managed_at_most 24M; managed_live_bytes 64M; parts/unexplained 0"},
    {"managed_memory_explains_no_more_than_its_size", CONTEXT "alloc 0 64M managed; sample 15919M",
     "parts/managed_at_most 64M; parts/unexplained 1M"},
    {"what_is_counted_twice_leaves_less_than_nothing",
     CONTEXT "alloc 0 64M managed; alloc 100 2M; sample 15984M",
     "parts/unexplained -2M; parts/managed_at_most 0"},
    {"a_context_takes_what_came_with_it_along", /* a module is unloaded, too */
     GPU REPORTED("1", "400M") "context 2; overhead context 2 401M; overhead module 2 3M; "
     "overhead module 1 5M; overhead module 1 less 4M; sample 15579M; context 2 ends; "
     "alloc 0 2M; sample 15981M",
     "context_count 1; parts/contexts 400M; parts/modules 1M; parts/unexplained 0; "
     "/devices/0/device_memory/highest_use/context_count 2; "
     "/devices/0/device_memory/highest_use/parts/modules 4M; "
     "/devices/0/device_memory/highest_use/used_bytes 805M; "
     "/devices/0/device_memory/highest_use/parts/unexplained 0"},
    {"others_that_cannot_be_measured_are_not_a_part", /* they include this process */
     GPU "context 1; overhead context 1 1424M at_most; usage others 7G count 3 unattributed; "
     "sample 14960M",
     "processes/others_known false; parts/other_processes 0; contexts_known at_most; "
     "parts/unexplained 0"},
    {"a_trace_without_rows_leaves_the_context_unexplained",
     GPU "context 1; alloc 0 8M; sample 15976M",
     "contexts_known not_all; parts/unexplained 400M"},
    /* an equal value is not a new maximum */
    {"the_highest_use_is_distinguished_from_the_last_reading",
     CONTEXT "step 7; alloc 0 100M; sample 15884M; free 0; sample 15984M; sample 15984M; pop",
     "/devices/0/device_memory/highest_use/parts/live/device 100M; "
     "/devices/0/device_memory/highest_use/phase step 7; "
     "/devices/0/device_memory/highest_use/time_ns 6000; parts/live/device none; time_ns 9000"},
    {"the_reading_at_a_failure_counts", /* the second one has none */
     CONTEXT "alloc 0 100M; sample 15884M; alloc 100 60M; fail 16G free 15824M; fail 16G",
     "/devices/0/device_memory/highest_use/free_bytes 15824M; "
     "/devices/0/device_memory/highest_use/parts/live/device 160M; time_ns 7000; "
     "/devices/0/device_memory/highest_use/time_ns 7000; /failures/0/time_ns 7000"},
    {"memory_of_graphs_that_no_launch_uses_is_a_part",
     CONTEXT "alloc 0 10M graph; graphs 12M; sample 15972M",
     "parts/graphs 2M; parts/unexplained 0"},
};

/* The parts add up, and so do those of the libraries. */
static void expect_balance(const char *facts)
{
    const struct vs_report_device *device = &report->devices[0];
    const struct vs_balance *both[] = {&device->balance_last, &device->balance_peak};
    assert_int_equal(report->device_count, 1);
    for (int i = 0; i < 2; i++) {
        const struct vs_balance *balance = both[i];
        uint64_t libraries = 0;
        assert_true(balance->known);
        assert_int_equal(vs_balance_parts(balance), balance->used);
        assert_int_equal(balance->used + balance->free, balance->total);
        for (size_t k = 0; k < balance->library_count; k++)
            libraries += balance->libraries[k].bytes;
        assert_int_equal(libraries, vs_balance_allocated(balance));
    }
    expect_report("devices/0/device_memory/last_reading", facts);
}

ROWS(balances, memory_has_its_parts)
{
    report_row(*state);
    expect_balance(((const struct report_case *)*state)->facts);
}

TEST(small_blocks_share_the_pages_their_addresses_lie_in)
{
    begin_trace("observe", CONTEXT);
    for (uint64_t i = 0; i < 10; i++) /* all in one page of 2 MiB */
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0) + i * 4096, 100, 512);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2) - 512, 700, 1024); /* in two */
    vs_trace(&b, "alloc 64 1M; sample 15978M"); /* large: has its own page */
    read_report(0);
    expect_balance("parts/rounding 5236736; parts/unexplained 0");
}

/* Blocks that can be shared have segments of their size. */
TEST(small_segments_share_pages_as_well)
{
    begin_trace("observe", CONTEXT);
    for (uint64_t i = 0; i < 10; i++) {
        vs_builder_segment(&b, 0, A(0) + i * 512, 512);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0) + i * 512, 100, 512);
    }
    vs_trace(&b, "segment 10 3M; sample 15978M"); /* 4 in pages */
    read_report(0);
    expect_balance("parts/cached 3M; parts/rounding 3M-5120; parts/unexplained 0");
}

TEST(the_latest_row_counts_and_brings_its_own_processes)
{
    begin_trace("observe", GPU REPORTED("1", "400M") "usage others 1G; usage process 1G pid 77; "
                "usage others 0 count 0"); /* it has ended */
    vs_builder_event(&b, (struct vs_event){ /* from a newer writer */
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_WHAT_COUNT + 3, .bytes = 5 * GIB}});
    vs_trace(&b, "sample 15984M");
    read_report(0);
    expect_balance("processes/others_known true; parts/other_processes 0; processes/largest count "
                   "0; parts/unexplained 0");
}

/* The libraries have all that was launched. */
TEST(graphs_count_once_whatever_their_launches_share)
{
    begin_trace("observe", CONTEXT "alloc 0 10M graph; alloc 100 10M graph; graphs 12M used 12M; "
                "sample 15972M");
    read_report(0);
    expect_report("devices/0/device_memory/last_reading",
                  "parts/live/graph 12M; parts/graphs 0; parts/unexplained 0");
}

TEST(without_a_reading_nothing_is_said)
{
    begin_trace("observe", GPU "alloc 0 8M; sample 17179869185"); /* invalid */
    read_report(0);
    expect_report("devices/0/device_memory", "last_reading none; highest_use none");
}

TEST(libraries_go_by_the_names_people_know)
{
    static const struct {
        const char *path, *name; /* NULL: part of the path to the driver */
        bool framework;
    } cases[] = {
        {"/usr/lib/libnccl.so.2", "NCCL", false},
        {"/usr/lib/libcublasLt.so.13", "cuBLAS", false},
        {"/usr/lib/libcublas.so.12", "cuBLAS", false},
        {"/opt/torch/lib/libc10_cuda.so", "PyTorch", true},
        {"/opt/torch/lib/libtorch_cuda.so", "PyTorch", true},
        {"/usr/lib/libcudnn_ops_infer.so.8", "cuDNN", false},
        {"/opt/demo/app", "the program", false},
        {"/opt/libnccl/plugin/libmine.so.3.1", "libmine.so", false},
        {"/opt/demo/app2", "app2", false},
        {"/usr/lib/libcudart.so.12", NULL, false},
        {"/usr/lib/libcuda.so.580.1", NULL, false},
        {"/usr/lib/libcudf.so", "cuDF", false}, /* not libcuda, not libcudart */
        {"/usr/lib/libc.so.6", NULL, false},
        {"/usr/lib/libcufft.so.11", "cuFFT", false},
        {"/usr/lib/libvramscope.so", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buffer[VS_LIBRARY_NAME_MAX];
        bool framework;
        const char *name = vs_library_of_module(cases[i].path, "/opt/demo/app", buffer, &framework);
        if (!cases[i].name)
            assert_null(name);
        else
            assert_string_equal(name, cases[i].name);
        assert_int_equal(framework, cases[i].framework);
    }
}

__attribute__((noinline)) static uint64_t own_stack(void)
{
    uint64_t stack = vs_recorder_stack(b.recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

TEST(a_stack_gives_the_object_that_called_and_none_is_unknown)
{
    begin_trace("observe", GPU);
    b.stack = own_stack();
    vs_trace(&b, "alloc 0 4M");
    const void *caller = (const void *)((uintptr_t)own_stack + 4);
    b.stack = vs_recorder_caller(b.recorder, caller);
    assert_true(b.stack != 0);
    assert_int_equal(b.stack, vs_recorder_caller(b.recorder, caller));
    vs_trace(&b, "alloc 50 2M async");
    b.stack = 0;
    vs_trace(&b, "alloc 100 2M");
    assert_int_equal(vs_recorder_caller(b.recorder, NULL), 0);
    vs_trace(&b, "sample 16376M");
    read_report(0);
    /* the process is another program */
    expect_balance("libraries count 2; libraries/0/name test_balance; "
                   "libraries/0/bytes 6M; libraries/1/name unknown; libraries/1/bytes 2M");
}
