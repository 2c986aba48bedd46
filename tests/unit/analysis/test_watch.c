/* SPDX-License-Identifier: Apache-2.0
 *
 * The live view's figures: how long memory lasts, the history of a device, and the state of a trace
 * while it is recorded and after. */
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/watch/forecast.h"
#include "analysis/watch/memory_history.h"
#include "analysis/watch/watch.h"
#include "support/trace_builder.h"

#define MIB (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)

static const char *text_of(const struct vs_forecast_facts *facts)
{
    static char text[VS_FORECAST_TEXT_MAX];
    struct vs_forecast forecast = vs_forecast_make(facts);
    return vs_forecast_text(text, &forecast);
}

TEST(the_time_left_is_the_free_memory_by_the_growth)
{
    struct vs_forecast_facts facts = {.capacity = 1000 * MIB, .highest = 200 * MIB,
                                      .per_step = 16 * MIB, .step_ns = 5 * SECOND};
    struct vs_forecast forecast = vs_forecast_make(&facts);
    assert_true(forecast.known && forecast.steps_known && forecast.time_known);
    assert_int_equal(forecast.available, 800 * MIB);
    assert_int_equal(forecast.steps, 50);
    assert_int_equal(forecast.seconds, 250);
    assert_string_equal(text_of(&facts), "about 4 min left");
    facts.step_ns = SECOND / 1000;
    assert_string_equal(text_of(&facts), "a few seconds left");
    facts.step_ns = 10000 * SECOND;
    assert_string_equal(text_of(&facts), "about 6 days left");
    facts.step_ns = 100000 * SECOND;
    assert_string_equal(text_of(&facts), "more than two weeks left");
}

TEST(without_recent_steps_only_their_number_is_forecast)
{
    struct vs_forecast_facts facts = {.capacity = 1000 * MIB, .highest = 200 * MIB,
                                      .per_step = MIB, .step_ns = SECOND};
    facts.since_step_ns = 10 * SECOND;
    assert_string_equal(text_of(&facts), "about 15 min left");
    facts.since_step_ns = 12 * SECOND;
    assert_string_equal(text_of(&facts), "about 800 steps left");
    facts.per_step = 7 * MIB;
    assert_string_equal(text_of(&facts), "about 110 steps left");
    facts.highest = 992 * MIB;
    assert_string_equal(text_of(&facts), "about 1 step left");
    facts.highest = 1200 * MIB;
    assert_string_equal(text_of(&facts), "the next step may run out of memory");
}

TEST(growth_without_steps_is_forecast_while_it_goes_on)
{
    struct vs_forecast_facts facts = {.capacity = 1000 * MIB, .highest = 400 * MIB,
                                      .grown = 100 * MIB, .from_ns = SECOND,
                                      .until_ns = 101 * SECOND, .now_ns = 110 * SECOND};
    assert_string_equal(text_of(&facts), "about 10 min left");
    facts.now_ns = 200 * SECOND;
    assert_string_equal(text_of(&facts), "");
    facts.now_ns = 101 * SECOND;
    facts.until_ns = SECOND;
    assert_string_equal(text_of(&facts), "");
}

TEST(nothing_is_forecast_without_growth_or_size)
{
    struct vs_forecast_facts facts = {.capacity = 1000 * MIB, .highest = 400 * MIB};
    assert_string_equal(text_of(&facts), "");
    facts = (struct vs_forecast_facts){.highest = 400 * MIB, .per_step = MIB, .step_ns = SECOND};
    assert_string_equal(text_of(&facts), "");
}

TEST(durations_are_rounded)
{
    static const struct { uint64_t seconds; const char *text; } cases[] = {
        {14, "10 s"}, {54, "50 s"}, {55, "1 min"}, {89, "1 min"}, {91, "2 min"}, {599, "10 min"},
        {700, "10 min"}, {3400, "55 min"}, {3481, "1 h"}, {86400, "24 h"}, {172800, "2 days"},
    };
    char text[VS_FORECAST_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(vs_about_time(text, cases[i].seconds), cases[i].text);
    assert_string_equal(vs_about_count(text, 99), "99");
    assert_string_equal(vs_about_count(text, 12345), "12,000");
}

/* --- history --- */

TEST(the_history_keeps_the_highest_value_of_each_period)
{
    struct vs_memory_history h = {0};
    for (uint64_t second = 0; second < 1000; second++) {
        vs_history_level(&h, SECOND * (second + 5), second == 700 ? 500 : second % 10);
        assert_true(h.count <= VS_HISTORY_PERIODS);
    }
    uint64_t highest = 0, at = 0;
    for (size_t i = 0; i < h.count; i++)
        if (h.highest[i] > highest) {
            highest = h.highest[i];
            at = i;
        }
    assert_int_equal(highest, 500);
    assert_true(at * h.period_ns <= 700 * SECOND && (at + 1) * h.period_ns > 700 * SECOND);
    assert_true(h.count * h.period_ns > 999 * SECOND);
    assert_true(h.count > VS_HISTORY_PERIODS / 2);
}

TEST(a_level_that_does_not_change_fills_the_history)
{
    struct vs_memory_history h = {0};
    vs_history_level(&h, SECOND, 7);
    vs_history_level(&h, 500 * SECOND, 7);
    for (size_t i = 0; i < h.count; i++)
        assert_int_equal(h.highest[i], 7);
    assert_true(h.count * h.period_ns >= 499 * SECOND);
}

TEST(the_rate_is_that_of_the_last_seconds)
{
    struct vs_memory_history h = {0};
    uint64_t bytes, allocs;
    vs_history_level(&h, SECOND, 0);
    for (unsigned i = 0; i < 100; i++) /* ten a second */
        vs_history_request(&h, SECOND + i * SECOND / 10, MIB);
    vs_history_rate(&h, 11 * SECOND - 1, &bytes, &allocs);
    assert_true(allocs >= 9 && allocs <= 11);
    assert_true(bytes >= 9 * MIB && bytes <= 11 * MIB);
    vs_history_rate(&h, 60 * SECOND, &bytes, &allocs);
    assert_int_equal(bytes, 0);
    assert_int_equal(allocs, 0);
}

/* --- a trace --- */

TEST(a_finished_trace_has_the_figures_of_its_end)
{
    struct vs_builder b;
    struct vs_watch *watch;
    struct vs_watch_view view = {0};
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test", 1000 * MIB);
    for (uint64_t i = 0; i < 8; i++)
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, 0x1000000 + i * 0x1000000, 4 * MIB,
                         4 * MIB);
    vs_builder_free(&b, 0, 0x1000000);
    vs_builder_close(&b, VS_END_EXIT, 3);
    assert_int_equal(vs_watch_open(b.path, &watch, NULL), VS_OK);
    assert_int_equal(vs_watch_read(watch, UINT64_MAX), VS_OK);
    assert_true(vs_watch_complete(watch) && vs_watch_ended(watch));
    for (unsigned round = 0; round < 2; round++) { /* the same when asked again */
        vs_watch_fill(watch, true, &view);
        assert_false(view.running);
        assert_string_equal(view.ending, "the program exited with status 3");
        assert_int_equal(view.device_count, 1);
        const struct vs_watch_device *device = &view.devices[0];
        assert_string_equal(device->name, "Test");
        assert_int_equal(device->allocated, 28 * MIB);
        assert_int_equal(device->peak, 32 * MIB);
        assert_int_equal(device->reserved, 28 * MIB);
        assert_int_equal(device->cached, 0);
        assert_int_equal(device->site_count, 1);
        assert_int_equal(device->sites[0].bytes, 28 * MIB);
        assert_int_equal(device->sites[0].count, 7);
        assert_int_equal(device->total, 1000 * MIB);
        assert_false(device->used_known);
        assert_false(device->forecast.known);
    }
    vs_watch_view_free(&view);
    vs_watch_close(watch);
    vs_builder_remove(&b);
}

/* A trace of another program may claim more free memory than the device has. */
TEST(a_reading_that_cannot_be_true_uses_no_memory)
{
    struct vs_builder b;
    struct vs_watch *watch;
    struct vs_watch_view view = {0};
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test", 1000 * MIB);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_sample,
        .device_sample = {.free_bytes = UINT64_MAX, .total_bytes = 1000 * MIB}});
    for (unsigned step = 0; step < 40; step++) { /* grows: there is a forecast */
        vs_builder_step(&b, step);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, 0x1000000 + step * 0x1000000, MIB, MIB);
        vs_builder_pop(&b);
    }
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_watch_open(b.path, &watch, NULL), VS_OK);
    assert_int_equal(vs_watch_read(watch, UINT64_MAX), VS_OK);
    vs_watch_fill(watch, true, &view);
    assert_int_equal(view.devices[0].used, 0);
    assert_true(view.devices[0].forecast.known);
    assert_int_equal(view.devices[0].forecast.available, UINT64_MAX - 40 * MIB);
    vs_watch_view_free(&view);
    vs_watch_close(watch);
    vs_builder_remove(&b);
}
