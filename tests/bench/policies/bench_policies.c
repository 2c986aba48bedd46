/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory each policy reserves at the worst, over what is alive at the
 * worst: recorded traces given as arguments (converted by snapshot_to_events.py)
 * and the generated programs. `recorded` is what the traced program itself had
 * reserved; it began before its trace, all others begin with it.
 *
 *   bench_policies [-s SEED] [-w NAME] [TRACE.events ...] */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/policy_run.h"
#include "support/replay_log.h"
#include "support/workloads.h"

#define CAPACITY (UINT64_C(1) << 42) /* more than any program needs */

static const struct {
    const char *name;
    struct vs_allocator_config config;
} policies[] = {
    {"pytorch", {.policy = VS_POLICY_PYTORCH}},
    {"expandable", {.policy = VS_POLICY_PYTORCH, .expandable_segments = true}},
    {"compact", {.policy = VS_POLICY_COMPACT}},
};
#define POLICY_COUNT (sizeof policies / sizeof *policies)

/* What the recorded allocator held at the worst. */
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

static void heading(void)
{
    printf("%-30s %9s %9s %9s", "peak reserved / peak live", "requests", "live MiB", "recorded");
    for (size_t p = 0; p < POLICY_COUNT; p++)
        printf(" %10s", policies[p].name);
    printf("\n");
}

/* One row; *recorded*: 0 when there is no such figure. */
static void row(const char *name, const struct request_log *log, uint64_t recorded)
{
    double peak = (double)request_log_peak(log);
    printf("%-30.30s %9zu %9.1f", name, log->count, peak / (1 << 20));
    if (recorded)
        printf(" %9.4f", (double)recorded / peak);
    else
        printf(" %9s", "");
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        struct policy_result result;
        enum vs_err err = policy_run(log, &policies[p].config, CAPACITY, NULL, NULL, &result);
        if (err == VS_ERR_ARG && !result.failed_at) /* not a configuration of this build */
            printf(" %10s", "-");
        else if (err)
            printf(" %10s", vs_err_name(err));
        else if (result.failed_at < log->count)
            printf(" %10s", "failed");
        else
            printf(" %10.4f", (double)result.reserved_peak / peak);
        fflush(stdout);
    }
    printf("\n");
}

static void trace_row(const char *path)
{
    struct request_log log;
    const char *name = strrchr(path, '/');
    char stem[64];
    snprintf(stem, sizeof stem, "%s", name ? name + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot)
        *dot = 0;
    request_log_load(path, &log);
    row(stem, &log, recorded_peak(path));
    request_log_clear(&log);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    const char *only = NULL;
    int option;
    while ((option = getopt(argc, argv, "s:w:")) != -1) {
        if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'w')
            only = optarg;
        else
            return 2;
    }
    heading();
    for (int i = optind; i < argc; i++)
        trace_row(argv[i]);
    for (size_t i = 0; workload_names[i]; i++) {
        struct request_log log;
        if (only && strcmp(only, workload_names[i]) != 0)
            continue;
        workload_make(workload_names[i], seed, &log);
        row(workload_names[i], &log, 0);
        request_log_clear(&log);
    }
    return 0;
}
