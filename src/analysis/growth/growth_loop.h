/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the loop of a program, such as its training step, in its latest requests. Every call site
 * whose requests come at regular distances may be the loop's mark. Loops are nested: layers in
 * steps, steps between evaluations. A step is the shortest of them at whose begin the live memory
 * is back at its floor: within a step it rises (forward) and falls (backward). The mark is the call
 * site that requests first after the floor. */
#ifndef VS_GROWTH_LOOP_H
#define VS_GROWTH_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_loop_request {
    uint64_t event, time_ns;
    uint64_t level; /* allocated by the account before the request */
    uint64_t size;
    uint32_t site, account;
};

#define VS_LOOP_REQUESTS_MAX ((size_t)1 << 18) /* 10 MiB */

/* The latest requests. Zero-initialise. */
struct vs_loop_requests {
    struct vs_loop_request *items; /* a ring once it has its full size */
    size_t count, capacity, first;
    uint64_t total; /* requests ever added */
};

/* vs_loop_grow: room for more requests; not more than VS_LOOP_REQUESTS_MAX. */
void vs_loop_grow(struct vs_loop_requests *requests);

/* vs_loop_add: adds a request; the oldest is dropped if there are too many. */
static inline void vs_loop_add(struct vs_loop_requests *requests,
                               const struct vs_loop_request *request)
{
    size_t at = requests->first;
    if (requests->count < VS_LOOP_REQUESTS_MAX) {
        if (requests->count == requests->capacity)
            vs_loop_grow(requests);
        at = requests->count++;
    } else {
        requests->first = (requests->first + 1) & (VS_LOOP_REQUESTS_MAX - 1);
    }
    requests->items[at] = *request;
    requests->total++;
}

/* vs_loop_at: request *index*, from 0 for the oldest kept. */
static inline const struct vs_loop_request *vs_loop_at(const struct vs_loop_requests *requests,
                                                       size_t index)
{
    size_t at = requests->first + index;
    return &requests->items[at < requests->count ? at : at - requests->count];
}

struct vs_loop {
    bool found;
    bool sized;          /* requests of other sizes at the site are not the mark */
    uint32_t site;       /* the mark */
    uint32_t begin;      /* a step begins with the first request of this site after the mark */
    uint32_t account;
    uint64_t size;
    uint64_t usual;      /* requests from mark to mark */
    uint64_t repeats;    /* in the kept requests */
    double regular;      /* share of the distances that are usual: 0 to 1 */
};

/* Where a program is in its loop. */
struct vs_loop_place {
    bool marked;        /* there was a mark */
    uint64_t marked_at; /* the request of the latest one */
    bool due;           /* the next step has not begun since */
};

/* vs_loop_begins: whether request number *request* begins a step. A mark sooner than a quarter of
 * the usual distance after the last is none. */
static inline bool vs_loop_begins(const struct vs_loop *loop, struct vs_loop_place *place,
                                  uint64_t request, uint32_t site, uint64_t size)
{
    if (site != loop->site && site != loop->begin)
        return false;
    if (site == loop->site && (!loop->sized || size == loop->size) &&
        (!place->marked || request - place->marked_at >= loop->usual / 4)) {
        place->marked = true;
        place->marked_at = request;
        place->due = true;
    }
    if (site != loop->begin || !place->due)
        return false;
    place->due = false;
    return true;
}

/* vs_loop_find: *out* is not found when nothing repeats at least three times. Cost:
 * linear in the kept requests, times at most 24 loops. */
void vs_loop_find(const struct vs_loop_requests *requests, struct vs_loop *out);

void vs_loop_free(struct vs_loop_requests *requests);

#endif
