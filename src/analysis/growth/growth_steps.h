/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a program by time, with the bytes of each. At most 65536 rows: beyond that two
 * steps, then four, share a row. */
#ifndef VS_GROWTH_STEPS_H
#define VS_GROWTH_STEPS_H

#include "analysis/growth/growth.h"

#define VS_STEP_ROWS_MAX 65536u

/* Zero-initialise. */
struct vs_step_rows {
    struct vs_growth_step *items;
    size_t count, capacity;
    uint64_t stride;     /* 0 before the first step */
    uint64_t in_last;    /* steps of the last row */
    uint64_t begun, done;
    bool open;           /* the last step is in progress */
    uint64_t first_number;
};

/* vs_steps_begin: a step begins at *event*, with *level* bytes allocated. */
void vs_steps_begin(struct vs_step_rows *rows, uint64_t event, uint64_t time_ns, uint64_t level);

/* vs_steps_end: the step in progress ended. */
void vs_steps_end(struct vs_step_rows *rows, uint64_t level);

/* vs_steps_withdraw: the step in progress is none. */
void vs_steps_withdraw(struct vs_step_rows *rows);

/* vs_steps_request: *size* bytes were allocated; *level* bytes are allocated now. */
static inline void vs_steps_request(struct vs_step_rows *rows, uint64_t level, uint64_t size)
{
    if (!rows->open)
        return;
    struct vs_growth_step *row = &rows->items[rows->count - 1];
    row->requested_bytes += size;
    if (level > row->peak_bytes)
        row->peak_bytes = level;
}

/* vs_steps_restart: the device of the step in progress became known in it: nothing was allocated
 * before. */
void vs_steps_restart(struct vs_step_rows *rows);

/* vs_steps_lower: *backing* of the bytes counted in the step in progress hold a framework's blocks,
 * which are counted from now on instead. */
void vs_steps_lower(struct vs_step_rows *rows, uint64_t backing);

/* vs_steps_clear: no steps; keeps the memory. */
void vs_steps_clear(struct vs_step_rows *rows);

/* vs_steps_summary: fills in the rows and medians of *out*. */
void vs_steps_summary(const struct vs_step_rows *rows, struct vs_growth_steps *out);

/* vs_steps_begun_by: rows that began at *time_ns* or before. */
size_t vs_steps_begun_by(const struct vs_growth_step *items, size_t count, uint64_t time_ns);

/* vs_steps_before: steps begun before event *event*, those before the first row included. */
uint64_t vs_steps_before(const struct vs_step_rows *rows, uint64_t event);

void vs_steps_free(struct vs_step_rows *rows);

#endif
