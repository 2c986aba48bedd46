/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of a post-mortem beyond the device's figures, from the state at the failure: growth,
 * the exceptional allocation, the cache, libraries, rounding, and the call site of each. Internal to
 * this folder. */
#ifndef VS_OOM_FACTS_H
#define VS_OOM_FACTS_H

#include "analysis/growth/growth.h"
#include "analysis/oom/block_history.h"
#include "analysis/oom/oom.h"
#include "analysis/report/summary.h"

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
    const struct vs_history *history;
    const struct vs_growth_result *growth;
    struct vs_oom_reading reading;
    struct vs_oom_overheads overheads;
    uint64_t framework_stream; /* of a framework's failure: its number of the stream */
    struct vs_map libraries; /* stack -> enum of oom_facts.c; initially empty */
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

/* vs_oom_step_at: the row of the step in progress at *time_ns*, + 1; 0: before the first. */
size_t vs_oom_step_at(const struct vs_growth_steps *steps, uint64_t time_ns);

/* vs_oom_cache_facts: counts the cached memory, which the missing bytes depend on. Called before them. */
void vs_oom_cache_facts(struct vs_oom *oom, struct vs_oom_scene *scene);

#endif
