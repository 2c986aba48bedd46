/* SPDX-License-Identifier: Apache-2.0
 *
 * The compact policy by a plan: one range per stream of the plan, in which a request
 * that follows gets its planned place, if that is really free at the moment. All else
 * about the range is as of any other: what is free in it serves other requests, is
 * lent to views, and goes back to the device under pressure. So a wrong plan costs
 * nothing but what it was meant to save. The caller holds the full lock. */
#ifndef VS_PLAN_PLACE_H
#define VS_PLAN_PLACE_H

#include "allocator/plan/plan_follow.h"

struct vs_allocator;
struct vs_block;
struct vs_request;

struct vs_plan_lane {
    struct vs_follow follow;
    uint64_t stream; /* the lane is that of the program's n-th stream */
    uint64_t range;  /* its address; 0: not made yet. May be gone: looked up each time */
};

struct vs_plan_use {
    struct vs_plan plan;
    uint32_t bound; /* lanes that have a stream */
    uint64_t placed, occupied, refused;
    struct vs_plan_lane lanes[VS_PLAN_STREAMS_MAX];
};

/* vs_planned_take_locked: the program's next request: a TAKEN block in its planned
 * place, or NULL: it is not in the plan, or its place is not free, or cannot have memory.
 * To be called once for every request. */
struct vs_block *vs_planned_take_locked(struct vs_allocator *allocator,
                                        const struct vs_request *request);

void vs_plan_use_free(struct vs_plan_use *use); /* NULL does nothing */

#endif
