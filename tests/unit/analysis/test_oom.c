/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts of the post-mortem: one trace for each, and cases that just miss it. */
#include "unit/analysis/oom_test.h"
#include "viewer/report/oom_text.h"

#define CAPACITY (512 * MIB)
#define CONTEXT (64 * MIB) /* memory of the driver itself */

static void start(const char *text)
{
    begin_trace("observe", "device 512M Small GPU; at site_weights; alloc 0 100M");
    vs_trace(&b, "%s", text);
}

/* One step: four activations of *each* MiB, freed in the backward. */
static void step(unsigned number, uint64_t each, uint64_t leak)
{
    vs_trace(&b, "step %u; push forward; at site_activation; repeat 4 { alloc 100i+1000 %lu }; "
             "pop; push backward; repeat 4 { free 100i+1000 }; pop", number, each);
    if (leak)
        vs_trace(&b, "at site_leak; alloc %u %lu", 10000 + 100 * number, leak);
    vs_trace(&b, "pop");
}

static void steps(unsigned from, unsigned to, uint64_t each, uint64_t leak)
{
    for (unsigned number = from; number < to; number++)
        step(number, each, leak);
}

/* Live activations of an unfinished step, then the failure of one more. */
static void fail_in_forward(unsigned number, unsigned live, uint64_t each, uint64_t request,
                            uint64_t held_before)
{
    vs_trace(&b, "step %u; push forward; at site_activation; repeat %u { alloc 100i+1000 %lu }",
             number, live, each);
    uint64_t ours = held_before + live * each;
    vs_trace(&b, "fail %lu free %lu", request, (uint64_t)(CAPACITY - CONTEXT - ours));
}

TEST(a_first_step_too_big_is_true_capacity)
{
    start("");
    fail_in_forward(0, 5, 60 * MIB, 60 * MIB, 100 * MIB);
    expect_verdict("true_capacity");
    assert_int_equal(oom->free_bytes, 48 * MIB);
    assert_int_equal(oom->outside, CONTEXT);
    assert_int_equal(oom->allocated, 400 * MIB);
    assert_int_equal(oom->missing, 12 * MIB);
    assert_string_equal(oom->failure.place, "step 0 / forward");
    assert_string_equal(oom->sites.items[0].frames[0].function, "site_activation");
    assert_int_equal(oom->step_bytes, 300 * MIB);
    assert_int_equal(remedy_of("bigger_device")->bytes, CAPACITY + 12 * MIB);
    assert_true(evidence(false, false, "needs 60.0 MiB, 48.0 MiB available: short by 12.0 MiB"));
    assert_true(remedy_of("smaller_step")->fits);
}

TEST(a_request_above_the_device_in_the_first_step_is_true_capacity)
{
    start("");
    fail_in_forward(0, 1, 8 * MIB, 9 * GIB, 100 * MIB);
    expect_verdict("true_capacity");
}

TEST(a_slightly_larger_later_step_is_true_capacity_not_a_spike)
{
    start("");
    steps(0, 5, 80 * MIB, 0);
    fail_in_forward(5, 3, 95 * MIB, 95 * MIB, 100 * MIB);
    expect_verdict("true_capacity");
    assert_int_equal(oom->steps_done, 5);
    assert_int_equal(oom->steps_peak, 420 * MIB);
}

TEST(a_leak_per_step_is_growth)
{
    start("");
    steps(0, 6, 60 * MIB, 20 * MIB);
    fail_in_forward(6, 3, 60 * MIB, 60 * MIB, 220 * MIB);
    expect_verdict("growth");
    assert_int_equal(oom->growth_bytes, 120 * MIB);
    assert_int_equal(oom->growth_per_step, 20 * MIB);
    assert_int_equal(oom->growth_since, 0);
    assert_int_equal(oom->growing.count, 1);
    assert_string_equal(oom->growing.items[0].frames[0].function, "site_leak");
    assert_string_equal(oom->remedies[0].kind, "free_growth");
    assert_true(oom->remedies[0].fits);
    assert_true(evidence(false, false, "grows every step since step 0: 6 steps × 20 MiB = 120 MiB"));
    assert_string_equal(remedy_of("bigger_device")->text,
                        "a larger GPU only delays it: 1 step per 20 MiB");
}

TEST(growth_over_few_steps_says_so)
{
    start("");
    steps(0, 4, 60 * MIB, 20 * MIB);
    fail_in_forward(4, 4, 60 * MIB, 60 * MIB, 180 * MIB);
    expect_verdict("growth");
    assert_true(evidence(true, false, "only 4 steps were completed"));
}

TEST(a_request_a_little_larger_than_what_is_free_differs_in_print)
{
    start("");
    fail_in_forward(0, 5, 60 * MIB, 48 * MIB + 4096, 100 * MIB);
    diagnose(0);
    assert_int_equal(oom->missing, 2 * MIB); /* the device allocates whole pages */
    assert_true(evidence(false, false, "needs 50.0 MiB from the device (48.0 MiB rounded up), "
                             "48.0 MiB available: short by 2.0 MiB"));
    assert_non_null(strstr(remedy_of("bigger_device")->text, "514.0 MiB instead of 512.0"));
}

TEST(the_leaking_request_itself_failing_is_growth)
{
    start("");
    steps(0, 5, 10 * MIB, 60 * MIB);
    vs_trace(&b, "step 5; at site_leak; fail 60M free 48M");
    expect_verdict("growth");
    assert_string_equal(oom->failure.site.frames[0].function, "site_leak");
}

/* The driver did not say how much was free, for instance while the process ended. */
TEST(growth_is_the_verdict_where_free_memory_is_unknown)
{
    start("");
    steps(0, 5, 10 * MIB, 60 * MIB);
    vs_trace(&b, "step 5; at site_activation; fail 20M");
    diagnose(0);
    assert_int_equal(oom->missing, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_string_equal(oom->growing.items[0].frames[0].function, "site_leak");
}

TEST(growth_too_small_to_matter_is_not_the_verdict)
{
    start("");
    steps(0, 5, 60 * MIB, MIB / 4);
    /* short by 40 MiB, and the leak holds little more than one */
    fail_in_forward(5, 3, 80 * MIB, 147 * MIB - MIB / 4, 101 * MIB + MIB / 4);
    diagnose(0);
    assert_true(oom->growth_bytes > 0);
    assert_string_not_equal(oom->verdict->name, "growth");
}

TEST(memory_kept_for_only_two_steps_is_not_growth)
{
    start("");
    step(0, 60 * MIB, 20 * MIB);
    step(1, 60 * MIB, 20 * MIB);
    fail_in_forward(2, 4, 70 * MIB, 70 * MIB, 140 * MIB);
    diagnose(0);
    assert_int_equal(oom->growth_bytes, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
}

TEST(one_request_unlike_any_other_is_a_spike)
{
    start("");
    steps(0, 4, 40 * MIB, 0);
    vs_trace(&b, "step 4; at site_spike; fail 400M free 348M");
    expect_verdict("single_spike");
    assert_true(oom->spike_is_request);
    assert_int_equal(oom->spike_bytes, 400 * MIB);
    assert_string_equal(oom->remedies[0].kind, "avoid_spike");
    assert_non_null(strstr(oom->remedies[0].text, "peaks at 260.0 MiB")); /* without it */
}

TEST(a_spike_above_the_device_is_still_a_spike)
{
    start("");
    steps(0, 3, 40 * MIB, 0);
    vs_trace(&b, "step 3; at site_spike; fail 700M free 348M");
    expect_verdict("single_spike");
}

TEST(a_live_spike_that_makes_others_fail_is_a_spike)
{
    start("");
    steps(0, 4, 40 * MIB, 0);
    vs_trace(&b, "step 4; at site_spike; alloc 5000 320M; at site_activation; fail 40M free 28M");
    expect_verdict("single_spike");
    assert_false(oom->spike_is_request);
    assert_int_equal(oom->spike_bytes, 320 * MIB);
    assert_string_equal(oom->spike_site.frames[0].function, "site_spike");
}

/* The missing bytes are unknown to every cause, not to growth alone. */
TEST(a_spike_is_the_verdict_where_free_memory_is_unknown)
{
    start("");
    steps(0, 4, 40 * MIB, 0);
    vs_trace(&b, "step 4; at site_spike; alloc 5000 240M; at site_activation; fail 20M");
    diagnose(0);
    assert_true(oom->missing_unknown);
    assert_int_equal(oom->missing, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_int_equal(oom->causes[0].bytes, 240 * MIB);
    assert_true(evidence(false, false, "the device did not report its free memory: the missing bytes "
                                         "are unknown"));
}

TEST(a_spike_between_two_steps_is_a_spike)
{
    start("");
    steps(1, 5, 40 * MIB, 0);
    vs_trace(&b, "push evaluation"); /* outside any step */
    vs_trace(&b, "at site_spike; alloc 5000 320M; at site_activation; fail 40M free 28M");
    expect_verdict("single_spike");
    assert_int_equal(oom->spike_bytes, 320 * MIB);
    assert_false(oom->in_step);
    assert_string_equal(oom->failure.place, "evaluation");
}

TEST(a_large_request_that_every_step_makes_is_not_a_spike)
{
    start("repeat 4 { step i; at site_spike; alloc 5000 200M; free 5000; pop }; step 4; "
          "at site_activation; alloc 1000 100M; alloc 1200 100M; at site_spike; "
          "fail 200M free 148M");
    expect_verdict("true_capacity");
}

TEST(a_spike_is_seen_without_step_marks_when_memory_goes_round)
{
    start("at site_activation; repeat 40 { alloc 1000 20M; free 1000 }; at site_spike; "
          "fail 420M free 348M");
    expect_verdict("single_spike");
}

/* A cache of 20 MiB segments with every second 5 MiB block free. */
static void fill_with_holes(void)
{
    begin_trace("caching", "device 512M Small GPU; at site_activation; "
                "repeat 20 { segment 100i 20M; alloc 100i 5M; alloc 100i+5 5M; alloc 100i+10 5M; "
                "alloc 100i+15 5M }; repeat 20 { free 100i; free 100i+10 }");
}

TEST(enough_in_pieces_too_small_is_fragmentation)
{
    fill_with_holes();
    vs_trace(&b, "at site_spike; fail 120M free 48M");
    expect_verdict("fragmentation");
    assert_int_equal(oom->cached, 200 * MIB);
    assert_int_equal(oom->largest_hole, 5 * MIB);
    assert_int_equal(oom->holes, 40);
    assert_int_equal(oom->empty_bytes, 0);
    assert_non_null(remedy_of("use_holes"));
    assert_int_equal(remedy_of("smaller_request")->bytes, 48 * MIB);
}

TEST(more_than_all_pieces_together_is_true_capacity)
{
    fill_with_holes();
    vs_trace(&b, "at site_spike; fail 249M free 48M");
    expect_verdict("true_capacity");
}

TEST(a_few_small_holes_do_not_make_it_fragmentation)
{
    /* each segment's last MiB is unused */
    begin_trace("caching", "device 512M Small GPU; at site_activation; step 0; "
                           "repeat 20 { segment 100i 20M; alloc 100i 19M }; fail 60M free 48M");
    diagnose(0);
    assert_int_equal(oom->cached, 20 * MIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
}

/* Segments of 20 MiB that take two blocks of 7 MiB each and leave 6 MiB. */
static void gaps_without_frees(bool in_step)
{
    begin_trace("caching", "device 512M Small GPU; at site_activation");
    if (in_step)
        vs_trace(&b, "step 0");
    vs_trace(&b, "repeat 22 { segment 100i 20M; alloc 100i 7M; alloc 100i+7 7M }; fail 7M free 8M");
    diagnose(0);
    assert_int_equal(oom->need, 20 * MIB);
    assert_int_equal(oom->cached, 132 * MIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
}

TEST(gaps_in_segments_of_a_first_step_are_not_fragmentation)
{
    gaps_without_frees(true);
}

TEST(gaps_in_segments_of_a_set_up_are_not_fragmentation)
{
    gaps_without_frees(false);
}

TEST(a_size_no_device_has_is_absurd)
{
    start("");
    vs_trace(&b, "fail %lu free 348M", (uint64_t)(UINT64_MAX - 4095));
    expect_verdict("absurd_request");
    assert_string_equal(oom->remedies[0].kind, "fix_size");
}

TEST(a_refusal_with_enough_free_is_called_one)
{
    start("fail 20M free 348M");
    expect_verdict("refused");
}

TEST(a_limit_that_was_reached_while_the_device_had_more_is_the_cause)
{
    start("");
    /* managed memory is not counted */
    vs_trace(&b, "option limit 3:1GiB,25%%; alloc 200 64M managed; fail 29M async free 284M");
    expect_verdict("imposed_limit");
    assert_true(report->devices[0].limit_bytes == CAPACITY / 4);
    assert_true(oom->limit == 128 * MIB && oom->total == 128 * MIB);
    assert_true(oom->device_total == CAPACITY && oom->device_free == 284 * MIB);
    assert_true(oom->free_bytes == 28 * MIB && oom->missing == MIB && oom->outside == 0);
    assert_string_equal(oom->remedies[0].kind, "raise_limit");
    assert_true(oom->remedies[0].fits && oom->remedies[0].bytes == 129 * MIB);
    for (size_t i = 0; i < oom->remedy_count; i++)
        assert_string_not_equal(oom->remedies[i].kind, "bigger_device");
}

TEST(a_limit_that_was_not_reached_is_not_the_cause)
{
    start("option limit 400MiB");
    /* other processes hold the rest: the device is full before the limit is reached */
    vs_trace(&b, "fail 100M free 60M");
    expect_verdict("true_capacity");
    assert_true(oom->limit == 0 && oom->total == CAPACITY);
}

TEST(a_refusal_below_the_limit_is_called_one)
{
    start("option limit 256MiB; fail 20M free 348M");
    expect_verdict("refused");
    assert_true(evidence(false, false,
                             "156.0 MiB was free of the limit of 256.0 MiB; the request needs 20.0 MiB"));
}

/* A failure while another process uses *others* bytes of the device, reported as in *how*. */
static void fail_beside(uint64_t others, uint64_t how,
                                  uint64_t request, uint64_t device_free)
{
    begin_trace("observe", "device 80G Shared GPU");
    vs_builder_context(&b, 1, 0, true);
    vs_trace(&b, "at site_activation; alloc 0 4G");
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_OTHERS, .bytes = others, .count = 1, .how = how}});
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_PROCESS, .bytes = others, .pid = 77, .how = how}});
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, request, device_free, 80 * GIB);
    diagnose(0);
}

TEST(another_process_in_the_way_is_named)
{
    fail_beside(74 * GIB, VS_USAGE_BY_PID, 2 * GIB, GIB);
    assert_string_equal(oom->verdict->name, "other_process");
    assert_int_equal(oom->balance.others, 74 * GIB);
    assert_int_equal(oom->balance.process[0].pid, 77);
    assert_int_equal(vs_balance_parts(&oom->balance), 79 * GIB);
    assert_int_equal(oom->balance.unexplained, GIB);
    assert_string_equal(oom->remedies[0].kind, "stop_others");
    assert_int_equal(oom->remedies[0].bytes, 74 * GIB);
}

TEST(a_small_neighbour_is_a_remedy_but_no_verdict)
{
    /* the rest belongs to the context, not to other processes */
    fail_beside(3 * GIB, VS_USAGE_BY_PID, 2 * GIB, GIB);
    assert_string_not_equal(oom->verdict->name, "other_process");
}

TEST(a_neighbour_whose_end_would_not_do_is_not_to_blame)
{
    fail_beside(30 * GIB, VS_USAGE_BY_PID, 78 * GIB, 46 * GIB);
    assert_int_equal(oom->missing, 32 * GIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_null(remedy_of("stop_others"));
}

TEST(processes_that_cannot_be_distinguished_are_outside_memory)
{
    fail_beside(74 * GIB, VS_USAGE_UNATTRIBUTED, 2 * GIB, GIB);
    assert_string_equal(oom->verdict->name, "outside_memory");
    assert_int_equal(oom->balance.others, 0);
}

TEST(a_device_full_of_others_is_outside_memory)
{
    begin_trace("observe", "device 80G Shared GPU; at site_activation; alloc 0 4G");
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * GIB, GIB, 80 * GIB);
    expect_verdict("outside_memory");
    assert_int_equal(oom->outside, 75 * GIB);
}

TEST(page_locked_memory_is_the_hosts_matter)
{
    start("fail 64G pinned");
    expect_verdict("host_memory");
}

TEST(the_failure_that_ended_the_run_is_chosen_and_nth_overrides)
{
    start("fail 400M free 348M; fail 390M free 348M; at site_spike"); /* another call site */
    vs_trace(&b, "alloc 9000 395M"); /* recovers from #2 */
    diagnose(0);
    assert_int_equal(oom->number, 1);
    assert_true(oom->ended);
    diagnose(2);
    assert_int_equal(oom->failure.requested, 390 * MIB);
    assert_false(oom->ended);
    struct vs_oom *none = NULL;
    assert_int_equal(vs_oom_build(reader, report, NULL, 3, &none), VS_ERR_NOT_FOUND);
    assert_null(none);
}

/* The call site asks for half as much until it gets it; later the program fails elsewhere. */
TEST(a_probe_at_the_start_is_recovered_although_the_program_fails_later)
{
    start("at site_activation");
    for (uint64_t size = 3200; size > 400; size /= 2)
        vs_trace(&b, "fail %lu free 348M", size * MIB);
    vs_trace(&b, "alloc 9000 300M; at site_spike; fail 200M free 48M; at site_leak; "
                 "alloc 9500 20M"); /* of another site */
    diagnose(0);
    assert_int_equal(oom->number, 4);
    assert_true(oom->ended);
    assert_int_equal(oom->failures_recovered, 3);
}

/* A call that failed with *error*: 100 bytes of host memory. */
/* A leak ends one thread; the other catches its probes, and allocates more than the leak's blocks. */
TEST(a_thread_that_goes_on_does_not_recover_anothers_failure)
{
    begin_trace("observe", "device 512M Small GPU");
    uint32_t leaks = b.tid, probes = b.tid + 1;
    for (unsigned i = 0; i < 20; i++) {
        b.tid = probes;
        vs_trace(&b, "at site_spike");
        if (i % 5 == 0)
            vs_trace(&b, "fail 400M free 200M");
        vs_trace(&b, "at site_activation; alloc 900 100M; free 900");
        b.tid = leaks;
        vs_trace(&b, "at site_leak; alloc %u 20M", 20 * i);
    }
    vs_trace(&b, "fail 20M free 12M");
    b.tid = probes;
    vs_trace(&b, "at site_activation; alloc 900 100M");
    diagnose(0);
    assert_int_equal(oom->failure.requested, 20 * MIB);
    assert_false(oom->failure.recovered);
    assert_int_equal(oom->failures_recovered, 4);
    assert_string_equal(oom->verdict->name, "growth");
    assert_string_equal(oom->culprit->frames[0].function, "site_leak");
}

static void failed_with(uint64_t error)
{
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_alloc_failed,
        .alloc_failed = {.requested = 100, .family = VS_FAMILY_PINNED, .context = 1,
                         .stack = b.stack, .error = error,
                         .api = vs_builder_string(&b, "cudaHostAlloc")}});
}

TEST(out_of_memory_is_chosen_before_another_error)
{
    start("fail 400M free 348M; alloc 9000 400M"); /* recovers */
    failed_with(1);
    diagnose(0);
    assert_int_equal(oom->number, 1);
    assert_string_equal(oom->verdict->name, "recovered");
    diagnose(2);
    assert_string_equal(oom->verdict->name, "other_error");
}

TEST(another_error_is_not_a_lack_of_memory)
{
    static const struct {
        uint64_t error;
        const char *evidence, *kind;
    } cases[] = {
        {1, "the call was refused with CUDA_ERROR_INVALID_VALUE", "fix_call"},
        {46, "the call was refused with CUDA_ERROR_DEVICE_UNAVAILABLE", "restore_device"},
        {700, "the call was refused with CUDA_ERROR_ILLEGAL_ADDRESS", "fix_kernel"},
        {709, "the call was refused with CUDA_ERROR_CONTEXT_IS_DESTROYED", "fix_context"},
        {711, "the call was refused with CUDA_ERROR_TOO_MANY_PEERS", "look_up_error"},
        {900, "the call was refused with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "fix_capture"},
        {12345, "the call was refused with CUDA error 12345", "look_up_error"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start("");
        failed_with(cases[i].error);
        expect_verdict("other_error");
        assert_true(evidence(false, false, cases[i].evidence));
        assert_int_equal(oom->remedy_count, 1);
        assert_string_equal(oom->remedies[0].kind, cases[i].kind);
        done(NULL);
    }
}

TEST(remedies_that_suffice_come_first)
{
    start("");
    fail_in_forward(0, 5, 60 * MIB, 400 * MIB, 100 * MIB);
    expect_verdict("true_capacity");
    assert_string_equal(oom->remedies[0].kind, "bigger_device");
    assert_true(oom->remedies[0].fits);
    assert_string_equal(oom->remedies[1].kind, "smaller_step");
    assert_string_equal(oom->remedies[2].kind, "shrink_site");
    assert_false(oom->remedies[1].fits || oom->remedies[2].fits);
}

TEST(memory_kept_by_a_pool_is_named_with_its_site)
{
    start("at site_activation; alloc 1000 300M async; free 1000; usage pools 300M; "
          "at site_spike; fail 100M free 48M");
    expect_verdict("kept_pool");
    assert_int_equal(oom->causes[0].bytes, 300 * MIB);
    assert_true(oom->causes[0].enough && oom->causes[0].suspected);
    assert_string_equal(oom->culprit->frames[0].function, "site_activation");
    assert_string_equal(oom->remedies[0].kind, "trim_pools");
}

/* The summary of a run has these parts. */
static void assert_summary(const char *first, const char *second, const char *third)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct vs_style style = {.out = out, .width = 200};
    vs_oom_brief(oom, &style);
    fclose(out);
    const char *const parts[] = {first, second, third};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no \"%s\" in\n%s", parts[i], text);
    free(text);
}

/* A leak beside a pool that keeps memory: the evidence names both. */
TEST(a_second_cause_that_suffices_is_evidence)
{
    start("at site_spike; alloc 2000 120M async; free 2000; usage pools 120M");
    steps(0, 12, 5 * MIB, 16 * MIB);
    fail_in_forward(12, 0, 5 * MIB, 40 * MIB, 412 * MIB);
    expect_verdict("growth");
    assert_true(evidence(false, true, "without the pools' unused memory (120.0 MiB, most at site_spike"));
    assert_int_equal(oom->also_count, 1);
    assert_string_equal(oom->also[0]->verdict->name, "kept_pool");
    assert_non_null(remedy_of("trim_pools"));
    assert_summary("  why     growth: ", "  also    cached in pools: ", "  look at site_spike");
}

/* A leak through a pool: its holes lie beside the leaked blocks, so that trimming is no remedy. */
TEST(trimming_does_not_help_a_leak_inside_the_pool)
{
    start("repeat 20 { step i; at site_activation; alloc 2000 60M async; at site_leak; "
          "alloc 10i+3000 8M async; free 2000; usage pools 13i+93M; pop }; step 20; "
          "sample 20M; at site_activation; fail 60M async free 20M");
    expect_verdict("growth");
    vs_oom_replay(oom, reader);
    assert_null(remedy_of("trim_pools"));
    assert_string_equal(oom->remedies[0].kind, "free_growth");
}

/* A spike under a limit: the limit is a remedy, and the figures are its. */
TEST(a_spike_below_the_device_but_above_the_limit_names_the_limit)
{
    start("option limit 300MiB");
    steps(0, 6, 20 * MIB, 0);
    vs_trace(&b, "at site_spike; fail 250M free 348M");
    expect_verdict("single_spike");
    assert_int_equal(remedy_of("raise_limit")->bytes, 350 * MIB);
    assert_true(remedy_of("raise_limit")->fits);
    assert_true(evidence(false, false, "this is 83.3 % of the limit; the largest other allocation "
                                         "was 100.0 MiB") ||
                evidence(false, false, "this is 83.3 % of the limit; the largest other allocation "
                                         "was 20.0 MiB"));
}

/* The unused ends of a pool's chunks, of which none was freed: trimming returns nothing. */
TEST(ends_of_a_pools_chunks_are_not_kept)
{
    for (unsigned freed = 0; freed < 2; freed++) {
        start("at site_activation; repeat 4 { alloc 100i+1000 50M async }");
        if (freed)
            vs_trace(&b, "free 1300");
        vs_trace(&b, "usage pools 256M; sample 92M; at site_spike; fail 120M free 92M");
        diagnose(0);
        assert_int_equal(oom->balance.pools, freed ? 106 * MIB : 56 * MIB);
        assert_int_equal(oom->pools_releasable, freed ? 64 * MIB : 0);
        assert_string_equal(oom->verdict->name, freed ? "kept_pool" : "true_capacity");
        vs_oom_replay(oom, reader);
        const struct vs_remedy *trim = remedy_of("trim_pools");
        assert_int_equal(trim && trim->fits && trim->replayed, freed);
        done(NULL);
    }
}

TEST(two_causes_that_suffice_only_together_are_both_named)
{
    start("usage pools 170M; usage others 140M; at site_spike; fail 300M free 38M");
    diagnose(0);
    assert_int_equal(oom->missing, 262 * MIB);
    assert_string_equal(oom->verdict->name, "kept_pool");
    assert_string_equal(oom->second->name, "other_process");
    assert_false(oom->causes[0].enough || oom->causes[1].enough);
    assert_true(evidence(false, false, "stream-ordered pools (cudaMallocAsync) hold 170.0 MiB, "
                                         "33.2 % of the device, that nothing uses; their live "
                                         "allocations take 0 B"));
    assert_true(evidence(false, false, "1 other process holds 140.0 MiB, 27.3 % of the device "
                                         "(from NVML); this program's allocations hold 100.0 MiB"));
    assert_true(evidence(false, false, "without both the device would have had 310.0 MiB more: the "
                                         "request fits"));
    assert_string_equal(oom->remedies[0].kind, "both");
    assert_int_equal(oom->remedies[0].bytes, 310 * MIB);
    assert_summary("  why     cached in pools: ", "(170.0 MiB, 33.2 % of the device)",
                   "  and     other process: ");
}

TEST(a_cache_of_another_stream_is_not_fragmentation)
{
    begin_trace("caching", "device 512M Small GPU; at site_weights; "
                 "repeat 22 { segment 100i 20M stream 7; alloc 100i 12M; alloc 100i+12 8M }; "
                 "repeat 22 { free 100i }; at site_activation; fail 10M free 8M");
    expect_verdict("other_cache");
    assert_int_equal(oom->causes[0].bytes, 22 * 12 * MIB);
    assert_string_equal(oom->culprit->frames[0].function, "site_weights");
}

TEST(many_blocks_of_little_more_than_a_page_are_rounding)
{
    begin_trace("observe", "device 512M Small GPU; at site_activation; "
                "repeat 220 { alloc 2i 1049088 }; at site_spike; fail 20M free 8M");
    expect_verdict("rounding");
    assert_string_equal(oom->culprit->frames[0].function, "site_activation");
    assert_string_equal(oom->remedies[0].kind, "suballocate");
}

/* A device of which *count* contexts hold *each*. */
static void fail_with_contexts(unsigned count, uint64_t each,
                                         bool stacks)
{
    begin_trace("observe", "device 2G Small GPU");
    for (unsigned i = 1; i <= count; i++) {
        uint64_t stack = i == 1 ? vs_trace_site(&b, "site_weights", 1) : vs_trace_site(&b, "site_spike", 1);
        vs_builder_context(&b, i, 0, true);
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_overhead,
            .overhead = {.context = i, .bytes = each, .stack = stacks ? stack : 0}});
    }
    vs_trace(&b, "at site_activation");
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 100 * MIB, 20 * MIB, 2 * GIB);
    diagnose(0);
}

TEST(a_huge_context_and_many_contexts_are_named)
{
    fail_with_contexts(1, 2 * GIB - 20 * MIB, true);
    assert_string_equal(oom->verdict->name, "contexts");
    done(NULL);
    for (int stacks = 0; stacks < 2; stacks++) { /* traces of earlier versions have none */
        fail_with_contexts(5, 400 * MIB, stacks);
        assert_string_equal(oom->verdict->name, "contexts");
        assert_int_equal(oom->causes[0].bytes, 1600 * MIB);
        assert_string_equal(oom->remedies[0].kind, "one_context");
        assert_string_equal(oom->culprit->frames[0].function,
                            stacks ? "site_spike" : "site_activation");
        if (stacks)
            assert_summary("  look at site_spike", "", "");
        done(NULL);
    }
}

TEST(growth_is_found_without_marked_steps)
{
    start("repeat 2 { at site_activation; alloc 1000 30M; free 1000 }; "
          "repeat 18 { at site_activation; alloc 1000 30M; at site_leak; alloc 100i+10200 18M; "
          "free 1000 }; at site_activation; fail 30M free 24M");
    expect_verdict("growth");
    assert_int_equal(oom->growth_count, 18);
    assert_int_equal(oom->growth_bytes, 18 * 18 * MIB);
    assert_string_equal(oom->culprit->frames[0].function, "site_leak");
    assert_null(strstr(remedy_of("bigger_device")->text, "instead"));
}

TEST(a_ring_of_buffers_is_not_growth)
{
    start("");
    for (unsigned i = 0; i < 40; i++) {
        vs_trace(&b, "at site_leak; alloc %u 20M", 10000 + 100 * i);
        if (i >= 12)
            vs_trace(&b, "free %u", 10000 + 100 * (i - 12));
    }
    vs_trace(&b, "at site_activation; fail 130M free 108M");
    expect_verdict("true_capacity");
    assert_int_equal(oom->growth_bytes, 0);
}

TEST(a_program_that_goes_on_and_ends_well_is_not_accused)
{
    start("fail 400M free 348M; alloc 9000 200M"); /* with less */
    vs_builder_close(&b, VS_END_EXIT, 0);
    expect_verdict("recovered");
    assert_true(oom->went_on && !oom->ended);
}

TEST(of_identical_failures_the_first_is_explained)
{
    start("fail 400M free 348M; alloc 9000 400M"); /* recovers */
    vs_trace(&b, "free 9000; repeat 5 { fail 420M free 348M }");
    diagnose(0);
    assert_int_equal(oom->number, 2);
    assert_int_equal(oom->repeated, 4);
    assert_int_equal(oom->failures_recovered, 1);
}

/* PyTorch's segments hold little; the rest was allocated outside of its allocator. */
TEST(memory_outside_the_framework_is_named)
{
    start("at site_leak; alloc 2000 300M; at site_activation; tensor 0 20M; at site_spike; "
          "fail 100M free 48M");
    expect_verdict("outside_libraries");
    assert_int_equal(oom->library_bytes, 300 * MIB); /* not the one with the tensor */
    assert_string_equal(oom->culprit->frames[0].function, "site_leak");
}

/* Expandable segments: one block in each handle of 20 MiB stays, so that none can be unmapped. */
TEST(parts_of_expandable_segments_are_fragmentation)
{
    begin_trace("observe", "device 512M Small GPU; repeat 20 { at site_weights; "
                "alloc memory:i+1 20M vmm; map 20i 20M i+1; at site_leak; tensor 20i 5M; "
                "at site_activation; tensor 20i+5 5M; tensor 20i+10 5M; tensor 20i+15 5M }; "
                "repeat 20 { drop 20i+5; drop 20i+10; drop 20i+15 }");
    vs_trace(&b, "sample 48M; raise 100M");
    expect_verdict("fragmentation");
    assert_true(oom->free_known); /* read before the failure, which has no figures of its own */
    assert_int_equal(oom->free_bytes, 48 * MIB);
    assert_int_equal(oom->missing, 52 * MIB);
    assert_int_equal(oom->cache.segments, 1);
    assert_int_equal(oom->cache.scattered, 300 * MIB);
    assert_string_equal(oom->culprit->frames[0].function, "site_leak");
}

/* PyTorch's cache: pieces that are too small for the request, and of another stream. */
TEST(free_pieces_of_another_stream_of_pytorch_are_its_cache)
{
    for (unsigned stream = 0; stream < 2; stream++) {
        begin_trace("observe", "device 512M Small GPU");
        vs_trace(&b, "repeat 20 { alloc 20i 20M; tensor 20i 5M stream %u; "
                 "tensor 20i+5 5M stream %u; tensor 20i+10 5M stream %u; "
                 "tensor 20i+15 5M stream %u }", stream, stream, stream, stream);
        vs_trace(&b, "repeat 20 { drop 20i+5; drop 20i+10; drop 20i+15 }; fail 100M free 48M; "
                 "raise 100M");
        expect_verdict(stream ? "other_cache" : "fragmentation");
        assert_int_equal(oom->cache.other_streams, stream ? 300 * MIB : 0);
        done(NULL);
    }
}

/* A small block needs a segment of small blocks; holes in the large segments are no private pool's. */
TEST(holes_in_segments_of_large_blocks_are_not_the_cache_of_others)
{
    begin_trace("observe", "device 512M Small GPU; repeat 24 { alloc 20i 20M; tensor 20i 10M; "
                "tensor 20i+10 10M }; repeat 24 { drop 20i }; fail 2M free 0; raise 1M");
    diagnose(0);
    assert_string_not_equal(oom->verdict->name, "other_cache");
    assert_int_equal(oom->cache.withheld, 0);
    assert_int_equal(oom->cache.other_class, 240 * MIB);
    assert_true(evidence(false, true, "segments of their own"));
}

/* PyTorch releases every unused segment before it reports a failure, but for those of private pools. */
TEST(unused_segments_of_pytorch_are_of_a_private_pool)
{
    begin_trace("observe", "device 512M Small GPU; at site_leak; repeat 6 { alloc 40i 40M; "
                "tensor 40i 40M }; at site_activation; repeat 4 { alloc 40i+240 40M; "
                "tensor 40i+240 40M }; repeat 6 { drop 40i }; fail 100M free 24M; raise 100M");
    expect_verdict("other_cache");
    assert_int_equal(oom->cache.private_pools, 240 * MIB);
    assert_int_equal(oom->cache.withheld_largest, 40 * MIB);
    assert_false(oom->withheld_live);
    assert_string_equal(oom->culprit->frames[0].function, "site_leak");
    assert_string_equal(oom->remedies[0].kind, "delete_pool");
}

/* A buffer forgotten in each iteration from the start on, or the chunks of a data set. */
TEST(equal_blocks_of_which_none_was_freed_may_be_a_leak)
{
    for (unsigned differ = 0; differ < 2; differ++) {
        vs_builder_open(&b, "observe");
        vs_trace(&b, "device 512M Small GPU; at site_leak");
        vs_trace(&b,
                 "alloc 640 12M; repeat 16 { alloc 40i 12M; alloc 40i+20 %uM }; fail 30M free 20M",
                 differ ? 14 : 12);
        expect_verdict("true_capacity");
        assert_string_equal(oom->culprit->frames[0].function, "site_leak");
        assert_int_equal(evidence(true, true, "may be a leak"), !differ);
        assert_int_equal(evidence(true, true, "33 allocations of 12.0 MiB each, and freed none"),
                         !differ);
        assert_int_equal(remedy_of("free_growth") != NULL, !differ);
        done(NULL);
    }
}

/* Blocks from before many steps that freed as much: the program keeps running with them. */
TEST(equal_blocks_from_before_the_steps_are_no_leak)
{
    begin_trace("observe", "device 512M Small GPU; at site_leak; repeat 16 { alloc 20i 24M }; "
                 "at site_activation; repeat 60 { alloc 900 80M; free 900 }; fail 140M free 128M");
    expect_verdict("true_capacity");
    assert_null(remedy_of("free_growth"));
    for (size_t i = 0; i < oom->evidence_count; i++)
        assert_null(strstr(oom->evidence[i].text, "may be a leak"));
}

/* Holes of a twelfth of the device, in a program that never held as much: true capacity by the bytes.
 * But another policy of the same cache serves the request. */
TEST(what_another_setting_of_the_cache_serves_is_not_true_capacity)
{
    begin_trace("caching", "device 512M Small GPU; repeat 20 { segment 20i 20M; "
                "at site_activation; alloc 20i 5M; at site_weights; alloc 20i+5 5M; "
                "alloc 20i+10 5M; alloc 20i+15 5M }; repeat 8 { free 20i }; sample 48M; "
                "at site_spike; fail 60M free 48M");
    expect_verdict("true_capacity");
    assert_int_equal(oom->missing, 12 * MIB);
    vs_oom_replay(oom, reader);
    assert_string_equal(oom->verdict->name, "fragmentation");
    assert_string_equal(oom->causes[0].verdict->name, "fragmentation");
    assert_string_equal(oom->remedies[0].kind, "policy");
    assert_true(oom->remedies[0].replayed && oom->remedies[0].fits);
    assert_non_null(strstr(oom->remedies[0].text, ": this request fits, later ones are not known;"));
    assert_true(evidence(true, false, "the program never ran with as much live: later requests "
                                        "may not fit"));
}

/* Only the last failures are stored; those of a program that fails again and again are alike. */
TEST(the_first_of_hundreds_of_equal_failures_is_explained)
{
    start("at site_activation; alloc 0 50M; at site_spike; "
          "repeat 500 { fail 512M free 48M }");
    diagnose(0);
    assert_int_equal(oom->number, 1);
    assert_int_equal(oom->repeated, 499);
    assert_int_equal(oom->total_failures, 500);
}

/* Each step asks for more, in segments of the cache that fit but for their ends. */
TEST(holes_that_are_tiny_beside_requests_that_grow_are_true_capacity)
{
    begin_trace("caching", "device 512M Small GPU; at site_activation");
    uint64_t size = 0;
    for (unsigned i = 0; i < 70; i++) {
        size = (11 + 2 * i) * MIB;
        unsigned count = i == 69 ? 2 : 3;
        for (unsigned k = 0; k < count; k++) {
            vs_trace(&b, "segment %u %lu; alloc %u %lu", 1000 * k, size + MIB, 1000 * k, size);
        }
        for (unsigned k = 0; k < count && i < 69; k++) {
            vs_trace(&b, "free %u; unsegment %u %lu", 1000 * k, 1000 * k, size + MIB);
        }
    }
    uint64_t free_bytes = CAPACITY - CONTEXT - 2 * (size + MIB);
    vs_trace(&b, "sample %lu; fail %lu free %lu", free_bytes, size, free_bytes);
    diagnose(0);
    vs_oom_replay(oom, reader);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->request_first, 11 * MIB);
    assert_true(evidence(false, true, "grow: the first was 11.0 MiB, this one is 149.0 MiB"));
}
