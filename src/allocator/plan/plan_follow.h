/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in its plan is a program? One follower per stream: it is told the size of
 * every request and says which entry of the plan the request is, if any. A request
 * that is not the one expected is looked for among the next few; one too many is
 * passed over; after that the follower is lost, and finds itself again when the
 * last requests equal as many anywhere in the plan, the nearest place ahead first.
 * It cannot be wrong in a harmful way: what an entry says is advice (plan.h).
 *
 * Not thread-safe: the full lock guards it. Host memory: from mmap, made
 * once. Cost of a request that follows: one comparison. */
#ifndef VS_PLAN_FOLLOW_H
#define VS_PLAN_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/plan/plan.h"

#define VS_FOLLOW_RUN 16u  /* requests that must be equal to be found again */
#define VS_FOLLOW_SKIP 8u  /* requests that may be missing */
#define VS_FOLLOW_EXTRA 4u /* requests too many, one after another */

struct vs_follow {
    const struct vs_plan_stream *stream;
    const struct vs_plan_entry *entries; /* of the stream */
    uint32_t count;                      /* prologue and period */
    uint32_t next;                       /* expected; count: the plan is over */
    uint32_t extra;                      /* unexpected ones since the last expected */
    bool lost;
    uint32_t recent[VS_FOLLOW_RUN]; /* sizes in granules, a ring */
    uint64_t requests;
    /* for every place after VS_FOLLOW_RUN requests of the plan: by their hash the last
     * such place, and for each the one before with the same hash */
    uint32_t *heads, *links;
    uint32_t head_mask;
    uint64_t followed, deviated, resynchronised;
};

/* vs_follow_init: at the start of stream number *stream* of a plan, which must outlive
 * it. VS_ERR_NOMEM. */
enum vs_err vs_follow_init(struct vs_follow *follow, const struct vs_plan *plan,
                           uint32_t stream) VS_MUST_CHECK;
/* A zeroed one may be freed. */
void vs_follow_free(struct vs_follow *follow);

/* vs_follow_request: the entry that a request of *bytes* (above 0) is; NULL when it is
 * none. Counts it as followed or deviated. */
const struct vs_plan_entry *vs_follow_request(struct vs_follow *follow, uint64_t bytes);

#endif
