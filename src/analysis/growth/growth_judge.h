/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges the history of a call site's live bytes: does it grow, since when, until when, and how
 * sure is that. The history is the lowest live bytes in each step, or in a few periods of the trace
 * when there are no steps. What counts is the part that is never freed later: the lowest of all
 * later values. */
#ifndef VS_GROWTH_JUDGE_H
#define VS_GROWTH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/growth/growth.h"
#include "analysis/growth/growth_floor.h"

/* The periods in which histories are compared; the same for all call sites. Each has whole windows;
 * with steps, each but the first begins with the window in which a step begins. */
struct vs_trend_axis {
    size_t count;                           /* complete periods */
    uint32_t first[VS_FLOOR_WINDOWS + 1];   /* window of each one's begin; [count]: of the rest */
    double at[VS_FLOOR_WINDOWS + 1];        /* its begin, in steps or requests */
    uint32_t windows;                       /* with those of the rest, which is in progress */
    bool by_step;
    uint64_t warm_up; /* periods that count as the program's start */
};

struct vs_trend {
    enum vs_growth_class class;
    double confidence;
    size_t from, to;  /* periods of the first and of the last growth */
    uint64_t bytes;   /* grown between */
    uint64_t base;    /* what stayed before */
    double slope;     /* bytes for each step or request */
    size_t rises;     /* periods with growth */
    bool replaced;    /* a larger buffer replaces the one before: *slope* is the average */
};

/* vs_trend_sure: how sure it is that what rose *rises* times, and never fell, goes on rising. */
double vs_trend_sure(size_t rises);

/* vs_trend_axis_make: *steps_at*: steps begun before the begin of each window, and before the end
 * of the last; NULL without steps. */
void vs_trend_axis_make(const struct vs_floors *floors, const uint64_t *steps_at,
                        struct vs_trend_axis *out);

/* vs_trend_judge: *floor* is that of each window (vs_floors_read), *held* are the live bytes at the
 * end, *largest* the largest block. */
void vs_trend_judge(const struct vs_trend_axis *axis, const uint64_t *floor, uint64_t held, uint64_t largest,
                    struct vs_trend *out);

#endif
