/* SPDX-License-Identifier: Apache-2.0
 *
 * The failed allocations of a trace, one for each request of the program: PyTorch asks the driver
 * again after it has emptied its cache, before it raises its error. Not thread-safe. */
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
    bool framework, other_error, recovered;
    unsigned account;
    uint32_t tid;
    struct vs_place place;
    uint64_t asked;      /* of the driver */
    uint64_t level;      /* memory in use at that time */
    uint64_t step_begun; /* steps begun by then */
    bool open;           /* further attempts may follow */
};

/* Zero-initialise. */
struct vs_fit_failures {
    struct vs_fit_refused *items;
    size_t count, capacity;
    size_t unsettled; /* items that are not recovered */
    bool framework[VS_DEVICES_MAX]; /* by account: it reported tensors */
};

/* vs_fit_failures_event: *event* was just applied to *replay*; *mark* is the one in force. Failures
 * of host memory are left out. VS_ERR_NOMEM. */
enum vs_err vs_fit_failures_event(struct vs_fit_failures *failures, const struct vs_replay *replay,
                                  const struct vs_event *event, uint64_t mark) VS_MUST_CHECK;

/* vs_fit_failures_first: the first failure on *account* that the program did not recover from, out
 * of memory before other errors; NULL without one. */
const struct vs_fit_refused *vs_fit_failures_first(const struct vs_fit_failures *failures,
                                                   unsigned account);

/* vs_fit_failures_recovered: how many the program recovered from: *retries*, those that the
 * framework handled by emptying its cache; otherwise the others. */
uint64_t vs_fit_failures_recovered(const struct vs_fit_failures *failures, unsigned account,
                                   bool retries);

void vs_fit_failures_free(struct vs_fit_failures *failures);

#endif
