/* SPDX-License-Identifier: Apache-2.0
 *
 * Post-mortem of a failed allocation: the use of the device's memory at the failure, why the
 * request failed, and what would have let it succeed; every figure is computed from the trace.
 * Facts first, then a verdict with its sentences (verdict.h), which the renderers print. Read-only
 * after vs_oom_build. */
#ifndef VS_OOM_H
#define VS_OOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"
#include "base/vs_err.h"

struct vs_oom;

/* One cause of a failed allocation: its rule, text, evidence and remedies. */
struct vs_verdict {
    const char *name;  /* "true_capacity", as in the JSON */
    const char *words; /* the heading: "true capacity: …" */
    /* Whether the facts in *oom* match this cause; called when no earlier one in the table
     * applies. */
    bool (*applies)(const struct vs_oom *oom);
    /* Adds evidence and remedies to *oom*, with the functions of verdict.h. */
    void (*explain)(struct vs_oom *oom);
};

struct vs_evidence {
    const char *text;
    bool against; /* it weakens the verdict */
};
#define VS_EVIDENCE_MAX 8

struct vs_remedy {
    const char *kind; /* "bigger_device", as in the JSON */
    const char *text;
    uint64_t bytes;
    bool fits; /* this alone would have let the request succeed */
};
#define VS_REMEDIES_MAX 8

struct vs_oom {
    struct vs_report_failure failure;
    const char *line;       /* the user's Python line of the failure; NULL or "": none. Set by the
                             * caller, who owns it */
    uint64_t number;        /* number of the failure in the trace, from 1 */
    uint64_t total_failures;
    const char *device_name;
    bool ended;             /* only the end came after it (no later step, no later success) */
    uint64_t need;          /* bytes needed from the device: the rounded request */
    uint64_t total;         /* device memory; 0 when unknown */
    uint64_t free_bytes;    /* as reported by the device, or total - reserved */
    bool free_known;        /* reported by the device */
    uint64_t reserved, allocated, cached, largest_hole, holes, empty_bytes;
    uint64_t outside;       /* context, modules, other processes: total - free - reserved */
    uint64_t limit;         /* the option limit, when it was reached before the device's end: total,
                             * free_bytes and outside are then those of the limit; otherwise 0 */
    uint64_t device_total, device_free; /* then the device's own; 0 when unknown */
    struct vs_balance balance; /* at the failure; its parts add up to the memory that was not free.
                                * Unknown where the device did not report it, or the limit was
                                * reached first */
    uint64_t missing;       /* need - free - empty segments; 0 when that is enough */
    uint64_t family[VS_FAMILY_COUNT]; /* live bytes at the failure */
    struct vs_report_sites sites;     /* live at the failure */
    struct vs_report_sites growing;   /* of those, the ones that grow every step */
    uint64_t growth_bytes, growth_per_step, growth_since; /* summed over all growing sites */
    uint64_t steps_begun, steps_done;
    bool in_step;           /* a step was in progress */
    uint64_t step_bytes;    /* live at the failure and allocated in that step, or since the last one
                             * ended */
    uint64_t steps_peak;    /* peak of allocated in completed steps */
    uint64_t earlier_peak;  /* peak of allocated before the failure */
    uint64_t steps_largest; /* largest single allocation in completed steps */
    uint64_t largest;       /* largest single allocation ever */
    uint64_t freed_bytes;   /* sum of all frees before */
    uint64_t request_before; /* largest at the failing call site, this step excluded */
    uint64_t step_largest;  /* largest live allocation of the current step; 0 = none */
    uint64_t step_largest_before; /* largest at its call site, this step excluded */
    struct vs_report_site step_largest_site;
    uint64_t spike_bytes;   /* verdict single spike: the exceptional allocation */
    bool spike_is_request;  /* it is the failed request; otherwise step_largest */
    const struct vs_verdict *verdict;
    struct vs_evidence evidence[VS_EVIDENCE_MAX];
    size_t evidence_count;
    struct vs_remedy remedies[VS_REMEDIES_MAX]; /* those that suffice alone first */
    size_t remedy_count;
    bool no_memory; /* some text is missing; used only until vs_oom_build returns */
    struct vs_arena memory; /* owns the strings and lists */
};

/* vs_oom_is_out_of_memory: the error was out of memory, of CUDA or of PyTorch. */
bool vs_oom_is_out_of_memory(const struct vs_report_failure *failure);

/* vs_oom_build: diagnoses failure *nth* of the trace (from 1; 0 = of those that are out of memory,
 * or of all if there are none, the last one that the program did not recover from, or the last).
 * *report* is that of the same reader. VS_ERR_NOT_FOUND when the
 * trace has no such failure (or it is not among the latest 256, which are stored); VS_ERR_NOMEM.
 * Ownership: vs_oom_free. Cost: one pass up to the failure. */
enum vs_err vs_oom_build(struct vs_reader *reader, const struct vs_report *report, uint64_t nth,
                         struct vs_oom **out) VS_MUST_CHECK;

void vs_oom_free(struct vs_oom *oom); /* NULL does nothing */

#endif
