/* SPDX-License-Identifier: Apache-2.0
 *
 * From a program's requests to a plan of all placements: receives the requests and frees of one
 * device in order, finds the repetition of each stream, packs the blocks, and makes the bytes of a
 * plan file (allocator/plan/plan_format.h). Streams get memory of their own: only within a stream
 * is work on a block guaranteed to be complete when the next one uses its memory. Not thread-safe.
 */
#ifndef VS_PLANNER_H
#define VS_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/plan/plan_format.h"
#include "base/vs_err.h"

struct vs_planner;

/* Of each stream so many requests are kept to find the repetition; what comes later counts for its
 * peak only. */
#define VS_PLANNER_REQUESTS_MAX (UINT32_C(1) << 24)

/* Memory of blocks used by other streams counts as in use for this many more requests and frees,
 * because their work has to finish first. */
#define VS_PLANNER_LAG 64u

enum vs_err vs_planner_open(struct vs_planner **out) VS_MUST_CHECK;
/* *block*: an id (above 0) for a block until it is freed, such as its address. VS_ERR_NOMEM;
 * VS_ERR_STATE when the id is in use. 0 bytes are not a request. */
enum vs_err vs_planner_alloc(struct vs_planner *planner, uint64_t block, uint64_t bytes,
                             uint64_t stream) VS_MUST_CHECK;
/* VS_ERR_NOT_FOUND: no such block. */
enum vs_err vs_planner_free(struct vs_planner *planner, uint64_t block) VS_MUST_CHECK;
/* Records that another stream uses the block too. */
enum vs_err vs_planner_record(struct vs_planner *planner, uint64_t block) VS_MUST_CHECK;
/* The memory that the policy reserves without a plan (analysis/whatif); 0, the initial value:
 * unknown. A plan that needs as much places no blocks. */
void vs_planner_set_unplanned(struct vs_planner *planner, uint64_t bytes);
void vs_planner_close(struct vs_planner *planner); /* NULL does nothing */

/* Why a stream is planned as one sequence, without a period. */
enum vs_plan_why {
    VS_PLAN_REPEATS,      /* it is not */
    VS_PLAN_WHOLE,        /* requested */
    VS_PLAN_NO_PERIOD,    /* no sequence of sizes is repeated exactly, and often enough */
    VS_PLAN_PEAK_OUTSIDE, /* more is in use at the peak than in any repetition */
    VS_PLAN_LIVES_DIFFER  /* for the longest lives of all repetitions, too much would be needed */
};

struct vs_plan_summary_stream {
    uint64_t stream, requests, placed;
    uint32_t prologue, period, repeats;
    uint64_t bound_bytes, peak_bytes; /* of this stream */
    enum vs_plan_why why;
    uint32_t found_period, found_repeats; /* that was not used; 0: none */
    uint64_t found_bytes; /* of VS_PLAN_PEAK_OUTSIDE the most that a repetition has in use; of
                           * VS_PLAN_LIVES_DIFFER what its plan would need */
};

struct vs_plan_summary {
    uint64_t requests, live_bytes; /* peak of live bytes, in requested sizes */
    uint64_t planned_bytes;        /* sum over streams, in whole pages */
    uint64_t unplanned_streams;    /* beyond VS_PLAN_STREAMS_MAX */
    bool no_gain; /* the policy needs no more without a plan: no blocks are placed */
    bool too_long; /* likewise, because a stream that does not repeat has too many requests */
    uint32_t stream_count;
    struct vs_plan_summary_stream streams[VS_PLAN_STREAMS_MAX];
};

/* The source of a trace, as recorded in it. */
struct vs_plan_identity {
    const char *program; /* base name; truncated to 63 bytes */
    uint32_t device;
    uint64_t device_bytes;
};

/* vs_planner_build: the plan of everything recorded so far, as the bytes of a file; the caller
 * frees them. *whole*: do not look for repetition. VS_ERR_NOMEM; VS_ERR_LIMIT when it is too large
 * for a plan. */
enum vs_err vs_planner_build(struct vs_planner *planner, const struct vs_plan_identity *identity,
                             bool whole, void **bytes, size_t *size,
                             struct vs_plan_summary *summary) VS_MUST_CHECK;

#endif
