/* SPDX-License-Identifier: Apache-2.0
 *
 * The first of many identical failures. A replay keeps its latest 256 failures; of those
 * that it drops, this keeps the first one of each kind and size that the program has not recovered
 * from, and counts the others. Memory: at most VS_FAILURE_FIRSTS_MAX failures. Not thread-safe. */
#ifndef VS_FAILURE_FIRSTS_H
#define VS_FAILURE_FIRSTS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"
#include "base/vs_err.h"

#define VS_FAILURE_FIRSTS_MAX 64

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
    struct vs_failure dropped; /* the latest */
    bool may_drop;             /* the event that is being applied */
};

/* vs_failure_identical: same request at the same call site, with the same result. */
bool vs_failure_identical(const struct vs_failure *a, const struct vs_failure *b);

/* vs_failure_firsts_before, _after: *replay* is about to apply *event*, and has applied it; of events with
 * VS_PROPERTY_FAILS both, of allocations and ranges the second. _after: *dropped* receives the failure that
 * the replay no longer keeps because of *event*, valid until the next call, or NULL. */
void vs_failure_firsts_before(struct vs_failure_firsts *firsts, const struct vs_replay *replay,
                              const struct vs_event *event);
void vs_failure_firsts_after(struct vs_failure_firsts *firsts, const struct vs_replay *replay,
                             const struct vs_event *event, const struct vs_failure **dropped);

/* vs_failure_firsts_settle: the program recovered from item *index* and those like it. */
void vs_failure_firsts_settle(struct vs_failure_firsts *firsts, size_t index);

#endif
