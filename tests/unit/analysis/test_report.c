/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of traces whose figures are all known. */
#include <string.h>
#include <time.h>

#include "analysis/naming/naming.h"
#include "support/report_test.h"

static void start(const char *policy, const char *text)
{
    begin_trace(policy, "device 1G Test GPU");
    vs_trace(&b, "%s", text);
}

TEST(observed_peaks_are_exact_and_say_when_and_where)
{
    start("observe", "alloc 0 10M-5 as 10M; step 3; push backward");
    uint64_t peak_time = b.now_ns;
    vs_trace(&b, "alloc 100 30M-7 async as 30M; free 0; alloc 200 4M managed; pop; pop; free 100");
    read_report(0);
    assert_int_equal(report->device_count, 1);
    const struct vs_report_device *d = &report->devices[0];
    assert_string_equal(d->name, "Test GPU");
    assert_int_equal(d->total_bytes, GIB);
    assert_int_equal(d->peak_allocated.bytes, 40 * MIB);
    assert_int_equal(d->peak_requested.bytes, 40 * MIB - 12);
    assert_int_equal(d->peak_reserved.bytes, 40 * MIB); /* observe: reserved is allocated */
    assert_int_equal(d->peak_allocated.time_ns, peak_time - b.start_ns);
    assert_string_equal(d->peak_allocated.place, "step 3 / backward");
    assert_int_equal(d->family[VS_FAMILY_DEVICE].allocs, 1);
    assert_int_equal(d->family[VS_FAMILY_DEVICE].frees, 1);
    assert_int_equal(d->family[VS_FAMILY_ASYNC].peak_bytes, 30 * MIB);
    assert_int_equal(d->family_at_peak[VS_FAMILY_DEVICE], 10 * MIB);
    assert_int_equal(d->family_at_peak[VS_FAMILY_ASYNC], 30 * MIB);
    assert_int_equal(d->family_at_peak[VS_FAMILY_MANAGED], 0);
    assert_int_equal(d->allocated, 4 * MIB);
    assert_int_equal(d->at_end.total_bytes, 4 * MIB);
    assert_int_equal(report->unmatched_frees, 0);
    assert_int_equal(report->condition, VS_TRACE_COMPLETE);
    assert_string_equal(report->program, "train_demo");
    assert_int_equal(report->end_reason, VS_END_EXIT);
}

TEST(cached_blocks_count_once_inside_their_segment)
{
    start("caching", "segment 0 20M; alloc 0 4M-100 as 4M; alloc 4 6M; "
                     "alloc 12 2M; alloc 500 8M vmm"); /* outside: adds */
    vs_trace(&b, "free 4; free 500");
    read_report(0);
    const struct vs_report_device *d = &report->devices[0];
    assert_int_equal(d->peak_allocated.bytes, 20 * MIB);
    assert_int_equal(d->peak_requested.bytes, 20 * MIB - 100);
    assert_int_equal(d->peak_reserved.bytes, 28 * MIB);
    assert_int_equal(d->peak_reserved.allocated, 20 * MIB);
    assert_int_equal(d->peak_allocated.free_bytes, 8 * MIB); /* 10..12 and 14..20 */
    assert_int_equal(d->peak_allocated.largest_hole, 6 * MIB);
    assert_int_equal(d->peak_allocated.holes, 2);
    assert_float_equal(vs_report_external_fragmentation(&d->peak_allocated), 0.25, 1e-9);
    assert_int_equal(d->reserved, 20 * MIB);
    assert_int_equal(d->allocated, 6 * MIB);
}

TEST(utilisation_is_taken_at_the_fullest_moment_of_the_reserved_peak)
{
    start("caching", "");
    uint64_t first = b.now_ns;
    vs_trace(&b, "segment 0 20M"); /* reserved is at its peak, and still empty */
    vs_trace(&b, "alloc 0 15M; free 0");
    read_report(0);
    const struct vs_report_device *d = &report->devices[0];
    assert_int_equal(d->peak_reserved.bytes, 20 * MIB);
    assert_int_equal(d->peak_reserved.allocated, 15 * MIB);
    assert_int_equal(d->peak_reserved_first_ns, first - b.start_ns);
}

TEST(devices_and_the_host_are_kept_apart)
{
    begin_trace("observe", "gpu 1; device 2G Second; gpu 0; device 1G First; alloc 0 1M; gpu 1; "
                "alloc 1000 7M; gpu 0; alloc 2000 50M pinned; alloc 3000 5M registered; "
                "alloc 4000 90M ipc; free 2000");
    read_report(0);
    assert_int_equal(report->device_count, 2);
    assert_int_equal(report->devices[0].device, 0);
    assert_string_equal(report->devices[0].name, "First");
    assert_int_equal(report->devices[0].peak_allocated.bytes, MIB);
    assert_int_equal(report->devices[1].peak_allocated.bytes, 7 * MIB);
    assert_int_equal(report->devices[0].family[VS_FAMILY_IPC].live_bytes, 90 * MIB);
    assert_int_equal(report->devices[0].allocated, MIB); /* imported memory is not ours */
    assert_int_equal(report->host_memory.peak_bytes, 55 * MIB);
    assert_int_equal(report->host_memory.live_bytes, 5 * MIB);
    assert_int_equal(report->host_memory.family[VS_FAMILY_PINNED].frees, 1);
}

#define SITE(name)                                                       \
    __attribute__((noinline)) static uint64_t name(void)                 \
    {                                                                    \
        uint64_t stack = vs_recorder_stack(b.recorder, 0);               \
        __asm__ volatile("" ::: "memory"); /* no tail call */            \
        return stack;                                                    \
    }
SITE(weights_site)
SITE(activation_site)

static const struct vs_report_site *site_called(const struct vs_report_sites *sites,
                                                const char *function)
{
    for (size_t i = 0; i < sites->count; i++)
        if (sites->items[i].frame_count &&
            strcmp(sites->items[i].frames[0].function, function) == 0)
            return &sites->items[i];
    return NULL;
}

TEST(sites_at_the_peak_are_named_and_weighed)
{
    start("observe", "");
    b.stack = weights_site();
    vs_trace(&b, "alloc 0 3M");
    for (int i = 0; i < 4; i++) { /* four stacks with the same text are one site */
        b.stack = activation_site();
        vs_trace(&b, "alloc %u 5M", 10 * (i + 1));
    }
    vs_trace(&b, "repeat 4 { free 10i+10 }");
    b.stack = weights_site();
    vs_trace(&b, "alloc 300 2M"); /* after the peak */
    read_report(0);
    const struct vs_report_sites *peak = &report->devices[0].at_peak;
    assert_int_equal(peak->total_bytes, 23 * MIB);
    assert_string_equal(peak->items[0].frames[0].function, "activation_site");
    assert_int_equal(peak->items[0].bytes, 20 * MIB);
    assert_int_equal(peak->items[0].count, 4);
    assert_string_equal(peak->items[0].frames[1].function,
                        "sites_at_the_peak_are_named_and_weighed");
    const char *file = peak->items[0].frames[0].file;
    assert_non_null(file);
    assert_non_null(strstr(file, "test_report.c"));
    assert_int_equal(site_called(peak, "weights_site")->bytes, 3 * MIB);
    const struct vs_report_sites *end = &report->devices[0].at_end;
    assert_int_equal(end->total_bytes, 5 * MIB);
    assert_null(site_called(end, "activation_site"));
}

/* Four callers of one allocation function that all allocations use. */
__attribute__((noinline)) static void my_alloc(uint64_t addr)
{
    b.stack = vs_recorder_stack(b.recorder, 0);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, addr, MIB, MIB);
}
#define USER(name, n)                                                    \
    __attribute__((noinline)) static void name(void)                     \
    {                                                                    \
        my_alloc(A(n));                                               \
        __asm__ volatile("" ::: "memory");                               \
    }
USER(use_weights, 1)
USER(use_gradients, 2)
USER(use_moments, 3)
USER(use_logits, 4)

TEST(a_function_all_allocations_go_through_names_no_site)
{
    start("observe", "");
    use_weights();
    use_gradients();
    use_moments();
    use_logits();
    read_report(0);
    const struct vs_report_sites *peak = &report->devices[0].at_peak;
    assert_int_equal(peak->count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct vs_report_site *site = &peak->items[i];
        assert_int_equal(site->wrappers, 1);
        assert_string_equal(site->frames[0].function, "my_alloc");
        assert_int_equal(strncmp(site->frames[1].function, "use_", 4), 0);
    }
}

TEST(a_function_with_few_callers_is_a_site_not_a_wrapper)
{
    start("observe", "");
    use_weights();
    use_gradients();
    read_report(0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(report->devices[0].at_peak.items[i].wrappers, 0);
}

TEST(growth_is_found_by_site_and_warm_up_is_not_growth)
{
    start("observe", "");
    for (unsigned step = 0; step < 6; step++) {
        vs_builder_step(&b, step + 10);
        if (step == 0) { /* optimizer state, once */
            b.stack = weights_site();
            vs_trace(&b, "alloc 0 100M");
        }
        b.stack = activation_site();
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1000 + 2 * step), 2 * MIB, 2 * MIB);
        b.stack = 0;
        vs_trace(&b, "alloc 5000 50M; free 5000; pop");
    }
    read_report(0);
    const struct vs_report_device *d = &report->devices[0];
    assert_int_equal(d->growing.count, 1);
    assert_string_equal(d->growing.items[0].frames[0].function, "activation_site");
    assert_int_equal(d->growing.items[0].growth_per_step, 2 * MIB);
    assert_int_equal(d->growing.items[0].growth_bytes, 12 * MIB);
    assert_int_equal(d->growing.items[0].growth_since, 10);
    assert_true(d->growth_steady);
    assert_int_equal(report->steps.done, 6);
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
        b.stack = activation_site();
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

TEST(temporaries_are_those_freed_before_the_next_allocation)
{
    start("observe", "");
    b.stack = activation_site();
    vs_trace(&b, "alloc 1 1M; free 1"); /* one */
    vs_trace(&b, "alloc 2 1M; alloc 3 2M; free 2"); /* not a temporary: another allocation came between */
    read_report(0);
    const struct vs_report_site *site = &report->devices[0].at_end.items[0];
    assert_int_equal(site->temporaries, 1);
    assert_int_equal(site->allocs, 3);
    assert_int_equal(site->frees, 2);
    assert_int_equal(site->largest, 2 * MIB);
}

TEST(memory_of_a_destroyed_context_is_lost_not_live)
{
    start("caching", "context 1; segment 0 20M; alloc 0 6M; context 1 ends");
    read_report(0);
    const struct vs_report_device *d = &report->devices[0];
    assert_int_equal(d->allocated, 0);
    assert_int_equal(d->reserved, 0);
    assert_int_equal(d->lost_bytes, 6 * MIB);
    assert_int_equal(d->at_end.total_bytes, 6 * MIB);
    assert_int_equal(d->family[VS_FAMILY_DEVICE].frees, 0);
}

TEST(phases_have_times_and_peaks_of_their_own)
{
    start("observe", "");
    for (unsigned step = 0; step < 2; step++) {
        vs_builder_step(&b, step);
        /* 4 ticks long: push, alloc, free, pop */
        vs_trace(&b, "push forward; alloc 1 %lu; pop; push backward; alloc 50 10M; free 50; pop; "
                     "push optimizer; free 1; pop; pop", (step + 3) * MIB);
    }
    read_report(0);
    assert_int_equal(report->phase_count, 4);
    static const char *const names[] = {"step", "forward", "backward", "optimizer"};
    static const uint64_t peaks[] = {14, 4, 14, 4};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(report->phases[i].name, names[i]);
        assert_int_equal(report->phases[i].times, 2);
        assert_int_equal(report->phases[i].peaks[0], peaks[i] * MIB);
        assert_int_equal(report->phases[i].depth, i ? 1 : 0);
    }
    assert_int_equal(report->phases[2].time_ns, 2 * 3 * b.tick_ns);
    assert_string_equal(report->phases[2].path, "step / backward");
    assert_int_equal(report->phases[1].alloc_bytes, 7 * MIB);
}

/* The post-mortem called such a failure recovered; the report listed it among the others. */
TEST(a_program_that_ended_well_did_without_the_memory)
{
    for (int followed = 0; followed < 2; followed++) {
        start("observe", "alloc 0 900M; fail 200M free 100M");
        if (followed)
            vs_trace(&b, "alloc 2000 5M");
        read_report(0);
        assert_int_equal(report->failures[0].recovered, followed);
        assert_int_equal(report->groups[0].recovered, followed);
    }
}

TEST(failures_say_whether_the_program_got_over_them)
{
    start("observe", ""); /* got over the first */
    vs_trace(&b, "alloc 0 900M; fail 200M free 100M; free 0; alloc 0 200M; "
                 "step 4; fail 900M free 800M; alloc 2000 5M"); /* smaller: does not count */
    read_report(1);
    assert_int_equal(report->failure_total, 2);
    assert_true(report->failures[0].recovered);
    assert_int_equal(report->failures[0].requested, 200 * MIB);
    assert_int_equal(report->failures[0].allocated, 900 * MIB);
    assert_int_equal(report->failures[0].device_free, 100 * MIB);
    assert_false(report->failures[1].recovered);
    assert_string_equal(report->failures[1].place, "step 4");
    assert_string_equal(report->failures[1].api, "cudaMalloc");
    assert_int_equal(report->devices[0].family[VS_FAMILY_DEVICE].failures, 2);
}

TEST(the_framework_level_is_counted_beside_not_added)
{
    start("observe", "alloc 0 20M; repeat 3 { tensor i 1M of i+1M 20M }");
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_free,
                                           .framework_free = {.addr = A(1), .size = MIB}});
    read_report(0);
    const struct vs_report_device *d = &report->devices[0];
    assert_int_equal(d->peak_allocated.bytes, 20 * MIB);
    assert_true(d->has_framework);
    assert_int_equal(d->framework_peak_allocated, 3 * MIB);
    assert_int_equal(d->framework_allocated, 2 * MIB);
    assert_int_equal(d->framework_peak_reserved, 20 * MIB);
}

TEST(kernels_and_copies_are_summed_by_name_and_kind)
{
    start("observe", "gpu 1; device 1G Other GPU; gpu 0; kernel 7 1000 500 matmul; "
          "kernel 7 1600 100 adam; kernel 7 2000 700 matmul; gpu 1; kernel 7 2000 40 matmul");
    vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 4096, 3000, 10);
    vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 4096, 3100, 30);
    vs_builder_memcpy(&b, 0, 7, VS_COPY_DTOH, 8, 3200, 5);
    read_report(0);
    const struct vs_report_device *d = &report->devices[0];
    assert_int_equal(d->kernel_total.count, 3);
    assert_int_equal(d->kernel_total.time_ns, 1300);
    assert_string_equal(d->kernels[0].name, "matmul");
    assert_int_equal(d->kernels[0].time_ns, 1200);
    assert_int_equal(d->kernels[0].longest_ns, 700);
    assert_int_equal(d->copies[VS_COPY_HTOD].bytes, 8192);
    assert_int_equal(d->copies[VS_COPY_HTOD].time_ns, 40);
    assert_int_equal(d->copies[VS_COPY_DTOH].count, 1);
    assert_int_equal(report->devices[1].kernel_total.time_ns, 40);
}

TEST(kernels_of_cpp_programs_are_named_as_people_write_them)
{
    start("observe",
          "kernel 7 1000 500 _Z4gemmIfLi128EEvPT_; kernel 7 2000 100 _Znot a mangled name");
    read_report(0);
    assert_string_equal(report->devices[0].kernels[0].name, "void gemm<float, 128>(float*)");
    assert_string_equal(report->devices[0].kernels[1].name, "_Znot a mangled name");
}

TEST(nonsense_in_a_trace_is_counted_not_fatal)
{
    start("observe", "free 9; unsegment 9 1M; "  /* never allocated */
                     "alloc 1 1M; alloc 1 2M"); /* the same address */
    vs_builder_alloc(&b, 0, (enum vs_family)77, A(5), MIB, MIB);
    for (uint64_t device = 0; device < 200; device++)
        vs_builder_alloc(&b, 1000 + device, VS_FAMILY_DEVICE, A(100 + device), MIB, MIB);
    vs_trace(&b, "pop");
    read_report(0);
    assert_int_equal(report->devices[0].peak_allocated.bytes, 2 * MIB);
    assert_int_equal(report->unmatched_frees, 3);
    assert_int_equal(report->unmatched_pops, 1);
    assert_true(report->ignored > 0);
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
    b.stack = activation_site();
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
