/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of CUPTI's records and ours. CUPTI could use our clock instead, but never returns to its
 * own: another tool's records would have it. The two may drift apart, so both are read together
 * whenever a buffer is complete; the times of its records lie between two readings. */
#ifndef VS_CUPTI_CLOCK_H
#define VS_CUPTI_CLOCK_H

#include <stdint.h>

#include "intercept/cupti/cupti_library.h"

#define VS_CLOCK_READINGS 16

struct vs_cupti_clock {
    struct vs_clock_reading {
        uint64_t host_ns, device_ns, error_ns; /* error: half of the time that the reading took */
    } readings[VS_CLOCK_READINGS]; /* ascending */
    unsigned count;
};

/* vs_cupti_clock_read: reads both; *clock* receives the latest readings. About once a second the reading is recorded
 * as `clock_reading`. Any thread. */
void vs_cupti_clock_read(const struct vs_cupti *cupti, struct vs_cupti_clock *clock);

/* vs_cupti_clock_ns: *device_ns* in our clock; 0 stays 0. */
uint64_t vs_cupti_clock_ns(const struct vs_cupti_clock *clock, uint64_t device_ns);

#endif
