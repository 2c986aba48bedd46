/* SPDX-License-Identifier: Apache-2.0
 *
 * Making checkpoints: a trace is read once from start to end, and at intervals its state is
 * put down, into the trace itself (which is written anew) or into the cache. */
#ifndef VS_CHECKPOINT_BUILD_H
#define VS_CHECKPOINT_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/read/reader.h"

/* Traces below this need none: they are read in no time. */
#define VS_CHECKPOINT_TRACE_EVENTS ((uint64_t)4 << 20)

struct vs_checkpoint_options {
    uint64_t interval;   /* events between two at least; 0 = 1 Mi */
    unsigned share;      /* percent of the trace that they may take in all; 0 = 10 */
    uint64_t bytes_max;  /* of the trace with them; 0 = any */
    /* called now and then; false: stop */
    bool (*progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

struct vs_checkpoint_result {
    uint64_t count, bytes, events; /* checkpoints, what they take, events of the trace */
};

/* vs_checkpoint_into_trace: write the trace at *path* anew with checkpoints (instead of those
 * it has). Until it returns VS_OK the trace is as it was. VS_ERR_STATE: stopped by progress,
 * *why* then ""; VS_ERR_LIMIT: it would be larger than bytes_max. On failure *why*
 * (VS_READER_WHY_MAX bytes) holds one line. */
enum vs_err vs_checkpoint_into_trace(const char *path, const struct vs_checkpoint_options *options,
                                     struct vs_checkpoint_result *result, char *why)
    VS_MUST_CHECK;

/* vs_checkpoint_recorded: the same for a trace just recorded, when it has an end and at least
 * *events_min* events, and only where it stays within the size it was recorded with. VS_OK also
 * where it got none for one of these reasons. */
enum vs_err vs_checkpoint_recorded(const char *path, uint64_t events_min,
                                   const struct vs_checkpoint_options *options,
                                   char *why) VS_MUST_CHECK;

/* vs_checkpoint_need: have *reader* use checkpoints: the trace's, those kept in the cache, or
 * new ones, kept there. VS_OK also where none can be had (the cache cannot be written): then
 * the reader has none, and reads more. Traces of fewer than *events_min* events get none made.
 * VS_ERR_STATE: stopped by progress; VS_ERR_NOMEM. The position is lost. */
enum vs_err vs_checkpoint_need(struct vs_reader *reader, uint64_t events_min,
                               const struct vs_checkpoint_options *options) VS_MUST_CHECK;

#endif
