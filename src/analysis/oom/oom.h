/* SPDX-License-Identifier: Apache-2.0
 *
 * Post-mortem of a failed allocation: where the device's bytes were at that
 * moment, why the request could not be met, and what would have met it, every
 * figure worked out from the trace. Facts and a verdict only; viewer/report/oom_words.h
 * puts them into sentences. Read-only after vs_oom_build. */
#ifndef VS_OOM_H
#define VS_OOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"
#include "base/vs_err.h"

enum vs_verdict {
    VS_VERDICT_CAPACITY,      /* the work needs more than the device has */
    VS_VERDICT_FRAGMENTATION, /* enough is free, in pieces too small */
    VS_VERDICT_GROWTH,        /* something keeps more at the end of every step */
    VS_VERDICT_SPIKE,         /* one allocation unlike any before */
    VS_VERDICT_OTHERS,        /* other processes hold the device, by its own word */
    VS_VERDICT_OUTSIDE,       /* other processes or contexts hold the device, not told apart */
    VS_VERDICT_LIMIT,         /* the option limit was reached; the device had more */
    VS_VERDICT_REFUSED,       /* the device refused though it said that enough was free */
    VS_VERDICT_ABSURD,        /* no device could hold the request: a wrong size */
    VS_VERDICT_HOST,          /* page-locked host memory, not the device's */
    VS_VERDICT_COUNT
};
/* vs_verdict_name: "true_capacity", "fragmentation", "growth_per_step", … as in
 * the JSON; static storage. */
const char *vs_verdict_name(enum vs_verdict verdict);

enum vs_remedy_kind {
    VS_REMEDY_FREE_GROWTH,    /* bytes = kept by growing sites; other = bytes per step */
    VS_REMEDY_AVOID_SPIKE,    /* bytes = the spike; other = peak of the earlier steps */
    VS_REMEDY_USE_HOLES,      /* bytes = free in all; other = largest piece */
    VS_REMEDY_RELEASE_CACHE,  /* bytes = whole segments cached and empty */
    VS_REMEDY_STOP_OTHERS,    /* bytes = held outside, or by others where they are known */
    VS_REMEDY_SMALLER_STEP,   /* bytes = half of what the step under way allocated; other = all */
    VS_REMEDY_SHRINK_SITE,    /* bytes = half of what the heaviest site holds; other = all */
    VS_REMEDY_SMALLER_REQUEST,/* bytes = the largest request that would have been met */
    VS_REMEDY_BIGGER_DEVICE,  /* bytes = least capacity for this request beside what is held */
    VS_REMEDY_RAISE_LIMIT,    /* bytes = least limit for this request; other = the limit */
    VS_REMEDY_LIFT_LIMIT,     /* bytes = what the device said was free */
    VS_REMEDY_FIX_SIZE,       /* bytes = the request */
};

struct vs_remedy {
    enum vs_remedy_kind kind;
    uint64_t bytes, other;
    bool fits; /* this alone would have let the request succeed */
};
#define VS_REMEDIES_MAX 8

struct vs_oom {
    struct vs_report_failure failure;
    uint64_t number;        /* which failure of the trace this is, from 1 */
    uint64_t total_failures;
    const char *device_name;
    bool ended;             /* nothing but the end came after (no later step, no later success) */
    uint64_t need;          /* what had to come from the device: the request as rounded */
    uint64_t total;         /* device; 0 when not known */
    uint64_t free_bytes;    /* as the device said, or total - reserved */
    bool free_known;        /* the device said it */
    uint64_t reserved, allocated, cached, largest_hole, holes, empty_bytes;
    uint64_t outside;       /* context, modules, other processes: total - free - reserved */
    uint64_t limit;         /* the option limit, when it was nearer than the device's end: total,
                               free_bytes and outside are then those of the limit; else 0 */
    uint64_t device_total, device_free; /* then the device's own; 0 when not known */
    struct vs_balance balance; /* then; its parts add up to what was not free. Not known where
                                  the device did not say, or the limit was nearer */
    uint64_t missing;       /* need - free - empty segments; 0 when that is enough */
    uint64_t family[VS_FAMILY_COUNT]; /* live bytes then */
    struct vs_report_sites sites;     /* live then */
    struct vs_report_sites growing;   /* of those, the ones that grow every step */
    uint64_t growth_bytes, growth_per_step, growth_since; /* summed over all that grow */
    uint64_t steps_begun, steps_done;
    bool in_step;           /* a step was under way */
    uint64_t step_bytes;    /* live then and allocated in that step, or since the last one ended */
    uint64_t steps_peak;    /* highest allocated in completed steps */
    uint64_t earlier_peak;  /* highest allocated before the failure */
    uint64_t spike_bytes;   /* the allocation that stands out; 0 = none */
    uint64_t spike_next;    /* the largest other single allocation up to the last completed step */
    bool spike_is_request;  /* it is the failed request; else a live allocation */
    struct vs_report_site spike_site; /* meaningful when spike_bytes and not the request */
    enum vs_verdict verdict;
    struct vs_remedy remedies[VS_REMEDIES_MAX]; /* best first */
    size_t remedy_count;
    struct vs_arena memory; /* owns the strings and lists */
};

/* vs_oom_build: diagnose failure *nth* of the trace (from 1; 0 = the last one
 * that the program did not get over, or the last). *report* is that of the same
 * reader. VS_ERR_NOT_FOUND when the trace has no such failure (or no longer keeps
 * it: the latest 256 are kept); VS_ERR_NOMEM. Ownership: vs_oom_free. Cost: one
 * pass up to the failure. */
enum vs_err vs_oom_build(struct vs_reader *reader, const struct vs_report *report, uint64_t nth,
                         struct vs_oom **out) VS_MUST_CHECK;

void vs_oom_free(struct vs_oom *oom); /* NULL does nothing */

#endif
