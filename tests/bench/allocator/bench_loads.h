/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads of the benchmark: lists of requests and frees. A load starts and ends with nothing
 * allocated, so it can be run repeatedly. */
#ifndef BENCH_LOADS_H
#define BENCH_LOADS_H

#include <stddef.h>
#include <stdint.h>

struct bench_op {
    uint64_t bytes; /* 0: free the block in the slot */
    uint64_t slot;
};

struct bench_load {
    char name[48];
    struct bench_op *ops;
    size_t count;
    uint64_t slots; /* blocks live at the same time, at most */
    uint64_t *free_slots; /* while it is built */
    size_t free_count;
};

/* One block of *bytes*, *pairs* times. */
void bench_load_pairs(struct bench_load *load, const char *name, uint64_t bytes, size_t pairs);
/* 2000 blocks of 1 B to 32 MiB, one of which is replaced at a time. */
void bench_load_working_set(struct bench_load *load);
/* Serving a language model: sequences of mixed lengths, with growing caches. */
void bench_load_serving(struct bench_load *load);
/* A transformer trained on batches of different lengths. */
void bench_load_lengths(struct bench_load *load);
/* The output of snapshot_to_events.py, including blocks live at its start. Exits with a message if
 * the file is invalid. */
void bench_load_trace(struct bench_load *load, const char *path);
/* A program of support/workloads.h with its first seed, on one stream. */
extern const char *const bench_programs[]; /* the last followed by NULL */
void bench_load_program(struct bench_load *load, const char *name);
void bench_load_free(struct bench_load *load);

#endif
