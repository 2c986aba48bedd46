/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/watch/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define TIMES_MIN 64u  /* and a minute of growth: enough for every forecast */
#define REACH 4u       /* a forecast reaches so many times as far as the growth was seen */
#define STALLED_STEPS 10u /* no step for as long as so many took: times are not forecast */
#define MINUTE UINT64_C(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static uint64_t rounded(uint64_t value, uint64_t unit)
{
    return (value + unit / 2) / unit;
}

static void in_steps(const struct vs_forecast_facts *facts, struct vs_forecast *out)
{
    out->per_step = facts->per_step;
    out->step_ns = facts->step_ns;
    out->steps_known = true;
    out->steps = out->available / facts->per_step;
    out->time_known = facts->step_ns && facts->since_step_ns / STALLED_STEPS <= facts->step_ns;
    out->seconds = (uint64_t)((double)out->steps * (double)facts->step_ns / (double)NS_PER_SECOND);
}

/* Growth without steps counts only as long as it goes on. */
static void in_time(const struct vs_forecast_facts *facts, struct vs_forecast *out)
{
    uint64_t span = facts->until_ns - facts->from_ns, quiet = facts->now_ns - facts->until_ns;
    if (facts->until_ns <= facts->from_ns || facts->now_ns < facts->until_ns || quiet > span / 2)
        return;
    double rate = (double)facts->grown * (double)NS_PER_SECOND / (double)span;
    if (rate < 1)
        return;
    out->per_second = (uint64_t)rate;
    out->time_known = true;
    out->seconds = (uint64_t)((double)out->available / rate);
}

struct vs_forecast vs_forecast_make(const struct vs_forecast_facts *facts)
{
    struct vs_forecast out = {.known = false};
    if (!facts->capacity || (!facts->per_step && !facts->grown))
        return out;
    out.available = facts->capacity > facts->highest ? facts->capacity - facts->highest : 0;
    if (facts->per_step)
        in_steps(facts, &out);
    else
        in_time(facts, &out);
    uint64_t seen = facts->until_ns > facts->from_ns ? facts->until_ns - facts->from_ns : 0;
    bool near = out.steps_known ? out.steps / REACH <= facts->times
                                : out.seconds / REACH <= seen / NS_PER_SECOND;
    out.known = out.steps_known || out.time_known;
    out.early = out.known && !near && (facts->times < TIMES_MIN || seen < MINUTE * NS_PER_SECOND);
    out.known &= !out.early;
    return out;
}

char *vs_about_time(char *out, uint64_t seconds)
{
    if (seconds < 55)
        snprintf(out, VS_FORECAST_TEXT_MAX, "%" PRIu64 " s", rounded(seconds, 10) * 10);
    else if (seconds < 10 * MINUTE)
        snprintf(out, VS_FORECAST_TEXT_MAX, "%" PRIu64 " min", rounded(seconds, MINUTE));
    else if (seconds < 58 * MINUTE)
        snprintf(out, VS_FORECAST_TEXT_MAX, "%" PRIu64 " min", rounded(seconds, 5 * MINUTE) * 5);
    else if (seconds < 2 * DAY)
        snprintf(out, VS_FORECAST_TEXT_MAX, "%" PRIu64 " h", rounded(seconds, HOUR));
    else if (seconds < 15 * DAY)
        snprintf(out, VS_FORECAST_TEXT_MAX, "%" PRIu64 " days", rounded(seconds, DAY));
    else
        snprintf(out, VS_FORECAST_TEXT_MAX, "more than two weeks");
    return out;
}

char *vs_about_count(char *out, uint64_t count)
{
    uint64_t unit = 1;
    while (count / unit >= 100)
        unit *= 10;
    snprintf(out, VS_FORECAST_TEXT_MAX, "%s", vs_count_text(rounded(count, unit) * unit));
    return out;
}

char *vs_forecast_text(char *out, const struct vs_forecast *forecast)
{
    char about[VS_FORECAST_TEXT_MAX];
    *out = 0;
    if (!forecast->known)
        return out;
    if (forecast->steps_known && !forecast->steps)
        snprintf(out, VS_FORECAST_TEXT_MAX, "the next step may run out of memory");
    else if (forecast->time_known && forecast->seconds >= 15 * DAY)
        snprintf(out, VS_FORECAST_TEXT_MAX, "more than two weeks left");
    else if (forecast->time_known && forecast->seconds < 10)
        snprintf(out, VS_FORECAST_TEXT_MAX, "a few seconds left");
    else if (forecast->time_known)
        snprintf(out, VS_FORECAST_TEXT_MAX, "about %.20s left",
                 vs_about_time(about, forecast->seconds));
    else
        snprintf(out, VS_FORECAST_TEXT_MAX, "about %.20s step%s left",
                 vs_about_count(about, forecast->steps), forecast->steps == 1 ? "" : "s");
    return out;
}

#define PERIOD_FIRST_NS UINT64_C(50000000)
#define RATE_PERIOD_NS UINT64_C(500000000)
#define RATE_NS UINT64_C(5000000000)

void vs_history_level(struct vs_memory_history *h, uint64_t time_ns, uint64_t level)
{
    if (!h->period_ns) {
        h->period_ns = PERIOD_FIRST_NS;
        h->start_ns = time_ns;
    }
    uint64_t since = time_ns > h->start_ns ? time_ns - h->start_ns : 0;
    while (since / h->period_ns >= VS_HISTORY_PERIODS) {
        while (h->count < VS_HISTORY_PERIODS) /* the level did not change */
            h->highest[h->count++] = h->level;
        for (size_t i = 0; i < VS_HISTORY_PERIODS / 2; i++) {
            uint64_t a = h->highest[2 * i], b = h->highest[2 * i + 1];
            h->highest[i] = a > b ? a : b;
        }
        h->count = (h->count + 1) / 2;
        h->period_ns *= 2;
    }
    size_t period = (size_t)(since / h->period_ns);
    while (h->count <= period)
        h->highest[h->count++] = h->level;
    h->level = level;
    if (level > h->highest[period])
        h->highest[period] = level;
}

void vs_history_request(struct vs_memory_history *h, uint64_t time_ns, uint64_t bytes)
{
    uint64_t period = (time_ns > h->start_ns ? time_ns - h->start_ns : 0) / RATE_PERIOD_NS;
    size_t i = period % VS_RATE_PERIODS;
    if (h->recent[i].period != period)
        memset(&h->recent[i], 0, sizeof h->recent[i]);
    h->recent[i].period = period;
    h->recent[i].bytes += bytes;
    h->recent[i].allocs++;
}

void vs_history_rate(const struct vs_memory_history *h, uint64_t now_ns, uint64_t *bytes,
                     uint64_t *allocs)
{
    uint64_t since = now_ns > h->start_ns ? now_ns - h->start_ns : 0;
    uint64_t last = since / RATE_PERIOD_NS, begin = 0, sum = 0, count = 0;
    if (since > RATE_NS)
        begin = (since - RATE_NS) / RATE_PERIOD_NS + 1;
    for (size_t i = 0; i < VS_RATE_PERIODS; i++) {
        if (h->recent[i].period < begin || h->recent[i].period > last)
            continue;
        sum += h->recent[i].bytes;
        count += h->recent[i].allocs;
    }
    uint64_t span = since - begin * RATE_PERIOD_NS;
    double seconds = (double)(span > RATE_PERIOD_NS ? span : RATE_PERIOD_NS) / 1e9;
    *bytes = (uint64_t)((double)sum / seconds);
    *allocs = (uint64_t)((double)count / seconds + 0.5);
}
