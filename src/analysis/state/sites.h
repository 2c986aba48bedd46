/* SPDX-License-Identifier: Apache-2.0
 *
 * Call sites: one row per (stack, device, level) that ever allocated, with its live bytes and
 * whether its live bytes at step ends keep growing. For stack 0 (none recorded) rows are
 * distinguished by the API's name instead; a framework's stacks without a Python function of the
 * user's (the threads of a backward pass) also by the user's line that was marked. Memory: one row
 * per distinct stack, however long the trace. Not thread-safe. */
#ifndef VS_SITES_H
#define VS_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reading/vs_vec.h"
#include "base/vs_err.h"
#include "base/vs_map.h"

/* Changes of a quantity from one step's end to the next. A run starts with the first rise and ends
 * when the quantity is back at its start. */
struct vs_growth {
    uint64_t base;       /* bytes before the run's first rise */
    uint64_t last;       /* bytes at the last checked step end */
    uint64_t first_step; /* serial of the step of the first rise, from 1 */
    uint64_t first_step_number; /* that step by the program's own number */
    uint64_t last_step;  /* serial of the step of the latest rise */
    uint32_t rises, falls;
};

/* vs_growth_update: *bytes* are live at the end of step *serial* (from 1); *first* for the first
 * call, which only sets the level. */
void vs_growth_update(struct vs_growth *growth, uint64_t bytes, uint64_t serial, uint64_t number,
                      bool first);

/* vs_growth_steady: true when it rose in at least three steps, rarely fell, and rose recently;
 * *steps_done* = completed steps so far. */
bool vs_growth_steady(const struct vs_growth *growth, uint64_t steps_done);

/* vs_growth_per_step: mean bytes added per step since the run began; 0 when
 * there is no run. */
uint64_t vs_growth_per_step(const struct vs_growth *growth);

/* Counters of a call site: what an analysis counts for each is a row here, with its name in the JSON of the
 * report. A checkpoint keeps them, and a report adds up those of stacks that read the same. */
#define VS_SITE_COUNTERS(X) \
    X(temporaries, "temporaries") /* freed before the thread allocated anything else */
#define VS_SITE_COUNTER_FIELD(name, key) uint64_t name;

struct vs_site {
    uint64_t stack;  /* stack id; 0 = none recorded */
    uint64_t api;    /* string id of the API of the latest allocation */
    unsigned device; /* replay index; VS_HOST_INDEX for host memory */
    unsigned family; /* of the latest allocation */
    uint64_t mark;   /* string id of the user's line "at FILE:LINE" (user_line.c); 0: none */
    uint8_t level;   /* VS_LEVEL_FRAMEWORK: tensors; VS_LEVEL_DEVICE: all else, blocks included */
    bool backing;    /* of level DEVICE: its memory holds the framework's blocks */
    bool by_mark;    /* its stack has no Python function of the user's */
    uint64_t allocs, frees;
    uint64_t bytes;      /* sum of requested */
    uint64_t largest;    /* largest single requested */
    uint64_t live_bytes; /* sum of size */
    uint64_t live_count;
    uint64_t lost_bytes; /* still allocated when their context was destroyed */
    uint64_t lost_count;
    VS_SITE_COUNTERS(VS_SITE_COUNTER_FIELD)
    uint64_t lifetime_ns;   /* sum over the freed ones */
    uint64_t largest_before_step; /* largest single size in completed steps */
    uint64_t largest_in_step;     /* likewise in the current step */
    struct vs_growth growth;
    bool touched; /* in the list of sites used since the last step end */
};

#define VS_SITES_RECENT 64u

/* Zero-initialise. */
struct vs_sites {
    struct vs_site *items;
    size_t count, capacity;
    struct vs_map by_key;
    uint32_t recent[VS_SITES_RECENT]; /* rows found last, by the low bits of stack and mark */
    uint32_t *touched;
    size_t touched_count, touched_capacity;
    bool step_seen; /* the level is set */
};

struct vs_site_key {
    uint64_t stack, api, mark;
    unsigned device;
    uint8_t level;
};

/* vs_sites_get: the index of the site for *key*, added when new (with no allocations; _look_up). Cost: at most
 * one hash look-up. */
uint32_t vs_sites_look_up(struct vs_sites *sites, const struct vs_site_key *key);
static inline uint32_t vs_sites_get(struct vs_sites *sites, const struct vs_site_key *key)
{
    uint32_t *recent = &sites->recent[(key->stack ^ key->mark) % VS_SITES_RECENT];
    if (!sites->count)
        return vs_sites_look_up(sites, key);
    const struct vs_site *site = &sites->items[*recent];
    if (!key->stack || site->stack != key->stack || site->mark != key->mark ||
        site->device != key->device || site->level != key->level)
        *recent = vs_sites_look_up(sites, key);
    return *recent;
}

/* vs_sites_touch: mark *index* as changed since the last step end. */
static inline void vs_sites_touch(struct vs_sites *sites, uint32_t index)
{
    struct vs_site *site = &sites->items[index];
    if (site->touched)
        return;
    site->touched = true;
    VS_VEC_ADD(sites->touched, sites->touched_count, sites->touched_capacity, index);
}

/* vs_sites_count: an allocation at site *index*. */
void vs_sites_count(struct vs_sites *sites, uint32_t index, uint64_t requested, uint64_t size);

/* vs_sites_find: the row of *key*, or NULL. Valid until the next vs_sites_get. */
const struct vs_site *vs_sites_find(const struct vs_sites *sites, const struct vs_site_key *key);

/* vs_sites_step_end: a step ended; updates the growth of every site used in it.
 * The first call (when the first step begins) only sets the level. */
void vs_sites_step_end(struct vs_sites *sites, uint64_t serial, uint64_t number);

/* vs_sites_window: restart the sums here; live bytes stay, and are the new baseline of growth. */
void vs_sites_window(struct vs_sites *sites);

/* vs_sites_index: makes the rows findable that were copied from another table. */
void vs_sites_index(struct vs_sites *sites);

void vs_sites_free(struct vs_sites *sites);

#endif
