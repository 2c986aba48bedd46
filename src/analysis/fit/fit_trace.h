/* SPDX-License-Identifier: Apache-2.0
 *
 * What one trace says about the question whether its program fits: for each device the highest use
 * and who held it, and the failed allocations. Read-only after vs_fit_trace_build. */
#ifndef VS_FIT_TRACE_H
#define VS_FIT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kinds/kinds.h"
#include "analysis/report/summary.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

#define VS_FIT_HOLDERS_MAX 5

/* vs_fit_where: the label of the call site of *stack* with *mark*, as in the report
 * (vs_text_label). *native*: also of stacks without a line of the user's Python, whose names take
 * time to look up. "" when nothing is known. In the summary's arena. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native);

struct vs_fit_holder {
    const char *where; /* as vs_fit_where */
    uint64_t bytes, count;
    struct vs_site_parts parts; /* by function of an installed package that the line called */
};

struct vs_fit_holders {
    struct vs_fit_holder items[VS_FIT_HOLDERS_MAX]; /* largest first */
    size_t count;
    uint64_t total_bytes; /* of all of them, listed or not */
};

/* vs_fit_holders: which lines of the user's hold a device's memory at one event: reads the trace from
 * its start to event number *event* (from 1), that one included. *device*: the trace's number;
 * *tensors*: a framework's memory instead of the device's. Strings are in the summary's arena. Cost:
 * the live set. */
enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out) VS_MUST_CHECK;

/* A failed allocation. */
struct vs_fit_failure {
    uint64_t requested; /* 0: there is none */
    uint64_t missing;   /* bytes that the device lacked; 0: unknown, or the free ones were scattered */
    uint64_t free_bytes; /* of the device, at that time */
    uint64_t time_ns;   /* CLOCK_MONOTONIC */
    bool framework;     /* a framework's own failure, such as torch.OutOfMemoryError */
    bool other_error;   /* not out of memory */
    uint64_t error;     /* CUresult; 0 for a framework's */
    const char *place;  /* "step 2 / backward"; "" outside any range */
    const char *where;  /* as vs_fit_where */
    struct vs_fit_holders holders; /* at that time */
    struct vs_kinds_table kinds;   /* of tensors, at that time; without a list of blocks */
};

struct vs_fit_device {
    uint64_t device; /* the driver's ordinal */
    const char *name, *uuid;
    uint64_t total_bytes;
    bool tensors;            /* a framework reported its tensors: peak_allocated and holders are theirs */
    uint64_t peak_allocated; /* of tensors, or of the device's blocks */
    uint64_t peak_reserved;  /* held by the framework's allocator, or from the device */
    const char *peak_place;  /* of peak_allocated */
    struct vs_fit_holders holders;
    struct vs_kinds_table kinds; /* of tensors, at the peak */
    uint64_t held_peak;      /* highest memory held from the device by the process's allocations */
    uint64_t used_peak;      /* highest use of the device, contexts included */
    uint64_t outside;        /* of used_peak, what no allocation holds: contexts, modules */
    uint64_t recovered;      /* failures that the program recovered from */
    uint64_t retries;        /* a framework emptied its cache and tried again, with success */
    struct vs_fit_failure failure; /* the first one that the program did not recover from */
};

/* Reads of values that no kernel computed, by one call site. */
struct vs_fit_read {
    const char *where, *kernel; /* as vs_fit_where; the latest kernel that was not computed */
    uint64_t bytes, count;      /* bytes: of the first; 0: of managed memory, unknown */
};
#define VS_FIT_READS_MAX 64u /* call sites; of further ones nothing is kept */

struct vs_fit_trace {
    const char *path, *program, *rank;
    uint64_t pid, start_ns, end_ns; /* times: CLOCK_MONOTONIC */
    const struct vs_fit_device *devices; /* those where memory was allocated or refused */
    size_t device_count;
    uint64_t steps; /* completed */
    struct vs_fit_read reads[VS_FIT_READS_MAX];
    unsigned read_count;
    bool partial;   /* not every allocation is in the trace (--sample, --min-size) */
    struct vs_arena memory; /* owns all of it */
};

/* vs_fit_trace_build: reads the trace three times, and once more for each unrecovered failure.
 * *path* and *rank* are copied. Ownership: vs_fit_trace_free. */
enum vs_err vs_fit_trace_build(struct vs_reader *reader, const char *path, const char *rank,
                               struct vs_fit_trace **out) VS_MUST_CHECK;

/* vs_fit_steps: the completed steps of a trace, which may still be recorded. */
enum vs_err vs_fit_steps(struct vs_reader *reader, uint64_t *steps) VS_MUST_CHECK;

void vs_fit_trace_free(struct vs_fit_trace *trace); /* NULL does nothing */

#endif
