/* SPDX-License-Identifier: Apache-2.0
 *
 * Failed allocations grouped by call site, kind and cause, with the first of each group: a program
 * that retries for ever fails the same way thousands of times. Memory: at most
 * VS_FAILURE_GROUPS_MAX groups. Not thread-safe. */
#ifndef VS_FAILURE_GROUPS_H
#define VS_FAILURE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"

#define VS_FAILURE_GROUPS_MAX 64

struct vs_failure_group {
    struct vs_failure first;
    uint64_t count;
    uint64_t last_event, last_ns;
    uint64_t smallest, largest; /* requested */
};

/* Zero-initialise. */
struct vs_failure_groups {
    struct vs_failure_group items[VS_FAILURE_GROUPS_MAX]; /* in the order of their first */
    size_t count, latest;
    uint64_t left_out; /* failures of further groups */
};

/* vs_failure_groups_add: counts *failure* of a replay. */
void vs_failure_groups_add(struct vs_failure_groups *groups, const struct vs_failure *failure);

/* vs_failure_group_recovered: the program went on after the last failure of *group*. */
bool vs_failure_group_recovered(const struct vs_failure_group *group,
                                const struct vs_replay *replay);

#endif
