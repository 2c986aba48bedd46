/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance of a device at the present time of a replay. Internal to analysis. */
#ifndef VS_BALANCE_BUILD_H
#define VS_BALANCE_BUILD_H

#include "analysis/report/report_site.h"
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

/* The libraries of call sites. Zero-initialise; the user frees both arrays. */
struct vs_site_libraries {
    struct vs_balance_library *items;
    size_t count, capacity;
    uint32_t *of_site; /* index + 1 of a site's library; 0: not looked up yet */
};

/* vs_site_library: the index in *set* of the library that allocated at *site*, an index of the
 * replay's. */
size_t vs_site_library(const struct vs_summary *summary, struct vs_site_libraries *set,
                       uint32_t site);

#endif
