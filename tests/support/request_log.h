/* SPDX-License-Identifier: Apache-2.0
 *
 * A program from the allocator's view: requests, frees and uses on other streams, by id and in
 * order, without any placement. Comes from a recorded trace or from a generator (workloads.h);
 * benchmarks and tests run every policy with it. Blocks that were live when a trace began are
 * requested at the start. */
#ifndef REQUEST_LOG_H
#define REQUEST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_kind { REQUEST_ALLOC, REQUEST_FREE, REQUEST_RECORD };

struct request {
    enum request_kind kind;
    uint32_t id;           /* of the block, from 0, each used once */
    uint64_t size, stream; /* ALLOC: requested bytes; RECORD: the stream that uses it */
};

struct request_log {
    struct request *requests;
    size_t count, max;
    size_t initial;    /* this many at the start were already live */
    uint32_t id_count;
    uint64_t *sizes;   /* by id */
    size_t size_max;
};

/* The functions that extend a log end the program if there is no memory. */
uint32_t request_log_alloc(struct request_log *log, uint64_t size, uint64_t stream);
void request_log_free_block(struct request_log *log, uint32_t id);
void request_log_record(struct request_log *log, uint32_t id, uint64_t stream);
void request_log_clear(struct request_log *log);

/* Parses the output of snapshot_to_events.py. Exits with a message if it cannot be read, has an unknown
 * line, or frees a block that is not live. */
void request_log_load(const char *path, struct request_log *log);

/* request_log_peak: peak of live requested bytes: no allocator can do with less. The lower bound of
 * every table. */
uint64_t request_log_peak(const struct request_log *log);

/* A hash of every field of every request, the same on every machine. */
uint64_t request_log_hash(const struct request_log *log);

#endif
