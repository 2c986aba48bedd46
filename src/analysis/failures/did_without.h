/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures after which the program went on, although nothing as large was allocated later: known
 * only at the trace's end. */
#ifndef VS_DID_WITHOUT_H
#define VS_DID_WITHOUT_H

#include "analysis/failures/failure_firsts.h"
#include "analysis/state/replay.h"
#include "trace/symbols/symbols.h"

/* The event of the latest allocation, at any level, by device index. Zero-initialise. */
struct vs_latest_allocations {
    uint64_t event[VS_HOST_INDEX + 1];
};

/* vs_latest_allocations_event: *event* was just applied to *replay*. */
void vs_latest_allocations_event(struct vs_latest_allocations *latest,
                                 const struct vs_replay *replay, const struct vs_event *event);

/* vs_did_without: marks failures of *replay* as recovered, and settles those of *firsts*: those out of
 * memory that an allocation on the same device followed, in a program that ended without an error
 * (*ended_well*); and workspaces that a library did without, because PyTorch catches the error and
 * takes a smaller one or another algorithm: its thread then allocated or requested something else,
 * or the program ended without an error; and where the program ended with a failure that its thread
 * allocated nothing after, several identical others after each of which their thread allocated
 * memory. VS_ERR_NOMEM. */
enum vs_err vs_did_without(struct vs_replay *replay, struct vs_failure_firsts *firsts,
                           struct vs_symbols *symbols, const struct vs_latest_allocations *latest,
                           bool ended_well) VS_MUST_CHECK;

#endif
