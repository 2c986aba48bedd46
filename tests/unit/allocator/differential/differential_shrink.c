/* SPDX-License-Identifier: Apache-2.0
 *
 * Shrinks a failing sequence of steps: removes ever smaller parts as long as some difference
 * remains, then prints the rest. */
#include "differential.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHRINK_SECONDS 20
#define PRINTED_MAX 150

static struct diff_run run;
static bool thorough;

/* The number of steps up to the first difference; 0: none. */
static int steps_here(const struct diff_config *config, const struct diff_step *steps,
                               int count)
{
    int failed = 0;
    diff_start(&run, config);
    run.thorough = thorough;
    for (int i = 0; i < count && !failed && !run.difference[0]; i++)
        failed = diff_step(&run, &steps[i]) ? 0 : i + 1;
    diff_stop(&run);
    return run.difference[0] && !failed ? count : failed;
}

/* In a separate process, if the compared allocator cannot be restarted. */
static int steps_to_difference(const struct diff_config *config, const struct diff_step *steps,
                               int count)
{
    struct {
        int steps;
        char difference[sizeof run.difference];
    } found = {0};
    int ends[2];
    if (diff_subject_is_ours)
        return steps_here(config, steps, count);
    if (pipe(ends))
        return 0;
    pid_t child = fork();
    if (!child) {
        found.steps = steps_here(config, steps, count);
        memcpy(found.difference, run.difference, sizeof found.difference);
        _exit(write(ends[1], &found, sizeof found) != sizeof found);
    }
    close(ends[1]);
    if (read(ends[0], &found, sizeof found) != sizeof found)
        found.steps = 0;
    close(ends[0]);
    waitpid(child, NULL, 0);
    memcpy(run.difference, found.difference, sizeof found.difference);
    return found.steps;
}

int diff_shrink(const struct diff_config *config, struct diff_step *steps, int count)
{
    time_t until = time(NULL) + SHRINK_SECONDS;
    thorough = false; /* faster, and usually sufficient */
    int now = steps_to_difference(config, steps, count);
    thorough = now == 0;
    if (now)
        count = now;
    for (int size = count / 2; size > 0; size /= 2) {
        bool shorter = true;
        while (shorter) {
            shorter = false;
            for (int from = 0; from + size <= count && time(NULL) < until;) {
                static struct diff_step tried[DIFF_STEPS_MAX];
                size_t rest = (size_t)(count - from - size);
                memcpy(tried, steps, (size_t)from * sizeof *tried);
                memcpy(tried + from, steps + from + size, rest * sizeof *tried);
                int left = steps_to_difference(config, tried, count - size);
                if (!left) {
                    from += size;
                    continue;
                }
                memcpy(steps, tried, (size_t)left * sizeof *tried);
                shorter = true;
                count = left;
            }
            if (size > 1)
                break;
        }
    }
    return count;
}

static const char *const kinds[] = {
    "malloc", "free", "record_stream", "complete", "sync_begin", "sync_end", "probe",
    "empty_cache", "reset_peaks", "reset_accumulated", "set_memory_fraction", "abandon",
    "pool_begin", "pool_end", "pool_release",
};

static const char *const failures[FAIL_COUNT] = {
    "", "segment_alloc", "segment_free", "synchronize", "event_record", "event_query",
    "memory_create", "memory_map", "memory_unmap",
};

void diff_print(const struct diff_config *config, const struct diff_step *steps, int count)
{
    const struct vs_allocator_config *c = &config->allocator;
    printf("  capacity %" PRIu64 ", reuse %d, tie %d, expandable %d, max_split %" PRIu64
           ", non_split_rounding %" PRIu64 ", large_segment %" PRIu64
           ", range %" PRIu64 " (falling %d), gc %g, fraction %g, divisions",
           config->capacity, c->reuse, c->tie, c->expandable_segments, c->max_split_size,
           c->max_non_split_rounding, c->large_segment_size,
           c->expandable_reserve_bytes, config->falling, c->garbage_collection_threshold,
           c->memory_fraction);
    for (int i = 0; i < VS_ROUNDUP_SLOTS; i++)
        printf(" %u", c->roundup_power2_divisions[i]);
    printf("\n");
    if (count > PRINTED_MAX)
        printf("  ... %d steps, the last %d:\n", count, PRINTED_MAX);
    for (int i = count > PRINTED_MAX ? count - PRINTED_MAX : 0; i < count; i++) {
        const struct diff_step *s = &steps[i];
        printf("  %3d %-20s", i, kinds[s->kind]);
        if (s->target >= 0)
            printf(" #%d", s->target);
        printf(" %" PRIu64 " %" PRIu64, s->a, s->b);
        if (s->fail)
            printf("  (%s fails with %s after %" PRIu64 " calls)", failures[s->fail],
                   vs_err_text(s->code), s->after);
        printf("\n");
    }
    steps_to_difference(config, steps, count);
    printf("  difference: %s\n", run.difference[0] ? run.difference : "gone when run again");
    fflush(stdout);
}
