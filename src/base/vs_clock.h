/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks. Every time in vramscope is in nanoseconds of CLOCK_MONOTONIC; a trace stores one pair
 * with CLOCK_REALTIME so that readers can show wall time. */
#ifndef VS_CLOCK_H
#define VS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* vs_clock_ns: CLOCK_MONOTONIC in nanoseconds. vDSO, no syscall; any thread,
 * signal-safe. */
static inline uint64_t vs_clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* vs_clock_realtime_ns: nanoseconds since the Unix epoch. */
static inline uint64_t vs_clock_realtime_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
