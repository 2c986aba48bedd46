/* SPDX-License-Identifier: Apache-2.0
 *
 * A history is allocated only for a row that keeps bytes from one window to a later
 * one in which it changes again: sites of the program's start and sites that free everything within
 * a window need none. */
#include "analysis/growth/growth_internal.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"

void vs_floors_add(struct vs_floors *floors, size_t index)
{
    vs_vec_room(&floors->rows, &floors->capacity, index + 1, sizeof *floors->rows);
    while (floors->count <= index)
        vs_floors_reset(&floors->rows[floors->count++], 0, floors->window);
}

/* The history of *row*; NULL: none. */
static uint64_t *series_of(const struct vs_floors *floors, const struct vs_floor_row *row)
{
    return row->series && row->series != UINT32_MAX ? floors->series[row->series - 1] : NULL;
}

void vs_floors_roll(struct vs_floors *floors, struct vs_floor_row *row)
{
    if (row->pending < row->lowest)
        row->lowest = row->pending;
    row->pending = UINT64_MAX;
    row->before = row->live;
    bool gap = row->live && floors->window > row->window + 1;
    if (!row->series && (row->lowest || gap)) {
        row->series = UINT32_MAX;
        if (floors->series_count < VS_FLOOR_SERIES_MAX) {
            vs_vec_push(&floors->series, &floors->series_count, &floors->series_capacity,
                        sizeof *floors->series);
            row->series = (uint32_t)floors->series_count;
        }
    }
    uint64_t *series = series_of(floors, row);
    if (series) {
        series[row->window] = row->lowest;
        for (uint32_t w = row->window + 1; w < floors->window; w++)
            series[w] = row->live;
    }
    row->window = floors->window;
    row->lowest = row->live;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Two windows become one. What a row's history holds from its current window on is not yet set. */
static void halve_row(const struct vs_floors *floors, struct vs_floor_row *row)
{
    uint64_t *series = series_of(floors, row);
    uint32_t to = row->window / 2;
    for (uint32_t i = 0; series && i < to; i++)
        series[i] = lower(series[2 * i], series[2 * i + 1]);
    if (row->window & 1)
        row->lowest = lower(row->lowest, series ? series[row->window - 1] : 0);
    row->window = to;
}

void vs_floors_next(struct vs_floors *floors, uint64_t event, uint64_t time_ns, uint64_t freed,
                    struct vs_floor_row *others, size_t other_count)
{
    if (floors->requests >> floors->shift >= VS_FLOOR_WINDOWS) {
        for (size_t i = 0; i < floors->count; i++)
            halve_row(floors, &floors->rows[i]);
        for (size_t i = 0; i < other_count; i++)
            halve_row(floors, &others[i]);
        for (uint32_t i = 0; i < VS_FLOOR_WINDOWS / 2; i++)
            floors->windows[i] = floors->windows[2 * i];
        floors->shift++;
    }
    floors->window = (uint32_t)(floors->requests >> floors->shift);
    floors->next_at = (floors->window + UINT64_C(1)) << floors->shift;
    floors->windows[floors->window] =
        (struct vs_floor_window){floors->requests, event, time_ns, freed};
}

uint64_t vs_floors_read(const struct vs_floors *floors, const struct vs_floor_row *row,
                        uint64_t out[VS_FLOOR_WINDOWS])
{
    bool at_end = row->pending != UINT64_MAX && row->freed_at == floors->requests;
    uint64_t live = at_end ? row->before : row->live;
    const uint64_t *series = series_of(floors, row);
    for (uint32_t w = 0; w < row->window; w++)
        out[w] = series ? series[w] : 0;
    out[row->window] = at_end ? row->lowest : lower(row->lowest, row->pending);
    for (uint32_t w = row->window + 1; w <= floors->window; w++)
        out[w] = live;
    return live;
}

void vs_floors_free(struct vs_floors *floors)
{
    free(floors->rows);
    free(floors->series);
    *floors = (struct vs_floors){0};
}
