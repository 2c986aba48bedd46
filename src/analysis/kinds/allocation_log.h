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

#include "analysis/checkpoint/trace_state.h"
#include "analysis/growth/growth.h"
#include "analysis/kinds/modules.h"
#include "analysis/naming/kind.h"
#include "analysis/naming/stack_names.h"
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
    struct vs_module_scope module;    /* of a tensor; length 0: none */
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

/* vs_allocations_read: reads the trace from its start and passes on every allocation when it ends;
 * those that are live at the trace's end follow, the oldest first. *symbols* (may be NULL) is for
 * kinds. *steps* (may be NULL), which were found (growth/growth.h), are the steps of allocations
 * that are in no marked one. *observer* (may be NULL) follows the same reading. *end* receives the
 * state at its end, which the caller closes; NULL after an error, which is that of the reading, of
 * *take* or of *observer*. */
enum vs_err vs_allocations_read(struct vs_reader *reader, struct vs_symbols *symbols,
                                const struct vs_growth_steps *steps, vs_allocation_take *take,
                                void *context, const struct vs_observer *observer,
                                struct vs_replay **end) VS_MUST_CHECK;

#endif
