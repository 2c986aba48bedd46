/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance of a device at the present time of a replay. Internal to analysis. */
#ifndef VS_BALANCE_BUILD_H
#define VS_BALANCE_BUILD_H

#include "analysis/report/summary.h"
#include "analysis/state/balance.h"

/* The device's figures at that time: total 0 when there are none. */
struct vs_reading {
    uint64_t free, total;
    uint64_t event, time_ns; /* of the trace; 0 when there was no reading */
    struct vs_place place;
};

/* vs_balance_build: *account* is a device index. Strings and lists come from the summary's arena.
 * Cost: one pass over live allocations and call sites. */
void vs_balance_build(const struct vs_summary *summary, unsigned account,
                      const struct vs_reading *reading, struct vs_balance *out);

#endif
