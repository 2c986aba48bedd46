/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as an allocator sees it: requests, frees and uses on other streams, by
 * id and in order, free of any placement. Comes from a recorded trace or from a
 * generator (workloads.h); benches and tests drive every policy with it. What was
 * alive when a trace began is requested at its first instant. */
#ifndef REQUEST_LOG_H
#define REQUEST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum request_kind { REQUEST_ALLOC, REQUEST_FREE, REQUEST_RECORD };

struct request {
    enum request_kind kind;
    uint32_t id;           /* of the block, from 0, each given once */
    uint64_t size, stream; /* ALLOC: bytes asked for; RECORD: the stream that uses it */
};

struct request_log {
    struct request *requests;
    size_t count, max;
    size_t initial;    /* this many at the start are what was alive already */
    uint32_t id_count;
    uint64_t *sizes;   /* by id */
};

/* The functions that grow a log end the program when there is no memory. */
uint32_t request_log_alloc(struct request_log *log, uint64_t size, uint64_t stream);
void request_log_free_block(struct request_log *log, uint32_t id);
void request_log_record(struct request_log *log, uint32_t id, uint64_t stream);
void request_log_clear(struct request_log *log);

/* From the text of snapshot_to_events.py or of `workload`. Exits with a message
 * when it cannot be read, has a line not understood, or frees what is not alive. */
void request_log_load(const char *path, struct request_log *log);

/* The text of a log: ids, from 1, are its addresses. What was alive at the start is
 * requested first, for a text names no segments that could hold it. */
void request_log_print(const struct request_log *log, FILE *out);

/* request_log_peak: the most bytes alive at once, as asked for: no allocator can
 * do with less. The lower bound of every table. */
uint64_t request_log_peak(const struct request_log *log);

/* A hash of every field of every request, the same on every machine. */
uint64_t request_log_hash(const struct request_log *log);

#endif
