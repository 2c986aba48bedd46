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

#include "analysis/kinds/kinds.h"
#include "analysis/report/report.h"
#include "analysis/state/reading.h"
#include "base/vs_err.h"

struct vs_oom;

/* One cause of a failed allocation: its rule, text, evidence and remedies. */
struct vs_verdict {
    const char *name;  /* "true_capacity", as in the JSON */
    const char *words; /* the heading: "true capacity: …" */
    const char *noun;  /* of a share: "memory kept in every iteration"; NULL: it has none */
    /* Whether the facts in *oom* are this cause and no other, whatever the device had; or how many
     * more bytes the device would have had for the request without this cause (0: it had no part); or
     * where these are in struct vs_oom, if they are live memory of the program (with *recovers*, which
     * decides then, too). None: the rest, when no cause explains the failure. */
    bool (*decides)(const struct vs_oom *oom);
    uint64_t (*recovers)(const struct vs_oom *oom);
    size_t live;
    /* Whether it has a part only where the program has run without it. */
    bool has_run;
    /* The kind of the remedy that comes first, if it fits or there is no other way; NULL: none does. */
    const char *remedy;
    /* Whether it is a cause only where no other one is enough. */
    bool last_resort;
    /* Adds evidence and remedies to *oom*, with the functions of verdict.h. */
    void (*explain)(struct vs_oom *oom);
    /* The call site to name, or a list that it is the first of: offsets in struct vs_oom. Without one,
     * or a site without memory: the one that failed. */
    const struct vs_report_site *(*culprit)(const struct vs_oom *oom);
    size_t site, sites;
};

/* A cause with a share in the failure. */
struct vs_oom_cause {
    const struct vs_verdict *verdict;
    uint64_t bytes;  /* that the device would have had without it */
    bool enough;     /* with these alone the request would have fitted */
    bool suspected;  /* the program has run at that level, or it is a tenth of the device */
    const struct vs_report_site *culprit; /* the call site that holds most of it; NULL: none known */
};
#define VS_CAUSES_MAX 12

struct vs_evidence {
    const char *text;
    bool against; /* it weakens the verdict */
};
#define VS_EVIDENCE_MAX 20

struct vs_remedy {
    const char *kind; /* "bigger_device", as in the JSON */
    const char *text;
    uint64_t bytes;
    bool fits; /* this alone would have let the request succeed */
    bool replayed; /* the trace's requests were run with it; otherwise an estimate */
};
#define VS_REMEDIES_MAX 14

#define VS_OOM_STACKS_MAX 20
#define VS_ALSO_MAX 2

/* Stack ids of the blocks of a cause; smaller blocks of the same stack are not of it. */
struct vs_oom_stacks {
    uint64_t stack[VS_OOM_STACKS_MAX], bytes_min[VS_OOM_STACKS_MAX];
    size_t count;
};

/* Cached memory at the failure: the free pieces of the segments of a caching allocator, vramscope's
 * or a framework's, by whether the failed request could have used them. */
struct vs_cache_census {
    bool framework;        /* of the framework's allocator */
    uint64_t segments, segment_bytes, used_bytes;
    uint64_t scattered;    /* in pieces that are too small for the request, beside live blocks */
    uint64_t largest, pieces; /* of those */
    uint64_t withheld;     /* of other streams, or large enough for the request and still not used:
                            * another private pool's, or still in use by another stream */
    uint64_t withheld_largest;
    uint64_t other_streams; /* the part of it that is certainly of other streams */
    uint64_t private_pools; /* the part that is of private pools: PyTorch uses and releases all else
                             * before it reports a failure */
    uint64_t unreleased;    /* of a request that was not made to the framework: its unused segments,
                             * which it returns to the device before a request of its own fails */
    uint64_t other_class;   /* large enough, in segments that a request of this size is not served
                             * from: neither scattered nor withheld */
    uint32_t pin_site;     /* + 1: site of the live blocks beside most of the scattered bytes */
    uint32_t withheld_site; /* + 1: likewise of the withheld bytes, or the site that allocated segments
                             * without live blocks; 0: none */
};

struct vs_oom {
    struct vs_report_failure failure;
    const char *line;       /* the user's Python line of the failure; NULL or "": none */
    uint64_t number;        /* number of the failure in the trace, from 1 */
    uint64_t total_failures;
    const char *device_name;
    bool ended;             /* only the end came after it (no later step, no later success) */
    uint64_t need;          /* bytes needed from the device: the rounded request */
    bool need_at_least;     /* a lower bound: the driver does not say how much it needed */
    uint64_t total;         /* device memory; 0 when unknown */
    uint64_t free_bytes;    /* as reported by the device, or total - reserved */
    bool free_known;        /* reported by the device */
    uint64_t reserved, allocated, cached, largest_hole, holes, empty_bytes;
    uint64_t outside;       /* context, modules, other processes: total - free - reserved */
    uint64_t beside_pool;   /* free on the device, but not for requests to a pool with a limit of its own */
    uint64_t limit;         /* the option limit, when it was reached before the device's end: total,
                             * free_bytes and outside are then those of the limit; otherwise 0 */
    uint64_t device_total, device_free; /* then the device's own; 0 when unknown */
    struct vs_balance balance; /* at the failure; its parts add up to the memory that was not free.
                                * Unknown where the device did not report it, or the limit was
                                * reached first */
    uint64_t missing;       /* need - free - empty segments; 0 when that is enough */
    bool missing_unknown;   /* missing is 0, but the device did not say how much was free */
    uint64_t family[VS_FAMILY_COUNT]; /* live bytes at the failure */
    struct vs_report_sites sites;     /* live at the failure */
    uint64_t live, live_peak; /* of the user's level: a framework's tensors and memory outside of
                               * it, or all allocations; the highest before */
    struct vs_report_sites growing;   /* call sites that keep memory; growth_* are their sums */
    uint64_t growth_bytes;            /* with the driver's rounding */
    uint64_t growth_count, growth_since, growth_since_ns;
    uint64_t growth_repeats;          /* of a loop without marked steps that it grew in; 0: none */
    bool growth_replaced;             /* it is one buffer, which a larger one replaces each time */
    struct vs_report_site growth_keeper; /* of a graph in a loop without marks: the line whose result
                                          * holds it; count 0: not known */
    bool growth_passes;               /* these are backward passes without an optimizer's step, or */
    bool growth_inputs;               /* the inputs of a first step */
    bool growth_forward;              /* most of it may be made by a forward pass, */
    bool growth_graph;                /* and is kept as a graph for a backward pass */
    uint64_t growth_times;            /* of the site that kept memory most often */
    uint64_t growth_each;             /* mean bytes each time */
    uint64_t growth_per_step;         /* mean bytes; 0: without steps */
    uint64_t growth_every;            /* it grows every so many steps; 0: irregular, or the sites differ */
    bool growth_pins;        /* most holes of the cache lie beside blocks of a growing site */
    uint64_t steps_found;    /* without marks: completed ones, found from the repeating requests */
    uint64_t steps_begun, steps_done;
    bool in_step;           /* a step was in progress */
    uint64_t step_bytes;    /* live at the failure and allocated in that step, or since the last one
                             * ended */
    uint64_t steps_peak;    /* peak of allocated in completed steps */
    uint64_t steps_largest; /* largest single allocation in completed steps */
    uint64_t largest;       /* largest single allocation after the program first freed memory */
    uint64_t freed_bytes;   /* sum of all frees before */
    /* of the live blocks of the step in progress and the request, those larger than any that their
     * call site allocated in completed steps; larger_beyond: their bytes above that */
    uint64_t larger_count, larger_bytes, larger_beyond;
    struct vs_report_site larger_site; /* of the first block that is larger by at least half of
                                        * what all of them are, in proportion */
    uint64_t larger_first, larger_usual; /* its bytes; the most in completed steps */
    /* what is live of the allocations since the last completed step is of call sites that no
     * completed step had: the bytes of these and the request; 0: not so */
    uint64_t after_bytes, after_graph; /* after_graph: activations among them */
    uint64_t after_copies;             /* parameters among them: of copies of a model */
    struct vs_report_sites after_sites;
    struct vs_report_site after_caller; /* what they have in common */
    bool new_line;           /* completed steps made no request at the failing call site */
    uint64_t request_before; /* largest at the failing call site, this step excluded */
    uint64_t request_first; /* first request of a call site whose requests became larger throughout;
                             * 0: none */
    uint64_t rising_last;   /* the last one: the failed one, if it is the failing call site */
    struct vs_report_site rising_site;
    uint64_t spike_bytes;   /* the exceptional allocations of one step; 0: none */
    uint64_t spike_count;   /* how many, the failed request included */
    uint64_t spike_peak;    /* peak of allocated before them */
    bool spike_is_request;  /* the failed request is one of them */
    struct vs_report_site spike_site;   /* of the request, or of most bytes */
    struct vs_report_sites spike_sites; /* of all */
    struct vs_cache_census cache;
    const char *requester;  /* the library that made the request */
    bool withheld_live; /* withheld_site: of live blocks, not of segments */
    uint64_t pools_releasable; /* of the unused bytes of stream-ordered pools; the rest is beside live
                                * blocks */
    /* of the live blocks beside its free pieces; withheld_site may have allocated empty segments */
    struct vs_report_site pin_site, withheld_site;
    uint64_t library_bytes;    /* live in allocations of libraries outside the framework */
    const char *library;       /* the one with most of them; "" */
    bool has_framework;
    struct vs_report_site library_site, rounded_site, pool_site; /* count 0: unknown */
    struct vs_report_site context_site; /* took most memory of contexts, modules and limits, the first
                                         * context excepted; count 0: unknown */
    uint64_t contexts_made;    /* contexts that it created */
    uint64_t context_excess;   /* contexts, modules and limits beyond one usual context */
    bool loads_lazily;         /* the driver's default */
    bool went_on;              /* the program allocated again after the failure, and ended well */
    uint64_t repeated;         /* identical failures after it */
    uint64_t failures_recovered; /* of all */
    struct vs_kind_sum kinds[VS_KIND_COUNT]; /* of a framework's live tensors, by vs_oom_kinds */
    uint64_t kinds_total;      /* 0: unknown */
    struct vs_oom_cause causes[VS_CAUSES_MAX]; /* the verdict's first, then by bytes */
    size_t cause_count;
    const struct vs_verdict *verdict;
    const struct vs_verdict *refusal; /* of a failure that the program recovered from: what would be
                                       * the verdict; otherwise NULL */
    const struct vs_verdict *second; /* only together with it the cause is sufficient; NULL */
    size_t second_evidence; /* index of its first evidence */
    /* other causes without which the request fits, too, those with most bytes; they are explained */
    const struct vs_oom_cause *also[VS_ALSO_MAX];
    size_t also_count;
    struct vs_oom_stacks growth_stacks, spike_stacks;
    const struct vs_report_site *culprit; /* the call site to look at */
    struct vs_evidence evidence[VS_EVIDENCE_MAX];
    size_t evidence_count;
    struct vs_remedy remedies[VS_REMEDIES_MAX]; /* replayed ones that are enough first */
    size_t remedy_count;
    struct vs_arena memory; /* owns the strings and lists */
};

/* vs_oom_is_out_of_memory: the error was out of memory, of CUDA or of PyTorch. */
bool vs_oom_is_out_of_memory(const struct vs_report_failure *failure);

/* vs_oom_event: the event of the failure that vs_oom_build diagnoses with *nth* 0; 0: there is none. */
uint64_t vs_oom_event(const struct vs_report *report);

/* Keeps what a diagnosis needs of the events before a failure: an observer of the reading of a
 * report, which gets the peaks below as its `chosen` and vs_oom_watch_begin as its `begin`, and
 * whose state stays open until the diagnosis is made. *nth*: as of vs_oom_build. */
struct vs_oom_watch;
struct vs_oom_watch *vs_oom_watch_open(uint64_t nth);
struct vs_observer vs_oom_watch_observer(struct vs_oom_watch *watch);
const struct vs_peak *vs_oom_watch_peaks(const struct vs_oom_watch *watch);
void vs_oom_watch_begin(void *watch, struct vs_replay *replay,
                        const struct vs_growth_tracker *growth);
void vs_oom_watch_close(struct vs_oom_watch *watch); /* NULL does nothing */

/* vs_oom_build: diagnoses failure *nth* of the trace (from 1; 0 = of those that are out of memory,
 * or of all if there are none, the last one that the program did not recover from, or the last).
 * *report* is that of the same reader, and *watch* of its reading, or NULL. VS_ERR_NOT_FOUND when the
 * trace has no such failure (or it is neither among the latest 256, nor the first of its kind and
 * size before these). Ownership: vs_oom_free. Cost: without *watch*, and where another failure was kept,
 * for one of host memory for example, one reading up to the failure. */
enum vs_err vs_oom_build(struct vs_reader *reader, const struct vs_report *report,
                         struct vs_oom_watch *watch, uint64_t nth, struct vs_oom **out) VS_MUST_CHECK;

/* vs_oom_replay: tries remedies of *oom* by replay, and replaces estimates by what they reached. The
 * position of *reader* is lost. Cost: reads the trace twice up to the failure, and runs its requests about
 * ten times, in parallel. */
void vs_oom_replay(struct vs_oom *oom, struct vs_reader *reader);

/* vs_oom_kinds: adds the kinds of a framework's live tensors. Cost: reads the whole trace where the failure
 * was not kept; then the position of *reader* is lost. */
void vs_oom_kinds(struct vs_oom *oom, struct vs_reader *reader);

void vs_oom_free(struct vs_oom *oom); /* NULL does nothing */

#endif
