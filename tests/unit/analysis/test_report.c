/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of traces whose figures are all known. */
#include <time.h>

#include "analysis/naming/naming.h"
#include "unit/analysis/report_facts.h"

#define GPU "device 1G Test GPU; "
/* A step that keeps 2 MiB. */
#define KEEP(at) "at activation_site; alloc " at " 2M; at; alloc 5000 50M; free 5000; pop"
#define PHASES(forward)                                                                   \
    "push forward; alloc 1 " forward "; pop; push backward; alloc 50 10M; free 50; pop; " \
    "push optimizer; free 1; pop; pop; "
#define PHASE(number, name, peak, depth)                                                \
    "/phases/" number "/name " name "; /phases/" number "/times 2; /phases/" number     \
    "/peak_allocated/0/bytes " peak "; /phases/" number "/depth " depth "; "
/* Of a site at the peak: one allocation function names no site where all use it. */
#define WRAPPED(number, wrappers)                                                           \
    "sites_at_peak_allocated/sites/" number "/wrapper_frames " wrappers "; "                \
    "sites_at_peak_allocated/sites/" number "/frames/0/function my_alloc; "                 \
    "sites_at_peak_allocated/sites/" number "/frames/1/function has use_; "
#define TWO_USERS \
    GPU "at my_alloc < use_weights; alloc 1 1M; at my_alloc < use_gradients; alloc 2 1M"

static const struct report_case reports[] = {
    {"observed_peaks_are_exact_and_say_when_and_where",
     GPU "alloc 0 10M-5 as 10M; step 3; push backward; alloc 100 30M-7 async as 30M; free 0; "
     "alloc 200 4M managed; pop; pop; free 100",
     "name Test GPU; total_bytes 1G; peak_allocated/bytes 40M; peak_requested/bytes 40M-12; "
     "peak_reserved/bytes 40M; " /* observe: reserved is allocated */
     "peak_allocated/time_ns 5000; peak_allocated/phase step 3 / backward; "
     "families/device/allocations 1; families/device/frees 1; families/async/peak_bytes 30M; "
     "families_at_peak_allocated/device 10M; families_at_peak_allocated/async 30M; "
     "families_at_peak_allocated/managed none; allocated_at_end_bytes 4M; "
     "sites_live_at_end/total_bytes 4M; /devices count 1; /trace/unmatched_frees 0; "
     "/trace/condition complete; /process/program train_demo; /process/end exit"},
    {"cached_blocks_count_once_inside_their_segment", /* the last one is outside: it adds */
     GPU "segment 0 20M; alloc 0 4M-100 as 4M; alloc 4 6M; alloc 12 2M; alloc 500 8M vmm; "
     "free 4; free 500",
     "peak_allocated/bytes 20M; peak_requested/bytes 20M-100; peak_reserved/bytes 28M; "
     /* 10..12 and 14..20 */
     "peak_reserved/allocated_bytes 20M; peak_allocated/free_in_segments_bytes 8M; "
     "peak_allocated/largest_hole_bytes 6M; peak_allocated/holes 2; "
     "peak_allocated/external_fragmentation 0.25; reserved_at_end_bytes 20M; "
     "allocated_at_end_bytes 6M", "caching"},
    {"utilisation_is_taken_at_the_fullest_moment_of_the_reserved_peak", /* at first it is empty */
     GPU "segment 0 20M; alloc 0 15M; free 0",
     "peak_reserved/bytes 20M; peak_reserved/allocated_bytes 15M; peak_reserved_first_ns "
     "2000", "caching"},
    {"devices_and_the_host_are_kept_apart",
     "gpu 1; device 2G Second; gpu 0; device 1G First; alloc 0 1M; gpu 1; alloc 1000 7M; gpu 0; "
     "alloc 2000 50M pinned; alloc 3000 5M registered; alloc 4000 90M ipc; free 2000",
     "/devices count 2; device 0; name First; peak_allocated/bytes 1M; "
     /* imported memory is not ours */
     "/devices/1/peak_allocated/bytes 7M; families/ipc/live_bytes 90M; allocated_at_end_bytes 1M; "
     "/host_memory/peak_bytes 55M; /host_memory/live_at_end_bytes 5M; "
     "/host_memory/families/pinned/frees 1"},
    {"sites_at_the_peak_are_named_and_weighed",
     GPU "at weights_site < main; alloc 0 3M; at activation_site < train /x/a.py:7; "
     /* after the peak */
     "repeat 4 { alloc 10i+10 5M }; repeat 4 { free 10i+10 }; at weights_site < main; alloc 300 2M",
     "sites_at_peak_allocated/total_bytes 23M; sites_at_peak_allocated/sites/0/bytes 20M; "
     "sites_at_peak_allocated/sites/0/count 4; sites_at_peak_allocated/sites/0/frames/0/function "
     "activation_site; sites_at_peak_allocated/sites/0/frames/1/function train; "
     "sites_at_peak_allocated/sites/0/frames/1/file /x/a.py; "
     "sites_at_peak_allocated/sites/1/frames/0/function weights_site; "
     "sites_at_peak_allocated/sites/1/bytes 3M; sites_live_at_end/total_bytes 5M; "
     "sites_live_at_end/sites count 1"},
    {"a_function_all_allocations_go_through_names_no_site",
     TWO_USERS "; at my_alloc < use_moments; alloc 3 1M; at my_alloc < use_logits; alloc 4 1M",
     "sites_at_peak_allocated/sites count 4; " WRAPPED("0", "1") WRAPPED("1", "1") WRAPPED("2", "1")
     WRAPPED("3", "1")},
    {"a_function_with_few_callers_is_a_site_not_a_wrapper",
     TWO_USERS, WRAPPED("0", "0") WRAPPED("1", "0")},
    {"growth_is_found_by_site_and_warm_up_is_not_growth", /* optimizer state, once */
     GPU "step 10; at weights_site; alloc 0 100M; " KEEP("1000") "; repeat 5 { step i+11; "
     "" KEEP("2i+1002") " }",
     "sites_growing/sites count 1; sites_growing/sites/0/frames/0/function activation_site; "
     "sites_growing/sites/0/growth_bytes_per_step 2M; sites_growing/sites/0/growth_bytes 12M; "
     "sites_growing/sites/0/growth_since_step 10; growing true; /steps/done 6"},
    {"temporaries_are_those_freed_before_the_next_allocation", /* the first one */
     GPU "at activation_site; alloc 1 1M; free 1; alloc 2 1M; alloc 3 2M; free 2",
     "sites_live_at_end/sites/0/temporaries 1; sites_live_at_end/sites/0/allocations 3; "
     "sites_live_at_end/sites/0/frees 2; sites_live_at_end/sites/0/largest_bytes 2M"},
    {"memory_of_a_destroyed_context_is_lost_not_live",
     GPU "context 1; segment 0 20M; alloc 0 6M; context 1 ends",
     "allocated_at_end_bytes 0; reserved_at_end_bytes 0; lost_with_context_bytes 6M; "
     "sites_live_at_end/total_bytes 6M; families/device/frees 0", "caching"},
    {"phases_have_times_and_peaks_of_their_own", /* backward: push, alloc, free, pop */
     GPU "step 0; " PHASES("3M") "step 1; " PHASES("4M"),
     "/phases count 4; " PHASE("0", "step", "14M", "0") PHASE("1", "forward", "4M", "1")
     PHASE("2", "backward", "14M", "1") PHASE("3", "optimizer", "4M", "1") "/phases/2/time_ns "
     "6000; /phases/2/path step / backward; /phases/1/requested_bytes_total 7M"},
    /* The post-mortem called such a failure recovered; the report listed it among the others. */
    {"a_failure_at_the_end_is_not_recovered", GPU "alloc 0 900M; fail 200M free 100M",
     "/failures/0/recovered false; /failure_groups/0/recovered false"},
    {"a_program_that_ended_well_did_without_the_memory",
     GPU "alloc 0 900M; fail 200M free 100M; alloc 2000 5M",
     "/failures/0/recovered true; /failure_groups/0/recovered true"},
    /* what comes after the second one is smaller */
    {"failures_say_whether_the_program_got_over_them",
     GPU "alloc 0 900M; fail 200M free 100M; free 0; alloc 0 200M; step 4; fail 900M free 800M; "
     "alloc 2000 5M",
     "/failure_count 2; /failures/0/recovered true; /failures/0/requested_bytes 200M; "
     "/failures/0/allocated_bytes 900M; /failures/0/device_free_bytes 100M; "
     "/failures/1/recovered false; /failures/1/phase step 4; /failures/1/api cudaMalloc; "
     "families/device/failures 2", .status = 1},
    {"the_framework_level_is_counted_beside_not_added",
     GPU "alloc 0 20M; repeat 3 { tensor i 1M of i+1M 20M }; drop 1",
     "peak_allocated/bytes 20M; framework/peak_allocated_bytes 3M; "
     "framework/allocated_at_end_bytes 2M; framework/peak_reserved_bytes 20M"},
    {"kernels_and_copies_are_summed_by_name_and_kind",
     GPU "gpu 1; device 1G Other GPU; kernel 7 2000 40 matmul; gpu 0; kernel 7 1000 500 matmul; "
     "kernel 7 1600 100 adam; kernel 7 2000 700 matmul; copy 7 htod 4096 3000 10; "
     "copy 7 htod 4096 3100 30; copy 7 dtoh 8 3200 5",
     "kernels/count 3; kernels/time_ns 1300; kernels/by_name/0/name matmul; "
     "kernels/by_name/0/time_ns 1200; kernels/by_name/0/longest_ns 700; copies/HtoD/bytes 8192; "
     "copies/HtoD/time_ns 40; copies/DtoH/count 1; /devices/1/kernels/time_ns 40"},
    {"kernels_of_cpp_programs_are_named_as_people_write_them",
     GPU "kernel 7 1000 500 _Z4gemmIfLi128EEvPT_; kernel 7 2000 100 _Znot a mangled name",
     "kernels/by_name/0/name void gemm<float, 128>(float*); kernels/by_name/1/name _Znot a "
     "mangled name"},
};

ROWS(reports, figures_are_known)
{
    report_row(*state);
    expect_report("devices/0", ((const struct report_case *)*state)->facts);
}

/* 64 blocks that are replaced at random, as of a cache that is full: of one size, of two, or of
 * one and freed at the end. */
TEST(a_full_cache_is_constant_only_if_its_level_is)
{
    for (unsigned kind = 0; kind < 3; kind++) {
        bool varied = kind == 1, freed = kind == 2;
        uint64_t live = 0, size[64] = {0};
        unsigned random = 1;
        begin_trace("observe", "device 4G Test GPU");
        vs_trace(&b, "at activation_site");
        for (unsigned i = 0; i < 1024; i++) {
            random = random * 1664525u + 1013904223u;
            unsigned slot = random >> 26;
            if (size[slot])
                vs_builder_free(&b, 0, A(32 * slot));
            live -= size[slot];
            live += size[slot] = (varied ? random & 65536 ? 31 : 1 : 16) * MIB;
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(32 * slot), size[slot], size[slot]);
        }
        for (unsigned slot = 0; freed && slot < 64; slot++)
            vs_builder_free(&b, 0, A(32 * slot));
        read_report(0);
        assert_int_equal(report->devices[0].filled.count, !varied);
        if (!varied) {
            assert_int_equal(report->devices[0].filled.items[0].growth_bytes, live - 16 * MIB);
            assert_int_equal(report->devices[0].filled.items[0].growth_freed, freed);
        }
    }
}

TEST(nonsense_in_a_trace_is_counted_not_fatal)
{
    begin_trace("observe", GPU "free 9; unsegment 9 1M; "  /* never allocated */
                           "alloc 1 1M; alloc 1 2M"); /* the same address */
    vs_builder_alloc(&b, 0, (enum vs_family)77, A(5), MIB, MIB);
    for (uint64_t device = 0; device < 200; device++)
        vs_builder_alloc(&b, 1000 + device, VS_FAMILY_DEVICE, A(100 + device), MIB, MIB);
    vs_trace(&b, "pop");
    read_report(0);
    expect_report("",
                  "devices/0/peak_allocated/bytes 2M; trace/unmatched_frees 3; "
                  "trace/unmatched_range_pops 1; trace/ignored_events not 0");
}

TEST(plumbing_is_distinguished_from_user_code)
{
    static const struct {
        const char *function, *module, *file;
        bool plumbing;
    } cases[] = {
        {"anything", "libcudart.so.13", NULL, true},
        {"cudaMalloc", "train_lm", NULL, true},
        {"cuMemAlloc_v2", "train_lm", NULL, true},
        {"vs_thunk_enter", "train_lm", NULL, true},
        {"forward_cudaMalloc", "train_lm", NULL, true}, /* the simulator's static runtime */
        {"forward_layer", "train_lm", NULL, false},
        {"__device_stub__Z1kPfi(float*, int)", "app", "tmpxft_1_0-6_a.cudafe1.stub.c", true},
        {"void __wrapper__device_stub_k<int>(int*&)", "app", "tmpxft_1_0-6_a.cudafe1.stub.c", true},
        {"ffi_call", "libffi.so.8", NULL, true},
        {"PyCFuncPtr_call", "_ctypes.cpython-313.so", NULL, true},
        {"operator new(unsigned long)", "app", NULL, true},
        {"cudaError cudaMalloc<float>(float**, unsigned long)", "app", NULL, true},
        {"f", "app", "/usr/local/cuda/include/cuda_runtime.h", true},
        {"alloc_activation", "train_lm", "model.c", false},
        {"std::vector<cudaMallocTag>::push(int)", "app", NULL, false},
        {"main", "train_lm", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (vs_naming_is_plumbing(cases[i].function, cases[i].module, cases[i].file) != cases[i].plumbing)
            fail_msg("%s of %s", cases[i].function, cases[i].module);
    assert_true(vs_naming_is_startup("__libc_start_call_main", "libc.so.6"));
    assert_true(vs_naming_is_startup("_start", "train_lm"));
    assert_false(vs_naming_is_startup("main", "train_lm"));
}

TEST(a_million_events_take_about_a_second_a_pass)
{
    begin_trace("caching", "device 80G Test GPU");
    b.tick_ns = 10;
    for (unsigned i = 0; i < 1000; i++)
        vs_builder_segment(&b, 0, A(20 * i), 20 * MIB);
    for (unsigned i = 0; i < 500000; i++) {
        if (i >= 2000)
            vs_builder_free(&b, 0, A(10 * ((i - 2000) % 2000)));
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10 * (i % 2000)), 10 * MIB, 10 * MIB);
    }
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    read_report(0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    print_message("%llu events: %.2f s of processor time, both passes and compression\n",
                  (unsigned long long)report->events, seconds);
    assert_int_equal(report->devices[0].peak_allocated.bytes, 20000 * MIB);
    assert_int_equal(report->devices[0].allocated, 20000 * MIB);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(seconds < 2.0);
#endif
}
