/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance of a device's memory: the parts of traces with known contents, and the result when
 * something is missing, late or counted twice. */
#include <string.h>

#include "analysis/state/balance.h"
#include "analysis/naming/library.h"
#include "support/report_test.h"

#define TOTAL (16 * GIB)
#define CONTEXT (400 * MIB)

static void start(void)
{
    begin_trace("observe", "device 16G Test GPU");
}

static void usage(uint64_t what, uint64_t bytes, uint64_t count, uint64_t pid,
                  uint64_t how)
{
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = what, .bytes = bytes, .count = count, .pid = pid, .how = how}});
}

static void overhead(uint64_t context, uint64_t what, int64_t bytes,
                     uint64_t how)
{
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_overhead,
        .overhead = {.context = context, .what = what, .bytes = (uint64_t)bytes, .how = how}});
}

static void context(uint64_t id, uint64_t bytes, uint64_t how)
{
    vs_builder_context(&b, id, 0, true);
    overhead(id, VS_OVERHEAD_CONTEXT, (int64_t)bytes, how);
}

static void start_in_context(const char *text)
{
    start();
    context(1, CONTEXT, VS_OVERHEAD_MEASURED);
    vs_trace(&b, "%s", text);
}

/* The device reports *used* bytes in use. */
static void read_used(uint64_t used)
{
    vs_trace(&b, "sample %lu", (uint64_t)(TOTAL - used));
}

static const struct vs_report_device *build(void)
{
    read_report(0);
    assert_int_equal(report->device_count, 1);
    return &report->devices[0];
}

static const struct vs_balance *last_of(void)
{
    const struct vs_balance *balance = &build()->balance_last;
    assert_true(balance->known);
    assert_int_equal(vs_balance_parts(balance), balance->used);
    assert_int_equal(balance->used + balance->free, balance->total);
    uint64_t libraries = 0;
    for (size_t i = 0; i < balance->library_count; i++)
        libraries += balance->libraries[i].bytes;
    assert_int_equal(libraries, vs_balance_allocated(balance));
    return balance;
}

TEST(every_kind_of_memory_is_a_part_of_its_own)
{
    start();
    context(1, CONTEXT, VS_OVERHEAD_REPORTED);
    overhead(1, VS_OVERHEAD_MODULE, 6 * (int64_t)MIB, VS_OVERHEAD_MEASURED);
    overhead(1, VS_OVERHEAD_LIMIT, 8 * (int64_t)MIB, VS_OVERHEAD_MEASURED);
    vs_trace(&b, "segment 0 20M; alloc 0 3M; alloc 100 5M"); /* 6 in pages */
    vs_trace(&b, "alloc 200 10M async");
    vs_trace(&b, "alloc 500 3M array; " /* 4 in pages */
                 "alloc 300 4M vmm; alloc 400 64M ipc; usage pools 32M");
    usage(VS_USAGE_OTHERS, GIB, 2, 0, VS_USAGE_BY_PID);
    usage(VS_USAGE_PROCESS, GIB - MIB, 1, 77, VS_USAGE_BY_PID);
    usage(VS_USAGE_PROCESS, MIB, 1, 78, VS_USAGE_BY_PID);
    read_used(CONTEXT + 14 * MIB + 20 * MIB + 6 * MIB + 32 * MIB + 4 * MIB + 4 * MIB + GIB + 12345);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->live[VS_FAMILY_DEVICE], 8 * MIB);
    assert_int_equal(balance->live[VS_FAMILY_ASYNC], 10 * MIB);
    assert_int_equal(balance->live[VS_FAMILY_ARRAY], 3 * MIB);
    assert_int_equal(balance->live[VS_FAMILY_VMM], 4 * MIB);
    assert_int_equal(balance->live[VS_FAMILY_IPC], 0);
    assert_int_equal(balance->imported, 64 * MIB);
    assert_int_equal(balance->cached, 17 * MIB);
    assert_int_equal(balance->pools, 22 * MIB);
    assert_int_equal(balance->rounding, 2 * MIB);
    assert_int_equal(balance->contexts, CONTEXT);
    assert_int_equal(balance->contexts_how, VS_OVERHEAD_REPORTED);
    assert_int_equal(balance->modules, 6 * MIB);
    assert_int_equal(balance->limits, 8 * MIB);
    assert_int_equal(balance->others, GIB);
    assert_int_equal(balance->process_count, 2);
    assert_int_equal(balance->process[0].pid, 77);
    assert_int_equal(balance->unexplained, 12345);
}

TEST(small_blocks_share_the_pages_their_addresses_lie_in)
{
    start_in_context("");
    for (uint64_t i = 0; i < 10; i++) /* all in one page of 2 MiB */
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0) + i * 4096, 100, 512);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2) - 512, 700, 1024); /* in two */
    vs_trace(&b, "alloc 64 1M"); /* large: has its own page */
    read_used(CONTEXT + 4 * MIB + 2 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->rounding, 6 * MIB - 10 * 512 - 1024 - MIB);
    assert_int_equal(balance->unexplained, 0);
}

/* Blocks that can be shared have segments of their size. */
TEST(small_segments_share_pages_as_well)
{
    start_in_context("");
    for (uint64_t i = 0; i < 10; i++) {
        vs_builder_segment(&b, 0, A(0) + i * 512, 512);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0) + i * 512, 100, 512);
    }
    vs_trace(&b, "segment 10 3M"); /* 4 in pages */
    read_used(CONTEXT + 2 * MIB + 4 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->cached, 3 * MIB);
    assert_int_equal(balance->rounding, 2 * MIB - 10 * 512 + MIB);
    assert_int_equal(balance->unexplained, 0);
}

TEST(small_arrays_take_the_room_beside_small_blocks)
{
    start_in_context("alloc 500 4000 array");
    read_used(CONTEXT + 2 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->rounding, 2 * MIB - 4000);
    assert_int_equal(balance->unexplained, 0);
    start_in_context("alloc 0 512K; alloc 500 1M-1 array; alloc 600 1M-1 array");
    read_used(CONTEXT + 4 * MIB);
    balance = last_of();
    assert_int_equal(balance->small_arrays, 2);
    assert_int_equal(balance->rounding, 4 * MIB - MIB / 2 - 2 * (MIB - 1));
    assert_int_equal(balance->unexplained, 0);
}

TEST(managed_memory_explains_no_more_than_what_is_left)
{
    start_in_context("alloc 0 64M managed");
    read_used(CONTEXT + 24 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->managed, 24 * MIB);
    assert_int_equal(balance->managed_live, 64 * MIB);
    assert_int_equal(balance->unexplained, 0);
    start_in_context("alloc 0 64M managed");
    read_used(CONTEXT + 65 * MIB);
    balance = last_of();
    assert_int_equal(balance->managed, 64 * MIB);
    assert_int_equal(balance->unexplained, MIB);
}

TEST(what_is_counted_twice_leaves_less_than_nothing)
{
    start_in_context("alloc 0 64M managed; alloc 100 2M");
    read_used(CONTEXT);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->unexplained, -2 * (int64_t)MIB);
    assert_int_equal(balance->managed, 0);
}

TEST(a_context_takes_what_came_with_it_along)
{
    start();
    context(1, CONTEXT, VS_OVERHEAD_REPORTED);
    context(2, CONTEXT + MIB, VS_OVERHEAD_MEASURED);
    overhead(2, VS_OVERHEAD_MODULE, 3 * (int64_t)MIB, VS_OVERHEAD_MEASURED);
    overhead(1, VS_OVERHEAD_MODULE, 5 * (int64_t)MIB, VS_OVERHEAD_MEASURED);
    overhead(1, VS_OVERHEAD_MODULE, -4 * (int64_t)MIB, VS_OVERHEAD_MEASURED); /* unloaded */
    read_used(2 * CONTEXT + 5 * MIB);
    vs_builder_context(&b, 2, 0, false);
    vs_trace(&b, "alloc 0 2M");
    read_used(CONTEXT + 3 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->context_count, 1);
    assert_int_equal(balance->contexts, CONTEXT);
    assert_int_equal(balance->modules, MIB);
    assert_int_equal(balance->unexplained, 0);
    const struct vs_balance *peak = &report->devices[0].balance_peak;
    assert_int_equal(peak->context_count, 2);
    assert_int_equal(peak->modules, 4 * MIB);
    assert_int_equal(peak->used, 2 * CONTEXT + 5 * MIB);
    assert_int_equal(peak->unexplained, 0);
    assert_int_equal(vs_balance_parts(peak), peak->used);
}

TEST(others_that_cannot_be_measured_are_not_a_part)
{
    start();
    context(1, CONTEXT + GIB, VS_OVERHEAD_AT_MOST);
    usage(VS_USAGE_OTHERS, 7 * GIB, 3, 0, VS_USAGE_UNATTRIBUTED); /* includes this process */
    read_used(CONTEXT + GIB);
    const struct vs_balance *balance = last_of();
    assert_false(balance->others_known);
    assert_int_equal(balance->others, 0);
    assert_int_equal(balance->contexts_how, VS_OVERHEAD_AT_MOST);
    assert_int_equal(balance->unexplained, 0);
}

TEST(the_latest_row_counts_and_brings_its_own_processes)
{
    start();
    context(1, CONTEXT, VS_OVERHEAD_REPORTED);
    usage(VS_USAGE_OTHERS, GIB, 1, 0, VS_USAGE_BY_PID);
    usage(VS_USAGE_PROCESS, GIB, 1, 77, VS_USAGE_BY_PID);
    usage(VS_USAGE_OTHERS, 0, 0, 0, VS_USAGE_BY_PID); /* it has ended */
    usage(VS_USAGE_WHAT_COUNT + 3, 5 * GIB, 0, 0, 0); /* from a newer writer */
    read_used(CONTEXT);
    const struct vs_balance *balance = last_of();
    assert_true(balance->others_known);
    assert_int_equal(balance->others, 0);
    assert_int_equal(balance->process_count, 0);
    assert_int_equal(balance->unexplained, 0);
}

TEST(a_trace_without_rows_leaves_the_context_unexplained)
{
    start();
    vs_builder_context(&b, 1, 0, true);
    vs_trace(&b, "alloc 0 8M");
    read_used(CONTEXT + 8 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->contexts_unmeasured, 1);
    assert_int_equal(balance->unexplained, CONTEXT);
}

TEST(without_a_reading_nothing_is_said)
{
    start();
    vs_trace(&b, "alloc 0 8M; sample 17179869185"); /* invalid */
    const struct vs_report_device *device = build();
    assert_false(device->balance_last.known);
    assert_false(device->balance_peak.known);
}

TEST(the_highest_use_is_distinguished_from_the_last_reading)
{
    start_in_context("step 7; alloc 0 100M");
    uint64_t at = b.now_ns;
    read_used(CONTEXT + 100 * MIB);
    vs_trace(&b, "free 0");
    read_used(CONTEXT);
    read_used(CONTEXT); /* an equal value is not a new maximum */
    vs_trace(&b, "pop");
    const struct vs_report_device *device = build();
    assert_int_equal(device->balance_peak.live[VS_FAMILY_DEVICE], 100 * MIB);
    assert_string_equal(device->balance_peak.place, "step 7");
    assert_int_equal(device->balance_peak.time_ns, at - b.start_ns);
    assert_int_equal(device->balance_last.live[VS_FAMILY_DEVICE], 0);
    assert_true(device->balance_last.event > device->balance_peak.event);
}

TEST(the_reading_at_a_failure_counts)
{
    start_in_context("alloc 0 100M");
    read_used(CONTEXT + 100 * MIB);
    vs_trace(&b, "alloc 100 60M; fail 16G free 15824M; fail 16G"); /* not read */
    const struct vs_report_device *device = build();
    assert_int_equal(device->balance_peak.free, TOTAL - CONTEXT - 160 * MIB);
    assert_int_equal(device->balance_peak.live[VS_FAMILY_DEVICE], 160 * MIB);
    assert_int_equal(device->balance_last.event, device->balance_peak.event);
    assert_int_equal(device->balance_peak.event, report->failures[0].event);
}

TEST(graphs_count_once_whatever_their_launches_share)
{
    start_in_context("alloc 0 10M graph; alloc 100 10M graph");
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_graph_memory,
                                           .graph_memory = {.used = 12 * MIB,
                                                            .used_high = 12 * MIB,
                                                            .reserved = 12 * MIB,
                                                            .reserved_high = 12 * MIB}});
    read_used(CONTEXT + 12 * MIB);
    const struct vs_balance *balance = &build()->balance_last;
    assert_int_equal(balance->live[VS_FAMILY_GRAPH], 12 * MIB);
    assert_int_equal(balance->graphs, 0);
    assert_int_equal(balance->unexplained, 0);
    start_in_context("alloc 0 10M graph");
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_graph_memory,
                                           .graph_memory = {.reserved = 12 * MIB}});
    read_used(CONTEXT + 12 * MIB);
    balance = last_of();
    assert_int_equal(balance->graphs, 2 * MIB);
    assert_int_equal(balance->unexplained, 0);
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
    start();
    b.stack = own_stack();
    vs_trace(&b, "alloc 0 4M");
    b.stack = vs_recorder_caller(b.recorder, (const void *)((uintptr_t)own_stack + 4));
    assert_true(b.stack != 0);
    assert_int_equal(b.stack, vs_recorder_caller(b.recorder, (const void *)((uintptr_t)own_stack + 4)));
    vs_trace(&b, "alloc 50 2M async");
    b.stack = 0;
    vs_trace(&b, "alloc 100 2M");
    read_used(8 * MIB);
    const struct vs_balance *balance = last_of();
    assert_int_equal(balance->library_count, 2);
    assert_string_equal(balance->libraries[0].name, "test_balance"); /* the process is another
                                                                      * program */
    assert_int_equal(balance->libraries[0].bytes, 6 * MIB);
    assert_string_equal(balance->libraries[1].name, "unknown");
    assert_int_equal(balance->libraries[1].bytes, 2 * MIB);
    assert_int_equal(vs_recorder_caller(b.recorder, NULL), 0);
}
