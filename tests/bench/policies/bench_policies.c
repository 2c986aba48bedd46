/* SPDX-License-Identifier: Apache-2.0
 *
 * The peak of reserved memory of each policy, relative to the peak of live memory: recorded traces
 * given as arguments (converted by snapshot_to_events.py) and the generated programs. `recorded` is
 * the traced program's own peak; it started before its trace, all others start with it.
 *
 *   bench_policies [TRACE.events ...] */
#include <stdio.h>
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

int main(int argc, char **argv)
{
    struct request_log log;
    printf("%-30s %9s %9s %9s", "peak reserved / peak live", "requests", "live MiB", "recorded");
    for (int p = 0; p < VS_POLICY_COUNT; p++)
        printf(" %10s", vs_policies[p]->name);
    printf("\n");
    for (int i = 1; i < argc; i++) {
        const char *name = strrchr(argv[i], '/');
        char stem[64];
        snprintf(stem, sizeof stem, "%s", name ? name + 1 : argv[i]);
        char *dot = strrchr(stem, '.');
        if (dot)
            *dot = 0;
        request_log_load(argv[i], &log);
        row(stem, &log, recorded_peak(argv[i]));
        request_log_clear(&log);
    }
    for (size_t i = 0; workload_names[i]; i++) {
        workload_make(workload_names[i], 1, &log);
        row(workload_names[i], &log, 0);
        request_log_clear(&log);
    }
    return 0;
}
