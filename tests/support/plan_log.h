/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan of a program given as a request log, and an independent check of it: does it ever place
 * two live blocks at overlapping addresses? */
#ifndef PLAN_LOG_H
#define PLAN_LOG_H

#include "allocator/plan/plan.h"
#include "analysis/plan/planner.h"
#include "support/request_log.h"

struct plan_log {
    void *bytes; /* of the file */
    size_t size;
    struct vs_plan plan;
    struct vs_plan_summary summary;
};

/* plan_log_make: *whole* as for vs_planner_build. plan_log_free ends it. */
enum vs_err plan_log_make(const struct request_log *log, bool whole, struct plan_log *out)
    VS_MUST_CHECK;
void plan_log_free(struct plan_log *plan);

struct plan_log_check {
    uint64_t placed, unplaced; /* requests */
    uint64_t overlaps;         /* placements on top of a living block */
    uint64_t outside;          /* of them, not inside the stream's memory */
    uint64_t peak[VS_PLAN_STREAMS_MAX]; /* bytes, highest end by stream */
};

/* plan_log_examine: runs the log by the plan; each stream's requests are numbered, modulo the
 * period. */
void plan_log_examine(const struct request_log *log, const struct plan_log *plan,
                      struct plan_log_check *out);

#endif
