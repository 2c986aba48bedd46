/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/growth/growth_internal.h"

#include <stdlib.h>

#include "analysis/state/reading.h"
#include "base/reading/vs_vec.h"

#define SIGN (UINT64_C(1) << 63)

/* Two rows become one; rows of more steps follow. */
static void halve(struct vs_step_rows *rows)
{
    for (size_t i = 0; i < rows->count / 2; i++) {
        struct vs_growth_step row = rows->items[2 * i];
        const struct vs_growth_step *next = &rows->items[2 * i + 1];
        row.end_bytes = next->end_bytes;
        row.requested_bytes += next->requested_bytes;
        if (next->peak_bytes > row.peak_bytes)
            row.peak_bytes = next->peak_bytes;
        rows->items[i] = row;
    }
    rows->count /= 2;
    rows->stride *= 2;
    rows->in_last = rows->stride;
}

void vs_steps_begin(struct vs_step_rows *rows, uint64_t event, uint64_t time_ns, uint64_t level)
{
    if (rows->open)
        vs_steps_end(rows, level);
    if (!rows->stride)
        rows->stride = 1;
    if (rows->count == VS_STEP_ROWS_MAX && rows->in_last == rows->stride)
        halve(rows);
    if (rows->count == 0 || rows->in_last == rows->stride) {
        VS_VEC_ADD(rows->items, rows->count, rows->capacity,
                   (struct vs_growth_step){.event = event, .time_ns = time_ns, .begin_bytes = level,
                                           .end_bytes = level, .peak_bytes = level});
        rows->in_last = 0;
    }
    rows->in_last++;
    rows->begun++;
    rows->open = true;
}

void vs_steps_end(struct vs_step_rows *rows, uint64_t level)
{
    if (!rows->open)
        return;
    rows->items[rows->count - 1].end_bytes = level;
    rows->open = false;
    rows->done++;
}

void vs_steps_withdraw(struct vs_step_rows *rows)
{
    if (!rows->open)
        return;
    rows->open = false;
    if (--rows->in_last == 0) {
        rows->count--;
        rows->in_last = rows->stride; /* the next step gets a row of its own */
    }
    if (--rows->begun == 0)
        vs_steps_clear(rows);
}

void vs_steps_lower(struct vs_step_rows *rows, uint64_t backing)
{
    if (!rows->open)
        return;
    struct vs_growth_step *row = &rows->items[rows->count - 1];
    uint64_t earlier = row->begin_bytes < backing ? row->begin_bytes : backing;
    row->begin_bytes -= earlier;
    row->peak_bytes -= row->peak_bytes < backing ? row->peak_bytes : backing;
    row->requested_bytes -= row->requested_bytes < backing - earlier ? row->requested_bytes
        : backing - earlier;
}

void vs_steps_clear(struct vs_step_rows *rows)
{
    rows->count = 0;
    rows->stride = rows->in_last = rows->begun = rows->done = 0;
    rows->first_number = 1;
    rows->open = false;
}

static uint64_t churn_of(const struct vs_growth_step *row)
{
    uint64_t stays = row->end_bytes > row->begin_bytes ? row->end_bytes - row->begin_bytes : 0;
    return row->requested_bytes > stays ? row->requested_bytes - stays : 0;
}

/* The lowest and the highest of *count* values, and the one that would be at *index* if they were
 * sorted. */
static uint64_t spread(uint64_t *values, size_t count, size_t index, uint64_t *lowest,
                       uint64_t *highest)
{
    *lowest = *highest = values[0];
    for (size_t i = 1; i < count; i++) {
        *lowest = values[i] < *lowest ? values[i] : *lowest;
        *highest = values[i] > *highest ? values[i] : *highest;
    }
    return vs_vec_nth(values, count, index);
}

void vs_steps_summary(const struct vs_step_rows *rows, struct vs_growth_steps *out)
{
    size_t done = rows->open && rows->count ? rows->count - 1 : rows->count;
    int64_t stride = (int64_t)(rows->stride ? rows->stride : 1);
    out->items = rows->items;
    out->count = rows->count;
    out->stride = (uint64_t)stride;
    out->begun = rows->begun;
    out->done = rows->done;
    out->first_number = rows->first_number;
    if (!done)
        return;
    uint64_t *values = vs_xcalloc(done, sizeof *values), lowest, highest;
    for (size_t i = 0; i < done; i++)
        values[i] = rows->items[i].peak_bytes;
    out->peak_bytes = spread(values, done, done / 2, &out->lowest_peak, &out->highest_peak);
    for (size_t i = 0; i < done; i++) /* of both signs, in the order of their offset to the
                                       * lowest */
        values[i] = (rows->items[i].end_bytes - rows->items[i].begin_bytes) ^ SIGN;
    size_t middle = (done - 1) / 2; /* of two steps not the one that keeps more */
    out->net_bytes = (int64_t)(spread(values, done, middle, &lowest, &highest) ^ SIGN) / stride;
    out->lowest_net = (int64_t)(lowest ^ SIGN) / stride;
    out->highest_net = (int64_t)(highest ^ SIGN) / stride;
    for (size_t i = 0; i < done; i++)
        values[i] = churn_of(&rows->items[i]);
    out->churn_bytes = spread(values, done, middle, &lowest, &highest) / (uint64_t)stride;
    out->lowest_churn = lowest / (uint64_t)stride;
    out->highest_churn = highest / (uint64_t)stride;
    free(values);
}

size_t vs_steps_begun_by(const struct vs_growth_step *items, size_t count, uint64_t time_ns)
{
    return VS_VEC_UP_TO(items, count, time_ns, time_ns);
}

uint64_t vs_steps_before(const struct vs_step_rows *rows, uint64_t event)
{
    size_t low = VS_VEC_BELOW(rows->items, rows->count, event, event);
    uint64_t before = rows->begun - (rows->count ? (rows->count - 1) * rows->stride + rows->in_last
                                                 : 0);
    if (low == rows->count)
        return rows->begun;
    return before + low * rows->stride;
}

void vs_steps_free(struct vs_step_rows *rows)
{
    free(rows->items);
    *rows = (struct vs_step_rows){0};
}

/* --- found steps, for a later reading --- */

void vs_found_step_place(const struct vs_growth_steps *steps, uint64_t time_ns, struct vs_place *place)
{
    if (place->step_known || !steps || steps->source != VS_STEPS_FOUND)
        return; /* marked steps are in the replay */
    size_t rows = vs_steps_begun_by(steps->items, steps->count, time_ns);
    place->step_known = rows > 0;
    if (rows)
        place->step = steps->first_number + (rows - 1) * steps->stride;
}

enum vs_err vs_found_steps_replay(struct vs_reader *reader, struct vs_replay *replay,
                                  struct vs_growth_steps *out)
{
    struct vs_growth_tracker *tracker = NULL;
    struct vs_growth_result result;
    vs_growth_open(replay, &tracker);
    const struct vs_observer growth = {VS_KINDS_EVERY, NULL, vs_growth_observe, tracker};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, &growth, 1);
    if (!err) {
        vs_growth_finish(tracker, &result);
        size_t count = result.steps.count;
        struct vs_growth_step *items = vs_xcalloc(count + 1, sizeof *items);
        if (count)
            memcpy(items, result.steps.items, count * sizeof *items);
        *out = result.steps;
        out->items = items;
        out->count = count;
    }
    vs_growth_close(tracker);
    return err;
}

enum vs_err vs_found_steps_read(struct vs_reader *reader, struct vs_growth_steps *out)
{
    struct vs_replay *replay = vs_replay_open(reader);
    enum vs_err err = vs_found_steps_replay(reader, replay, out);
    vs_replay_close(replay);
    return err;
}

void vs_found_steps_free(struct vs_growth_steps *steps)
{
    free((void *)steps->items);
    *steps = (struct vs_growth_steps){0};
}
