/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's position in its plan. One follower per stream: it receives the size of every request
 * and returns the matching entry of the plan, if any. A request other than the expected one is
 * searched among the next few entries; an extra one is skipped; otherwise the follower loses its
 * position, and finds it again when the last requests equal as many anywhere in the plan, the
 * nearest position ahead first. A wrong match is harmless, because an entry is only advice
 * (plan.h).
 *
 * Not thread-safe: the full lock guards it. Host memory: from mmap, allocated once. Cost of a
 * matching request: one comparison. */
#ifndef VS_PLAN_FOLLOW_H
#define VS_PLAN_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/plan/plan.h"

#define VS_FOLLOW_RUN 16u  /* equal requests needed to find the position again */
#define VS_FOLLOW_SKIP 8u  /* requests that may be missing */
#define VS_FOLLOW_EXTRA 4u /* extra requests in a row */

struct vs_follow {
    const struct vs_plan_stream *stream;
    const struct vs_plan_entry *entries; /* of the stream */
    uint32_t count;                      /* prologue and period */
    uint32_t next;                       /* expected next; count: the end of the plan */
    uint32_t extra;                      /* extra requests since the last expected one */
    bool lost;
    uint32_t recent[VS_FOLLOW_RUN]; /* sizes in granules, a ring buffer */
    uint64_t requests;
    /* for every position after VS_FOLLOW_RUN requests of the plan: by their hash the last such
     * position, and for each the previous one with the same hash */
    uint32_t *heads, *links;
    uint32_t head_mask;
    uint64_t followed, deviated, resynchronised;
};

/* vs_follow_init: starts at the beginning of stream number *stream* of a plan, which must outlive
 * it. VS_ERR_NOMEM. */
enum vs_err vs_follow_init(struct vs_follow *follow, const struct vs_plan *plan,
                           uint32_t stream) VS_MUST_CHECK;
/* Accepts a zeroed one. */
void vs_follow_free(struct vs_follow *follow);

/* vs_follow_request: the entry for a request of *bytes* (above 0); NULL when there is none. Counts
 * it as followed or deviated. */
const struct vs_plan_entry *vs_follow_request(struct vs_follow *follow, uint64_t bytes);

#endif
