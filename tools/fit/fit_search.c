/* SPDX-License-Identifier: Apache-2.0
 *
 * Which runs a `vramscope fit` needs, and which of them run at the same time: at most one for each
 * GPU. Values that are numbers are searched by halves, because what does not fit with a smaller
 * value does not fit with a larger one; others, or with --all, are all tried. A run without an
 * answer ends the search on its GPU; a program that cannot be started ends all of it. Where nothing
 * varies and an allocation failed, the program runs once more with more memory: what it needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "tools/fit/fit_internal.h"

/* Of the run with more memory: steps beyond the one that failed, and its time beyond some times that of
 * the run that failed: without steps it may have no end. */
#define STEPS_WHOLE 3
#define TIMES_WHOLE 3
#define LONGER_NS UINT64_C(60000000000)

/* The search on one GPU. Invariant by halves: all values before *low* fit, none from *high* on does. */
struct fit_lane {
    struct vs_fit_process process; /* first; its run is NULL while nothing is running */
    struct vs_fit_run *runs; /* [value] */
    size_t low, high, next; /* next: the value that is running, or will be */
    struct vs_fit_run whole; /* with more memory */
    bool wants_whole;
};

struct fit_grid {
    const struct vs_fit_job *job;
    struct fit_lane *lanes; /* [gpu] */
    size_t jobs;
    bool halves, stopped; /* stopped: no further run makes sense */
};

/* Progress: the program's own output is not shown. One line for each run; with several at the same
 * time it is printed when the run has ended. */
static void print_name(const struct fit_grid *grid, const struct vs_fit_run *run)
{
    const struct vs_fit_job *job = grid->job;
    fprintf(stderr, "%s: %s%s%s%s%s … ", job->who, run->gpu, run->value ? ", " : "",
            run->value ? job->vary : "", run->value && *job->vary ? " " : "",
            run->value ? run->value : "");
}

static void print_result(const struct fit_grid *grid, const struct vs_fit_run *run, const char *result)
{
    if (grid->job->quiet)
        return;
    if (grid->jobs > 1)
        print_name(grid, run);
    fprintf(stderr, "%s (%.1f s)\n", result, (double)run->wall_ns / 1e9);
}

/* The folder of a GPU that is given twice is used by one of them at a time. */
static bool is_free(const struct fit_grid *grid, const struct fit_lane *lane)
{
    for (size_t g = 0; g < grid->job->gpu_count; g++)
        if (&grid->lanes[g] != lane && grid->lanes[g].process.run &&
            strcmp(grid->lanes[g].process.folder, lane->process.folder) == 0)
            return false;
    return true;
}

static struct vs_fit_process *start_lane(void *of, size_t running, int *status)
{
    struct fit_grid *grid = of;
    const struct vs_fit_job *job = grid->job;
    (void)status;
    for (size_t g = 0; g < job->gpu_count && running < grid->jobs && !grid->stopped; g++) {
        struct fit_lane *lane = &grid->lanes[g];
        if (lane->process.run || (lane->low >= lane->high && !lane->wants_whole))
            continue;
        struct vs_fit_run *run = &lane->whole;
        if (!lane->wants_whole) {
            lane->next = grid->halves ? lane->low + (lane->high - lane->low) / 2 : lane->low;
            run = &lane->runs[lane->next];
            *run = (struct vs_fit_run){.gpu = job->gpus[g], .value = job->vary ? job->values[lane->next] : NULL};
        }
        lane->process.run = run;
        vs_fit_name_folder(job, &lane->process);
        if (is_free(grid, lane)) {
            lane->wants_whole = false;
            if (!job->quiet && grid->jobs == 1)
                print_name(grid, run);
            return &lane->process;
        }
        lane->process.run = NULL;
    }
    return NULL;
}

/* Whether the program itself could not be started, on whichever GPU. */
static bool is_not_started(const struct vs_fit_run *run)
{
    return run->answer == VS_FIT_UNKNOWN && !run->trace_count && run->status >= 125 &&
           run->status <= 127;
}

/* The second run on a GPU whose memory was too little. */
static void want_whole(struct fit_lane *lane, const struct vs_fit_run *run)
{
    char *gpu = vs_xprintf("%s" VS_FIT_MORE_MEMORY, run->gpu);
    lane->whole = (struct vs_fit_run){.gpu = gpu};
    lane->wants_whole = true;
    if (!lane->process.steps)
        lane->process.steps = run->worst->steps + STEPS_WHOLE;
    lane->process.longest_ns = TIMES_WHOLE * run->wall_ns + LONGER_NS;
}

static void end_whole(const struct fit_grid *grid, struct fit_lane *lane)
{
    struct vs_fit_run *run = &lane->whole;
    char result[64] = "what it needs is not known";
    vs_fit_set_needed(&lane->runs[0], run);
    if (lane->runs[0].needed)
        snprintf(result, sizeof result, "needs %s", vs_size_text(lane->runs[0].needed));
    print_result(grid, run, result);
    vs_fit_run_clear(run);
}

static int end_lane(void *of, struct vs_fit_process *process)
{
    static const char *const words[] = {"no answer", "does not fit", "fits"};
    struct fit_grid *grid = of;
    struct fit_lane *lane = (struct fit_lane *)process;
    struct vs_fit_run *run = process->run;
    if (vs_fit_interrupted()) {
        if (!grid->job->quiet && grid->jobs == 1)
            fputc('\n', stderr);
        return 0;
    }
    int status = vs_fit_read_result(grid->job, process);
    process->run = NULL;
    if (status)
        return status;
    if (run == &lane->whole) {
        end_whole(grid, lane);
        return 0;
    }
    if (!grid->job->vary)
        vs_fit_add_remedy(grid->job, run);
    print_result(grid, run, words[run->answer]);
    if (!grid->job->vary && run->answer == VS_FIT_NO && !*run->why)
        want_whole(lane, run);
    /* What the answer of the latest run leaves to try. */
    if (!grid->halves || run->answer == VS_FIT_YES)
        lane->low = lane->next + 1;
    else
        lane->high = run->answer == VS_FIT_UNKNOWN ? lane->low : lane->next;
    grid->stopped |= is_not_started(run);
    return 0;
}

int vs_fit_search(const struct vs_fit_job *job, struct vs_fit_set *set)
{
    struct fit_grid grid = {.job = job, .halves = job->vary && job->ascending && !job->all, .jobs = vs_fit_at_once(job)};
    size_t values = job->vary ? job->value_count : 1, count = job->gpu_count * values;
    grid.jobs = grid.jobs < job->gpu_count ? grid.jobs : job->gpu_count;
    grid.lanes = vs_xcalloc(job->gpu_count, sizeof *grid.lanes);
    set->runs = vs_xcalloc(count, sizeof *set->runs);
    for (size_t g = 0; g < job->gpu_count; g++) {
        grid.lanes[g].runs = set->runs + g * values;
        grid.lanes[g].high = values;
    }
    int status = vs_fit_run_all(job, &grid, start_lane, end_lane);
    set->answered = true;
    for (size_t g = 0; g < job->gpu_count; g++)
        set->answered &= grid.lanes[g].low >= grid.lanes[g].high;
    bool stopped = false;
    for (size_t i = 0; i < count; i++) { /* those that were needed */
        struct vs_fit_run run = set->runs[i];
        bool again = stopped && is_not_started(&run); /* the same for each GPU: shown once */
        stopped |= run.started && is_not_started(&run);
        if (run.started && !again)
            set->runs[set->count++] = run;
        else
            vs_fit_run_clear(&run);
    }
    for (size_t g = 0; g < job->gpu_count; g++)
        free((char *)grid.lanes[g].whole.gpu);
    free(grid.lanes);
    return status;
}
