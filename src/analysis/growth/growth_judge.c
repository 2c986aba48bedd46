/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules, in order: without three periods of growth nothing is called growth;
 * growth that ended long ago (compared with its usual distance) filled a cache; a site that freed
 * as much as it grew before frees it again; growth that slows down to a quarter fills a cache.
 * The rest is growth, with a confidence that rises with the number of periods and falls with noise
 * and unevenness. */
#include "analysis/growth/growth_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"

#define PERIODS_WITHOUT_STEPS 16u
#define RISES_MIN 3u
#define GAPS_QUIET 3.0   /* so many usual distances without growth: it ended */
#define GAPS_DOUBT 1.5   /* so many: it may have ended */
#define GAPS_APART 3.0   /* a longer distance separates two phases of growth */
#define OUTLIER 4.0      /* a rise of so many usual ones is not of the same growth */
#define SLOWED 0.25      /* of the rate at first: a cache that is nearly full */
#define FREED_BEFORE 0.3 /* of the growth: it is freed from time to time */
#define TIMES_LOW 1.2    /* a buffer that is replaced by one so many times its size, or more … */
#define TIMES_HIGH 4.5   /* … up to so many, whenever the program is so many times older */
#define TIMES_APART 1.8  /* the two differ by at most this factor */
#define BUFFERS_MAX 3u   /* so many of them at most: a cache has more blocks when it has grown by … */
#define TIMES_ALL 4.0    /* … this factor */

struct trend_input {
    const struct vs_trend_axis *axis;
    size_t count;
    uint64_t floor[VS_FLOOR_WINDOWS];  /* lowest in each period */
    uint64_t stays[VS_FLOOR_WINDOWS];  /* lowest from the period on */
    size_t rise_at[VS_FLOOR_WINDOWS];  /* periods in which `stays` rose */
    uint64_t rise_by[VS_FLOOR_WINDOWS];
    size_t rises;
    uint64_t drop;                     /* the largest fall of `floor` from an earlier value */
    size_t drops;                      /* falls by at least half of the highest floor */
    uint64_t highest;
    uint64_t largest;                  /* block */
};

void vs_trend_axis_make(const struct vs_floors *floors, const uint64_t *steps_at,
                        struct vs_trend_axis *out)
{
    uint32_t windows = floors->window + 1;
    uint32_t each = (windows + PERIODS_WITHOUT_STEPS - 1) / PERIODS_WITHOUT_STEPS;
    *out = (struct vs_trend_axis){.windows = windows};
    for (uint32_t w = 0; w < windows; w++) {
        bool begins = steps_at ? steps_at[w + 1] > steps_at[w] : w % each == 0;
        if (w && !begins)
            continue;
        out->first[out->count] = w;
        out->at[out->count++] =
            steps_at ? (double)steps_at[w + 1] : (double)floors->windows[w].request;
    }
    if (!steps_at && windows % each && out->count > 1)
        out->count--; /* the last period is not complete */
    else
        out->first[out->count] = windows;
    out->warm_up = out->count / 8 < 2 ? 2 : out->count / 8;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Lowest live bytes in each of the first *count* periods, and from each on until *held*. */
static void read_input(const struct vs_trend_axis *axis, size_t count, const uint64_t *floor,
                       uint64_t held, uint64_t largest, struct trend_input *in)
{
    *in = (struct trend_input){.axis = axis, .count = count, .largest = largest};
    uint64_t peak = 0;
    for (size_t p = 0; p < count; p++) {
        in->floor[p] = UINT64_MAX;
        for (uint32_t w = axis->first[p]; w < axis->first[p + 1]; w++)
            in->floor[p] = lower(in->floor[p], floor[w]);
        if (in->floor[p] > in->highest)
            in->highest = in->floor[p];
    }
    for (size_t p = 0; p < count; p++) {
        if (in->floor[p] > peak)
            peak = in->floor[p];
        if (peak - in->floor[p] > in->drop)
            in->drop = peak - in->floor[p];
        if (peak - in->floor[p] >= in->highest - in->highest / 2 && in->highest) {
            in->drops++;
            peak = in->floor[p];
        }
    }
    for (size_t p = count; p-- > 0;)
        in->stays[p] = held = lower(held, in->floor[p]);
    for (size_t p = 1; p < count; p++) {
        if (in->stays[p] == in->stays[p - 1])
            continue;
        in->rise_at[in->rises] = p - 1; /* the blocks were allocated in the period before */
        in->rise_by[in->rises++] = in->stays[p] - in->stays[p - 1];
    }
}

/* The first rise of the growth that lasts until the last one: rises at similar distances. Large
 * ones at its begin, such as the parameters of a model, are not of it. */
static size_t first_of_run(const struct trend_input *in)
{
    size_t start = in->rises - 1;
    while (start > 0) {
        size_t gap = in->rise_at[start] - in->rise_at[start - 1];
        size_t taken = in->rises - 1 - start;
        double usual = taken ? (double)(in->rise_at[in->rises - 1] - in->rise_at[start]) /
                                   (double)taken
                             : 0;
        if (taken >= 2 && (double)gap > GAPS_APART * usual + 1 && 4 * gap > in->count)
            break;
        start--;
    }
    uint64_t sorted[VS_FLOOR_WINDOWS];
    size_t count = in->rises - start;
    memcpy(sorted, in->rise_by + start, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, vs_order_u64);
    double most = OUTLIER * (double)sorted[count / 2];
    while (start + 1 < in->rises && (double)in->rise_by[start] > most)
        start++;
    return start;
}

/* Of a straight line through what stays, from period *from* to *to*: the share of its variation
 * that the line explains; *slope* by the axis. */
static double straightness(const struct trend_input *in, size_t from, size_t to, double *slope)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (size_t p = from; p <= to; p++) {
        double x = in->axis->at[p], y = (double)in->stays[p];
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
    }
    double vx = n * sxx - sx * sx, vy = n * syy - sy * sy, cov = n * sxy - sx * sy;
    *slope = vx > 0 ? cov / vx : 0;
    return vx > 0 && vy > 0 ? cov * cov / (vx * vy) : 0;
}

/* The rate of growth from period *begin* on, of that before it; 1 where that is not known. */
static double lasting(const struct trend_input *in, size_t from, size_t begin, size_t to,
                      size_t rises)
{
    const double *at = in->axis->at;
    double first = (double)(in->stays[begin] - in->stays[from]) / (at[begin] - at[from]);
    double second = (double)(in->stays[to] - in->stays[begin]) / (at[to] - at[begin]);
    if (rises < 6 || !isfinite(first) || !isfinite(second) || first <= 0)
        return 1;
    return second / first;
}

/* A site that does not grow now. */
static void judge_quiet(const struct trend_input *in, struct vs_trend *out)
{
    uint64_t top = in->count ? in->stays[in->count - 1] : 0;
    out->confidence = in->count >= 4 ? 0.9 : 0.4;
    if (in->drops >= 2 && top < in->highest - in->highest / 2) {
        out->class = VS_GROWTH_SAWTOOTH;
        out->bytes = in->highest;
        return;
    }
    if (!top)
        return;
    out->bytes = top;
    out->class = VS_GROWTH_INITIAL;
    if (!in->rises)
        return;
    /* the last rise that matters: what remains of growth after it is a few per cent */
    uint64_t after = 0;
    size_t last = in->rises;
    while (last > 1 && 20 * (after + in->rise_by[last - 1]) < top)
        after += in->rise_by[--last];
    out->from = in->rise_at[0];
    out->to = in->rise_at[last - 1];
    out->rises = last;
    if (out->to >= in->axis->warm_up)
        out->class = VS_GROWTH_FILLED;
}

double vs_trend_sure(size_t rises)
{
    return rises > 1 ? 1 - pow(2, -(double)(rises - 1) / 2) : 0;
}

static bool is_times(double factor)
{
    return factor >= TIMES_LOW && factor <= TIMES_HIGH;
}

/* A buffer that is replaced by a larger one when it is full, as of a vector that doubles: it grows
 * as the program does, though seldom. It has ended if the next time has passed. */
static bool judge_replaced(const struct trend_input *in, struct vs_trend *out)
{
    size_t last = in->rises - 1, start = last;
    const double *at = in->axis->at;
    while (start > 0) {
        size_t now = in->rise_at[start], before = in->rise_at[start - 1];
        double time = at[now] / at[before], size = (double)in->stays[now + 1] / (double)in->stays[before + 1];
        if (!is_times(time) || !is_times(size) || size > TIMES_APART * time || time > TIMES_APART * size)
            break;
        start--;
    }
    size_t from = in->rise_at[start], to = in->rise_at[last], rises = in->rises - start;
    double all = (double)in->stays[to + 1] / (double)in->stays[from + 1];
    if (rises <= RISES_MIN || all < TIMES_ALL || in->stays[to + 1] > BUFFERS_MAX * in->largest ||
        at[in->count - 1] > 1.2 * at[to] * pow(all, 1 / (double)(rises - 1)))
        return false;
    uint64_t grown = in->stays[to + 1] - in->stays[from];
    *out = (struct vs_trend){.class = VS_GROWTH_LEAK, .confidence = vs_trend_sure(rises), .from = from,
                             .to = to, .bytes = grown, .base = in->stays[from], .rises = rises,
                             .slope = (double)grown / (at[in->count - 1] - at[from]), .replaced = true};
    return true;
}

static void judge_run(const struct trend_input *in, struct vs_trend *out)
{
    *out = (struct vs_trend){.class = VS_GROWTH_NONE};
    if (in->rises > RISES_MIN && judge_replaced(in, out))
        return;
    if (in->rises < RISES_MIN) {
        judge_quiet(in, out);
        return;
    }
    size_t start = first_of_run(in), rises = in->rises - start;
    size_t from = in->rise_at[start], to = in->rise_at[in->rises - 1] + 1;
    uint64_t grown = in->stays[to] - in->stays[from], largest = 0;
    double usual = rises > 1 ? (double)(to - 1 - from) / (double)(rises - 1) : 1;
    size_t longest = 1;
    for (size_t i = start; i < in->rises; i++) {
        if (in->rise_by[i] > largest)
            largest = in->rise_by[i];
        if (i > start && in->rise_at[i] - in->rise_at[i - 1] > longest)
            longest = in->rise_at[i] - in->rise_at[i - 1];
    }
    size_t quiet = in->count - 1 - to;
    double noise = (double)in->drop / (double)grown, slope;
    bool ended = quiet > (longest == 1 ? 1 : 2 * longest) ||
                 (double)quiet >= GAPS_QUIET * usual + 1;
    if (rises < RISES_MIN || ended || noise >= FREED_BEFORE) {
        judge_quiet(in, out);
        return;
    }
    double straight = straightness(in, from, to, &slope), 
           lasts = lasting(in, from, (from + to) / 2, to, rises),
           last_third = lasting(in, from, to - (to - from) / 3, to, rises);
    if (lasts < SLOWED || last_third < SLOWED) {
        judge_quiet(in, out);
        out->class = VS_GROWTH_FILLED;
        out->to = to - 1;
        return;
    }
    double sure = vs_trend_sure(rises) * straight * (1 - noise / FREED_BEFORE);
    if ((double)quiet > GAPS_DOUBT * usual)
        sure *= GAPS_DOUBT * usual / (double)quiet;
    if (2 * largest > grown && rises > RISES_MIN)
        sure *= 2 * (1 - (double)largest / (double)grown);
    if (lasts < 0.6)
        sure *= lasts / 0.6;
    *out = (struct vs_trend){.class = VS_GROWTH_LEAK, .confidence = sure, .from = from,
                             .to = to - 1, .bytes = grown, .base = in->stays[from],
                             .slope = slope, .rises = rises};
}

void vs_trend_judge(const struct vs_trend_axis *axis, const uint64_t *floor, uint64_t held, uint64_t largest,
                    struct vs_trend *out)
{
    struct trend_input in;
    uint64_t rest = held;
    for (uint32_t w = axis->first[axis->count]; w < axis->windows; w++)
        rest = lower(rest, floor[w]);
    read_input(axis, axis->count, floor, rest, largest, &in);
    judge_run(&in, out);
    if (out->class == VS_GROWTH_LEAK || in.highest == 0)
        return;
    /* the program may have freed everything at its end, between its last requests */
    size_t cut = axis->count, most = axis->count / 10 + 2;
    while (cut > 1 && in.floor[cut - 1] < in.highest - in.highest / 2)
        cut--;
    if (axis->count - cut > most || rest >= in.highest - in.highest / 2)
        return;
    struct vs_trend before;
    read_input(axis, cut, floor, in.floor[cut - 1], largest, &in);
    judge_run(&in, &before);
    if (before.class != VS_GROWTH_LEAK)
        return;
    *out = before;
    out->class = VS_GROWTH_FREED;
}
