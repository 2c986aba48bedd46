/* SPDX-License-Identifier: Apache-2.0
 *
 * Failed allocations, with the memory held at that time, and whether the program recovered. A replay keeps
 * the latest ones. Of those that it forgets, it keeps the first of each kind and size that the program has
 * not recovered from, and counts the others. Not thread-safe. */
#ifndef VS_FAILURES_H
#define VS_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/phases.h"
#include "trace/symbols/symbols.h"

#define VS_DEVICES_MAX 64
#define VS_HOST_INDEX VS_DEVICES_MAX /* the host's own account */
#define VS_FAILURES_KEPT 256         /* the latest ones */
#define VS_FAILURE_FIRSTS_MAX 64
#define VS_FAILURE_GROUPS_MAX 64

struct vs_replay;

struct vs_failure {
    uint64_t event;   /* 1-based index */
    uint64_t time_ns;
    uint32_t tid;
    bool framework;   /* the framework raised it (framework_oom): *requested* and *stack* are those
                       * of its block; otherwise an alloc_failed that no framework reported */
    bool answered;    /* the thread allocated something since */
    bool workspace;   /* of a library, which did without it: found at the trace's end only */
    bool recovered;   /* the program continued: it allocated as much later, or a later step ended */
    unsigned account; /* device index, or VS_HOST_INDEX */
    unsigned family;
    unsigned overhead; /* 0: an allocation; otherwise 1 + the enum vs_overhead_what that was refused:
                        * *requested* is 0 then, its size is unknown */
    /* With *framework*: family, error, api, context and stream are those of the device's refusal just
     * before; family device and the others 0 if the device was not asked. */
    uint64_t requested, context, stream, api, stack, error;
    uint64_t mark;             /* string id of the line marked then ("at FILE:LINE"); 0: none */
    uint64_t device_requested; /* bytes of the device's refused request; 0: it was not asked */
    uint64_t device_event;     /* its 1-based index (the last one) */
    uint64_t device_stack;
    uint64_t attempts;         /* refusals by the device; a framework empties its cache in between */
    /* 0/0 when the device did not report them. With *framework*: free when it raised the failure */
    uint64_t device_free, device_total;
    uint64_t allocated, reserved;       /* of the device at that time */
    uint64_t step_begun;                /* steps begun by then */
    struct vs_place place;
};

/* The first of many identical failures that are no longer kept. */
struct vs_failure_first {
    struct vs_failure failure;
    uint64_t number; /* among all failures of the trace, from 1 */
    uint64_t more;   /* identical ones that were dropped, too */
};

/* Zero-initialise. */
struct vs_failure_firsts {
    struct vs_failure_first items[VS_FAILURE_FIRSTS_MAX]; /* by number */
    size_t count;
    uint64_t recovered[VS_HOST_INDEX + 1]; /* dropped ones that the program recovered from, by device
                                            * index */
};

/* vs_failure_identical: same request at the same call site, with the same result. */
bool vs_failure_identical(const struct vs_failure *a, const struct vs_failure *b);

/* vs_did_without: at the trace's end, marks failures of *replay* after which the program went on although
 * nothing as large was allocated later as recovered: those out of memory that an allocation on the same
 * device followed, in a program that ended without an error (*ended_well*); and workspaces that a library
 * did without, because PyTorch catches the error and takes a smaller one or another algorithm: its thread
 * then allocated or requested something else, or the program ended without an error; and where the program
 * ended with a failure that its thread allocated nothing after, several identical others after each of
 * which their thread allocated memory. */
void vs_did_without(struct vs_replay *replay, struct vs_symbols *symbols, bool ended_well);

/* Failures grouped by call site, kind and cause, with the first of each group: a program that retries for
 * ever fails the same way thousands of times. */
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

void vs_failure_groups_add(struct vs_failure_groups *groups, const struct vs_failure *failure);

/* vs_failure_group_recovered: the program went on after the last failure of *group*. */
bool vs_failure_group_recovered(const struct vs_failure_group *group,
                                const struct vs_replay *replay);

#endif
