/* SPDX-License-Identifier: Apache-2.0
 *
 * What the timeline adds up to, of traces whose times are all known. The records of work come last, as
 * CUPTI delivers them. */
#include "unit/analysis/report_facts.h"

#define GPU "device 1G Test GPU; "
#define GAP(n) "timeline/gaps_by_cause/rows/" #n

static const struct report_case timelines[] = {
    /* The wait began when the kernel ran, and took longer than the gap behind it. */
    {"a_wait_is_the_cause_of_the_gap_that_a_launch_in_its_place_would_have_filled",
     GPU "at item 12 < main 3; wait 3 1000000 2010000; kernel 7 1000000 2000000 gemm; "
     "kernel 7 3050000 1000000 gemm",
     "timeline/busy_ns 3000000; timeline/idle_ns 50000; timeline/gaps 1; " GAP(0) "/cause wait; "
     GAP(0) "/time_ns 50000; " GAP(0) "/wait/frames/0/line 12; " GAP(0) "/until_kernel gemm; "
     GAP(0) "/until none"},
    {"a_short_wait_before_a_long_gap_is_not_its_cause",
     GPU "at item 12 < main; "
     "wait 3 2900000 110000; kernel 7 1000000 2000000 gemm; kernel 7 9000000 1000000 gemm",
     GAP(0) "/cause host; " GAP(0) "/time_ns 6000000; " GAP(0) "/wait/frames/0/line 12"},
    {"a_gap_without_a_wait_is_the_hosts_until_the_call_that_ended_it",
     GPU "kernel 7 1000000 2000000 gemm; push step 1; push data; at next_batch 30 < main; call; "
     "kernel 7 9000000 1000000 adam",
     GAP(0) "/cause host; " GAP(0) "/wait none; " GAP(0) "/until/frames/0/line 30; "
     GAP(0) "/phase step / data; timeline/kernels_by_site/rows/0/site none; "
     "timeline/kernels_by_site/rows/1/site/frames/0/function next_batch"},
    /* A wait of another thread is not that of the thread that launches. */
    {"waits_of_other_threads_are_no_cause_where_the_thread_is_known",
     GPU "thread 1; at poll < main; wait 4 1000000 2005000; thread 0; at launch < main; "
     "kernel 7 1000000 2000000 gemm; call; kernel 7 9000000 1000000 adam",
     GAP(0) "/cause host; " GAP(0) "/wait none; " GAP(0) "/until/frames/0/function launch"},
    {"streams_fill_each_others_gaps_in_whatever_order_the_records_come",
     GPU "kernel 7 1000 1000 a; kernel 7 9000 1000 a; kernel 7 30000 1000 a; kernel 8 1500 8000 b; "
     "kernel 8 29000 500 b",
     "timeline/busy_ns 10500; timeline/idle_ns 19500; timeline/gaps 2; timeline/short_gaps 1; "
     "timeline/short_gaps_ns 500; timeline/out_of_order 0; " GAP(0) "/time_ns 19000"},
    {"copies_are_listed_by_size_against_the_fastest_large_one",
     GPU "at load 5 < main; call; copy 7 htod 4M 1000000 1000000; call; copy 7 htod 4M 3000000 500000; "
     "at tick 9 < main; repeat 3 { call; copy 7 htod 512 i+4000000 4000 }",
     "timeline/fastest_copies/HtoD/time_ns 500000; timeline/copies_by_size/rows/0/up_to 16MiB; "
     "timeline/copies_by_size/rows/0/count 2; timeline/small_copies/count 3; "
     "timeline/small_copies/time_ns 12000; timeline/small_copies/rows/0/site/frames/0/line 9"},
    {"pageable_copies_would_take_as_long_as_the_fastest_pinned_one_of_their_direction",
     GPU "at load 5 < main; call; copy 7 htod 8M 1000000 4000000 pageable; call; copy 7 dtoh 8M 6000000 3000000 "
     "pageable; at stage 8 < main; call; copy 7 htod 8M 10000000 1000000 pinned",
     "timeline/pageable_copies/time_ns 7000000; timeline/pageable_copies/rows/0/saved_ns 3000000; "
     "timeline/pageable_copies/rows/0/site/frames/0/line 5; timeline/pageable_copies/rows/1/kind DtoH; "
     "timeline/pageable_copies/rows/1/saved_ns none; timeline/copies_by_size/rows/2/memory pinned"},
    /* The second kernel ended at 3 ms; the copy is staged on the host until 8 ms. */
    {"a_copy_without_a_recorded_call_has_the_line_of_the_wait_around_it_which_fills_the_gap_before",
     GPU "at load 5 < main; wait 18 3500000 5500000; kernel 7 1000000 2000000 gemm; "
     "copy 7 htod 8M 8000000 1000000 pageable",
     "timeline/pageable_copies/rows/0/site/frames/0/line 5; " GAP(0) "/cause wait; " GAP(0) "/time_ns 5000000; "
     GAP(0) "/wait/frames/0/line 5"},
    {"a_function_that_launches_everything_names_no_site",
     GPU "at my_launch 3 < use_a 10 < main; call; kernel 7 1000 10 gemm; at my_launch 3 < use_b 20 < main; call; "
     "kernel 7 2000 11 gemm; at my_launch 3 < use_c 30 < main; call; kernel 7 3000 12 gemm; "
     "at my_launch 3 < use_d 40 < main; call; kernel 7 4000 13 gemm",
     "timeline/kernels_by_site/rows/0/site/wrapper_frames 1; timeline/kernels_by_site/rows/0/site/text has use_d"},
    {"waits_in_steps_are_counted_apart",
     GPU "at item 12 < main; wait 3 100 500; repeat 4 { step i; wait 3 1000 2000; pop }",
     "waits_by_site/0/count 5; waits_by_site/0/time_ns 8500; waits_by_site/0/step_count 4; "
     "waits_by_site/0/step_ns 8000; timeline none"},
};

ROWS(timelines, figures_are_known)
{
    report_row(*state);
    expect_report("devices/0", ((const struct report_case *)*state)->facts);
}

/* The peak is at the fourth event, 4 ticks after the start; the record of the kernel that ran then comes later. */
TEST(work_at_the_peak_is_found_from_records_that_come_later)
{
    begin_trace("observe", GPU "alloc 1 10M; alloc 100 20M");
    uint64_t peak = b.now_ns - b.tick_ns - b.start_ns;
    vs_trace(&b, "free 1; free 100; kernel 7 10 20 early; kernel 7 %llu 1000000 there; kernel 9 %llu 5 after",
             (unsigned long long)peak - 100, (unsigned long long)peak + 1);
    read_report(0);
    expect_report("devices/0/timeline/at_peak",
                  "running/0/kernel there; running/0/stream 7; last_begun/kernel there");
    assert_int_equal(report->devices[0].timeline.device->running_count, 1);
}

TEST(a_time_in_which_work_is_not_recorded_is_no_gap)
{
    begin_trace("observe", GPU "switch; switch on");
    unsigned long long after = b.now_ns - b.start_ns;
    vs_trace(&b, "kernel 7 10 20 early; kernel 7 %llu 1000 late; kernel 7 %llu 1000 late", after + 1000, after + 12000);
    read_report(0);
    expect_report("devices/0/timeline", "gaps 1; idle_ns 10000; gaps_by_cause/rows/0/time_ns 10000");
    assert_int_equal(report->devices[0].timeline.span_ns, 20 + 1000 + 10000 + 1000);
}

TEST(waits_a_step_are_of_the_steps_that_were_recorded)
{
    begin_trace("observe", GPU "at item 12 < main; switch; repeat 3 { step i; pop }; switch on; step i; wait 3 1000 2000; pop; "
                "switch; repeat 4 { step i; pop }");
    read_report(0);
    assert_int_equal(report->steps.done, 8);
    assert_int_equal(report->devices[0].timeline.steps.count, 1);
    assert_in_range(report->devices[0].timeline.steps.time_ns, 1, report->steps.total_ns / 2);
}

/* The program pauses the recording, switches the recording of work off in this time, and resumes first. A kernel
 * that it launched before still ends then. */
TEST(work_is_recorded_again_when_neither_pause_lasts)
{
    struct vs_event recording = {.kind = VS_EVENT_recording_changed};
    begin_trace("observe", GPU "");
    recording.recording_changed.what = VS_RECORDING_PAUSED;
    vs_builder_event(&b, recording);
    vs_trace(&b, "switch");
    recording.recording_changed.what = VS_RECORDING_RESUMED;
    vs_builder_event(&b, recording);
    unsigned long long resumed = b.now_ns - b.start_ns;
    b.now_ns += 50000;
    vs_trace(&b, "switch on; kernel 7 %llu 20 early; kernel 7 %llu 1000 late", resumed + 1000, resumed + 90000);
    read_report(0);
    expect_report("devices/0/timeline", "gaps 0; idle_ns 0");
    assert_int_equal(report->devices[0].timeline.span_ns, 20 + 1000);
}

TEST(records_of_one_device_are_not_late_because_another_is_ahead)
{
    begin_trace("observe", "device 1G Test GPU; gpu 1; device 1G Test GPU");
    for (unsigned i = 0; i < VS_TIMELINE_HELD_MAX + 10; i++)
        vs_trace(&b, "kernel 7 %u 10 ahead", 1000000 + 20 * i);
    vs_trace(&b, "gpu 0; kernel 7 1000 10 behind; kernel 7 9000 10 behind");
    read_report(0);
    expect_report("devices/0/timeline", "out_of_order 0; idle_ns 7990; busy_ns 20");
    expect_report("devices/1/timeline", "out_of_order 0");
}

/* Before the loop, and until the first step ends, the device is idle for longer than in all later steps. */
TEST(the_paragraph_is_about_the_time_after_the_first_step)
{
    begin_trace("observe", GPU "alloc 1 1M; step 1; pop");
    unsigned long long before = b.now_ns - b.start_ns, second;
    vs_trace(&b, "kernel 7 10 10 load; kernel 7 %llu 10 load; push step 2", before - 10);
    second = b.now_ns - b.start_ns;
    vs_trace(&b, "pop; push step 3; pop");
    for (unsigned i = 0; i < 5; i++)
        vs_trace(&b, "kernel 7 %llu 1000000 gemm", second + 500000 + i * 1250000);
    struct vs_report_wish wish = {0};
    struct vs_report_options plain = {.wish = &wish, .timeline = true};
    struct vs_style style;
    char *text;
    size_t length;
    read_trace(0);
    assert_int_equal(vs_report_build(reader, b.path, &plain, &report), VS_OK);
    FILE *out = open_memstream(&text, &length);
    vs_style_init(&style, out);
    vs_report_text(report, 0, &style);
    fclose(out);
    assert_non_null(strstr(text, "device time from step 2 on: idle for 16.7 % of 6.00 ms"));
    assert_non_null(strstr(text, "report --step 2-3 --kernels"));
    free(text);
}
