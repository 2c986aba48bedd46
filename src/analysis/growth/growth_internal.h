/* SPDX-License-Identifier: Apache-2.0
 *
 * The tracker's state, shared by growth.c, which follows the events, and growth_rows.c, which makes
 * the result. Private to these. */
#ifndef VS_GROWTH_INTERNAL_H
#define VS_GROWTH_INTERNAL_H

#include "analysis/growth/growth.h"
#include "analysis/growth/growth_floor.h"
#include "analysis/growth/growth_judge.h"
#include "analysis/growth/growth_loop.h"
#include "analysis/growth/growth_steps.h"

struct vs_growth_tracker {
    const struct vs_replay *replay;
    struct vs_floors floors;
    struct vs_floor_row accounts[VS_DEVICES_MAX + 1];
    uint64_t freed;              /* bytes, of all accounts */
    uint64_t kernels;            /* recorded so far */
    struct vs_step_rows marked, found;
    unsigned marked_account;
    bool marked_reports;         /* a framework reports the memory of marked_account */
    uint64_t marks_begun;        /* steps that the replay had begun */
    struct vs_loop_requests requests; /* until the first mark */
    struct vs_loop loop;
    struct vs_loop_place place;
    uint64_t searched, search_at; /* requests at the latest search, and at the next */
    struct vs_growth_row *site_rows;
    size_t site_capacity;
    uint32_t *row_of;            /* by call site: index + 1 in site_rows */
    size_t row_of_count, row_of_capacity;
    struct vs_growth_row account_rows[VS_DEVICES_MAX + 1];
};

/* vs_growth_follow_all: frees of blocks without an event of their own: a context was destroyed, or
 * another block was allocated at their address. */
void vs_growth_follow_all(struct vs_growth_tracker *tracker);

/* vs_growth_search: looks for the loop in the requests so far. */
void vs_growth_search(struct vs_growth_tracker *tracker);

#endif
