/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "bench_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "../bench.h"

static void open_all(const struct bench_table *t, void **selves)
{
    for (int c = 0; c < t->count; c++) {
        selves[c] = t->contenders[c]->open();
        if (!selves[c]) {
            fprintf(stderr, "bench_allocator: %s could not be set up\n", t->contenders[c]->name);
            exit(1);
        }
    }
}

static void close_all(const struct bench_table *t, void **selves)
{
    for (int c = 0; c < t->count; c++)
        t->contenders[c]->close(selves[c]);
}

static struct bench_setup setup_for(const struct bench_table *t, const struct bench_load *load)
{
    size_t laps = t->pairs / (load->count / 2);
    return (struct bench_setup){t->threads, t->stream_each, laps ? laps : 1};
}

void bench_table_head(const struct bench_table *t, const char *title)
{
    printf("\n%-38s %8s", title, t->contenders[0]->name);
    for (int c = 1; c < t->count; c++)
        printf(" %10s %7s", t->contenders[c]->name, "ratio");
    putchar('\n');
}

static void row(const struct bench_table *t, const char *name, const double *ns)
{
    printf("  %-36.36s %8.1f", name, ns[0]);
    for (int c = 1; c < t->count; c++)
        printf(" %10.1f %7.2f", ns[c], ns[c] / ns[0]);
    putchar('\n');
    fflush(stdout);
}

void bench_table_pairs(const struct bench_table *t, const struct bench_load *load,
                       bench_measure_fn *measure)
{
    void *selves[BENCH_CONTENDERS];
    double ns[BENCH_CONTENDERS][BENCH_ROUNDS], medians[BENCH_CONTENDERS];
    struct bench_setup setup = setup_for(t, load);
    open_all(t, selves);
    for (int round = -1; round < t->rounds; round++) { /* -1: fills the cache */
        for (int c = 0; c < t->count; c++) {
            double took = measure(t->contenders[c], selves[c], load, &setup);
            if (round >= 0)
                ns[c][round] = took;
        }
    }
    close_all(t, selves);
    for (int c = 0; c < t->count; c++)
        medians[c] = bench_median(ns[c], (size_t)t->rounds);
    row(t, load->name, medians);
}

void bench_table_calls(const struct bench_table *t, const struct bench_load *load)
{
    static const char *const names[] = {"  alloc, p50", "  alloc, p99.9", "  free, p50",
                                        "  free, p99.9"};
    static double ns[4][BENCH_CONTENDERS][BENCH_ROUNDS];
    void *selves[BENCH_CONTENDERS];
    struct bench_setup setup = setup_for(t, load);
    open_all(t, selves);
    for (int round = -1; round < t->rounds; round++) {
        for (int c = 0; c < t->count; c++) {
            struct bench_calls calls;
            bench_calls_ns(t->contenders[c], selves[c], load, &setup, &calls);
            const double got[] = {calls.take_p50, calls.take_p999, calls.give_p50, calls.give_p999};
            for (int i = 0; i < 4 && round >= 0; i++)
                ns[i][c][round] = got[i];
        }
    }
    close_all(t, selves);
    printf("  %s\n", load->name);
    for (int i = 0; i < 4; i++) {
        double medians[BENCH_CONTENDERS];
        for (int c = 0; c < t->count; c++)
            medians[c] = bench_median(ns[i][c], (size_t)t->rounds);
        row(t, names[i], medians);
    }
}
