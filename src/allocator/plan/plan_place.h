/* SPDX-License-Identifier: Apache-2.0
 *
 * The compact policy with a plan: one range per stream of the plan, in which a matching request
 * gets its planned place if that is free. Otherwise the range is like any other: its free memory
 * serves other requests, is lent to views, and is released to the device under pressure. So a wrong
 * plan only loses its savings. The caller holds the full lock. */
#ifndef VS_PLAN_PLACE_H
#define VS_PLAN_PLACE_H

#include "allocator/plan/plan_follow.h"

struct vs_allocator;
struct vs_block;
struct vs_request;

struct vs_plan_lane {
    struct vs_follow follow;
    uint64_t stream; /* the program's n-th stream, n being the lane's number */
    uint64_t range;  /* its address; 0: not made yet. May be released: looked up each time */
};

struct vs_plan_use {
    struct vs_plan plan;
    uint32_t bound; /* lanes with a stream */
    uint64_t placed, occupied, refused;
    struct vs_plan_lane lanes[VS_PLAN_STREAMS_MAX];
};

/* vs_planned_take_locked: the program's next request: a TAKEN block at its planned place, or NULL:
 * it is not in the plan, its place is not free, or the device is out of memory. Must be called once
 * for every request. */
struct vs_block *vs_planned_take_locked(struct vs_allocator *allocator,
                                        const struct vs_request *request);

void vs_plan_use_free(struct vs_plan_use *use); /* NULL does nothing */

#endif
