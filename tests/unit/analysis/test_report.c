/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of traces whose figures are all known. */
#include <string.h>
#include <time.h>

#include "support/cmocka_test.h"
#include "analysis/naming/naming.h"
#include "analysis/report/report.h"
#include "support/trace_builder.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB) /* addresses, in steps of 1 MiB */

static struct vs_reader *reader;

static struct vs_report *report_of(struct vs_builder *b)
{
    char why[VS_READER_WHY_MAX];
    struct vs_report *report;
    if (b->recorder)
        vs_builder_close(b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b->path, &reader, why), VS_OK);
    assert_int_equal(vs_report_build(reader, b->path, NULL, &report), VS_OK);
    return report;
}

static void done(struct vs_builder *b, struct vs_report *report)
{
    vs_report_free(report);
    vs_reader_close(reader);
    vs_builder_remove(b);
}

TEST(observed_peaks_are_exact_and_say_when_and_where)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 10 * MIB - 5, 10 * MIB);
    vs_builder_step(&b, 3);
    vs_builder_push(&b, "backward");
    uint64_t peak_time = b.now_ns;
    vs_builder_alloc(&b, 0, VS_FAMILY_ASYNC, A(100), 30 * MIB - 7, 30 * MIB);
    vs_builder_free(&b, 0, A(0));
    vs_builder_alloc(&b, 0, VS_FAMILY_MANAGED, A(200), 4 * MIB, 4 * MIB);
    vs_builder_pop(&b);
    vs_builder_pop(&b);
    vs_builder_free(&b, 0, A(100));
    struct vs_report *r = report_of(&b);
    assert_int_equal(r->device_count, 1);
    const struct vs_report_device *d = &r->devices[0];
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
    assert_int_equal(r->unmatched_frees, 0);
    assert_int_equal(r->condition, VS_TRACE_COMPLETE);
    assert_string_equal(r->program, "train_demo");
    assert_int_equal(r->end_reason, VS_END_EXIT);
    done(&b, r);
}

TEST(cached_blocks_count_once_inside_their_segment)
{
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_segment(&b, 0, A(0), 20 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 4 * MIB - 100, 4 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(4), 6 * MIB, 6 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(12), 2 * MIB, 2 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_VMM, A(500), 8 * MIB, 8 * MIB); /* outside: adds */
    vs_builder_free(&b, 0, A(4));
    vs_builder_free(&b, 0, A(500));
    struct vs_report *r = report_of(&b);
    const struct vs_report_device *d = &r->devices[0];
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
    done(&b, r);
}

TEST(utilisation_is_taken_at_the_fullest_moment_of_the_reserved_peak)
{
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    uint64_t first = b.now_ns;
    vs_builder_segment(&b, 0, A(0), 20 * MIB); /* reserved is at its peak, and still empty */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 15 * MIB, 15 * MIB);
    vs_builder_free(&b, 0, A(0));
    struct vs_report *r = report_of(&b);
    const struct vs_report_device *d = &r->devices[0];
    assert_int_equal(d->peak_reserved.bytes, 20 * MIB);
    assert_int_equal(d->peak_reserved.allocated, 15 * MIB);
    assert_int_equal(d->peak_reserved_first_ns, first - b.start_ns);
    done(&b, r);
}

TEST(devices_and_the_host_are_kept_apart)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 1, "Second", 2 * GIB);
    vs_builder_device(&b, 0, "First", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), MIB, MIB);
    vs_builder_alloc(&b, 1, VS_FAMILY_DEVICE, A(1000), 7 * MIB, 7 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_PINNED, A(2000), 50 * MIB, 50 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_REGISTERED, A(3000), 5 * MIB, 5 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_IPC, A(4000), 90 * MIB, 90 * MIB);
    vs_builder_free(&b, 0, A(2000));
    struct vs_report *r = report_of(&b);
    assert_int_equal(r->device_count, 2);
    assert_int_equal(r->devices[0].device, 0);
    assert_string_equal(r->devices[0].name, "First");
    assert_int_equal(r->devices[0].peak_allocated.bytes, MIB);
    assert_int_equal(r->devices[1].peak_allocated.bytes, 7 * MIB);
    assert_int_equal(r->devices[0].family[VS_FAMILY_IPC].live_bytes, 90 * MIB);
    assert_int_equal(r->devices[0].allocated, MIB); /* imported memory is not ours */
    assert_int_equal(r->host_memory.peak_bytes, 55 * MIB);
    assert_int_equal(r->host_memory.live_bytes, 5 * MIB);
    assert_int_equal(r->host_memory.family[VS_FAMILY_PINNED].frees, 1);
    done(&b, r);
}

__attribute__((noinline)) static uint64_t weights_site(struct vs_builder *b)
{
    uint64_t stack = vs_recorder_stack(b->recorder, 0);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return stack;
}

__attribute__((noinline)) static uint64_t activation_site(struct vs_builder *b)
{
    uint64_t stack = vs_recorder_stack(b->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

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
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    b.stack = weights_site(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 3 * MIB, 3 * MIB);
    for (int i = 0; i < 4; i++) { /* four stacks with the same text are one site */
        b.stack = activation_site(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10 * (i + 1)), 5 * MIB, 5 * MIB);
    }
    for (int i = 0; i < 4; i++)
        vs_builder_free(&b, 0, A(10 * (i + 1)));
    b.stack = weights_site(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(300), 2 * MIB, 2 * MIB); /* after the peak */
    struct vs_report *r = report_of(&b);
    const struct vs_report_sites *peak = &r->devices[0].at_peak;
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
    const struct vs_report_sites *end = &r->devices[0].at_end;
    assert_int_equal(end->total_bytes, 5 * MIB);
    assert_null(site_called(end, "activation_site"));
    done(&b, r);
}

/* Four callers of one allocation function that all allocations use. */
__attribute__((noinline)) static void my_alloc(struct vs_builder *b, uint64_t addr)
{
    b->stack = vs_recorder_stack(b->recorder, 0);
    vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, addr, MIB, MIB);
}
#define USER(name, n)                                                    \
    __attribute__((noinline)) static void name(struct vs_builder *b)     \
    {                                                                    \
        my_alloc(b, A(n));                                               \
        __asm__ volatile("" ::: "memory");                               \
    }
USER(use_weights, 1)
USER(use_gradients, 2)
USER(use_moments, 3)
USER(use_logits, 4)

TEST(a_function_all_allocations_go_through_names_no_site)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    use_weights(&b);
    use_gradients(&b);
    use_moments(&b);
    use_logits(&b);
    struct vs_report *r = report_of(&b);
    const struct vs_report_sites *peak = &r->devices[0].at_peak;
    assert_int_equal(peak->count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct vs_report_site *site = &peak->items[i];
        assert_int_equal(site->wrappers, 1);
        assert_string_equal(site->frames[0].function, "my_alloc");
        assert_int_equal(strncmp(site->frames[1].function, "use_", 4), 0);
    }
    done(&b, r);
}

TEST(a_function_with_few_callers_is_a_site_not_a_wrapper)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    use_weights(&b);
    use_gradients(&b);
    struct vs_report *r = report_of(&b);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(r->devices[0].at_peak.items[i].wrappers, 0);
    done(&b, r);
}

TEST(growth_is_found_by_site_and_warm_up_is_not_growth)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    for (unsigned step = 0; step < 6; step++) {
        vs_builder_step(&b, step + 10);
        if (step == 0) { /* optimizer state, once */
            b.stack = weights_site(&b);
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 100 * MIB, 100 * MIB);
        }
        b.stack = activation_site(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1000 + 2 * step), 2 * MIB, 2 * MIB);
        b.stack = 0;
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5000), 50 * MIB, 50 * MIB);
        vs_builder_free(&b, 0, A(5000));
        vs_builder_pop(&b);
    }
    struct vs_report *r = report_of(&b);
    const struct vs_report_device *d = &r->devices[0];
    assert_int_equal(d->growing.count, 1);
    assert_string_equal(d->growing.items[0].frames[0].function, "activation_site");
    assert_int_equal(d->growing.items[0].growth_per_step, 2 * MIB);
    assert_int_equal(d->growing.items[0].growth_bytes, 12 * MIB);
    assert_int_equal(d->growing.items[0].growth_since, 10);
    assert_true(d->growth_steady);
    assert_int_equal(r->steps.done, 6);
    done(&b, r);
}

/* 64 blocks that are replaced at random, as of a cache that is full: of one size, of two, or of
 * one and freed at the end. */
TEST(a_full_cache_is_constant_only_if_its_level_is)
{
    for (unsigned kind = 0; kind < 3; kind++) {
        bool varied = kind == 1, freed = kind == 2;
        struct vs_builder b;
        uint64_t live = 0, size[64] = {0};
        unsigned random = 1;
        vs_builder_open(&b, "observe");
        vs_builder_device(&b, 0, "Test GPU", 4 * GIB);
        b.stack = activation_site(&b);
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
        struct vs_report *r = report_of(&b);
        assert_int_equal(r->devices[0].filled.count, !varied);
        if (!varied) {
            assert_int_equal(r->devices[0].filled.items[0].growth_bytes, live - 16 * MIB);
            assert_int_equal(r->devices[0].filled.items[0].growth_freed, freed);
        }
        done(&b, r);
    }
}

TEST(temporaries_are_those_freed_before_the_next_allocation)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    b.stack = activation_site(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), MIB, MIB);
    vs_builder_free(&b, 0, A(1)); /* one */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2), MIB, MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(3), 2 * MIB, 2 * MIB);
    vs_builder_free(&b, 0, A(2)); /* not a temporary: another allocation came between */
    struct vs_report *r = report_of(&b);
    const struct vs_report_site *site = &r->devices[0].at_end.items[0];
    assert_int_equal(site->temporaries, 1);
    assert_int_equal(site->allocs, 3);
    assert_int_equal(site->frees, 2);
    assert_int_equal(site->largest, 2 * MIB);
    done(&b, r);
}

TEST(memory_of_a_destroyed_context_is_lost_not_live)
{
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_context(&b, 1, 0, true);
    vs_builder_segment(&b, 0, A(0), 20 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 6 * MIB, 6 * MIB);
    vs_builder_context(&b, 1, 0, false);
    struct vs_report *r = report_of(&b);
    const struct vs_report_device *d = &r->devices[0];
    assert_int_equal(d->allocated, 0);
    assert_int_equal(d->reserved, 0);
    assert_int_equal(d->lost_bytes, 6 * MIB);
    assert_int_equal(d->at_end.total_bytes, 6 * MIB);
    assert_int_equal(d->family[VS_FAMILY_DEVICE].frees, 0);
    done(&b, r);
}

TEST(phases_have_times_and_peaks_of_their_own)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    for (unsigned step = 0; step < 2; step++) {
        vs_builder_step(&b, step);
        vs_builder_push(&b, "forward");
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), (step + 3) * MIB, (step + 3) * MIB);
        vs_builder_pop(&b);
        vs_builder_push(&b, "backward"); /* 4 ticks long: push, alloc, free, pop */
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(50), 10 * MIB, 10 * MIB);
        vs_builder_free(&b, 0, A(50));
        vs_builder_pop(&b);
        vs_builder_push(&b, "optimizer");
        vs_builder_free(&b, 0, A(1));
        vs_builder_pop(&b);
        vs_builder_pop(&b);
    }
    struct vs_report *r = report_of(&b);
    assert_int_equal(r->phase_count, 4);
    static const char *const names[] = {"step", "forward", "backward", "optimizer"};
    static const uint64_t peaks[] = {14, 4, 14, 4};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(r->phases[i].name, names[i]);
        assert_int_equal(r->phases[i].times, 2);
        assert_int_equal(r->phases[i].peaks[0], peaks[i] * MIB);
        assert_int_equal(r->phases[i].depth, i ? 1 : 0);
    }
    assert_int_equal(r->phases[2].time_ns, 2 * 3 * b.tick_ns);
    assert_string_equal(r->phases[2].path, "step / backward");
    assert_int_equal(r->phases[1].alloc_bytes, 7 * MIB);
    done(&b, r);
}

/* The post-mortem called such a failure recovered; the report listed it among the others. */
TEST(a_program_that_ended_well_did_without_the_memory)
{
    for (int followed = 0; followed < 2; followed++) {
        struct vs_builder b;
        vs_builder_open(&b, "observe");
        vs_builder_device(&b, 0, "Test GPU", GIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 900 * MIB, 900 * MIB);
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 200 * MIB, 100 * MIB, GIB);
        if (followed)
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2000), 5 * MIB, 5 * MIB);
        vs_builder_close(&b, VS_END_EXIT, 0);
        struct vs_report *r = report_of(&b);
        assert_int_equal(r->failures[0].recovered, followed);
        assert_int_equal(r->groups[0].recovered, followed);
        done(&b, r);
    }
}

TEST(failures_say_whether_the_program_got_over_them)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 900 * MIB, 900 * MIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 200 * MIB, 100 * MIB, GIB);
    vs_builder_free(&b, 0, A(0));
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 200 * MIB, 200 * MIB); /* got over it */
    vs_builder_step(&b, 4);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 900 * MIB, 800 * MIB, GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2000), 5 * MIB, 5 * MIB); /* smaller: does not count */
    vs_builder_close(&b, VS_END_EXIT, 1);
    struct vs_report *r = report_of(&b);
    assert_int_equal(r->failure_total, 2);
    assert_true(r->failures[0].recovered);
    assert_int_equal(r->failures[0].requested, 200 * MIB);
    assert_int_equal(r->failures[0].allocated, 900 * MIB);
    assert_int_equal(r->failures[0].device_free, 100 * MIB);
    assert_false(r->failures[1].recovered);
    assert_string_equal(r->failures[1].place, "step 4");
    assert_string_equal(r->failures[1].api, "cudaMalloc");
    assert_int_equal(r->devices[0].family[VS_FAMILY_DEVICE].failures, 2);
    done(&b, r);
}

TEST(the_framework_level_is_counted_beside_not_added)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 20 * MIB, 20 * MIB);
    for (int i = 0; i < 3; i++)
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_framework_alloc,
            .framework_alloc = {.addr = A(i), .size = MIB, .total_allocated = MIB * (uint64_t)(i + 1),
                                .total_reserved = 20 * MIB}});
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_free,
                                           .framework_free = {.addr = A(1), .size = MIB}});
    struct vs_report *r = report_of(&b);
    const struct vs_report_device *d = &r->devices[0];
    assert_int_equal(d->peak_allocated.bytes, 20 * MIB);
    assert_true(d->has_framework);
    assert_int_equal(d->framework_peak_allocated, 3 * MIB);
    assert_int_equal(d->framework_allocated, 2 * MIB);
    assert_int_equal(d->framework_peak_reserved, 20 * MIB);
    done(&b, r);
}

TEST(kernels_and_copies_are_summed_by_name_and_kind)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_device(&b, 1, "Other GPU", GIB);
    vs_builder_kernel(&b, 0, 7, "matmul", 1000, 500);
    vs_builder_kernel(&b, 0, 7, "adam", 1600, 100);
    vs_builder_kernel(&b, 0, 7, "matmul", 2000, 700);
    vs_builder_kernel(&b, 1, 7, "matmul", 2000, 40);
    vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 4096, 3000, 10);
    vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 4096, 3100, 30);
    vs_builder_memcpy(&b, 0, 7, VS_COPY_DTOH, 8, 3200, 5);
    struct vs_report *r = report_of(&b);
    const struct vs_report_device *d = &r->devices[0];
    assert_int_equal(d->kernel_total.count, 3);
    assert_int_equal(d->kernel_total.time_ns, 1300);
    assert_string_equal(d->kernels[0].name, "matmul");
    assert_int_equal(d->kernels[0].time_ns, 1200);
    assert_int_equal(d->kernels[0].longest_ns, 700);
    assert_int_equal(d->copies[VS_COPY_HTOD].bytes, 8192);
    assert_int_equal(d->copies[VS_COPY_HTOD].time_ns, 40);
    assert_int_equal(d->copies[VS_COPY_DTOH].count, 1);
    assert_int_equal(r->devices[1].kernel_total.time_ns, 40);
    done(&b, r);
}

TEST(kernels_of_cpp_programs_are_named_as_people_write_them)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_kernel(&b, 0, 7, "_Z4gemmIfLi128EEvPT_", 1000, 500);
    vs_builder_kernel(&b, 0, 7, "_Znot a mangled name", 2000, 100);
    struct vs_report *r = report_of(&b);
    assert_string_equal(r->devices[0].kernels[0].name, "void gemm<float, 128>(float*)");
    assert_string_equal(r->devices[0].kernels[1].name, "_Znot a mangled name");
    done(&b, r);
}

TEST(nonsense_in_a_trace_is_counted_not_fatal)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    vs_builder_free(&b, 0, A(9));              /* never allocated */
    vs_builder_segment_free(&b, 0, A(9), MIB); /* nor this */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), MIB, MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 2 * MIB, 2 * MIB); /* the same address */
    vs_builder_alloc(&b, 0, (enum vs_family)77, A(5), MIB, MIB);
    for (uint64_t device = 0; device < 200; device++)
        vs_builder_alloc(&b, 1000 + device, VS_FAMILY_DEVICE, A(100 + device), MIB, MIB);
    vs_builder_pop(&b);
    struct vs_report *r = report_of(&b);
    assert_int_equal(r->devices[0].peak_allocated.bytes, 2 * MIB);
    assert_int_equal(r->unmatched_frees, 3);
    assert_int_equal(r->unmatched_pops, 1);
    assert_true(r->ignored > 0);
    done(&b, r);
}

TEST(plumbing_is_distinguished_from_user_code)
{
    assert_true(vs_naming_is_plumbing("anything", "libcudart.so.13", NULL));
    assert_true(vs_naming_is_plumbing("cudaMalloc", "train_lm", NULL));
    assert_true(vs_naming_is_plumbing("cuMemAlloc_v2", "train_lm", NULL));
    assert_true(vs_naming_is_plumbing("vs_thunk_enter", "train_lm", NULL));
    assert_true(vs_naming_is_plumbing("ffi_call", "libffi.so.8", NULL));
    assert_true(vs_naming_is_plumbing("PyCFuncPtr_call", "_ctypes.cpython-313.so", NULL));
    assert_true(vs_naming_is_plumbing("operator new(unsigned long)", "app", NULL));
    assert_true(vs_naming_is_plumbing("cudaError cudaMalloc<float>(float**, unsigned long)", "app",
                                      NULL));
    assert_true(vs_naming_is_plumbing("f", "app", "/usr/local/cuda/include/cuda_runtime.h"));
    assert_false(vs_naming_is_plumbing("alloc_activation", "train_lm", "model.c"));
    assert_false(vs_naming_is_plumbing("std::vector<cudaMallocTag>::push(int)", "app", NULL));
    assert_false(vs_naming_is_plumbing("main", "train_lm", NULL));
    assert_true(vs_naming_is_startup("__libc_start_call_main", "libc.so.6"));
    assert_true(vs_naming_is_startup("_start", "train_lm"));
    assert_false(vs_naming_is_startup("main", "train_lm"));
}

TEST(a_million_events_take_about_a_second_a_pass)
{
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Test GPU", 80 * GIB);
    b.stack = activation_site(&b);
    b.tick_ns = 10;
    for (uint64_t i = 0; i < 1000; i++)
        vs_builder_segment(&b, 0, A(20 * i), 20 * MIB);
    for (uint64_t i = 0; i < 500000; i++) {
        if (i >= 2000)
            vs_builder_free(&b, 0, A(10 * ((i - 2000) % 2000)));
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10 * (i % 2000)), 10 * MIB, 10 * MIB);
    }
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    struct vs_report *r = report_of(&b);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    print_message("%llu events: %.2f s of processor time, both passes and compression\n",
                  (unsigned long long)r->events, seconds);
    assert_int_equal(r->devices[0].peak_allocated.bytes, 20000 * MIB);
    assert_int_equal(r->devices[0].allocated, 20000 * MIB);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(seconds < 2.0);
#endif
    done(&b, r);
}

int main(void)
{
    return vs_run_tests(NULL, NULL);
}
