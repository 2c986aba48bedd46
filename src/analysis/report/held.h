/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a device that is live at one time of a trace, summed up by phase, step, library,
 * size and age of its blocks, with the part of it that rounding adds, and the blocks that no
 * kernel or copy can have used. Strings belong to the report's arena. */
#ifndef VS_HELD_H
#define VS_HELD_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kinds/kinds.h"
#include "analysis/report/report_site.h"

/* By what live memory is summed up; the names are those of `vramscope report --by`. */
enum vs_by {
    VS_BY_SITE, VS_BY_KIND, VS_BY_PHASE, VS_BY_STEP, VS_BY_LIBRARY, VS_BY_SIZE, VS_BY_AGE, VS_BY_OP,
    VS_BY_MODULE,
    VS_BY_COUNT
};

/* vs_by_name: "site", …. vs_by_parse: VS_BY_COUNT for any other word. */
const char *vs_by_name(enum vs_by by);
enum vs_by vs_by_parse(const char *word);

/* Which blocks count; zero: all. */
struct vs_held_filter {
    const char *phase;   /* in a range of this name, or with this path; NULL: any */
    bool steps;          /* allocated in steps step_from … step_to */
    uint64_t step_from, step_to;
    const char *site_text; /* as given */
    const regex_t *site; /* matches "function (file:line)" of some frame; NULL: any */
    uint64_t min_bytes;
};

/* vs_held_filter_given: whether it leaves anything out. */
static inline bool vs_held_filter_given(const struct vs_held_filter *filter)
{
    return filter->phase || filter->steps || filter->site || filter->min_bytes;
}

/* vs_held_in_steps: whether memory allocated at *place* is in the steps of *filter*, or it has
 * none. */
static inline bool vs_held_in_steps(const struct vs_held_filter *filter, struct vs_place place)
{
    return !filter->steps || (place.step_known && place.step >= filter->step_from &&
                              place.step <= filter->step_to);
}

/* vs_held_phase_matches: whether *path*, as "step / forward", is *wanted*, or has a range of that
 * name, or ranges of these names one inside the other. */
bool vs_held_phase_matches(const char *path, const char *wanted);

/* vs_held_phase_is: likewise of the path of *phase*, a number of *replay*. */
bool vs_held_phase_is(const struct vs_replay *replay, uint32_t phase, const char *wanted);

struct vs_held_row {
    const char *label;
    uint64_t bytes, blocks;
    uint64_t low, high; /* by step: first and last step; by size: bytes; by age: ns, high 0: none */
    /* By operation, what it allocated in the whole part of the trace that was read, itself and with the
     * operations that it called; how often itself; and *bytes* with those of the called ones. */
    uint64_t allocated, allocated_total, allocations, bytes_total;
};

struct vs_held_table {
    const struct vs_held_row *rows; /* largest first; by size and age in their order */
    size_t count;
    uint64_t bytes, blocks; /* sum of the rows */
    const char *note;       /* what limits the list, or NULL */
};

/* Cells of a segment's row in a map. */
#define VS_PICTURE_CELLS 40

/* A segment at the time, or a device allocation that is none. */
struct vs_picture_segment {
    uint64_t addr, size, used, stream, pool;
    uint64_t blocks, holes, largest_hole;
    bool alone; /* an allocation of its own, in no segment */
    uint8_t cells[VS_PICTURE_CELLS]; /* per cent in use of each fortieth of it; 1 for any use */
};
#define VS_PICTURE_SEGMENTS_MAX 65536

struct vs_held {
    bool known;
    bool tensors; /* PyTorch's tensors, and device memory that does not hold them */
    uint64_t event, time_ns; /* the time, since the start */
    const char *place;
    uint64_t bytes, blocks;         /* live blocks that the filter lets pass */
    uint64_t all_bytes, all_blocks; /* all live blocks with an event */
    uint64_t largest;               /* of these */
    struct vs_held_table by[VS_BY_COUNT]; /* not by site */
    struct vs_module_rows modules; /* of the tensors that pass */
    const struct vs_report_sites *sites;  /* of the blocks that pass */
    const struct vs_report_sites *others; /* of those that do not; NULL: not asked for */
    const struct vs_report_sites *rounding; /* bytes allocated beyond the requested ones */
    uint64_t rounding_bytes;
    bool activity_known; /* kernels or copies of the device were recorded */
    uint64_t unused_bytes, unused_blocks; /* allocated after the last of them: nothing can have
                                           * used them */
    const struct vs_report_sites *unused; /* their call sites; NULL: there are none */
    bool picture_known; /* asked for */
    const struct vs_picture_segment *segments; /* by address */
    size_t segment_count;
    uint64_t unmapped_bytes; /* tensors in memory of cuMemMap, which has no segments here */
    uint64_t segments_omitted, segment_bytes, segment_used; /* over all segments */
};

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
    const struct vs_replay *whole; /* the state at the end of the reading; NULL: without operations */
    bool picture;
    bool others; /* the call sites of blocks that the filter does not let pass */
};

/* vs_held_build: the memory of *account* live now. Cost: the live set. */
void vs_held_build(const struct vs_summary *summary, unsigned account,
                   const struct vs_held_request *request, struct vs_held *out);

/* vs_held_site_seen: whether a call site of any allocation so far matches *wanted*. Cost: looks up
 * the symbols of every site. */
bool vs_held_site_seen(const struct vs_summary *summary, const regex_t *wanted);

/* Shared by the files that sum up live memory: held.c gathers the blocks, held_rows.c sums them up,
 * held_operations.c by operation, segment_picture.c maps them.
 *
 * vs_held_sum: sums up *blocks* by *by*; by kind only with *kinds*. */
void vs_held_sum(const struct vs_summary *summary, const struct vs_held_blocks *blocks,
                 const struct vs_kinds_table *kinds, enum vs_by by,
                 struct vs_held_table *out);

/* vs_held_operations: the operations of PyTorch that allocated tensors of *account* in *whole*, and what
 * they have in *blocks*. Cost: looks up the symbols of every stack of a tensor. */
void vs_held_operations(const struct vs_summary *summary, const struct vs_replay *whole, unsigned account,
                        const struct vs_held_blocks *blocks, struct vs_held_table *out);

/* vs_held_picture: the segments of *account*, with *blocks*, all of its live blocks. Sorts them by
 * address. */
void vs_held_picture(const struct vs_summary *summary, unsigned account,
                     struct vs_held_blocks *blocks, struct vs_held *out);

#endif
