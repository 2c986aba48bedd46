/* SPDX-License-Identifier: Apache-2.0
 *
 * The peak of reserved memory of each policy, relative to the peak of live memory: recorded traces
 * given as arguments (converted by snapshot_to_events.py) and the generated programs. `recorded` is
 * the traced program's own peak; it started before its trace, all others start with it.
 *
 *   bench_policies [-s SEED] [-w NAME] [-e SHARE] [TRACE.events ...]
 *
 * With -e the device has only SHARE times the peak of live memory, and the table shows which
 * policies complete, or how far they get. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/policy_run.h"
#include "support/replay_log.h"
#include "support/workloads.h"

#define CAPACITY (UINT64_C(1) << 42) /* more than any program needs */

/* The recorded allocator's peak of reserved memory. */
static uint64_t recorded_peak(const char *path)
{
    struct replay_log text;
    uint64_t now = 0, peak;
    replay_load(path, &text);
    for (size_t i = 0; i < text.segment_count; i++)
        now += text.segments[i].size;
    peak = now;
    for (size_t i = 0; i < text.event_count; i++) {
        if (text.events[i].kind == REPLAY_SEGMENT_ALLOC)
            now += text.events[i].size;
        else if (text.events[i].kind == REPLAY_SEGMENT_FREE)
            now -= text.events[i].size;
        peak = now > peak ? now : peak;
    }
    replay_log_free(&text);
    return peak;
}

static void heading(bool edge)
{
    printf("%-30s %9s %9s %9s", edge ? "gets to its end within" : "peak reserved / peak live",
           "requests", "live MiB", edge ? "capacity" : "recorded");
    for (int p = 0; p < VS_POLICY_COUNT; p++)
        printf(" %10s", vs_policies[p]->name);
    printf("\n");
}

/* Whether each policy completes with this much device memory. */
static void edge_row(const char *name, const struct request_log *log, double share)
{
    uint64_t capacity = (uint64_t)(share * (double)request_log_peak(log));
    printf("%-30.30s %9zu %9.1f %9.1f", name, log->count,
           (double)request_log_peak(log) / (1 << 20), (double)capacity / (1 << 20));
    for (int p = 0; p < VS_POLICY_COUNT; p++) {
        struct policy_result result;
        const struct vs_allocator_config config = {.policy = (enum vs_policy_id)p};
        enum vs_err err = policy_run(log, &config, capacity, &result);
        if (err)
            printf(" %10s", vs_err_text(err));
        else if (result.failed_at < log->count)
            printf("   at %4.0f %%", 100.0 * (double)result.failed_at / (double)log->count);
        else
            printf(" %10s", "completes");
        fflush(stdout);
    }
    printf("\n");
}

/* One row; *recorded*: 0 if there is no such figure. */
static void row(const char *name, const struct request_log *log, uint64_t recorded)
{
    double peak = (double)request_log_peak(log);
    printf("%-30.30s %9zu %9.1f", name, log->count, peak / (1 << 20));
    if (recorded)
        printf(" %9.4f", (double)recorded / peak);
    else
        printf(" %9s", "");
    for (int p = 0; p < VS_POLICY_COUNT; p++) {
        struct policy_result result;
        const struct vs_allocator_config config = {.policy = (enum vs_policy_id)p};
        enum vs_err err = policy_run(log, &config, CAPACITY, &result);
        if (err == VS_ERR_ARG && !result.failed_at) /* not a configuration of this build */
            printf(" %10s", "-");
        else if (err)
            printf(" %10s", vs_err_text(err));
        else if (result.failed_at < log->count)
            printf(" %10s", "failed");
        else
            printf(" %10.4f", (double)result.reserved_peak / peak);
        fflush(stdout);
    }
    printf("\n");
}

/* The row of a program; *edge*: 0, or the capacity as a share of the peak of live memory. */
static void program(const char *name, const struct request_log *log, uint64_t recorded,
                    double edge)
{
    if (edge > 0)
        edge_row(name, log, edge);
    else
        row(name, log, recorded);
}

static void trace(const char *path, double edge)
{
    struct request_log log;
    const char *name = strrchr(path, '/');
    char stem[64];
    snprintf(stem, sizeof stem, "%s", name ? name + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot)
        *dot = 0;
    request_log_load(path, &log);
    program(stem, &log, recorded_peak(path), edge);
    request_log_clear(&log);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    const char *only = NULL;
    double edge = 0;
    int option;
    while ((option = getopt(argc, argv, "s:w:e:")) != -1) {
        if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'w')
            only = optarg;
        else if (option == 'e')
            edge = strtod(optarg, NULL);
        else
            return 2;
    }
    heading(edge > 0);
    for (int i = optind; i < argc; i++)
        trace(argv[i], edge);
    for (size_t i = 0; workload_names[i]; i++) {
        struct request_log log;
        if (only && strcmp(only, workload_names[i]) != 0)
            continue;
        workload_make(workload_names[i], seed, &log);
        program(workload_names[i], &log, 0, edge);
        request_log_clear(&log);
    }
    return 0;
}
