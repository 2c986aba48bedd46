/* SPDX-License-Identifier: Apache-2.0
 *
 * Which runs a `vramscope fit` needs. Values that are numbers are searched by halves, because what
 * does not fit with a smaller value does not fit with a larger one; others, or with --all, are all
 * tried. A run without an answer ends the search on its GPU; a program that cannot be started ends
 * all of it. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"

struct fit_cell {
    struct vs_fit_run run;
    bool done;
};

struct fit_grid {
    const struct vs_fit_job *job;
    struct fit_cell *cells; /* [gpu][value] */
    size_t values;          /* at least 1 */
    bool stopped;           /* no further run makes sense */
};

/* Progress: the program's own output is not shown. */
static void say_start(const struct vs_fit_job *job, size_t gpu, const char *value)
{
    if (!job->quiet)
        fprintf(stderr, "%s: %s%s%s%s%s … ", job->who, job->gpus[gpu], value ? ", " : "",
                value ? job->vary : "", value && *job->vary ? " " : "", value ? value : "");
}

static void say_result(const struct vs_fit_job *job, const struct vs_fit_run *run)
{
    static const char *const words[] = {"no answer", "does not fit", "fits"};
    if (!job->quiet)
        fprintf(stderr, "%s (%.1f s)\n", words[run->answer], (double)run->wall_ns / 1e9);
}

static int try_cell(struct fit_grid *grid, size_t gpu, size_t value, enum vs_fit_answer *answer)
{
    const struct vs_fit_job *job = grid->job;
    struct fit_cell *cell = &grid->cells[gpu * grid->values + value];
    const char *text = job->vary ? job->values[value] : NULL;
    say_start(job, gpu, text);
    int status = vs_fit_execute(job, job->gpus[gpu], text, &cell->run);
    cell->done = !status && !vs_fit_interrupted();
    if (!cell->done) {
        if (!job->quiet)
            fputc('\n', stderr);
        grid->stopped = true;
        return status;
    }
    say_result(job, &cell->run);
    *answer = cell->run.answer;
    grid->stopped = *answer == VS_FIT_UNKNOWN && !cell->run.trace_count && cell->run.status >= 125 &&
                    cell->run.status <= 127;
    return 0;
}

static int try_all(struct fit_grid *grid, size_t gpu)
{
    enum vs_fit_answer answer;
    int status = 0;
    for (size_t v = 0; v < grid->values && !status && !grid->stopped; v++)
        status = try_cell(grid, gpu, v, &answer);
    return status;
}

/* Invariant: all values before *low* fit, none from *high* on does. */
static int try_halves(struct fit_grid *grid, size_t gpu)
{
    size_t low = 0, high = grid->values;
    int status = 0;
    while (low < high && !status && !grid->stopped) {
        size_t middle = low + (high - low) / 2;
        enum vs_fit_answer answer = VS_FIT_UNKNOWN;
        status = try_cell(grid, gpu, middle, &answer);
        if (status || answer == VS_FIT_UNKNOWN)
            return status;
        if (answer == VS_FIT_YES)
            low = middle + 1;
        else
            high = middle;
    }
    return status;
}

int vs_fit_search(const struct vs_fit_job *job, struct vs_fit_set *set)
{
    struct fit_grid grid = {.job = job, .values = job->vary ? job->value_count : 1};
    size_t cells = job->gpu_count * grid.values;
    int status = 0;
    grid.cells = calloc(cells, sizeof *grid.cells);
    set->runs = calloc(cells, sizeof *set->runs);
    if (!grid.cells || !set->runs)
        status = vs_tool_fail(job->who, "out of memory");
    for (size_t g = 0; g < job->gpu_count && !status && !grid.stopped; g++)
        status = job->vary && job->ascending && !job->all ? try_halves(&grid, g) : try_all(&grid, g);
    for (size_t i = 0; grid.cells && set->runs && i < cells; i++) {
        if (grid.cells[i].done)
            set->runs[set->count++] = grid.cells[i].run;
        else
            vs_fit_run_clear(&grid.cells[i].run);
    }
    free(grid.cells);
    return status;
}
