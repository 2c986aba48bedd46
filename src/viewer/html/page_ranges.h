/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranges and steps of a trace as sections of the page: when each was opened and how long it was
 * open, on which thread, how deep. Not thread-safe. */
#ifndef VS_PAGE_RANGES_H
#define VS_PAGE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"
#include "analysis/state/replay.h"
#include "viewer/html/page_column.h"

enum vs_page_range_column {
    VS_RANGE_START, VS_RANGE_DURATION, VS_RANGE_PHASE, VS_RANGE_DEPTH, VS_RANGE_THREAD,
    VS_RANGE_STEP, VS_RANGE_COLUMNS
};
enum vs_page_step_column { VS_STEP_NUMBER, VS_STEP_START, VS_STEP_DURATION, VS_STEP_COLUMNS };

struct vs_page_range {
    uint64_t start_ns, duration_ns, step; /* step: its number + 1; 0: none */
    uint32_t phase, thread;
    uint8_t depth;
};

struct vs_page_step {
    uint64_t number, start_ns, duration_ns;
    bool open;
};

/* Zero-initialise, then set start_ns and the columns. */
struct vs_page_ranges {
    uint64_t start_ns; /* of the trace's clock: time 0 */
    struct vs_page_range *ranges;
    size_t range_count, range_capacity;
    struct vs_page_step *steps;
    size_t step_count, step_capacity;
    uint64_t begun; /* steps of the replay that have rows, or are before the window */
    struct vs_column *range_columns, *step_columns; /* not owned */
};

/* vs_page_ranges_begin: the window begins: the open step gets a row. */
void vs_page_ranges_begin(struct vs_page_ranges *ranges, const struct vs_replay *replay);

/* vs_page_ranges_before: *event* closes a range, which gets a row. Called before the replay applies
 * it. vs_page_ranges_after: likewise for steps, after the replay has applied it. */
void vs_page_ranges_before(struct vs_page_ranges *ranges, const struct vs_replay *replay,
                           const struct vs_event *event);
void vs_page_ranges_after(struct vs_page_ranges *ranges, const struct vs_replay *replay);

/* vs_page_ranges_end: the window ends, at *end_ns* of the trace's clock: what is open in *replay* gets
 * rows, but for a step that was only prepared. */
void vs_page_ranges_end(struct vs_page_ranges *ranges, const struct vs_replay *replay,
                        uint64_t end_ns);

/* vs_page_ranges_found: rows of steps that the program did not mark, all of the trace. */
void vs_page_ranges_found(struct vs_page_ranges *ranges, const struct vs_report_steps *steps);

/* vs_page_ranges_encode: fills the columns, after vs_page_ranges_end. */
void vs_page_ranges_encode(struct vs_page_ranges *ranges);

void vs_page_ranges_free(struct vs_page_ranges *ranges);

#endif
