/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes checkpoints: a trace is read once from start to end, and its state is saved at intervals,
 * in the trace itself (which is rewritten) or in the cache. */
#ifndef VS_CHECKPOINT_BUILD_H
#define VS_CHECKPOINT_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/read/reader.h"

/* Smaller traces need no checkpoints: they are read fast enough. */
#define VS_CHECKPOINT_TRACE_EVENTS ((uint64_t)4 << 20)

struct vs_checkpoint_options {
    uint64_t interval;   /* minimum number of events between two; 0 = 1 Mi */
    unsigned share;      /* percent of the trace for all checkpoints; 0 = 10 */
    uint64_t bytes_max;  /* limit of the trace's size with them; 0 = none */
    /* called regularly; false: stop */
    bool (*progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

struct vs_checkpoint_result {
    uint64_t count, bytes, events; /* checkpoints, their size, events of the trace */
};

/* vs_checkpoint_into_trace: rewrites the trace at *path* with new checkpoints, replacing those it
 * has. Until it returns VS_OK the trace is unchanged. VS_ERR_STATE: stopped by progress, with *why*
 * ""; VS_ERR_LIMIT: it would be larger than bytes_max. On failure *why* (VS_READER_WHY_MAX bytes)
 * receives one line. */
enum vs_err vs_checkpoint_into_trace(const char *path, const struct vs_checkpoint_options *options,
                                     struct vs_checkpoint_result *result, char *why)
    VS_MUST_CHECK;

/* vs_checkpoint_recorded: the same for a trace just recorded, if it has an end and at least
 * *events_min* events, and stays within the size limit of its recording. VS_OK also when it gets
 * none for one of these reasons. */
enum vs_err vs_checkpoint_recorded(const char *path, uint64_t events_min,
                                   const struct vs_checkpoint_options *options,
                                   char *why) VS_MUST_CHECK;

/* vs_checkpoint_need: makes *reader* use checkpoints: the trace's, cached ones, or new ones, which
 * are cached. VS_OK also where there are none (the cache cannot be written): then the reader has to
 * read more. None are made for traces of fewer than *events_min* events. VS_ERR_STATE: stopped by
 * progress; VS_ERR_NOMEM. The position is lost. */
enum vs_err vs_checkpoint_need(struct vs_reader *reader, uint64_t events_min,
                               const struct vs_checkpoint_options *options) VS_MUST_CHECK;

/* vs_size_limit: the size limit of the trace during recording (--max-trace-size) in bytes; 0: none. Later
 * additions, names and checkpoints, may exceed it; the command that adds them says so. Changes the reader's
 * position. */
uint64_t vs_size_limit(struct vs_reader *reader);

#endif
