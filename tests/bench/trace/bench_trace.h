/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of bench_trace. */
#ifndef VS_BENCH_TRACE_H
#define VS_BENCH_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/record/recorder.h"

#define BENCH_SLICES 200

/* bench_open: a recorder into the benchmark's one file; ends the program when it cannot be opened.
 * *python*: with Python frames. */
struct vs_recorder *bench_open(unsigned compression, unsigned depth, bool python);
extern char bench_path[256];

/* bench_record: *events* allocations and frees in the sizes and order of a training step; *stack*:
 * from one of eight call sites, about 20 native frames deep. */
void bench_record(struct vs_recorder *r, uint64_t events, const uint64_t api[2], bool stack);

/* Of *slices*: the median and the best, ns per event. Sorts them. */
struct bench_figure {
    double median, best;
};
struct bench_figure bench_figure(double *slices, unsigned count);

/* bench_python: the same under 15 Python frames, in an interpreter of this process. False when
 * there is no libpython. */
bool bench_python(uint64_t events, struct bench_figure *figure);

/* bench_snapshots: bytes per event of recorded PyTorch runs (their memory snapshots), and
 * the cost of packing and reading them. False when a run takes more than *limit* bytes per event in
 * total (0: no limit). */
bool bench_snapshots(char **paths, int count, double limit);

/* bench_read: millions of events per second read from the benchmark's file. */
double bench_read(void);

/* bench_window: writes a trace of *events* over two hours of its own time, and measures opening it
 * and reading a minute from its middle. */
void bench_window(uint64_t events);

#endif
