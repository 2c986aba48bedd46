/* SPDX-License-Identifier: Apache-2.0
 *
 * The failed allocations of a trace, one for each request of the program: PyTorch asks the driver
 * again after it has emptied its cache, before it raises its error. Those that the program
 * recovered from are the replay's, as for the post-mortem. Not thread-safe. */
#ifndef VS_FIT_FAILURES_H
#define VS_FIT_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"
#include "base/vs_err.h"

struct vs_fit_refused {
    uint64_t event; /* 1-based: the last one that belongs to it */
    uint64_t time_ns; /* of the first attempt, in the trace's clock */
    uint64_t requested, missing, free_bytes, error, stack, mark; /* as vs_fit_failure */
    bool framework, other_error;
    unsigned account;
    uint32_t tid;
    struct vs_place place;
    uint64_t asked;      /* of the driver */
    bool open;           /* further attempts may follow */
};

/* Zero-initialise. */
struct vs_fit_failures {
    struct vs_fit_refused *items;
    size_t count, capacity;
    bool may_be_open; /* some item is */
    bool framework[VS_DEVICES_MAX]; /* by account: it reported tensors */
    /* settled, by account: [0] failures that the program recovered from, [1] those that the
     * framework handled by emptying its cache */
    uint64_t recovered[VS_DEVICES_MAX][2];
};

/* vs_fit_failures_event: *event* was just applied to *replay*. Failures of host memory are left
 * out. */
void vs_fit_failures_event(struct vs_fit_failures *failures, const struct vs_replay *replay,
                           const struct vs_event *event);

/* vs_fit_failures_settle: counts and drops the failures that the program recovered from so far, and
 * of each storm all but the first. *at_end*: no event follows. */
void vs_fit_failures_settle(struct vs_fit_failures *failures, const struct vs_replay *replay,
                            bool at_end);

/* vs_fit_failures_first: the first settled failure on *account*, out of memory before other errors;
 * NULL without one. */
const struct vs_fit_refused *vs_fit_failures_first(const struct vs_fit_failures *failures,
                                                   unsigned account);

void vs_fit_failures_free(struct vs_fit_failures *failures);

#endif
