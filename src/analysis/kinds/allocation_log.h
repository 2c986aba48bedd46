/* SPDX-License-Identifier: Apache-2.0
 *
 * Every allocation of a trace with its whole life, for formats with a row for each: passed on when it
 * ends, those that are live at the end of the reading last. At the user's level (user_level.h): a
 * framework's tensors, and memory that does not hold them; memory of the host as well. Tensors have
 * their kind. Memory: the live set. Not thread-safe. */
#ifndef VS_ALLOCATION_LOG_H
#define VS_ALLOCATION_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/checkpoint/trace_span.h"
#include "analysis/growth/growth.h"
#include "analysis/naming/stack_names.h"
#include "analysis/naming/kind.h"
#include "analysis/state/replay.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

enum vs_allocation_end {
    VS_ALLOCATION_LIVE = 0, /* at the end of the reading */
    VS_ALLOCATION_FREED,
    VS_ALLOCATION_LOST,     /* its context was destroyed */
};

struct vs_allocation_life {
    uint64_t addr, requested, size;
    uint64_t born_ns, ended_ns;       /* since the start; ended_ns 0: live */
    uint64_t born_event, ended_event; /* numbers in the trace, from 1; ended_event 0: live */
    enum vs_allocation_end end;
    struct vs_stack_of site;
    uint32_t site_index;              /* in the replay's sites: equal for equal sites */
    bool host;                        /* memory of the host: *device* has no meaning */
    unsigned account;                 /* index in the replay */
    uint64_t device;                  /* the trace's number */
    uint64_t context, stream;         /* 0: default, or not recorded */
    uint32_t tid;
    unsigned family;
    bool tensor;                      /* has a kind */
    bool counted;                     /* included in its device's allocated bytes */
    enum vs_kind kind;
    struct vs_place place;
};

/* Which allocations are wanted. Zero-initialised: all. */
struct vs_allocation_filter {
    const struct vs_time_window *window; /* those that were live at some time in it; NULL: all */
    bool one_device;                     /* only memory of *device*, none of the host */
    uint64_t device;                     /* the trace's number */
};

/* vs_allocation_wanted: *start_ns* is the start of the trace. */
bool vs_allocation_wanted(const struct vs_allocation_filter *filter,
                          const struct vs_allocation_life *allocation, uint64_t start_ns);

/* Receives an allocation; *replay* is as before its end. Any error ends the reading. */
typedef enum vs_err vs_allocation_take(void *context, const struct vs_replay *replay,
                                       const struct vs_allocation_life *allocation);

struct vs_allocation_log;

/* vs_allocation_log_open: *symbols* (may be NULL) is for kinds. VS_ERR_NOMEM. */
enum vs_err vs_allocation_log_open(const struct vs_reader *reader, struct vs_symbols *symbols,
                                   vs_allocation_take *take, void *context,
                                   struct vs_allocation_log **out) VS_MUST_CHECK;

/* vs_allocation_log_steps: *steps*, which were found (growth/growth.h) and must outlive the log, are
 * the steps of allocations that are in no marked one. */
void vs_allocation_log_steps(struct vs_allocation_log *log, const struct vs_growth_steps *steps);

/* vs_allocation_log_event: the next event; all of them, from the first. VS_ERR_NOMEM, or what *take*
 * returned. */
enum vs_err vs_allocation_log_event(struct vs_allocation_log *log, const struct vs_event *event)
    VS_MUST_CHECK;

/* vs_allocation_log_finish: after the last event: passes on what is still live, the oldest first.
 * Errors as above. */
enum vs_err vs_allocation_log_finish(struct vs_allocation_log *log) VS_MUST_CHECK;

/* vs_allocation_log_replay: the state so far. */
const struct vs_replay *vs_allocation_log_replay(const struct vs_allocation_log *log);

void vs_allocation_log_close(struct vs_allocation_log *log); /* NULL does nothing */

#endif
