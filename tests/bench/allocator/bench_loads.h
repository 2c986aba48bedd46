/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark's workloads: lists of requests and frees. A load starts and ends with nothing
 * allocated, so it can be run repeatedly. */
#ifndef BENCH_LOADS_H
#define BENCH_LOADS_H

#include <stddef.h>
#include <stdint.h>

struct bench_op {
    uint64_t bytes; /* 0: free the slot's block */
    uint64_t slot;
};

struct bench_load {
    char name[48];
    struct bench_op *ops;
    size_t count;
    uint64_t slots; /* maximum of live blocks */
    uint64_t *free_slots; /* used while it is built */
    size_t free_count;
};

/* One block of *bytes*, allocated and freed *pairs* times. */
void bench_load_pairs(struct bench_load *load, const char *name, uint64_t bytes, size_t pairs);
/* 2000 blocks of 1 B to 32 MiB, one of which is replaced at a time. */
void bench_load_working_set(struct bench_load *load);
/* The output of snapshot_to_events.py, including the blocks live at its start. Exits with a message
 * when the file cannot be used. */
void bench_load_trace(struct bench_load *load, const char *path);
/* A program of support/workloads.h with its first seed, on one stream. */
extern const char *const bench_programs[]; /* those that only policies run; the last is NULL */
void bench_load_program(struct bench_load *load, const char *name);
void bench_load_free(struct bench_load *load);

#endif
