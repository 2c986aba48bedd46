/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of a post-mortem beyond the device's figures, from the state at the failure: growth,
 * the exceptional allocation, the cache, libraries, rounding, and the call site of each. Internal to
 * this folder. */
#ifndef VS_OOM_FACTS_H
#define VS_OOM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/growth/growth.h"
#include "analysis/oom/oom.h"
#include "analysis/report/summary.h"
#include "analysis/state/replay.h"

/* --- Live memory with its births, up to a failure: by call site, the blocks that outlived
 * everything else of their site (growth), and the single block unlike all others (spike). Works at
 * the level of the user: a framework's tensors where it reports them, the device's allocations
 * otherwise. Ages are counted by a clock that advances with the program's work: completed steps
 * where the program marks them, otherwise frees. A program that only builds up its data frees
 * nothing, so its clock stands still; one that keeps something in every iteration allocates it at
 * ever new times. --- */

struct vs_history_block {
    uint64_t addr, bytes, held; /* held: taken from the device, in its pages */
    uint64_t frees;             /* the clock of frees at its birth */
    uint64_t time_ns;
    uint64_t stream;            /* of a framework's block: the framework's number of it */
    uint64_t peak_before;       /* of allocated, before its birth */
    uint32_t epoch;             /* vs_replay_epoch at its birth */
    uint32_t pass;              /* backward passes of its stretch before */
    uint32_t step;              /* the step's number */
    uint32_t site;
    uint32_t family;
    bool used;
};

/* A call site, under its index in the replay; allocs 0: it has no memory of these levels. */
struct vs_history_site {
    uint64_t stack, api;
    unsigned account;
    bool framework;
    uint64_t allocs, freed;
    uint64_t live_bytes;
    uint64_t oldest_frees, oldest_epochs, oldest_passes; /* greatest age of a freed block */
    uint64_t largest;                     /* allocation; of those larger than half of it: */
    uint64_t near;                        /* their number, or more */
    uint64_t lower;                       /* the largest of the others */
    uint64_t largest_late;                /* largest after the program first freed memory */
    uint64_t first, last;                 /* requests, without rounding: the first and the largest */
    uint64_t rises, falls;                /* requests larger than all before, smaller than the largest */
    uint64_t repeats;                     /* requests from the first on, without much smaller ones */
};

/* The requests of one level since the latest begin or end of a marked step (vs_replay_epoch). A call
 * site that requests again and again there is that of a loop without marks of its own: the one that
 * requested last before the stretch, or first in it. */
struct vs_history_stretch {
    uint32_t epoch;
    uint32_t last;             /* + 1: the site of the latest request */
    uint32_t before, first;    /* + 1: the sites of the requests before and at its begin */
    uint64_t befores, firsts;  /* requests of these sites in it; several without a free between them: one */
    uint64_t last_frees;       /* the clock of frees at the latest request */
    uint32_t phase;            /* of the latest request */
    uint32_t passes;           /* backward passes that requested memory in it, or */
    bool inputs;               /* batches of a first step that has not run so many */
};

/* Zero-initialise. */
struct vs_history {
    struct vs_history_block *blocks; /* by slot of the replay */
    size_t block_count, block_capacity;
    struct vs_history_site *sites;
    size_t site_count, site_capacity;
    /* by account and level ([0] the device's, [1] the framework's), as the peaks so far */
    uint64_t frees[VS_DEVICES_MAX + 1][2];
    uint64_t peak[VS_DEVICES_MAX + 1][2];
    struct vs_history_stretch stretch[VS_DEVICES_MAX + 1][2];
};

/* vs_history_open: follows the blocks of *replay*. vs_history_lost: a context of *account* was just destroyed.
 * vs_history_copy: *to* is zero-initialised, or an earlier copy. */
void vs_history_open(struct vs_history *history, struct vs_replay *replay);
void vs_history_lost(struct vs_history *history, const struct vs_replay *replay, unsigned account);
void vs_history_copy(struct vs_history *to, const struct vs_history *from);

/* What one call site kept. */
struct vs_history_growth {
    uint32_t site;
    uint64_t bytes, held, count; /* kept; held: with the driver's rounding */
    uint64_t times;              /* different times of the clock at which something was kept */
    uint64_t since_step;         /* number of the step of the first; meaningful with marked steps */
    uint64_t steps;              /* marked ones from that on, without the last; 0: none are marked */
    uint64_t since_ns;
    uint64_t per_time;           /* mean bytes kept at each of those times */
};

/* vs_history_growing: the sites of *account* at the user's level that keep memory, most bytes first;
 * *out* has room for *max*. Returns their number. */
size_t vs_history_growing(const struct vs_history *history, const struct vs_replay *replay,
                          unsigned account, struct vs_history_growth *out, size_t max);

/* vs_history_growing_since: likewise, of the blocks since the latest begin or end of a marked step
 * alone, by the clock of frees: growth in a loop that marks no steps, such as an evaluation after the
 * training. None, unless the requests there repeat and are not those of a step that became larger.
 * *repeats*: how often they did. *passes*: these are backward passes, which no optimizer step
 * followed; the clock counts them then. */
size_t vs_history_growing_since(const struct vs_history *history, const struct vs_replay *replay,
                                unsigned account, struct vs_history_growth *out, size_t max,
                                uint64_t *repeats, bool *passes);

/* vs_history_inputs: of a first step with few backward passes that holds several inputs of one call
 * site, these are counted in place of the passes. */
void vs_history_inputs(struct vs_history *history, const struct vs_replay *replay, unsigned account);

/* That many different times are needed for growth. */
#define VS_HISTORY_TIMES_MIN 5

/* vs_history_times: at how many different times of the clock of *account* the live blocks of each call site
 * were born, by site. Ownership: free(). */
uint32_t *vs_history_times(const struct vs_history *history, const struct vs_replay *replay, unsigned account);

/* vs_history_unlike: the largest live block of *account* whose site never allocated half as much
 * otherwise, born after the program had begun to free memory (or in a later step); NULL: none. */
const struct vs_history_block *vs_history_unlike(const struct vs_history *history,
                                                 const struct vs_replay *replay, unsigned account);

/* vs_history_rising: the first allocation of a site whose allocations became larger throughout, up to
 * *request*; 0: they did not. */
uint64_t vs_history_rising(const struct vs_history_site *site, uint64_t request);

void vs_history_free(struct vs_history *history);

/* The latest reading of the device before a failure. */
struct vs_oom_reading {
    uint64_t free, total; /* 0/0: none */
    uint64_t reserved;    /* by the program then */
};

/* The `overhead` events of contexts that exist. Zero-initialise; items: free(). */
struct vs_oom_overhead {
    uint64_t device, context, what, stack;
    int64_t bytes;
};
struct vs_oom_overheads {
    struct vs_oom_overhead *items;
    size_t count, capacity;
};

/* A failure under examination. */
struct vs_oom_scene {
    const struct vs_summary *summary;
    const struct vs_failure *failure;
    struct vs_history *history;
    const struct vs_growth_result *growth;
    struct vs_oom_reading reading;
    struct vs_oom_overheads overheads;
    uint64_t framework_stream; /* of a framework's failure: its number of the stream */
};

/* vs_oom_facts: completes *oom*, whose figures of the device are set. */
void vs_oom_facts(struct vs_oom *oom, struct vs_oom_scene *scene);

/* vs_oom_growth_facts: the growing call sites; called after the facts of the libraries.
 * vs_oom_spike_facts: the exceptional allocations; called after those. */
void vs_oom_growth_facts(struct vs_oom *oom, struct vs_oom_scene *scene);
void vs_oom_spike_facts(struct vs_oom *oom, struct vs_oom_scene *scene);

/* vs_oom_overhead_event: takes an event. */
void vs_oom_overhead_event(struct vs_oom_overheads *list, const struct vs_event *event);

/* vs_oom_name_site: names the call site with *index* in the replay. vs_oom_same_site:
 * both have the same text. */
struct vs_report_site vs_oom_name_site(struct vs_oom *oom, const struct vs_oom_scene *scene,
                                       uint32_t index, uint64_t bytes, uint64_t count);
bool vs_oom_same_site(const struct vs_report_site *a, const struct vs_report_site *b);

/* vs_oom_is_forward: a frame of the forward() of a module. */
bool vs_oom_is_forward(const struct vs_report_frame *frame);

/* vs_oom_common_caller: the innermost function of the user's that all *sites* are called from, those with a
 * small part of the bytes excepted, but not the forward() of a module; at the line of the first site, or
 * at the *last* of its lines: where a loop makes what holds the others. The first site, if there is no such function. */
struct vs_report_site vs_oom_common_caller(const struct vs_report_sites *sites, bool last);

/* vs_oom_merge_site: adds *site* to the one of *list*, in *items*, with the same text, which is
 * returned; NULL: there was none, and it is the last one now. */
struct vs_report_site *vs_oom_merge_site(struct vs_report_sites *list, struct vs_report_site *items,
                                         const struct vs_report_site *site);

/* Blocks of a call site; count 0: none. */
struct vs_oom_part {
    uint64_t bytes, count;
    uint32_t site;
};

/* vs_oom_list_sites: names the call sites of *parts*, as many as the history has, most bytes first, with
 * *request*, if it is not NULL. Sorts *parts*. */
void vs_oom_list_sites(struct vs_oom *oom, const struct vs_oom_scene *scene, struct vs_oom_part *parts,
                       const struct vs_report_site *request, struct vs_report_sites *out);

/* vs_oom_pool_is_fixed: whether the request was made to a pool with a limit of its own below the device's end
 * (TensorFlow's): what is free beside it is not for its requests. */
bool vs_oom_pool_is_fixed(const struct vs_oom_scene *scene);

/* vs_oom_cache_facts: counts the cached memory, which the missing bytes depend on. Called before them. */
void vs_oom_cache_facts(struct vs_oom *oom, struct vs_oom_scene *scene);

#endif
