/* SPDX-License-Identifier: Apache-2.0
 *
 * A range gets its row when it is closed; rows are ordered by their start at the
 * end. */
#include "viewer/html/page_data.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"

static uint64_t since_start(const struct vs_page_ranges *ranges, uint64_t time_ns)
{
    return time_ns > ranges->start_ns ? time_ns - ranges->start_ns : 0;
}

static void add_range(struct vs_page_ranges *ranges, const struct vs_thread *thread,
                      size_t depth, uint64_t now_ns)
{
    const struct vs_range *range = &thread->ranges[depth];
    const struct vs_page_range row = {
        .start_ns = since_start(ranges, range->time_ns),
        .duration_ns = now_ns > range->time_ns ? now_ns - range->time_ns : 0,
        .step = range->place.step_known ? range->place.step + 1 : 0,
        .phase = range->place.phase, .thread = thread->tid, .depth = (uint8_t)depth};
    VS_VEC_ADD(ranges->ranges, ranges->range_count, ranges->range_capacity, row);
}

static size_t kept_depth(const struct vs_thread *thread)
{
    return thread->depth < thread->capacity ? thread->depth : thread->capacity;
}

void vs_page_ranges_before(struct vs_page_ranges *ranges, const struct vs_replay *replay,
                           const struct vs_event *event)
{
    const struct vs_phases *phases = &replay->phases;
    const uint64_t *index = vs_map_get(&phases->by_tid, (uint64_t)event->tid + 1);
    if (!index || *index >= phases->thread_count)
        return;
    const struct vs_thread *thread = &phases->threads[*index];
    if (thread->tid != event->tid || thread->depth > VS_RANGE_DEPTH_MAX)
        return; /* a range that was too deep to keep */
    size_t depth = kept_depth(thread);
    while (depth > 0 && thread->ranges[depth - 1].domain != event->range_pop.domain)
        depth--;
    if (depth)
        add_range(ranges, thread, depth - 1, event->time_ns);
}

static void add_step(struct vs_page_ranges *ranges, const struct vs_steps *steps)
{
    const struct vs_page_step row = {
        .number = steps->number, .start_ns = since_start(ranges, steps->time_ns), .open = true};
    VS_VEC_ADD(ranges->steps, ranges->step_count, ranges->step_capacity, row);
}

void vs_page_ranges_begin(struct vs_page_ranges *ranges, const struct vs_replay *replay)
{
    const struct vs_steps *steps = &replay->phases.steps;
    ranges->begun = steps->begun;
    if (steps->open)
        add_step(ranges, steps);
}

void vs_page_ranges_after(struct vs_page_ranges *ranges, const struct vs_replay *replay)
{
    const struct vs_steps *steps = &replay->phases.steps;
    struct vs_page_step *last =
        ranges->step_count ? &ranges->steps[ranges->step_count - 1] : NULL;
    if (last && last->open && steps->begun < ranges->begun) {
        ranges->step_count--; /* it was none */
        last = NULL;
    }
    if (last && last->open && (replay->step_ended || steps->begun != ranges->begun)) {
        uint64_t now = since_start(ranges, replay->now_ns);
        last->duration_ns = now > last->start_ns ? now - last->start_ns : 0;
        last->open = false;
    }
    if (steps->begun == ranges->begun)
        return;
    ranges->begun = steps->begun;
    if (steps->open)
        add_step(ranges, steps);
}

void vs_page_ranges_end(struct vs_page_ranges *ranges, const struct vs_replay *replay,
                        uint64_t end_ns)
{
    uint64_t end = since_start(ranges, end_ns);
    struct vs_page_step *last =
        ranges->step_count ? &ranges->steps[ranges->step_count - 1] : NULL;
    bool drop = ranges->prepared;
    if (last && last->open && drop)
        ranges->step_count--;
    else if (last && last->open)
        last->duration_ns = end > last->start_ns ? end - last->start_ns : 0;
    for (size_t t = 0; t < replay->phases.thread_count; t++) {
        const struct vs_thread *thread = &replay->phases.threads[t];
        for (size_t i = 0, depth = kept_depth(thread); i < depth; i++) {
            if (drop && thread->ranges[i].is_step)
                break;
            add_range(ranges, thread, i, end_ns);
        }
    }
}

void vs_page_ranges_found(struct vs_page_ranges *ranges, const struct vs_report_steps *steps)
{
    if (ranges->step_count || !steps->row_count)
        return;
    vs_vec_room(&ranges->steps, &ranges->step_capacity, steps->row_count, sizeof *ranges->steps);
    for (size_t i = 0; i < steps->row_count; i++) {
        const struct vs_report_step *row = &steps->rows[i];
        ranges->steps[ranges->step_count++] = (struct vs_page_step){
            .number = row->number, .start_ns = row->start_ns, .duration_ns = row->duration_ns};
    }
}

void vs_page_ranges_encode(struct vs_page_ranges *ranges)
{
    VS_SORT(ranges->ranges, ranges->range_count, VS_UP(start_ns), VS_UP(depth));
    for (size_t i = 0; i < ranges->range_count; i++) {
        const struct vs_page_range *r = &ranges->ranges[i];
        const uint64_t values[VS_RANGE_COLUMNS] = {r->start_ns, r->duration_ns, r->phase,
                                                   r->depth,    r->thread,      r->step};
        for (int c = 0; c < VS_RANGE_COLUMNS; c++)
            vs_column_add(&ranges->range_columns[c], values[c]);
    }
    for (size_t i = 0; i < ranges->step_count; i++) {
        const struct vs_page_step *s = &ranges->steps[i];
        const uint64_t values[VS_STEP_COLUMNS] = {s->number, s->start_ns, s->duration_ns};
        for (int c = 0; c < VS_STEP_COLUMNS; c++)
            vs_column_add(&ranges->step_columns[c], values[c]);
    }
}

void vs_page_ranges_free(struct vs_page_ranges *ranges)
{
    free(ranges->ranges);
    free(ranges->steps);
}
