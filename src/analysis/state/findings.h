/* SPDX-License-Identifier: Apache-2.0
 *
 * `finding` events, grouped by kind, error and stack: refused frees, and what the checker of the
 * simulated GPU found. Of a refused free, also what the address was: from the events before it. */
#ifndef VS_FINDINGS_H
#define VS_FINDINGS_H

#include <stddef.h>

#include "base/vs_err.h"
#include "trace/format/event.h"
#include "trace/read/reader.h"

#define VS_FINDINGS_MAX 64

/* What the address of a refused free was then. */
enum vs_freed_what {
    VS_FREED_UNKNOWN,  /* no allocation in the trace */
    VS_FREED_TWICE,    /* freed before */
    VS_FREED_INSIDE,   /* inside a live allocation, not its start */
    VS_FREED_LIVE,     /* the start of a live allocation */
};

struct vs_finding_group {
    struct vs_event_finding first;
    uint64_t count, addrs; /* *addrs*: 1, or 2 for several */
    uint64_t event, first_ns, last_ns; /* *event*: of the first, from 1 */
    uint32_t tid;
    enum vs_freed_what freed;
    struct vs_event_alloc alloc; /* unless freed is UNKNOWN */
    uint64_t alloc_ns, freed_ns, freed_api; /* freed_api: string id */
};

/* Zero-initialise. */
struct vs_finding_groups {
    struct vs_finding_group items[VS_FINDINGS_MAX]; /* in the order of their first */
    size_t count;
    uint64_t left_out; /* findings of further groups */
};

/* vs_findings_add: counts *event*, number *number* of the trace. */
void vs_findings_add(struct vs_finding_groups *groups, const struct vs_event *event,
                     uint64_t number);

/* vs_findings_explain: reads the trace again, from its start, to find the allocations of refused
 * frees; nothing if there are none. The reader's position is changed. VS_ERR_NOMEM. */
void vs_findings_explain(struct vs_finding_groups *groups, struct vs_reader *reader);

/* --- failed allocations counted by device, family and CUDA error code: not every failure is out of memory;
 * and the names of the codes, because traces store numbers --- */

#define VS_CUDA_OUT_OF_MEMORY 2
#define VS_CUDA_ERROR_TEXT_MAX 64
#define VS_REFUSALS_MAX 64 /* kinds of failure that are counted; others are ignored */

struct vs_refusal {
    bool host; /* host memory; device is 0 then */
    uint64_t device;
    unsigned family;
    uint64_t error, count;
};

struct vs_refusals {
    struct vs_refusal items[VS_REFUSALS_MAX];
    size_t count;
};

/* vs_refusal_add: counts one failure. *family*: as in the trace, any number. */
void vs_refusal_add(struct vs_refusals *refusals, uint64_t device, uint64_t family, uint64_t error);

/* vs_cuda_error_name: writes "CUDA_ERROR_INVALID_VALUE" for 1, "CUDA error 12345" for an unknown
 * code, to *out*, which has VS_CUDA_ERROR_TEXT_MAX bytes. Returns *out*. */
char *vs_cuda_error_name(char *out, uint64_t error);
#define vs_error_text(error) vs_cuda_error_name((char[VS_CUDA_ERROR_TEXT_MAX]){""}, error)

#endif
