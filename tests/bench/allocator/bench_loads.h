/* SPDX-License-Identifier: Apache-2.0
 *
 * What the benchmark asks of an allocator: lists of requests and frees. A load
 * starts and ends with nothing allocated, so it can be run again and again. */
#ifndef BENCH_LOADS_H
#define BENCH_LOADS_H

#include <stddef.h>
#include <stdint.h>

struct bench_op {
    uint64_t bytes; /* 0: give back what the slot holds */
    uint64_t slot;
};

struct bench_load {
    char name[48];
    struct bench_op *ops;
    size_t count;
    uint64_t slots; /* as many at once, at most */
    uint64_t *free_slots; /* while it is built */
    size_t free_count;
};

/* One block of *bytes*, *pairs* times over. */
void bench_load_pairs(struct bench_load *load, const char *name, uint64_t bytes, size_t pairs);
/* 2000 blocks of 1 B to 32 MiB, one of which is replaced at a time. */
void bench_load_working_set(struct bench_load *load);
/* A language model served: sequences of mixed lengths come and go, their caches grow. */
void bench_load_serving(struct bench_load *load);
/* A transformer trained on batches of another length each time. */
void bench_load_lengths(struct bench_load *load);
/* What snapshot_to_events.py wrote, the blocks that lived before included. Exits with
 * a message when the file cannot be used. */
void bench_load_trace(struct bench_load *load, const char *path);
/* A program of support/workloads.h with its first seed, on one stream. */
extern const char *const bench_programs[]; /* the last followed by NULL */
void bench_load_program(struct bench_load *load, const char *name);
void bench_load_free(struct bench_load *load);

#endif
