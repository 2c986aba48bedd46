/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of nanoseconds: a row for each load, a column for each contender, and the ratio of each to
 * the first. The contenders take turns in every round, so that other activity on the machine
 * affects all of them; figures are medians of the rounds. A row is measured and printed at once.
 * Ends the program with a message when a contender cannot be created or fails a request. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench_measure.h"

#define BENCH_CONTENDERS 6
#define BENCH_ROUNDS 25

struct bench_table {
    const struct bench_contender *contenders[BENCH_CONTENDERS];
    int count;
    int rounds;   /* 1 to BENCH_ROUNDS */
    size_t pairs; /* pairs of each thread in a round, approximately: whole laps */
    int threads;
    bool stream_each;
};

void bench_table_head(const struct bench_table *table, const char *title);

typedef double bench_measure_fn(const struct bench_contender *contender, void *self,
                                const struct bench_load *load, const struct bench_setup *setup);

/* bench_pairs_ns or bench_handoff_ns. */
void bench_table_pairs(const struct bench_table *table, const struct bench_load *load,
                       bench_measure_fn *measure);
/* Four rows: median and 99.9th percentile of the requests and of the frees. */
void bench_table_calls(const struct bench_table *table, const struct bench_load *load);

#endif
