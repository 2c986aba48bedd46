/* SPDX-License-Identifier: Apache-2.0
 *
 * See the headers. */
#include "support/workloads.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "support/workload_build.h"

static const struct {
    const char *name;
    void (*make)(struct workload *w);
    uint64_t salt; /* programs of one seed have nothing in common */
} table[] = {
    {"varlen", workload_varlen, 0x76},   {"serving", workload_serving, 0x73},
    {"moe", workload_moe, 0x6d},         {"fragmentation", workload_fragmentation, 0x66},
    {"fragmentation_large", workload_fragmentation_large, 0x67},
    {"streams", workload_streams, 0x7a},
};

const char *const workload_names[] = {"varlen", "serving", "moe", "fragmentation",
                                      "fragmentation_large", "streams", NULL};

bool workload_make(const char *name, uint64_t seed, struct request_log *log)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            struct workload w = {log, seed * 256 + table[i].salt, 0};
            memset(log, 0, sizeof *log);
            table[i].make(&w);
            return true;
        }
    }
    return false;
}

uint64_t random_below(struct workload *w, uint64_t n)
{
    uint64_t x = w->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((x ^ (x >> 31)) >> 32) * n >> 32;
}

uint64_t random_quantile(struct workload *w, const uint32_t *quantiles, size_t count)
{
    uint64_t at = random_below(w, (count - 1) * 1024);
    uint64_t low = quantiles[at / 1024], high = quantiles[at / 1024 + 1];
    return low + (high - low) * (at % 1024) / 1024;
}

uint32_t take(struct workload *w, uint64_t bytes)
{
    return request_log_alloc(w->log, bytes, w->stream);
}

void give(struct workload *w, uint32_t id)
{
    request_log_free_block(w->log, id);
}

void list_add(struct block_list *list, uint32_t id)
{
    *(uint32_t *)vs_vec_push(&list->ids, &list->count, &list->max, sizeof id) = id;
}

uint32_t keep(struct workload *w, struct block_list *list, uint64_t bytes)
{
    uint32_t id = take(w, bytes);
    list_add(list, id);
    return id;
}

void give_last(struct workload *w, struct block_list *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        give(w, list->ids[--list->count]);
}

void give_all(struct workload *w, struct block_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        give(w, list->ids[i]);
    list->count = 0;
}

void list_free(struct block_list *list)
{
    free(list->ids);
    *list = (struct block_list){0};
}

void workload_begins(struct workload *w)
{
    w->log->initial = w->log->count;
}
