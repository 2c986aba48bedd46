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

struct vs_report_sites;

/* By what live memory is summed up; the names are those of `vramscope report --by`. */
enum vs_by {
    VS_BY_SITE, VS_BY_KIND, VS_BY_PHASE, VS_BY_STEP, VS_BY_LIBRARY, VS_BY_SIZE, VS_BY_AGE,
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

/* vs_held_phase_matches: whether *path*, as "step / forward", is *wanted*, or has a range of that
 * name, or ranges of these names one inside the other. */
bool vs_held_phase_matches(const char *path, const char *wanted);

/* vs_held_phase_is: likewise of the path of *phase*, a number of *replay*. */
struct vs_replay;
bool vs_held_phase_is(const struct vs_replay *replay, uint32_t phase, const char *wanted);

struct vs_held_row {
    const char *label;
    uint64_t bytes, blocks;
    uint64_t low, high; /* by step: first and last step; by size: bytes; by age: ns, high 0: none */
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
    const struct vs_report_sites *sites;  /* of the blocks that pass */
    const struct vs_report_sites *others; /* of those that do not; NULL: not asked for */
    const struct vs_report_sites *rounding; /* bytes allocated beyond the requested ones */
    uint64_t rounding_bytes;
    bool activity_known; /* kernels or copies of the device were recorded */
    uint64_t idle_since_ns; /* end of the last of them, if it is before the time; else 0 */
    uint64_t unused_bytes, unused_blocks; /* allocated after it: nothing can have used them */
    const struct vs_report_sites *unused; /* their call sites; NULL: there are none */
    bool picture_known; /* asked for */
    const struct vs_picture_segment *segments; /* by address */
    size_t segment_count;
    uint64_t unmapped_bytes; /* tensors in memory of cuMemMap, which has no segments here */
    uint64_t segments_omitted, segment_bytes, segment_used; /* over all segments */
};

#endif
