/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the times of one of several traces to the timeline that they share. */
#ifndef VS_RANK_CLOCK_H
#define VS_RANK_CLOCK_H

#include <stdint.h>

struct vs_rank_clock {
    uint64_t from_ns; /* of the trace's clock */
    int64_t at_ns;    /* the same time in the common timeline */
    double drift;     /* seconds that the common timeline gains in a second of this clock */
};

/* vs_rank_time_signed: *time_ns* of the trace's clock in the common timeline. */
static inline int64_t vs_rank_time_signed(const struct vs_rank_clock *clock, uint64_t time_ns)
{
    uint64_t since = time_ns - clock->from_ns; /* both may be any in a damaged trace */
    return (int64_t)((uint64_t)clock->at_ns + since + (uint64_t)(int64_t)(clock->drift * (double)(int64_t)since));
}

/* vs_rank_time: the same; 0 before the common timeline begins. */
static inline uint64_t vs_rank_time(const struct vs_rank_clock *clock, uint64_t time_ns)
{
    int64_t at = vs_rank_time_signed(clock, time_ns);
    return at > 0 ? (uint64_t)at : 0;
}

#endif
