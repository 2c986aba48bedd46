/* SPDX-License-Identifier: Apache-2.0
 *
 * Building blocks of the generators: random integers (splitmix64), requests in order, and lists of
 * blocks that are freed together. */
#ifndef WORKLOAD_BUILD_H
#define WORKLOAD_BUILD_H

#include "support/request_log.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

struct workload {
    struct request_log *log;
    uint64_t random;
    uint64_t stream; /* of requests made now */
};

/* Zero-initialise; list_free ends it. */
struct block_list {
    uint32_t *ids;
    size_t count, max;
};

/* 0..n-1 */
uint64_t random_below(struct workload *w, uint64_t n);
/* From a distribution given by *count* quantiles at equal distances: linear between. */
uint64_t random_quantile(struct workload *w, const uint32_t *quantiles, size_t count);

uint32_t take(struct workload *w, uint64_t bytes);
void give(struct workload *w, uint32_t id);
/* Allocates a block and adds it to a list. */
uint32_t keep(struct workload *w, struct block_list *list, uint64_t bytes);
void list_add(struct block_list *list, uint32_t id);
/* Frees the last *count*, the youngest first, or all in order of allocation. */
void give_last(struct workload *w, struct block_list *list, size_t count);
void give_all(struct workload *w, struct block_list *list);
void list_free(struct block_list *list);

/* Blocks that exist now were live when the program's trace began. */
void workload_begins(struct workload *w);

void workload_varlen(struct workload *w);
void workload_serving(struct workload *w);
void workload_moe(struct workload *w);
void workload_fragmentation(struct workload *w);
void workload_fragmentation_large(struct workload *w);
void workload_streams(struct workload *w);

#endif
