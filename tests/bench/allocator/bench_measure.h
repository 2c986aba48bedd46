/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a load on a contender with one to four threads and measures it: the time over all pairs, or
 * that of each single call. The threads are created once and reused, so that an allocator's own
 * per-thread state is warm. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>

#include "bench_contender.h"
#include "bench_loads.h"

#define BENCH_THREADS 4

struct bench_setup {
    int threads;       /* 1 to BENCH_THREADS, each running the whole load */
    bool stream_each;  /* thread n works on stream n; otherwise all on stream 0 */
    size_t laps;       /* over the load, each */
};

struct bench_calls { /* ns: median and 99.9th percentile */
    double take_p50, take_p999, give_p50, give_p999;
};

/* ns of all laps divided by the number of pairs of all threads: wall time, or for one thread its
 * CPU time. */
double bench_pairs_ns(const struct bench_contender *contender, void *self,
                      const struct bench_load *load, const struct bench_setup *setup);
/* The same where each thread passes its blocks to the next one, which frees them. *load*: only its
 * requests are used; at most a queue's length is waiting. */
double bench_handoff_ns(const struct bench_contender *contender, void *self,
                        const struct bench_load *load, const struct bench_setup *setup);
/* Each call between two readings of the clock, whose cost is included. */
void bench_calls_ns(const struct bench_contender *contender, void *self,
                    const struct bench_load *load, const struct bench_setup *setup,
                    struct bench_calls *out);

/* One lap in the calling thread, on stream 0; for counting instructions. */
void bench_lap(const struct bench_contender *contender, void *self, const struct bench_load *load);

#endif
