/* SPDX-License-Identifier: Apache-2.0
 *
 * The history of a device: as one line of blocks, and over several rows with its axes. */
#include "base/vs_size.h"
#include "viewer/top/top_frame.h"

#define AXIS 12u /* columns: the size, and the line */
#define GRAPH_ROWS_MIN 5u
#define LEVELS 8u /* of a cell */

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {"_", ".", "-", "=", "+", "*", "%", "#"};

/* The highest value in part *i* of *parts* of the first *periods*, from oldest to newest. */
static uint64_t highest_of(const struct vs_memory_history *history, double periods, size_t i, size_t parts)
{
    size_t first = (size_t)((double)i * periods / (double)parts), end = (size_t)((double)(i + 1) * periods / (double)parts);
    uint64_t highest = history->highest[first];
    if (i + 1 == parts && (double)end < periods)
        end++; /* the newest period may have just begun */
    for (size_t k = first; k < end; k++)
        if (history->highest[k] > highest)
            highest = history->highest[k];
    return highest;
}

void vs_top_line(const struct vs_memory_history *history, uint64_t top, struct vs_grid *grid,
                 unsigned row, unsigned at, unsigned width)
{
    size_t columns = history->count < width ? history->count : width;
    for (size_t i = 0; top && i < columns; i++) {
        size_t level = (size_t)((double)highest_of(history, (double)history->count, i, columns) * 7.999 / (double)top);
        at = vs_grid_put(grid, row, at, grid->columns, VS_GOOD, "%s",
                         (grid->ascii ? ascii : blocks)[level > 7 ? 7 : level]);
    }
}

unsigned vs_top_graph(const struct vs_watch_device *device, uint64_t run_ns, struct vs_grid *grid, unsigned row,
                      unsigned end)
{
    const struct vs_memory_history *history = device->history;
    if (end < row + GRAPH_ROWS_MIN || grid->columns < AXIS + 20 || !history->count || !device->peak)
        return row;
    unsigned rows = end - row - 1, width = grid->columns - AXIS - 1;
    uint64_t length = history->count * history->period_ns; /* the last period may be cut short */
    length = run_ns && run_ns < length ? run_ns : length;
    double periods = (double)length / (double)history->period_ns;
    for (unsigned r = 0; r < rows; r++) {
        uint64_t at = (uint64_t)((double)device->peak * (rows - r) / rows);
        if (r == 0 || r == rows / 2)
            vs_grid_right(grid, row + r, AXIS - 2, AXIS - 2, VS_DIM, "%s", vs_size_text(at));
        vs_grid_put(grid, row + r, AXIS - 1, AXIS, VS_DIM, "%s", grid->ascii ? "|" : "│");
    }
    for (unsigned i = 0; i < width; i++) {
        double share = (double)highest_of(history, periods, i, width) / (double)device->peak;
        unsigned level = (unsigned)(share * rows * LEVELS + 0.5);
        for (unsigned r = 0; r < rows && r * LEVELS < level; r++) {
            unsigned part = level - r * LEVELS < LEVELS ? level - r * LEVELS : LEVELS;
            vs_grid_put(grid, row + rows - 1 - r, AXIS + i, AXIS + i + 1, VS_GOOD, "%s",
                        (grid->ascii ? ascii : blocks)[part - 1]);
        }
    }
    unsigned last = row + rows;
    vs_grid_right(grid, last, AXIS - 2, AXIS - 2, VS_DIM, "0 B");
    vs_grid_put(grid, last, AXIS, grid->columns, VS_DIM, "0 s");
    vs_grid_right(grid, last, AXIS + width / 2, 20, VS_DIM, "%s", vs_time_text(length / 2));
    vs_grid_right(grid, last, AXIS + width, 20, VS_DIM, "%s", vs_time_text(length));
    return end;
}
