/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that sum up live memory (held.c gathers the blocks, held_rows.c sums them up,
 * segment_picture.c maps them). Private to analysis/report. */
#ifndef VS_HELD_INTERNAL_H
#define VS_HELD_INTERNAL_H

#include "analysis/kinds/kinds.h"
#include "analysis/report/held.h"
#include "analysis/report/summary.h"

struct vs_held_block {
    uint64_t addr, size, requested, time_ns, epoch;
    struct vs_place place;
    uint32_t site;
    bool tensor; /* a block of the framework */
};

struct vs_held_blocks {
    struct vs_held_block *items;
    size_t count, capacity;
    uint64_t all_bytes, all_blocks, largest;
};

/* When each device last ran a kernel, a copy or a memset. The trace does not say which memory an
 * activity touched, and numbers the streams of activities differently from those of allocations:
 * memory is surely unused only if the whole device ran nothing since. */
struct vs_device_use {
    uint64_t device;
    uint64_t first_ns, last_ns; /* start of the first and end of the last activity, trace's clock */
};

/* Zero-initialise. Further devices than VS_DEVICES_MAX are left out, as everywhere. */
struct vs_device_uses {
    struct vs_device_use items[VS_DEVICES_MAX];
    size_t count;
};

/* vs_device_uses_event: counts *event* if it is a kernel, copy or memset. Cost: a compare for
 * other events. */
void vs_device_uses_event(struct vs_device_uses *uses, const struct vs_event *event);

struct vs_held_request {
    const struct vs_held_filter *filter;
    const struct vs_kinds_table *kinds; /* of the device at the time; NULL: not known */
    const struct vs_device_uses *uses; /* of the whole trace; NULL: not known */
    const struct vs_growth_steps *steps; /* that were found; NULL: not known */
    bool picture;
    bool others; /* the call sites of blocks that the filter does not let pass */
};

/* vs_held_build: the memory of *account* live now. Cost: the live set. */
void vs_held_build(const struct vs_summary *summary, unsigned account,
                   const struct vs_held_request *request, struct vs_held *out);

/* vs_held_site_seen: whether a call site of any allocation so far matches *wanted*. Cost: looks up the
 * symbols of every site. */
bool vs_held_site_seen(const struct vs_summary *summary, const regex_t *wanted);

/* vs_held_sum: sums up *blocks* by *by*; by kind only with *kinds*. */
void vs_held_sum(const struct vs_summary *summary, const struct vs_held_blocks *blocks,
                 const struct vs_kinds_table *kinds, enum vs_by by,
                 struct vs_held_table *out);

/* vs_held_picture: the segments of *account*, with *blocks*, all of its live blocks. Sorts them by
 * address. */
void vs_held_picture(const struct vs_summary *summary, unsigned account,
                     struct vs_held_blocks *blocks, struct vs_held *out);

#endif
