/* SPDX-License-Identifier: Apache-2.0
 *
 * The live view's figures: how long memory lasts, the history of a device, and the state of a trace
 * while it is recorded and after. */
#include <string.h>

#include "analysis/watch/watch.h"
#include "support/cmocka_test.h"
#include "support/trace_text.h"

#define SECOND UINT64_C(1000000000)

TEST(the_time_left_is_the_free_memory_by_the_growth)
{
    static const struct {
        const char *text;
        struct vs_forecast_facts facts;
    } cases[] = {
#define STEPS .capacity = 1000 * MIB, .highest = 200 * MIB, .per_step = 16 * MIB, .times = 13
        {"about 4 min left", {STEPS, .step_ns = 5 * SECOND}},
        {"a few seconds left", {STEPS, .step_ns = SECOND / 1000}},
        {"about 6 days left", {STEPS, .step_ns = 10000 * SECOND}},
        {"more than two weeks left", {STEPS, .step_ns = 100000 * SECOND}},
        /* without recent steps only their number is forecast */
#define SINCE(s) .capacity = 1000 * MIB, .step_ns = SECOND, .since_step_ns = s * SECOND, .times = 200
        {"about 15 min left", {SINCE(10), .highest = 200 * MIB, .per_step = MIB}},
        {"about 800 steps left", {SINCE(12), .highest = 200 * MIB, .per_step = MIB}},
        {"about 110 steps left", {SINCE(12), .highest = 200 * MIB, .per_step = 7 * MIB}},
        {"about 1 step left", {SINCE(12), .highest = 992 * MIB, .per_step = 7 * MIB}},
        {"the next step may run out of memory", {SINCE(12), .highest = 1200 * MIB, .per_step = 7 * MIB}},
        /* growth without steps is forecast while it goes on */
#define GROWN .capacity = 1000 * MIB, .highest = 400 * MIB, .grown = 100 * MIB, .from_ns = SECOND, .times = 64
        {"about 10 min left", {GROWN, .until_ns = 101 * SECOND, .now_ns = 110 * SECOND}},
        {"", {GROWN, .until_ns = 101 * SECOND, .now_ns = 200 * SECOND}},
        {"", {GROWN, .until_ns = SECOND, .now_ns = 101 * SECOND}},
        /* too early: seen for less than a quarter of the time left, and for less than 64 steps or a minute */
#define FEW .capacity = 1000 * MIB, .highest = 200 * MIB, .per_step = 16 * MIB, .step_ns = SECOND, .from_ns = SECOND
        {"", {FEW, .times = 11, .until_ns = 100 * SECOND}},
        {"about 50 s left", {FEW, .times = 12, .until_ns = 2 * SECOND}},
#define MANY .capacity = 1000 * MIB, .highest = 200 * MIB, .per_step = MIB, .step_ns = SECOND, .from_ns = SECOND
        {"", {MANY, .times = 64, .until_ns = 60 * SECOND}},
        {"", {MANY, .times = 63, .until_ns = 61 * SECOND}},
        {"about 15 min left", {MANY, .times = 64, .until_ns = 61 * SECOND}},
        /* nothing without growth or size */
        {"", {.capacity = 1000 * MIB, .highest = 400 * MIB}},
        {"", {.highest = 400 * MIB, .per_step = MIB, .step_ns = SECOND}},
    };
    char text[VS_FORECAST_TEXT_MAX];
    struct vs_forecast forecast = vs_forecast_make(&cases[0].facts);
    assert_true(forecast.known && forecast.steps_known && forecast.time_known);
    assert_int_equal(forecast.available, 800 * MIB);
    assert_int_equal(forecast.steps, 50);
    assert_int_equal(forecast.seconds, 250);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forecast = vs_forecast_make(&cases[i].facts);
        assert_string_equal(vs_forecast_text(text, &forecast), cases[i].text);
    }
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

static struct vs_watch *watch;
static struct vs_watch_view view;

AFTER(close_watch)
{
    vs_watch_view_free(&view);
    vs_watch_close(watch);
    memset(&view, 0, sizeof view);
    watch = NULL;
    return 0;
}

static void watch_trace(int status, const char *text)
{
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1000M Test; %s", text);
    vs_builder_close(&b, VS_END_EXIT, (uint64_t)status);
    assert_int_equal(vs_watch_open(b.path, &watch, NULL), VS_OK);
    assert_int_equal(vs_watch_read(watch, UINT64_MAX), VS_OK);
}

TEST(a_finished_trace_has_the_figures_of_its_end)
{
    watch_trace(3, "repeat 8 { alloc 16i 4M }; free 0");
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
}

/* A trace of another program may claim more free memory than the device has. */
TEST(a_reading_that_cannot_be_true_uses_no_memory)
{
    /* grows: there is a forecast */
    watch_trace(0, "sample 18446744073709551615; repeat 40 { step i; alloc i 1M; pop }");
    vs_watch_fill(watch, true, &view);
    assert_int_equal(view.devices[0].used, 0);
    assert_true(view.devices[0].forecast.early);
    assert_int_equal(view.devices[0].forecast.available, UINT64_MAX - 40 * MIB);
}

/* The first request of a server fills its cache as a leak grows. */
TEST(a_cache_of_one_request_is_growth_and_none_once_it_was_dropped)
{
#define REQUEST "repeat 16 { step i; alloc i 1M; pop }; "
#define DROP "repeat 16 { free i }; "
    static const struct { const char *text; bool growing, known; } cases[] = {
        {"sample 900M; " REQUEST, true, false},
        {"sample 900M; " REQUEST DROP REQUEST DROP REQUEST, false, false},
        {"sample 100M; repeat 40 { step i; alloc i 1M; pop }", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        watch_trace(0, cases[i].text);
        vs_watch_fill(watch, true, &view);
        const struct vs_watch_device *device = &view.devices[0];
        assert_int_equal(device->growing, cases[i].growing);
        assert_int_equal(device->forecast.known, cases[i].known);
        assert_int_equal(device->forecast.early, cases[i].growing && !cases[i].known);
        vs_watch_close(watch);
        watch = NULL;
    }
}
